"""A generated program's effect on a packet, by the sentences of the P4-16 specification.

It knows nothing of our compiler or switch: it walks the tree as it was written, with Python's
integers. Section numbers are those of the specification, version 1.2.5. What v1model leaves to the
target is as simple_switch's documentation says: metadata begins with zeros, a packet whose parser
ends in `reject` is processed all the same, `egress_spec` 511 drops.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.generated import tree as t
from tests.generated.expressions import Computed
from tests.generated.places import Scope, place
from tests.generated.values import (
    Header,
    Reader,
    Stack,
    UndefinedError,
    Value,
    copied,
    emitted,
    fresh,
    pattern,
)

DROP_PORT = 511


class _Return(Exception):  # noqa: N818 (no error: the way out of a body)
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class _Exit(Exception):  # noqa: N818
    pass


class _Break(Exception):  # noqa: N818
    pass


class _Continue(Exception):  # noqa: N818
    pass


class _Reject(Exception):  # noqa: N818
    pass


_WAYS_OUT = {"exit": _Exit, "break": _Break, "continue": _Continue}


@dataclass
class _Running:
    """The meanings of names inside a control: its own, beside its variables."""

    control: t.Control | None
    scope: Scope


@dataclass
class Machine(Computed):
    """A program with the state that outlives packets."""

    program: t.Program
    cells: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self):
        for control in (self.program.ingress, self.program.egress):
            for array in control.arrays:
                self.cells[array.name] = [0] * array.size
        self._functions = {each.name: each for each in self.program.functions}
        self._controls = {each.name: each for each in self.program.controls}
        self._reader = Reader(b"")
        self._error = "NoError"
        self._here = _Running(None, Scope(None))

    def send(self, packet: t.Packet) -> tuple[int, list[int | None]] | None:
        """Port and bits of the departing packet, or nothing; an undefined packet changes no
        state."""
        before = {name: list(cells) for name, cells in self.cells.items()}
        try:
            return self._send(packet)
        except UndefinedError:
            self.cells = before
            raise

    def _send(self, packet: t.Packet) -> tuple[int, list[int | None]] | None:
        self._reader, self._error = Reader(packet.data), "NoError"
        std = fresh(STANDARD)
        std.fields.update(
            ingress_port=packet.port, egress_spec=0, packet_length=len(packet.data), egress_port=0
        )
        values = [fresh(self.program.headers), fresh(self.program.metadata, 0), std]
        scope = Scope(None, dict(zip(("hdr", "meta", "std"), values, strict=True)))
        self._here = _Running(None, scope)
        try:
            self._parse()
        except _Reject as reason:
            self._error = str(reason)
        payload = self._reader.rest()
        port = self._block(self.program.ingress, scope)
        if port == DROP_PORT:
            return None
        std.fields["egress_port"], std.fields["egress_spec"] = port, 0
        if self._block(self.program.egress, scope) == DROP_PORT:
            return None
        return port, emitted(scope.names["hdr"]) + payload

    def _block(self, control: t.Control, scope: Scope) -> int:
        """Runs ingress or egress, whose end `exit` is."""
        with suppress(_Exit):
            self._control(control, Scope(scope))
        port = scope.names["std"].fields["egress_spec"]
        if port is None:
            raise UndefinedError
        return port

    # The parser (13).

    def _parse(self) -> None:
        states = {each.name: each for each in self.program.states}
        name = "start"
        while name not in ("accept", "reject"):
            state = states[name]
            outer = self._here
            self._here = _Running(None, Scope(outer.scope))
            self._body(state.body)
            name = self._next_state(state)
            self._here = outer
        if name == "reject":
            raise _Reject("NoError")

    def _next_state(self, state: t.State) -> str:
        keys = [pattern(self.known(each), each.type) for each in state.keys]
        for branch in state.branches:
            if branch.matches is None or not state.keys:
                return branch.state
            if all(match.takes(key) for match, key in zip(branch.matches, keys, strict=True)):
                return branch.state
        # 13.6: if no case matches, the error is NoMatch.
        raise _Reject("NoMatch")

    def look(self, width: int) -> int:
        """The next bits of the packet, which stay."""
        if self._reader.left() < width:
            raise _Reject("PacketTooShort")
        return self._reader.peek(width)

    def failed(self, error: str) -> bool:
        """Whether the parser ended with this error."""
        return self._error == error

    def _extract(self, target: t.Expression) -> None:
        is_next = isinstance(target, t.Member) and target.name == "next"
        if is_next:
            stack = place(self, target.base).get()
            if stack.next >= len(stack.elements):
                raise _Reject("StackOutOfBounds")
        where = place(self, target)
        header = Header(target.type, True)
        if self._reader.left() < header.type.width:
            raise _Reject("PacketTooShort")
        for name, type_ in header.type.fields:
            number = self._reader.take(t.width_of(type_))
            header.fields[name] = self.cast(number, type_)
        where.set(header)
        if is_next:
            stack.next += 1

    # Calls: copy in, run, copy out (6.8).

    def call(self, name: str, arguments: tuple[t.Expression, ...]) -> Value:
        """A function or an action, called by the program."""
        control = self._here.control
        actions = control.actions if control else ()
        action = next((each for each in actions if each.name == name), None)
        if action is not None:
            return self._invoke(
                action.parameters, arguments, lambda scope: self._run(action, scope)
            )
        function = self._functions[name]

        def run(scope: Scope) -> Value:
            # A function sees no names of the control that calls it.
            outer, self._here = self._here, _Running(None, Scope(None, scope.names))
            try:
                return self._run(function, self._here.scope)
            finally:
                self._here = outer

        return self._invoke(function.parameters, arguments, run)

    def _invoke(
        self,
        parameters: tuple[t.Parameter, ...],
        arguments: tuple[t.Expression, ...],
        run: Callable[[Scope], Value],
    ) -> Value:
        """Arguments from left to right; results copied out from left to right, after `exit` too."""
        scope, results = Scope(None), []
        for parameter, argument in zip(parameters, arguments, strict=True):
            if parameter.direction in ("out", "inout"):
                where = place(self, argument)
                results.append((parameter.name, where))
                value = where.get() if parameter.direction == "inout" else fresh(parameter.type)
            else:
                value = self.value(argument)
            scope.names[parameter.name] = copied(value)
        try:
            return run(scope)
        finally:
            # UndefinedError ends the packet; what is copied then does not matter.
            for name, where in results:
                where.set(copied(scope.names[name]))

    def _run(self, function: t.Function, scope: Scope) -> Value:
        outer = self._here
        if outer.control is not None:
            scope.outer = self._control_scope
        self._here = _Running(outer.control, scope)
        try:
            self._body(function.body)
        except _Return as way:
            return way.value
        finally:
            self._here = outer
        return None

    def _control(self, control: t.Control, scope: Scope) -> None:
        outer, before = self._here, getattr(self, "_control_scope", None)
        self._control_scope = scope
        self._here = _Running(control, scope)
        try:
            self._body(control.variables)
            self._here = _Running(control, Scope(scope))
            self._body(control.body)
        except _Return:
            pass
        finally:
            self._here, self._control_scope = outer, before

    # Tables (14.2).

    def apply(self, name: str) -> tuple[bool, str]:
        """Applies a table: whether it hit, and which action ran."""
        control = self._here.control
        table = next(each for each in control.tables if each.name == name)
        keys = [pattern(self.known(each.expression), each.expression.type) for each in table.keys]
        found = _lookup(table, keys)
        entry = found or table.default
        action = next((each for each in control.actions if each.name == entry.action), None)
        if action is not None:
            bound = next(each.bound for each in table.choices if each.action == entry.action)
            # Arguments in the list of actions see the control's names only.
            outer, self._here = self._here, _Running(control, self._control_scope)
            try:
                self._invoke(
                    action.parameters,
                    (*bound, *entry.data),
                    lambda scope: self._run(action, scope),
                )
            finally:
                self._here = outer
        return found is not None, entry.action

    # Statements (12).

    def scope(self) -> Scope:
        """Where names are looked up."""
        return self._here.scope

    def _inner(self, body: t.Body) -> None:
        outer = self._here
        self._here = _Running(outer.control, Scope(outer.scope))
        try:
            self._body(body)
        finally:
            self._here = outer

    def _body(self, body: t.Body) -> None:
        for each in body:
            self._statement(each)

    def _statement(self, statement: t.Statement) -> None:
        match statement:
            case t.Declare(name, type_, first):
                value = fresh(type_) if first is None else copied(self.value(first))
                self._here.scope.names[name] = value
            case t.Assign():
                self._assign(statement)
            case t.If(condition, then, other):
                self._inner(then if self.known(condition) else other)
            case t.Switch():
                self._switch(statement)
            case t.Apply(name, arguments):
                self._apply(name, arguments)
            case t.Invoke(name, arguments):
                self.call(name, arguments)
            case t.For():
                self._loop(statement)
            case t.Block(body):
                self._inner(body)
            case t.Return(value):
                raise _Return(None if value is None else self.value(value))
            case t.Simple(word):
                raise _WAYS_OUT[word]
            case _:
                self._method(statement)

    def _assign(self, statement: t.Assign) -> None:
        # 12.1: first the place, then the value, then the assignment.
        where = place(self, statement.target)
        value = statement.value
        if statement.operator != "=":
            operator = statement.operator[:-1]
            value = t.Binary(operator, statement.target, value, statement.target.type)
        where.set(copied(self.value(value)))

    def _apply(self, name: str, arguments: tuple[t.Expression, ...]) -> None:
        instances = dict(self._here.control.instances)
        if name not in instances:
            self.apply(name)
            return
        control = self._controls[instances[name]]
        self._invoke(control.parameters, arguments, lambda scope: self._control(control, scope))

    def _switch(self, statement: t.Switch) -> None:
        if statement.value is None:
            subject = self.apply(statement.table)[1]
        else:
            subject = self.known(statement.value)
        labels = [
            each.label.value if isinstance(each.label, t.Literal) else each.label
            for each in statement.cases
        ]
        chosen = labels.index(subject) if subject in labels else None
        if chosen is None and None in labels:
            chosen = labels.index(None)
        if chosen is not None:
            bodies = (each.body for each in statement.cases[chosen:])
            self._inner(next(body for body in bodies if body is not None))

    def _loop(self, statement: t.For) -> None:
        for number in range(statement.count):
            outer = self._here
            self._here = _Running(outer.control, Scope(outer.scope, {statement.name: number}))
            try:
                self._inner(statement.body)
            except _Continue:
                pass
            except _Break:
                return
            finally:
                self._here = outer

    def _method(self, statement: t.Statement) -> None:
        match statement:
            case t.SetValid(header, valid):
                _set_valid(place(self, header), valid)
            case t.Move(stack, operation, count):
                _move(place(self, stack).get(), operation, count)
            case t.RegisterRead(register, target, index):
                where, cells = place(self, target), self.cells[register]
                number = self.known(index)
                where.set(cells[number] if number < len(cells) else None)
            case t.RegisterWrite(register, index, value):
                number, content = self.known(index), self.known(value)
                if number < len(self.cells[register]):
                    self.cells[register][number] = content
            case t.Count(counter, index):
                number = self.known(index)
                if number < len(self.cells[counter]):
                    self.cells[counter][number] += 1
            case t.Drop():
                self._here.scope.find("std")["std"].fields["egress_spec"] = DROP_PORT
            case t.Extract(header):
                self._extract(header)
            case t.Advance(bits):
                self.look(bits)
                self._reader.take(bits)
            case t.Verify(condition):
                if not self.known(condition):
                    raise _Reject("Odd")


STANDARD = t.StructType(
    "standard_metadata_t",
    (
        ("ingress_port", t.Bits(9)),
        ("egress_spec", t.Bits(9)),
        ("egress_port", t.Bits(9)),
        ("packet_length", t.Bits(32)),
    ),
)


def _lookup(table: t.Table, keys: list[int]) -> t.Entry | None:
    """The entry that wins: the first written, the largest priority, or the longest prefix."""
    fitting = [
        each
        for each in table.entries
        if all(match.takes(key) for match, key in zip(each.matches, keys, strict=True))
    ]
    # 14.2.1.5: entries of a table without other priorities are in the order of the text; where
    # only prefixes are matched, the longest one wins.
    kinds = [key.kind for key in table.keys]
    if "lpm" in kinds and not {"ternary", "range", "optional"} & set(kinds):
        at = kinds.index("lpm")
        return max(fitting, key=lambda each: each.matches[at].mask, default=None)
    if table.constant:
        return fitting[0] if fitting else None
    return max(fitting, key=lambda each: each.priority, default=None)


def _set_valid(where, valid: bool) -> None:
    """8.17 and 8.20: fields of a header that becomes valid are open; another member is no more."""
    header = where.get()
    if valid and header.valid:
        return
    changed = Header(header.type, valid)
    where.set(changed)


def _move(stack: Stack, operation: str, count: int) -> None:
    """8.18: elements move, those that come in are not valid, `next` moves along."""
    size = len(stack.elements)
    count = min(count, size)
    new = [Header(stack.elements[0].type) for _ in range(count)]
    if operation == "push_front":
        stack.elements = (new + stack.elements)[:size]
        stack.next = min(stack.next + count, size)
    else:
        stack.elements = stack.elements[count:] + new
        stack.next = max(stack.next - count, 0)
