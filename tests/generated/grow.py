"""A random program and packets for it, from a seed: the same ones for the same seed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.generated import tree as t
from tests.generated.evaluate import STANDARD
from tests.generated.grow_expressions import View
from tests.generated.grow_statements import Around, Statements
from tests.generated.packets import packets

_PACKETS = 12
_STD = t.Name("std", STANDARD)
_PORT = t.Bits(9)


def program(seed: int) -> t.Program:
    """The program of a seed."""
    return _Programs(Random(seed)).program()


class _Programs(Statements):
    """Declarations, from headers to controls."""

    def program(self) -> t.Program:
        """Everything, in the order in which the text needs it."""
        self._declare_headers()
        functions = self._functions() if self.has("calls") else ()
        states = _Parsers.states(self)
        controls = self._subcontrols() if self.has("subcontrols") else ()
        ingress = self._block("ingress", functions, controls)
        egress = t.Control("egress", _block_parameters(self))
        if self.has("egress"):
            egress = self._block("egress", functions, controls)
        frames = packets(self, states, _PACKETS)
        types = tuple(dict.fromkeys((*self._types, *self._unions)))
        return t.Program(
            types,
            self._headers,
            self._metadata,
            functions,
            controls,
            states,
            ingress,
            egress,
            frames,
        )

    # Types.

    def _header_type(self, name: str) -> t.HeaderType:
        fields = [(f"f{number}", self.scalar_type()) for number in range(self.random.randint(2, 5))]
        odd = -sum(t.width_of(type_) for _, type_ in fields) % 8
        if odd:
            fields.insert(self.random.randint(0, len(fields)), ("pad", t.Bits(odd)))
        return t.HeaderType(name, tuple(fields))

    def _declare_headers(self) -> None:
        base, other = self._header_type("base_t"), self._header_type("other_t")
        fields: list[tuple[str, t.Type]] = [("base", base), ("b", other), ("c", other)]
        self._types: list[t.HeaderType] = [base, other]
        self._unions: list[t.UnionType] = []
        if self.has("stacks"):
            element = self._header_type("element_t")
            self._types.append(element)
            fields.append(("stack", t.StackType(element, self.random.randint(2, 4))))
        if self.has("unions"):
            small = self._header_type("small_t")
            self._types.append(small)
            self._unions = [t.UnionType("either_t", (("one", small), ("two", other)))]
            fields.append(("either", self._unions[0]))
        self.random.shuffle(fields)
        self._headers = t.StructType("headers_t", tuple(fields))
        scalars = [(f"m{number}", self.scalar_type()) for number in range(4)]
        self._metadata = t.StructType("metadata_t", tuple(scalars))
        self._hdr, self._meta = t.Name("hdr", self._headers), t.Name("meta", self._metadata)

    def header(self, name: str) -> t.Member:
        """A field of `hdr`."""
        return t.Member(self._hdr, name, dict(self._headers.fields)[name])

    def outside(self) -> View:
        """A control's view at its beginning: the first header is valid, others may be."""
        view = View()
        for name, type_ in self._metadata.fields:
            view.see(t.Member(self._meta, name, type_))
        view.see(t.Member(_STD, "ingress_port", _PORT), writable=False)
        base = self.header("base")
        for name, type_ in base.type.fields:
            view.see(t.Member(base, name, type_))
        view.headers += [self.header("b"), self.header("c")]
        if self.has("stacks"):
            stack = self.header("stack")
            view.stacks.append(stack)
            for at in range(stack.type.size):
                index = t.Literal(t.Bits(8), at, True)
                view.headers.append(t.Index(stack, index, stack.type.element))
        for union in self._unions:
            either = self.header("either")
            view.headers += [t.Member(either, name, type_) for name, type_ in union.fields]
        return view

    # Functions, actions, controls.

    def _parameters(self, count: int, directions: tuple[str, ...]) -> tuple[t.Parameter, ...]:
        made = []
        for _ in range(count):
            direction = self.random.choice(directions)
            if self.has("header_values", 0.25):
                made.append(t.Parameter(self.name("p"), direction, self._types[1]))
            else:
                made.append(t.Parameter(self.name("p"), direction, self.scalar_type()))
        return tuple(made)

    def _see_parameters(self, parameters: tuple[t.Parameter, ...]) -> t.Body:
        """Parameters as names; `out` ones get a value first, but for some."""
        first: list[t.Statement] = []
        for each in parameters:
            name = t.Name(each.name, each.type)
            if isinstance(each.type, t.HeaderType):
                if each.direction == "inout":
                    self.view.headers.append(name)
                continue
            if each.direction == "out":
                if self.has("open_values", 0.1):
                    continue
                first.append(t.Assign(name, "=", self.expression(each.type, 1)))
            self.view.see(name, writable=each.direction in ("out", "inout"))
        return tuple(first)

    def _functions(self) -> tuple[t.Function, ...]:
        made: list[t.Function] = []
        for number in range(self.random.randint(1, 4)):
            result = self.scalar_type() if number == 0 or self.random.random() < 0.7 else None
            parameters = self._parameters(self.random.randint(1, 3), ("in", "inout", "out"))
            self.around = Around("function", result)
            self._here = {each.name for each in parameters}
            self.view = View(functions=list(made))
            body = self._see_parameters(parameters)
            body += self.statements(self.random.randint(1, 4), 2)
            if result is not None:
                body += (t.Return(self.expression(result, 2)),)
            made.append(t.Function(self.name("compute"), result, parameters, body))
        return tuple(made)

    def _action(self, around: Around) -> t.Function:
        parameters = self._parameters(self.random.randint(0, 2), ("in", "inout", "out"))
        data = [
            t.Parameter(self.name("d"), "", self.scalar_type(unsigned=True))
            for _ in range(self.random.randint(0, 2))
        ]
        parameters += tuple(data)
        self.around = Around(
            "action", has_std=around.has_std, actions=list(around.actions), arrays=around.arrays
        )
        with self.nested():
            self._here = {each.name for each in parameters}
            body = self._see_parameters(parameters)
            body += self.statements(self.random.randint(1, 3), 1)
        if self.has("exits", 0.15):
            body += (t.Simple("exit"),)
        return t.Function(self.name("act"), None, parameters, body)

    def _subcontrols(self) -> tuple[t.Control, ...]:
        made = []
        for _ in range(self.random.randint(1, 2)):
            parameters = self._parameters(self.random.randint(1, 3), ("in", "inout", "out"))
            self.view = View()
            self._here = {each.name for each in parameters}
            body = self._see_parameters(parameters)
            made.append(self._control(self.name("part"), parameters, body, (), constant=True))
        return tuple(made)

    def _block(
        self, name: str, functions: tuple[t.Function, ...], controls: tuple[t.Control, ...]
    ) -> t.Control:
        """Ingress or egress."""
        self.view = self.outside()
        self.view.functions = list(functions)
        self._here = set()
        first: t.Body = ()
        if name == "ingress":
            # In egress it counts headers that were added and removed, as simple_switch has it.
            self.view.see(t.Member(_STD, "packet_length", t.Bits(32)), writable=False)
            port = self.pure(t.Bits(2), 2)
            port = t.Binary("+", t.Cast(_PORT, port), t.Literal(_PORT, 1, True), _PORT)
            first = (t.Assign(t.Member(_STD, "egress_spec", _PORT), "=", port),)
        parameters = _block_parameters(self)
        made = self._control(name, parameters, first, controls, constant=False)
        if name == "egress":
            return made
        failed = t.Failed(self.random.choice(("NoError", "NoMatch", "PacketTooShort", "Odd")))
        noted = self.target(t.BOOL) if self.random.random() < 0.5 else None
        body = made.body if noted is None else (t.Assign(noted, "=", failed), *made.body)
        return _with_body(made, body)

    def _control(
        self,
        name: str,
        parameters: tuple[t.Parameter, ...],
        first: t.Body,
        controls: tuple[t.Control, ...],
        *,
        constant: bool,
    ) -> t.Control:
        around = Around("control", has_std=not constant)
        arrays = self._arrays() if not constant else ()
        around.arrays = list(arrays)
        self.around = around
        variables = tuple(self.declared() for _ in range(self.random.randint(0, 3)))
        own = self._here
        for _ in range(self.random.randint(1, 4)):
            around.actions.append(self._action(around))
        self.around, self._here = around, set(own)
        tables = []
        if self.has("tables"):
            tables = [
                self._table(around, constant=constant) for _ in range(self.random.randint(1, 3))
            ]
        around.tables = list(tables)
        around.instances = [(self.name("sub"), each) for each in controls]
        instances = tuple((each, control.name) for each, control in around.instances)
        self.around = around
        self._here = set()
        with self.nested():
            body = first + self.statements(self.random.randint(3, 9), 3)
            # A table that nothing applies is in no program.
            body += tuple(t.Apply(each.name) for each in around.tables)
        return t.Control(
            name,
            parameters,
            arrays,
            variables,
            instances,
            tuple(around.actions),
            tuple(tables),
            body,
        )

    def _arrays(self) -> tuple[t.Array, ...]:
        made = []
        if self.has("registers"):
            width = self.random.choice(self.widths)
            made.append(
                t.Array(self.name("cells"), "register", width, self.random.choice((3, 4, 8)))
            )
        if self.has("counters"):
            made.append(t.Array(self.name("count"), "counter", 0, self.random.choice((3, 4, 8))))
        return tuple(made)

    # Tables.

    def _table(self, around: Around, *, constant: bool) -> t.Table:
        name = self.name("t")
        constant = constant or self.random.random() < 0.5
        kinds = ["exact", "ternary", "lpm", "optional"] + (["range"] if constant else [])
        keys: list[t.Key] = []
        for number in range(self.random.randint(1, 3)):
            kind = self.random.choice(kinds)
            if kind == "lpm":
                kinds.remove("lpm")
            width = self.random.choice((2, 3, 4, 8, self.random.choice(self.widths)))
            if kind == "range":
                # Our tables' limit: wider ones are refused when the program is loaded.
                width = min(width, 64)
            expression = self.pure(t.Bits(width), 1)
            if isinstance(expression, t.Literal) and self.view.scalars:
                expression = self.adapted(self.view.scalars[0].place, t.Bits(width))
            keys.append(t.Key(expression, kind, f"{name}_k{number}"))
        choices = []
        for action in around.actions:
            directed = tuple(each for each in action.parameters if each.direction)
            with self.nested(effects=False):
                bound = self.arguments(directed, 1)
            if bound is not None:
                choices.append(t.Choice(action.name, bound))
        choices.append(t.Choice("NoAction", ()))
        entries = []
        for number in range(self.random.randint(0, 5)):
            matches = tuple(self.match(key.kind, key.expression.type.width) for key in keys)
            entries.append(self._entry(around, choices, matches, 10 + number))
        self.random.shuffle(entries)
        unique = {each.matches: each for each in entries}
        default = self._entry(around, choices, (), 0)
        return t.Table(name, tuple(keys), tuple(choices), default, constant, tuple(unique.values()))

    def _entry(
        self, around: Around, choices: list[t.Choice], matches: tuple[t.Match, ...], priority: int
    ) -> t.Entry:
        name = self.random.choice(choices).action
        action = next((each for each in around.actions if each.name == name), None)
        data = [each for each in action.parameters if not each.direction] if action else []
        return t.Entry(matches, name, tuple(self.literal(each.type) for each in data), priority)

    def match(self, kind: str, width: int) -> t.Match:
        """The match of an entry or case."""
        ones = (1 << width) - 1
        value = self.number(width)
        if kind == "exact" or (kind == "optional" and self.random.random() < 0.7):
            return t.Match("exact", value, ones)
        if kind == "range":
            low, high = sorted((value, self.number(width)))
            return t.Match("range", low, high)
        mask = ones & self.random.choice((ones, self.random.getrandbits(width), 1, ones - 1))
        if kind == "lpm":
            mask = ones & ~((1 << self.random.randint(0, width)) - 1)
        if kind == "optional" or mask == 0:
            return t.Match("any", 0)
        if mask == ones:
            return t.Match("exact", value, ones)
        return t.Match("mask", value & mask, mask)


