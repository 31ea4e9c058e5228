"""The values of expressions in a generated program (specification, 8)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from tests.generated import tree as t
from tests.generated.places import Scope, place
from tests.generated.values import (
    Header,
    Struct,
    UndefinedError,
    Value,
    pattern,
    saturated,
    wrapped,
)

# On numbers with their signs; what comes out is wrapped into the type of the expression.
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    # 8.5: a shift by the width or more shifts everything out; to the right, signs come in.
    "<<": lambda a, b: a << b if b < 1 << 16 else 0,
    ">>": lambda a, b: a >> b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}


class Computed:
    """Expressions of a machine that knows its names, functions and tables."""

    @abstractmethod
    def scope(self) -> Scope:
        """Where names are looked up."""

    @abstractmethod
    def call(self, name: str, arguments: tuple[t.Expression, ...]) -> Value:
        """Calls a function."""

    @abstractmethod
    def apply(self, name: str) -> tuple[bool, str]:
        """Applies a table."""

    @abstractmethod
    def look(self, width: int) -> int:
        """The next bits of the packet."""

    @abstractmethod
    def failed(self, error: str) -> bool:
        """Whether the parser ended with this error."""

    def known(self, expression: t.Expression) -> int:
        """A value on which something depends."""
        value = self.value(expression)
        if value is None:
            raise UndefinedError
        return value

    def cast(self, value: int | None, type_: t.Type) -> int | None:
        """The bits of a value, read as another type."""
        return None if value is None else wrapped(value, type_)

    def value(self, expression: t.Expression) -> Value:
        """Evaluates from left to right, and of `&&`, `||` and `?:` only what is needed."""
        match expression:
            case t.Literal(type_, number):
                return wrapped(number, type_)
            case t.Unary():
                return self._unary(expression)
            case t.Binary("&&" | "||" as operator, left, right):
                decided = self.known(left)
                return decided if bool(decided) == (operator == "||") else self.value(right)
            case t.Binary():
                return self._binary(expression)
            case t.Conditional(condition, first, second):
                return self.value(first if self.known(condition) else second)
            case t.Cast(type_, operand):
                return self.cast(self.value(operand), type_)
            case t.Slice(base, high, low):
                value = self.value(base)
                return None if value is None else value >> low & ((1 << (high - low + 1)) - 1)
            case t.IsValid(header):
                return int(self._is_valid(place(self, header).get()))
            case t.Call(name, arguments):
                return self.call(name, arguments)
            case t.Hit(table, hit):
                return int(self.apply(table)[0] == hit)
            case t.Lookahead(type_):
                return wrapped(self.look(t.width_of(type_)), type_)
            case t.Failed(error):
                return int(self.failed(error))
            case _:
                return place(self, expression).get()

    @staticmethod
    def _is_valid(value: Value) -> bool:
        if isinstance(value, Struct):
            return any(each.valid for each in value.fields.values())
        return value.valid

    def _unary(self, expression: t.Unary) -> int | None:
        value = self.value(expression.operand)
        if value is None:
            return None
        changed = {"-": -value, "~": ~value, "+": value, "!": 1 - value}[expression.operator]
        return wrapped(changed, expression.type)

    def _binary(self, expression: t.Binary) -> int | None:
        left, right = self.value(expression.left), self.value(expression.right)
        operator = expression.operator
        if isinstance(left, Header):
            return self._same(left, right, operator)
        if left is None or right is None:
            return None
        if operator == "++":
            width = expression.right.type.width
            return wrapped(left << width | pattern(right, expression.right.type), expression.type)
        if operator in ("|+|", "|-|"):
            return saturated(_ARITHMETIC[operator[1]](left, right), expression.type)
        return wrapped(_ARITHMETIC[operator](left, right), expression.type)

    @staticmethod
    def _same(left: Header, right: Header, operator: str) -> int | None:
        """8.17: both invalid, or both valid with equal fields."""
        if left.valid != right.valid:
            equal = False
        elif not left.valid:
            equal = True
        elif None in (*left.fields.values(), *right.fields.values()):
            return None
        else:
            equal = left.fields == right.fields
        return int(equal == (operator == "=="))
