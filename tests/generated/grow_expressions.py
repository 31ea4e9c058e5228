"""Random expressions of a wanted type, from the names that can be seen where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from tests.generated import tree as t

# Each program may use about half of these, so that rare ones meet in many combinations.
FEATURES = (
    "action_calls",
    "branching_actions",
    "calls",
    "compound",
    "concatenation",
    "conditional",
    "counters",
    "drops",
    "egress",
    "exits",
    "header_values",
    "hits",
    "lookahead",
    "loops",
    "multiplication",
    "open_values",
    "registers",
    "returns",
    "saturation",
    "shadowing",
    "shifts",
    "short_packets",
    "signed",
    "slices",
    "stacks",
    "subcontrols",
    "switches",
    "tables",
    "unions",
    "verify",
    "wide",
)
_NARROW = (1, 2, 3, 4, 5, 7, 8, 8, 9, 11, 12, 13, 15, 16, 16, 17, 24, 31, 32)
_WIDE = (33, 48, 63, 64, 65, 100, 127, 128, 129)


@dataclass(frozen=True)
class Seen:
    """A scalar that can be read here, and perhaps written."""

    place: t.Expression
    writable: bool


@dataclass
class View:
    """The names that are visible at a place of the program."""

    scalars: list[Seen] = field(default_factory=list)
    headers: list[t.Expression] = field(default_factory=list)
    stacks: list[t.Expression] = field(default_factory=list)
    functions: list[t.Function] = field(default_factory=list)
    # Calls and tables may occur here.
    effects: bool = True
    reader: bool = False

    def writable(self) -> list[t.Expression]:
        """Scalars that can be written."""
        return [each.place for each in self.scalars if each.writable]

    def see(self, place: t.Expression, *, writable: bool = True) -> None:
        """Adds a scalar."""
        self.scalars.append(Seen(place, writable))


class Expressions:
    """Everything below statements."""

    def __init__(self, random: Random) -> None:
        self.random = random
        count = random.randint(len(FEATURES) // 3, 2 * len(FEATURES) // 3)
        self.features = set(random.sample(FEATURES, count))
        widths = _NARROW + (_WIDE if "wide" in self.features else ())
        self.widths = [random.choice(widths) for _ in range(4)] + [8]
        self.numbers = [random.getrandbits(140) for _ in range(4)] + [random.randint(2, 9)]
        self.view = View()
        self._names: dict[str, int] = {}

    def has(self, feature: str, chance: float = 1.0) -> bool:
        """Whether this program has a feature, and now is one of the times to use it."""
        return feature in self.features and self.random.random() < chance

    def name(self, stem: str) -> str:
        """A name that the program has not had yet."""
        self._names[stem] = self._names.get(stem, 0) + 1
        return f"{stem}{self._names[stem]}"

    @contextmanager
    def nested(self, **changes: bool) -> Iterator[None]:
        """Declarations inside are visible only there."""
        outer = self.view
        lists = [
            list(each) for each in (outer.scalars, outer.headers, outer.stacks, outer.functions)
        ]
        self.view = View(*lists, outer.effects, outer.reader)
        for name, value in changes.items():
            setattr(self.view, name, value)
        try:
            yield
        finally:
            self.view = outer

    def scalar_type(self, *, unsigned: bool = False) -> t.Type:
        """A type of a variable, parameter or field."""
        if not unsigned and self.random.random() < 0.1:
            return t.BOOL
        width = self.random.choice(self.widths)
        signed = not unsigned and width > 1 and self.has("signed", 0.35)
        return t.Bits(width, signed)

    def number(self, width: int) -> int:
        """A number of this many bits: an end, a small one, or one that the program has
        elsewhere."""
        top = (1 << width) - 1
        choices = (0, 1, top, top >> 1, 1 << (width - 1), self.random.getrandbits(width))
        if self.random.random() < 0.5:
            return self.random.choice(self.numbers) & top
        return self.random.choice(choices)

    def literal(self, type_: t.Type) -> t.Literal:
        """A constant."""
        if isinstance(type_, t.Boolean):
            return t.Literal(type_, self.random.getrandbits(1))
        value = self.number(type_.width)
        if type_.signed and value >> (type_.width - 1):
            value -= 1 << type_.width
        return t.Literal(type_, value)

    def expression(self, type_: t.Type, depth: int) -> t.Expression:
        """An expression of a scalar type."""
        if depth <= 0 or self.random.random() < 0.15:
            return self._leaf(type_)
        if isinstance(type_, t.Boolean):
            return self._truth(depth - 1)
        return self.random.choice(self._ways(type_))(type_, depth - 1)

    def pure(self, type_: t.Type, depth: int) -> t.Expression:
        """An expression without effects, for keys and indexes."""
        with self.nested(effects=False):
            return self.expression(type_, depth)

    def target(self, type_: t.Type) -> t.Expression | None:
        """A place of exactly this type that can be written."""
        exact = [each for each in self.view.writable() if each.type == type_]
        if self.has("slices", 0.3) and isinstance(type_, t.Bits) and not type_.signed:
            wider = [
                each
                for each in self.view.writable()
                if isinstance(each.type, t.Bits) and each.type.width > type_.width
            ]
            if wider:
                return self._slice_of(self.random.choice(wider), type_.width)
        return self.random.choice(exact) if exact else None

    def adapted(self, value: t.Expression, to: t.Type) -> t.Expression:
        """The value with casts to another type."""
        if isinstance(to, t.Boolean):
            if isinstance(value.type, t.Boolean):
                return value
            if value.type == t.Bits(1):
                return t.Cast(t.BOOL, value)
            return t.Binary("!=", value, t.Literal(value.type, 0), t.BOOL)
        if isinstance(value.type, t.Boolean):
            value = t.Cast(t.Bits(1), value)
        if value.type == to:
            return value
        if value.type.signed != to.signed:
            # Between signed and unsigned the width stays, so that is changed before or behind.
            # `int<1>` has no use and no agreement about it.
            is_first = {value.type.width: True, to.width: False}.get(1, self.random.random() < 0.5)
            if is_first:
                value = self._resized(value, to.width)
            value = t.Cast(t.Bits(value.type.width, to.signed), value)
        return self._resized(value, to.width)

    def arguments(self, parameters: tuple[t.Parameter, ...], depth: int) -> tuple | None:
        """Arguments for a call, or nothing if there is no place for a result."""
        made = []
        for each in parameters:
            is_header = isinstance(each.type, t.HeaderType)
            if is_header:
                fitting = [header for header in self.view.headers if header.type == each.type]
                value = self.random.choice(fitting) if fitting else None
            elif each.direction in ("out", "inout"):
                value = self.target(each.type)
            else:
                value = self.expression(each.type, depth)
            if value is None:
                return None
            made.append(value)
        return tuple(made)

    def _resized(self, value: t.Expression, width: int) -> t.Expression:
        if value.type.width == width:
            return value
        return t.Cast(t.Bits(width, value.type.signed), value)

    def _leaf(self, type_: t.Type) -> t.Expression:
        if self.random.random() < 0.3 or not self.view.scalars:
            return self.literal(type_)
        exact = [each.place for each in self.view.scalars if each.place.type == type_]
        if exact and self.random.random() < 0.7:
            return self.random.choice(exact)
        return self.adapted(self.random.choice(self.view.scalars).place, type_)

    def _ways(self, type_: t.Bits) -> list[Callable[[t.Bits, int], t.Expression]]:
        ways = [self._arithmetic, self._arithmetic, self._arithmetic, self._negated, self._cast]
        if self.has("saturation"):
            ways.append(self._saturating)
        if self.has("shifts"):
            ways += [self._shifted, self._shifted]
        if self.has("concatenation") and type_.width > 2:
            ways += [self._joined, self._joined]
        if self.has("slices") and not type_.signed:
            ways += [self._slice, self._slice]
        if self.has("conditional"):
            ways.append(self._conditional)
        if self.has("calls") and self.view.effects:
            ways += [self._call, self._call]
        if self.has("lookahead") and self.view.reader and not type_.signed:
            ways.append(lambda type_, _: t.Lookahead(type_))
        return ways

    def _operand_beside(self, left: t.Expression, type_: t.Type, depth: int) -> t.Expression:
        right = self.expression(type_, depth)
        if isinstance(right, t.Literal) and isinstance(type_, t.Bits) and right.value >= 0:
            is_bare = not isinstance(left, t.Literal) and self.random.random() < 0.5
            return t.Literal(right.type, right.value, is_bare)
        return right

    def _pair(self, operator: str, type_: t.Type, of: t.Type, depth: int) -> t.Expression:
        left = self.expression(of, depth)
        return t.Binary(operator, left, self._operand_beside(left, of, depth), type_)

    def _arithmetic(self, type_: t.Bits, depth: int) -> t.Expression:
        operators = ["+", "-", "&", "|", "^"]
        if self.has("multiplication"):
            operators.append("*")
        return self._pair(self.random.choice(operators), type_, type_, depth)

    def _saturating(self, type_: t.Bits, depth: int) -> t.Expression:
        return self._pair(self.random.choice(("|+|", "|-|")), type_, type_, depth)

    def _negated(self, type_: t.Bits, depth: int) -> t.Expression:
        return t.Unary(self.random.choice("-~"), self.expression(type_, depth), type_)

    def _cast(self, type_: t.Bits, depth: int) -> t.Expression:
        return self.adapted(self.expression(self.scalar_type(), depth), type_)

    def _shifted(self, type_: t.Bits, depth: int) -> t.Expression:
        operator = self.random.choice(("<<", ">>"))
        left = self.expression(type_, depth)
        if self.random.random() < 0.4:
            by = t.Literal(t.Bits(8), self.random.choice((0, 1, 3, type_.width - 1, type_.width)))
            return t.Binary(operator, left, t.Literal(by.type, by.value, True), type_)
        by = self.expression(t.Bits(self.random.choice((3, 4, 6, 8))), depth)
        return t.Binary(operator, left, by, type_)

    def _joined(self, type_: t.Bits, depth: int) -> t.Expression:
        cut = self.random.randint(1, type_.width - (2 if type_.signed else 1))
        left = t.Bits(type_.width - cut, type_.signed)
        right = t.Bits(cut, cut > 1 and self.has("signed", 0.3))
        return t.Binary("++", self.expression(left, depth), self.expression(right, depth), type_)

    def _slice(self, type_: t.Bits, depth: int) -> t.Expression:
        wider = t.Bits(type_.width + self.random.randint(0, 9), self.has("signed", 0.3))
        if wider.width < 2:
            wider = t.Bits(2)
        base = self.expression(wider, depth)
        if isinstance(base, t.Literal):
            base = self._leaf(wider)
        return self._slice_of(base, type_.width)

    def _slice_of(self, base: t.Expression, width: int) -> t.Slice:
        low = self.random.randint(0, base.type.width - width)
        return t.Slice(base, low + width - 1, low)

    def _conditional(self, type_: t.Type, depth: int) -> t.Expression:
        choices = [self.expression(type_, depth) for _ in range(2)]
        return t.Conditional(self.expression(t.BOOL, depth), *choices, type_)

    def _call(self, type_: t.Type, depth: int) -> t.Expression:
        functions = [each for each in self.view.functions if each.result is not None]
        exact = [each for each in functions if each.result == type_]
        if not functions:
            return self._leaf(type_)
        function = self.random.choice(exact or functions)
        arguments = self.arguments(function.parameters, depth)
        if arguments is None:
            return self._leaf(type_)
        return self.adapted(t.Call(function.name, arguments, function.result), type_)

    def _truth(self, depth: int) -> t.Expression:
        which = self.random.randrange(10)
        if which < 5:
            return self._compared(depth)
        if which < 7:
            operator = self.random.choice(("&&", "||"))
            left, right = (self.expression(t.BOOL, depth) for _ in range(2))
            return t.Binary(operator, left, right, t.BOOL)
        if which == 7:
            return t.Unary("!", self.expression(t.BOOL, depth), t.BOOL)
        if which == 8 and self.view.headers:
            return self._of_headers()
        if self.has("conditional", 0.5):
            return self._conditional(t.BOOL, depth)
        return self._leaf(t.BOOL)

    def _compared(self, depth: int) -> t.Expression:
        type_ = self.scalar_type()
        operators = ("==", "!=")
        if isinstance(type_, t.Bits):
            operators += ("<", "<=", ">", ">=")
        return self._pair(self.random.choice(operators), t.BOOL, type_, depth)

    def _of_headers(self) -> t.Expression:
        header = self.random.choice(self.view.headers)
        same = [each for each in self.view.headers if each.type == header.type]
        if self.has("header_values", 0.5) and len(same) > 1:
            return t.Binary(
                self.random.choice(("==", "!=")), header, self.random.choice(same), t.BOOL
            )
        return t.IsValid(header)
