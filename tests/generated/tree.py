"""The tree of a generated program: grown, written as text, and evaluated.

Every node is a frozen dataclass and every list a tuple, so that a smaller program is made by
copying (`shrink`) and two can be compared. Every expression knows its type.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bits:
    """`bit<width>`, or `int<width>`."""

    width: int
    signed: bool = False


@dataclass(frozen=True)
class Boolean:
    """`bool`."""


@dataclass(frozen=True)
class HeaderType:
    """A header; each field is a name and a type."""

    name: str
    fields: tuple[tuple[str, Type], ...]

    @property
    def width(self) -> int:
        """All fields, in bits."""
        return sum(width_of(type_) for _, type_ in self.fields)


@dataclass(frozen=True)
class StructType:
    """A struct."""

    name: str
    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class UnionType:
    """A header union: of its members at most one is valid."""

    name: str
    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class StackType:
    """A header stack."""

    element: HeaderType
    size: int


Type = Bits | Boolean | HeaderType | StructType | UnionType | StackType

BOOL = Boolean()


def width_of(type_: Type) -> int:
    """How many bits a scalar has in a header."""
    return type_.width if isinstance(type_, Bits) else 1


@dataclass(frozen=True)
class Literal:
    """A number or truth value; `bare` is written without its width, which another operand has."""

    type: Type
    value: int
    bare: bool = False


@dataclass(frozen=True)
class Name:
    """A variable or parameter."""

    name: str
    type: Type


@dataclass(frozen=True)
class Member:
    """`base.name`, and of a stack also `next` and `last`."""

    base: Expression
    name: str
    type: Type


@dataclass(frozen=True)
class Index:
    """`base[index]` of a header stack."""

    base: Expression
    index: Expression
    type: Type


@dataclass(frozen=True)
class Slice:
    """`base[high:low]`."""

    base: Expression
    high: int
    low: int

    @property
    def type(self) -> Type:
        """Always unsigned, whatever it is cut from."""
        return Bits(self.high - self.low + 1)


@dataclass(frozen=True)
class Unary:
    """`-`, `~`, `!` or `+`."""

    operator: str
    operand: Expression
    type: Type


@dataclass(frozen=True)
class Binary:
    """Any operator with two operands."""

    operator: str
    left: Expression
    right: Expression
    type: Type


@dataclass(frozen=True)
class Conditional:
    """`condition ? first : second`."""

    condition: Expression
    first: Expression
    second: Expression
    type: Type


@dataclass(frozen=True)
class Cast:
    """`(type)operand`."""

    type: Type
    operand: Expression


@dataclass(frozen=True)
class IsValid:
    """`header.isValid()`."""

    header: Expression
    type: Type = BOOL


@dataclass(frozen=True)
class Call:
    """A call of a function for its value."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type


@dataclass(frozen=True)
class Hit:
    """`table.apply().hit`, or `miss`."""

    table: str
    hit: bool
    type: Type = BOOL


@dataclass(frozen=True)
class Lookahead:
    """`packet.lookahead<type>()`."""

    type: Type


@dataclass(frozen=True)
class Failed:
    """`std.parser_error == error.NAME`."""

    error: str
    type: Type = BOOL


Expression = (
    Literal
    | Name
    | Member
    | Index
    | Slice
    | Unary
    | Binary
    | Conditional
    | Cast
    | IsValid
    | Call
    | Hit
    | Lookahead
    | Failed
)


@dataclass(frozen=True)
class Declare:
    """A variable, with or without a first value."""

    name: str
    type: Type
    value: Expression | None


@dataclass(frozen=True)
class Assign:
    """`target = value`, or `+=` and its like."""

    target: Expression
    operator: str
    value: Expression


@dataclass(frozen=True)
class If:
    """A condition and what depends on it."""

    condition: Expression
    then: Body
    other: Body


@dataclass(frozen=True)
class Case:
    """Labels of a `switch`, `None` being `default`; without a body it falls into the next one."""

    label: Literal | str | None
    body: Body | None


