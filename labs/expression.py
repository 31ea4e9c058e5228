"""Arithmetic in the files of sweeps and labs: `queue: "{max(2, round(buffer * bdp))} packets"`.

Braces hold expressions of named values. There are numbers, names, + - * / // % **,
comparisons, and the functions below; nothing else of Python can be reached. A caller may add
functions of its own, which also take words in quotes: `ping_ms("during the flow")`. Behind a colon
stands how a number is written: `{share:.1%}`, `{rate:rate}`, `{count:packets}`.
"""

from __future__ import annotations

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from topo.units import counted, format_rate

Value: TypeAlias = int | float | str
Functions: TypeAlias = Mapping[str, Callable[..., float]]

_BRACES = re.compile(r"\{([^{}]*)\}")
# A few digits at most: a width could be longer than the memory.
_FORMAT = re.compile(r",?(\.\d)?[fge%]?")
_WORDED: Mapping[str, Callable[[float], str]] = {
    "packets": lambda number: counted(round(number), "packet"),
    "rate": format_rate,
}
FUNCTIONS: Functions = {
    "abs": abs,
    "ceil": math.ceil,
    "erf": math.erf,
    "floor": math.floor,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": round,
    "sqrt": math.sqrt,
}
_OPERATORS: Mapping[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    # Of reals: a power of whole numbers could be longer than the memory.
    ast.Pow: lambda base, power: math.pow(base, power),
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


# A longer expression is refused: reading one nests calls as deep as its brackets.
_LENGTH_MAX = 1000
# Levels of operations inside one another.
_DEPTH_MAX = 200
# A larger whole number cannot be drawn, and products of products could fill the memory.
_BITS_MAX = 1000
# So much of a text stands in a complaint about it.
_SHOWN_MAX = 60


class ExpressionError(ValueError):
    """An expression that cannot be computed; its text says which and why."""


def value_of(text: str) -> Value:
    """A parameter's value as it is written: a number where it looks like one, else a word."""
    for number in (int, float):
        try:
            found = number(text)
        except ValueError:
            continue
        if isinstance(found, float) and not math.isfinite(found):
            # `nan` and `inf` are words, such as names of files; digits are meant as a number.
            if any(map(str.isdigit, text)):
                raise ExpressionError(f"{_shortened(text)} is too large a number.")
            return text
        return _bounded(found)
    return text


def _bounded(number: float) -> float:
    """The number itself, if later arithmetic and drawing can use it."""
    if isinstance(number, int):
        if number.bit_length() > _BITS_MAX:
            raise ExpressionError(f"a number of more than {_BITS_MAX} bits is too large.")
    elif math.isinf(number):
        raise ExpressionError(f"a number became {number}, which is too large or undefined.")
    return number


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}...")