class _Parsers:
    """The parser: one state for each header, which come in some order or not at all."""

    @staticmethod
    def states(grown: _Programs) -> tuple[t.State, ...]:
        """All states, `start` first."""
        names = ["start", "parse_b", "parse_c"]
        if grown.has("stacks"):
            names.append("parse_stack")
        if grown.has("unions"):
            names += ["parse_one", "parse_two"]
        return tuple(_Parsers._state(grown, name, names[at + 1 :]) for at, name in enumerate(names))

    @staticmethod
    def _state(grown: _Programs, name: str, later: list[str]) -> t.State:
        grown.around, grown._here = Around("parser"), set()
        view = grown.outside()
        view.headers, view.stacks, view.functions = [], [], []
        view.effects, view.reader = False, True
        grown.view = view
        if name == "start":
            view.scalars = [
                each for each in view.scalars if grown.header("base") != _base(each.place)
            ]
        target, fields = _Parsers._extracted(grown, name)
        body: tuple[t.Statement, ...] = (t.Extract(target),)
        if grown.has("lookahead", 0.2):
            body = (t.Advance(8), *body)
        before = list(view.scalars)
        grown.see_fields(fields)
        if grown.random.random() < 0.4:
            body += grown.statements(grown.random.randint(1, 2), 0)
        if grown.has("verify", 0.3):
            body += (t.Verify(grown.expression(t.BOOL, 2)),)
        again = [name] if name == "parse_stack" else []
        targets = [*again, *later, "accept", "accept"]
        if grown.random.random() < 0.2:
            onward = grown.random.choice([*later, "accept"])
            return t.State(name, body, (), (t.Branch(None, onward),))
        own = [each for each in view.scalars if each not in before]
        keys = tuple(
            _Parsers._key(grown, own) for _ in range(1 if grown.random.random() < 0.7 else 2)
        )
        branches = []
        for _ in range(grown.random.randint(1, 4)):
            kinds = [grown.random.choice(("exact", "ternary", "range")) for _ in keys]
            matches = [
                grown.match(kind, key.type.width) for kind, key in zip(kinds, keys, strict=True)
            ]
            branches.append(t.Branch(tuple(matches), grown.random.choice(targets)))
        if all(each.state == name for each in branches):
            branches.append(t.Branch(None, "accept"))
        elif grown.random.random() < 0.85:
            branches.append(t.Branch(None, grown.random.choice(targets)))
        return t.State(name, body, keys, tuple(branches))

    @staticmethod
    def _extracted(grown: _Programs, name: str) -> tuple[t.Expression, t.Expression]:
        """The header that a state extracts, and the name under which its fields are read then."""
        if name == "parse_stack":
            stack = grown.header("stack")
            next_, last = (t.Member(stack, each, stack.type.element) for each in ("next", "last"))
            return next_, last
        if name in ("parse_one", "parse_two"):
            either = grown.header("either")
            part = name.removeprefix("parse_")
            member = t.Member(either, part, dict(either.type.fields)[part])
            return member, member
        header = grown.header("base" if name == "start" else name.removeprefix("parse_"))
        return header, header

    @staticmethod
    def _key(grown: _Programs, own: list) -> t.Expression:
        width = grown.random.choice((1, 2, 3, 4, 8))
        if grown.has("lookahead", 0.3):
            return t.Lookahead(t.Bits(width))
        field = grown.random.choice(own).place
        if isinstance(field.type, t.Bits) and field.type.width > width:
            low = grown.random.randint(0, field.type.width - width)
            key: t.Expression = t.Slice(field, low + width - 1, low)
        else:
            key = grown.adapted(field, t.Bits(t.width_of(field.type)))
        if grown.random.random() < 0.2:
            key = t.Cast(t.Bits(key.type.width + grown.random.choice((1, 4, 8))), key)
        return key


def _block_parameters(grown: _Programs) -> tuple[t.Parameter, ...]:
    values = (("hdr", grown._headers), ("meta", grown._metadata), ("std", STANDARD))
    return tuple(t.Parameter(name, "inout", type_) for name, type_ in values)


def _base(place: t.Expression) -> t.Expression:
    return place.base if isinstance(place, t.Member) else place


def _with_body(control: t.Control, body: t.Body) -> t.Control:
    return replace(control, body=body)
