"""Arithmetic in a sweep's file: `queue: "{max(2, round(buffer * bdp))} packets"`.

What stands in braces is computed from the parameters of a point. There are numbers, parameters,
+ - * / // % **, and the functions below; nothing else of Python can be reached.
"""

from __future__ import annotations

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

Value: TypeAlias = int | float | str

_BRACES = re.compile(r"\{([^{}]*)\}")
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
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
    elif not math.isfinite(number):
        raise ExpressionError(f"a number became {number}, which is too large or undefined.")
    return number


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}...")


def word(value: Value) -> str:
    """A value as text: 0.25, 20, cubic."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def filled(template: str, values: Mapping[str, Value]) -> str:
    """A text with what stands in its braces computed."""
    return _BRACES.sub(lambda match: word(evaluated(match[1], values)), template)


def number(text: str, values: Mapping[str, Value]) -> float:
    """The number that an expression has for these parameters."""
    found = evaluated(text, values)
    if isinstance(found, str):
        raise ExpressionError(f"{text!r} is {found!r}, and must be a number.")
    return found


def evaluated(text: str, values: Mapping[str, Value]) -> Value:
    """What an expression is: a parameter's word, or a number."""
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
    try:
        return _value(tree, values)
    except ExpressionError as error:
        raise ExpressionError(f"{shown}: {error}") from None
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        raise ExpressionError(f"{shown} cannot be computed: {error}.") from None


def _depth(tree: ast.AST) -> int:
    """How many levels of nodes an expression has, counted without recursion."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _value(node: ast.AST, values: Mapping[str, Value]) -> Value:
    match node:
        case ast.Constant(value=int() | float() as constant) if not isinstance(constant, bool):
            return _bounded(constant)
        case ast.Name(id=name):
            return _named(name, values)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _OPERATORS:
            return _bounded(_OPERATORS[type(sign)](_number(operand, values)))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            operands = _number(left, values), _number(right, values)
            return _bounded(_OPERATORS[type(sign)](*operands))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in _FUNCTIONS:
                raise ExpressionError(f"there is no function {name}{_meant(name, _FUNCTIONS)}")
            return _bounded(_FUNCTIONS[name](*(_number(each, values) for each in arguments)))
    raise ExpressionError(
        f"only numbers, parameters, + - * / // % ** and {', '.join(_FUNCTIONS)} may be used."
    )


def _number(node: ast.AST, values: Mapping[str, Value]) -> float:
    found = _value(node, values)
    if isinstance(found, str):
        raise ExpressionError(f"{found!r} is a word, and cannot be computed with.")
    return found


def _named(name: str, values: Mapping[str, Value]) -> Value:
    if name not in values:
        raise ExpressionError(f"there is no parameter {name}{_meant(name, values)}")
    return values[name]


def _meant(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {near[0]}?" if near else f"; there are: {', '.join(known) or 'none'}."