def word(value: Value) -> str:
    """A value as text: 0.25, 20, cubic."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def filled(template: str, values: Mapping[str, Value], functions: Functions = FUNCTIONS) -> str:
    """A text with the expressions in its braces computed."""

    def replaced(match: re.Match[str]) -> str:
        text, colon, written = match[1].rpartition(":")
        if not colon:
            return word(evaluated(match[1], values, functions))
        return _written(number(text, values, functions), written.strip())

    return _BRACES.sub(replaced, template)


def number(text: str, values: Mapping[str, Value], functions: Functions = FUNCTIONS) -> float:
    """The number that an expression has for these values."""
    found = evaluated(text, values, functions)
    if isinstance(found, str):
        raise ExpressionError(f"{text!r} is {found!r}, and must be a number.")
    return found


def evaluated(text: str, values: Mapping[str, Value], functions: Functions = FUNCTIONS) -> Value:
    """The value of an expression: a word or a number."""
    tree = _tree(text)
    shown = _shortened(text)
    try:
        _check(tree, values, functions)
        return _value(tree, values, functions)
    except ExpressionError as error:
        raise ExpressionError(f"{shown}: {error}") from None
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        raise ExpressionError(f"{shown} cannot be computed: {error}.") from None


def check(text: str, names: Collection[str], functions: Functions = FUNCTIONS) -> None:
    """Refuses an expression that uses anything but these names and functions."""
    try:
        _check(_tree(text), names, functions)
    except ExpressionError as error:
        raise ExpressionError(f"{_shortened(text)}: {error}") from None


def check_filled(template: str, names: Collection[str], functions: Functions = FUNCTIONS) -> None:
    """The same of a text with expressions in braces, whose values are not known yet."""
    for part in _BRACES.findall(template):
        text, colon, written = part.rpartition(":")
        check(text if colon else part, names, functions)
        if colon:
            _written(0, written.strip())


def calls(text: str) -> list[tuple[str, list[str]]]:
    """The functions that an expression uses, each with its arguments; words without quotes."""
    return [
        (node.func.id, [_shown_argument(each) for each in node.args])
        for node in ast.walk(_tree(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


def calls_in(template: str) -> list[tuple[str, list[str]]]:
    """The same of all expressions in the braces of a text."""
    parts = [part.rpartition(":") for part in _BRACES.findall(template)]
    return [call for text, colon, last in parts for call in calls(text if colon else last)]


def _shown_argument(node: ast.AST) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _written(number: float, how: str) -> str:
    if how in _WORDED:
        return _WORDED[how](number)
    if not how or not _FORMAT.fullmatch(how):
        raise ExpressionError(
            f"{how!r} is no way to write a number: use {', '.join(_WORDED)}, or as Python does "
            ".1f, .3g, .0%, or a comma for thousands."
        )
    return format(number, how)


def _tree(text: str) -> ast.AST:
    shown = _shortened(text)
    if len(text) > _LENGTH_MAX:
        raise ExpressionError(
            f"{shown} is an expression of {len(text):,} characters; {_LENGTH_MAX:,} are the most."
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"{shown} is no expression, such as 2 * buffer.") from None
    if _depth(tree) > _DEPTH_MAX:
        raise ExpressionError(f"{shown} is nested more than {_DEPTH_MAX} deep.")
    return tree


def _depth(tree: ast.AST) -> int:
    """How many levels of nodes an expression has, counted without recursion."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _check(node: ast.AST, names: Collection[str], functions: Functions) -> None:
    """Refuses what is not of the language."""
    parts: Sequence[ast.AST] = ()
    match node:
        case ast.Constant(value=int() | float() as constant) if not isinstance(constant, bool):
            pass
        case ast.Name(id=name):
            if name not in names:
                raise ExpressionError(f"there is no parameter {name}{_meant(name, names)}")
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _OPERATORS:
            parts = [operand]
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            parts = [left, right]
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _OPERATORS:
            parts = [left, right]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in functions:
                raise ExpressionError(f"there is no function {name}{_meant(name, functions)}")
            parts = [each for each in arguments if not _is_quoted(each)]
        case _:
            raise ExpressionError(
                "only numbers, parameters, + - * / // % **, comparisons and "
                f"{', '.join(functions)} may be used."
            )
    for part in parts:
        _check(part, names, functions)


def _is_quoted(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _value(node: ast.AST, values: Mapping[str, Value], functions: Functions) -> Value:
    """The value of a part of a checked expression."""

    def number(operand: ast.AST) -> float:
        found = _value(operand, values, functions)
        if isinstance(found, str):
            raise ExpressionError(f"{found!r} is a word, and cannot be computed with.")
        return found

    match node:
        case ast.Constant(value=str() as quoted):
            return quoted
        case ast.Constant(value=int() | float() as constant):
            return _bounded(constant)
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=sign, operand=operand):
            return _bounded(_OPERATORS[type(sign)](number(operand)))
        case ast.BinOp(left=left, op=sign, right=right):
            return _bounded(_OPERATORS[type(sign)](number(left), number(right)))
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return int(_OPERATORS[type(sign)](number(left), number(right)))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            if name in FUNCTIONS:
                return _bounded(functions[name](*map(number, arguments)))
            given = [_value(each, values, functions) for each in arguments]
            return _bounded(functions[name](*given))
    raise AssertionError("it was checked before")


def _meant(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {near[0]}?" if near else f"; there are: {', '.join(known) or 'none'}."