@dataclass(frozen=True)
class Switch:
    """`switch` on a value, or, with a table, on the action that ran."""

    value: Expression | None
    table: str
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Apply:
    """A table or a control applied for its effect."""

    name: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Invoke:
    """A call of an action or function for its effect."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class SetValid:
    """`setValid` or `setInvalid`."""

    header: Expression
    valid: bool


@dataclass(frozen=True)
class Move:
    """`push_front` or `pop_front`."""

    stack: Expression
    operation: str
    count: int


@dataclass(frozen=True)
class RegisterRead:
    """`register.read(target, index)`."""

    register: str
    target: Expression
    index: Expression


@dataclass(frozen=True)
class RegisterWrite:
    """`register.write(index, value)`."""

    register: str
    index: Expression
    value: Expression


@dataclass(frozen=True)
class Count:
    """`counter.count(index)`."""

    counter: str
    index: Expression


@dataclass(frozen=True)
class For:
    """`for (type name = 0; name < count; name = name + 1)`, or the same rounds as a range."""

    name: str
    type: Bits
    count: int
    ranged: bool
    body: Body


@dataclass(frozen=True)
class Block:
    """Braces: names declared in it end with it."""

    body: Body


@dataclass(frozen=True)
class Return:
    """The end of a function, action or control."""

    value: Expression | None = None


@dataclass(frozen=True)
class Simple:
    """`exit`, `break` or `continue`."""

    word: str


@dataclass(frozen=True)
class Drop:
    """`mark_to_drop`."""


@dataclass(frozen=True)
class Extract:
    """`packet.extract(header)`."""

    header: Expression


@dataclass(frozen=True)
class Advance:
    """`packet.advance(bits)`."""

    bits: int


@dataclass(frozen=True)
class Verify:
    """`verify(condition, error.Odd)`."""

    condition: Expression


Statement = (
    Declare
    | Assign
    | If
    | Switch
    | Apply
    | Invoke
    | SetValid
    | Move
    | RegisterRead
    | RegisterWrite
    | Count
    | For
    | Block
    | Return
    | Simple
    | Drop
    | Extract
    | Advance
    | Verify
)
Body = tuple[Statement, ...]


@dataclass(frozen=True)
class Parameter:
    """Direction `in`, `out` or `inout`; none for the control plane's arguments."""

    name: str
    direction: str
    type: Type


@dataclass(frozen=True)
class Function:
    """A function at the top of the program, or an action of a control."""

    name: str
    result: Type | None
    parameters: tuple[Parameter, ...]
    body: Body


@dataclass(frozen=True)
class Match:
    """The match of a value: equal under a mask, or between two bounds.

    `kind` says how it is written: `exact`, `mask`, `prefix`, `range` or `any`.
    """

    kind: str
    value: int
    mask: int = 0

    def takes(self, value: int) -> bool:
        """Whether a value matches; of a range `mask` is the upper bound."""
        if self.kind == "range":
            return self.value <= value <= self.mask
        return self.kind == "any" or value & self.mask == self.value & self.mask


@dataclass(frozen=True)
class Entry:
    """An entry: a match for each key, and the action with its data."""

    matches: tuple[Match, ...]
    action: str
    data: tuple[Literal, ...]
    priority: int


@dataclass(frozen=True)
class Key:
    """A key: its expression, match kind and name."""

    expression: Expression
    kind: str
    name: str


@dataclass(frozen=True)
class Choice:
    """An action of a table, with the arguments that the program gives it."""

    action: str
    bound: tuple[Expression, ...]


@dataclass(frozen=True)
class Table:
    """A table; `constant` entries stand in the program, others come from the control plane."""

    name: str
    keys: tuple[Key, ...]
    choices: tuple[Choice, ...]
    default: Entry
    constant: bool
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Array:
    """A register or counter array."""

    name: str
    kind: str
    width: int
    size: int


@dataclass(frozen=True)
class Control:
    """A control: what it declares, in this order, and what it does."""

    name: str
    parameters: tuple[Parameter, ...]
    arrays: tuple[Array, ...] = ()
    variables: Body = ()
    # Name of the instance and of the control.
    instances: tuple[tuple[str, str], ...] = ()
    actions: tuple[Function, ...] = ()
    tables: tuple[Table, ...] = ()
    body: Body = ()


@dataclass(frozen=True)
class Branch:
    """A case of a `select`: a match for each key, or `None` for `default`."""

    matches: tuple[Match, ...] | None
    state: str


@dataclass(frozen=True)
class State:
    """A state of the parser; without keys it goes on to the state of its only branch."""

    name: str
    body: Body
    keys: tuple[Expression, ...]
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Packet:
    """A frame and the port it comes in by."""

    port: int
    data: bytes


@dataclass(frozen=True)
class Program:
    """A whole program and its packets."""

    types: tuple[HeaderType | StructType | UnionType, ...]
    headers: StructType
    metadata: StructType
    functions: tuple[Function, ...]
    controls: tuple[Control, ...]
    states: tuple[State, ...]
    ingress: Control
    egress: Control
    packets: tuple[Packet, ...]
