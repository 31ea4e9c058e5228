"""Random statements, with the names that they may use in their places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.generated import tree as t
from tests.generated.grow_expressions import Expressions

_INDEX = t.Bits(32)
_COMPOUND = ("+=", "-=", "&=", "|=", "^=", "*=", "<<=", ">>=", "|+|=", "|-|=")


@dataclass
class Around:
    """The surroundings of a statement: the ways out, and the callable functions."""

    # `control`, `action`, `function` or `parser`.
    block: str
    # The type of `return`.
    result: t.Type | None = None
    in_loop: bool = False
    # `standard_metadata` can be seen.
    has_std: bool = False
    actions: list[t.Function] = field(default_factory=list)
    tables: list[t.Table] = field(default_factory=list)
    instances: list[tuple[str, t.Control]] = field(default_factory=list)
    arrays: list[t.Array] = field(default_factory=list)


class Statements(Expressions):
    """Bodies of functions, actions, controls and states."""

    around: Around

    def body(self, count: int, depth: int) -> t.Body:
        """So many statements, in a block of their own."""
        with self.nested():
            return self.statements(count, depth)

    def statements(self, count: int, depth: int) -> t.Body:
        """So many statements; what they declare is seen behind them."""
        made: list[t.Statement] = []
        for _ in range(count):
            made += self._statement(depth)
        return tuple(made)

    def declared(self, *, is_open: bool = False) -> t.Declare:
        """A variable, seen from here on."""
        type_ = self.scalar_type()
        value = None if is_open else self.expression(type_, 2)
        name = self.name("v")
        # A parameter's name belongs to the whole body.
        variables = [
            each.place
            for each in self.view.scalars
            if isinstance(each.place, t.Name) and each.place.name.startswith("v")
        ]
        if self.has("shadowing", 0.3) and variables and self.around.block != "parser":
            shadowed = self.random.choice(variables)
            if shadowed.name not in self._here:
                name = shadowed.name
                self.view.scalars = [
                    each for each in self.view.scalars if not _uses(each.place, name)
                ]
        self._here.add(name)
        if not is_open:
            self.view.see(t.Name(name, type_))
        return t.Declare(name, type_, value)

    def _statement(self, depth: int) -> t.Body:
        ways: list[Callable[[int], t.Body]] = [self._assign] * 5 + [self._declare]
        if self.around.block == "parser":
            return self.random.choice(ways)(depth)
        if self.has("header_values") and self.view.headers:
            ways += [self._header, self._validity]
        if depth > 0 and (self.around.block != "action" or self.has("branching_actions")):
            ways += self._branches()
        if self.has("calls") and self.view.functions:
            ways.append(self._invoke_function)
        if self.around.block != "function":
            ways += self._control_only()
        return self.random.choice(ways)(depth)

    def _branches(self) -> list[Callable[[int], t.Body]]:
        ways: list[Callable[[int], t.Body]] = [self._if, self._if, self._guarded, self._leave]
        if self.has("switches") and self.around.block == "control":
            ways.append(self._switch)
        if self.has("loops") and self.around.block == "control":
            ways.append(self._loop)
        if self.has("shadowing"):
            ways.append(lambda depth: (t.Block(self._scoped(2, depth - 1)),))
        return ways

    def _control_only(self) -> list[Callable[[int], t.Body]]:
        ways: list[Callable[[int], t.Body]] = []
        if self.around.actions and self.has("action_calls"):
            ways += [self._invoke_action, self._invoke_action]
        if self.around.tables:
            ways += [self._apply_table] * 4
        if self.around.instances:
            ways += [self._apply_instance, self._apply_instance]
        if self.around.arrays:
            ways += [self._array, self._array]
        if self.view.stacks:
            ways.append(self._move)
        if self.has("drops", 0.2) and self.around.has_std:
            ways.append(self._drop)
        return ways

    def _scoped(self, count: int, depth: int) -> t.Body:
        outer, self._here = self._here, set()
        made = self.body(count, depth)
        self._here = outer
        return made

    # Names of the block that is being made: they cannot be declared again in it.
    _here: set[str] = set()  # noqa: RUF012 (replaced, never changed, before the first block)

    def _assign(self, depth: int) -> t.Body:
        places = self.view.writable()
        if not places:
            return self._declare(depth)
        target = self.random.choice(places)
        if isinstance(target.type, t.Bits) and target.type.width > 1 and self.has("slices", 0.2):
            target = self._slice_of(target, self.random.randint(1, target.type.width))
        if isinstance(target.type, t.Bits) and self.has("compound", 0.3):
            operator = self.random.choice(_COMPOUND)
            by = t.Bits(4) if operator in ("<<=", ">>=") else target.type
            return (t.Assign(target, operator, self.expression(by, 2)),)
        return (t.Assign(target, "=", self.expression(target.type, 3)),)

    def _declare(self, _: int) -> t.Body:
        return (self.declared(is_open=self.has("open_values", 0.1)),)

    def _if(self, depth: int) -> t.Body:
        hits = [each for each in self.around.tables if self.has("hits", 0.3)]
        if hits and self.view.effects:
            table = self._taken(hits)
            condition: t.Expression = t.Hit(table.name, self.random.random() < 0.5)
        else:
            condition = self.expression(t.BOOL, 3)
        then = self._scoped(self.random.randint(1, 3), depth - 1)
        other = self._scoped(self.random.randint(0, 2), depth - 1)
        return (t.If(condition, then, other),)

    def _guarded(self, depth: int) -> t.Body:
        """A header's fields are used where it is valid."""
        if not self.view.headers:
            return self._assign(depth)
        header = self.random.choice(self.view.headers)
        with self.nested():
            self.see_fields(header)
            then = self._scoped(self.random.randint(1, 3), depth - 1)
        other = self._scoped(self.random.randint(0, 1), depth - 1)
        return (t.If(t.IsValid(header), then, other),)

    def see_fields(self, header: t.Expression, *, writable: bool = True) -> None:
        """The fields of a header that is valid here."""
        for name, type_ in header.type.fields:
            self.view.see(t.Member(header, name, type_), writable=writable)

    def _leave(self, depth: int) -> t.Body:
        """A way out behind a condition, so that not everything after it is dead."""
        ways: list[t.Statement] = []
        if self.around.in_loop:
            ways += [t.Simple("break"), t.Simple("continue")]
        if self.has("exits") and self.around.block != "function":
            ways.append(t.Simple("exit"))
        if self.has("returns") and not self.around.in_loop:
            result = self.around.result
            ways.append(t.Return(None if result is None else self.expression(result, 2)))
        if not ways:
            return self._if(depth)
        return (t.If(self.expression(t.BOOL, 2), (self.random.choice(ways),), ()),)

    def _switch(self, depth: int) -> t.Body:
        if self.around.tables and self.random.random() < 0.6:
            table = self._taken(self.around.tables)
            labels: list = [each.action for each in table.choices]
            self.random.shuffle(labels)
            return (t.Switch(None, table.name, self._cases(labels, depth)),)
        type_ = t.Bits(self.random.choice((2, 3, 8)))
        values = {self.number(type_.width) for _ in range(3)}
        labels = [t.Literal(type_, each) for each in sorted(values)]
        value = self.expression(type_, 2)
        if isinstance(value, t.Literal):
            return self._assign(depth)
        return (t.Switch(value, "", self._cases(labels, depth)),)

    def _cases(self, labels: list, depth: int) -> tuple[t.Case, ...]:
        cases = []
        for label in labels[: self.random.randint(1, len(labels))]:
            falls = self.random.random() < 0.25
            cases.append(t.Case(label, None if falls else self._scoped(1, depth - 1)))
        if self.random.random() < 0.7 or cases[-1].body is None:
            cases.append(t.Case(None, self._scoped(1, depth - 1)))
        return tuple(cases)

    def _loop(self, depth: int) -> t.Body:
        name, type_ = self.name("i"), t.Bits(self.random.choice((4, 8, 16)))
        tables, self.around.tables = self.around.tables, []
        was, self.around.in_loop = self.around.in_loop, True
        instances, self.around.instances = self.around.instances, []
        with self.nested():
            self.view.see(t.Name(name, type_), writable=False)
            body = self._scoped(self.random.randint(1, 3), depth - 1)
        self.around.in_loop, self.around.tables = was, tables
        self.around.instances = instances
        return (t.For(name, type_, self.random.randint(1, 4), self.random.random() < 0.4, body),)

    def _header(self, _: int) -> t.Body:
        header = self.random.choice(self.view.headers)
        same = [each for each in self.view.headers if each.type == header.type and each != header]
        if not same:
            return self._validity(0)
        source = self.random.choice(same)
        if self.random.random() < 0.4:
            name = self.name("h")
            place = t.Name(name, header.type)
            self._here.add(name)
            self.view.headers.append(place)
            return (t.Declare(name, header.type, source),)
        return (t.Assign(header, "=", source),)

    def _validity(self, _: int) -> t.Body:
        header = self.random.choice(self.view.headers)
        if self.random.random() < 0.35:
            return (t.SetValid(header, False),)
        made: list[t.Statement] = [t.SetValid(header, True)]
        for name, type_ in header.type.fields:
            if not self.has("open_values", 0.1):
                field_ = t.Member(header, name, type_)
                made.append(t.Assign(field_, "=", self.expression(type_, 1)))
        return tuple(made)

    def _move(self, _: int) -> t.Body:
        stack = self.random.choice(self.view.stacks)
        operation = self.random.choice(("push_front", "pop_front"))
        return (t.Move(stack, operation, self.random.randint(1, stack.type.size)),)

    def _invoke_function(self, depth: int) -> t.Body:
        return self._invoked([each for each in self.view.functions if not each.result], depth)

    def _invoke_action(self, depth: int) -> t.Body:
        return self._invoked(self.around.actions, depth)

    def _invoked(self, functions: list[t.Function], depth: int) -> t.Body:
        if not functions:
            return self._assign(depth)
        function = self.random.choice(functions)
        arguments = self.arguments(function.parameters, 2)
        if arguments is None:
            return self._assign(depth)
        return (t.Invoke(function.name, arguments),)

    def _taken(self, tables: list[t.Table]) -> t.Table:
        """A table; a packet meets each only once, which BMv2 requires."""
        table = self.random.choice(tables)
        self.around.tables = [each for each in self.around.tables if each != table]
        return table

    def _apply_table(self, depth: int) -> t.Body:
        if not self.around.tables:
            return self._assign(depth)
        return (t.Apply(self._taken(self.around.tables).name),)

    def _apply_instance(self, depth: int) -> t.Body:
        if not self.around.instances:
            return self._assign(depth)
        name, control = self.random.choice(self.around.instances)
        arguments = self.arguments(control.parameters, 2)
        if arguments is None:
            return self._assign(depth)
        if control.tables:
            self.around.instances = [each for each in self.around.instances if each[0] != name]
        return (t.Apply(name, arguments),)

    def _array(self, depth: int) -> t.Body:
        array = self.random.choice(self.around.arrays)
        small = self.pure(t.Bits(2 if self.random.random() < 0.8 else 3), 1)
        index = t.Cast(_INDEX, small)
        if array.kind == "counter":
            return (t.Count(array.name, index),)
        type_ = t.Bits(array.width)
        target = self.target(type_)
        if target is None or isinstance(target, t.Slice) or self.random.random() < 0.5:
            return (t.RegisterWrite(array.name, index, self.expression(type_, 2)),)
        return (t.RegisterRead(array.name, target, index),)

    def _drop(self, depth: int) -> t.Body:
        return (t.If(self.expression(t.BOOL, 2), (t.Drop(),), ()),)


def _uses(place: t.Expression, name: str) -> bool:
    """Whether a place begins with a name."""
    while isinstance(place, (t.Member, t.Index)):
        place = place.base
    return isinstance(place, t.Name) and place.name == name
