"""Structures and clients of a Thrift interface, from tables that say what is in it.

Programs of the BMv2 world import modules that Thrift's compiler made from that switch's interface.
The modules beside this one have the same names and the same classes, but are tables; what they have
in common, reading and writing, is here. The `thrift` package has the protocols and transports.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from thrift.protocol.TProtocol import TProtocolBase
from thrift.Thrift import TApplicationException, TException, TMessageType, TType


class Type:
    """How values of one type are written and read."""

    def __init__(
        self,
        number: int,
        write: Callable[[TProtocolBase, Any], None],
        read: Callable[[TProtocolBase], Any],
    ) -> None:
        self.number = number
        self.write = write
        self.read = read


def _simple(number: int, name: str) -> Type:
    return Type(
        number,
        lambda protocol, value: getattr(protocol, f"write{name}")(value),
        lambda protocol: getattr(protocol, f"read{name}")(),
    )


BOOL = _simple(TType.BOOL, "Bool")
DOUBLE = _simple(TType.DOUBLE, "Double")
I16 = _simple(TType.I16, "I16")
I32 = _simple(TType.I32, "I32")
I64 = _simple(TType.I64, "I64")
TEXT = _simple(TType.STRING, "String")
# Some programs hand text over where bytes are meant.
BINARY = Type(
    TType.STRING,
    lambda protocol, value: protocol.writeBinary(
        value.encode("latin-1") if isinstance(value, str) else value
    ),
    lambda protocol: protocol.readBinary(),
)


def list_of(element: Type) -> Type:
    """The type of lists of such elements."""

    def write(protocol: TProtocolBase, values: Any) -> None:
        protocol.writeListBegin(element.number, len(values))
        for value in values:
            element.write(protocol, value)
        protocol.writeListEnd()

    def read(protocol: TProtocolBase) -> list[Any]:
        _, count = protocol.readListBegin()
        values = [element.read(protocol) for _ in range(count)]
        protocol.readListEnd()
        return values

    return Type(TType.LIST, write, read)


def map_of(key: Type, element: Type) -> Type:
    """The type of dictionaries from such keys to such elements."""

    def write(protocol: TProtocolBase, pairs: Any) -> None:
        protocol.writeMapBegin(key.number, element.number, len(pairs))
        for name, value in pairs.items():
            key.write(protocol, name)
            element.write(protocol, value)
        protocol.writeMapEnd()

    def read(protocol: TProtocolBase) -> dict[Any, Any]:
        _, _, count = protocol.readMapBegin()
        pairs = [(key.read(protocol), element.read(protocol)) for _ in range(count)]
        protocol.readMapEnd()
        return dict(pairs)

    return Type(TType.MAP, write, read)


def struct_of(of: type[Structure]) -> Type:
    """The type of these structures."""

    def read(protocol: TProtocolBase) -> Structure:
        value = of()
        value.read(protocol)
        return value

    return Type(TType.STRUCT, lambda protocol, value: value.write(protocol), read)


class Structure:
    """A structure: `FIELDS` are the numbers, names and types of its fields, in their order."""

    FIELDS: ClassVar[tuple[tuple[int, str, Type], ...]] = ()
    # Number, type and name of each field, for programs that show any structure.
    thrift_spec: ClassVar[tuple[Any, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.thrift_spec = (
            None,
            *((number, of.number, name, None, None) for number, name, of in cls.FIELDS),
        )

    def __init__(self, *values: Any, **named: Any) -> None:
        names = [name for _, name, _ in self.FIELDS]
        if len(values) > len(names) or set(named) - set(names):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(names)}")
        given = dict(zip(names, values, strict=False)) | named
        for name in names:
            setattr(self, name, given.get(name))

    def write(self, protocol: TProtocolBase) -> None:
        """Write the fields that are set."""
        protocol.writeStructBegin(type(self).__name__)
        for number, name, of in self.FIELDS:
            value = getattr(self, name)
            if value is not None:
                protocol.writeFieldBegin(name, of.number, number)
                of.write(protocol, value)
                protocol.writeFieldEnd()
        protocol.writeFieldStop()
        protocol.writeStructEnd()

    def read(self, protocol: TProtocolBase) -> None:
        """Read the fields that there are; what is not known is skipped."""
        known = {number: (name, of) for number, name, of in self.FIELDS}
        protocol.readStructBegin()
        while True:
            _, kind, number = protocol.readFieldBegin()
            if kind == TType.STOP:
                break
            name, of = known.get(number, ("", None))
            if of is not None and of.number == kind:
                setattr(self, name, of.read(protocol))
            else:
                protocol.skip(kind)
            protocol.readFieldEnd()
        protocol.readStructEnd()

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)!r}" for _, name, _ in self.FIELDS)
        return f"{type(self).__name__}({', '.join(fields)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class Failure(Structure, TException):
    """An exception of the interface."""

    def __str__(self) -> str:
        return repr(self)


class Enumeration:
    """Numbers by names: the class attributes in capitals."""

    _VALUES_TO_NAMES: ClassVar[dict[int, str]] = {}
    _NAMES_TO_VALUES: ClassVar[dict[str, int]] = {}

    def __init_subclass__(cls) -> None:
        cls._NAMES_TO_VALUES = {
            name: value for name, value in vars(cls).items() if name.isupper() and name[0] != "_"
        }
        cls._VALUES_TO_NAMES = {value: name for name, value in cls._NAMES_TO_VALUES.items()}


# A function: its parameters from 1 on, what it returns, and what it may throw.
Function = tuple[tuple[tuple[str, Type], ...], Type | None, type[Failure] | None]


def own(module: dict[str, object]) -> list[str]:
    """The result of `import *` of a module: its types, and nothing that hides another's names."""
    return [
        name
        for name, found in module.items()
        if isinstance(found, type) and found.__module__ == module["__name__"]
    ]


class ClientBase:
    """Calls the functions of `FUNCTIONS`, which are methods of the class."""

    FUNCTIONS: ClassVar[dict[str, Function]] = {}

    def __init_subclass__(cls) -> None:
        for name, function in cls.FUNCTIONS.items():
            setattr(cls, name, _method(name, *function))

    def __init__(self, iprot: TProtocolBase, oprot: TProtocolBase | None = None) -> None:
        self._iprot = iprot
        self._oprot = oprot or iprot
        self._sequence = 0


def _method(
    name: str,
    parameters: tuple[tuple[str, Type], ...],
    returns: Type | None,
    throws: type[Failure] | None,
) -> Callable[..., Any]:
    fields = tuple((number, *field) for number, field in enumerate(parameters, 1))
    arguments = type(f"{name}_args", (Structure,), {"FIELDS": fields})
    outcomes = [] if returns is None else [(0, "success", returns)]
    if throws is not None:
        outcomes.append((1, "ouch", struct_of(throws)))
    result = type(f"{name}_result", (Structure,), {"FIELDS": tuple(outcomes)})

    def call(self: ClientBase, *values: Any, **named: Any) -> Any:
        self._sequence += 1
        self._oprot.writeMessageBegin(name, TMessageType.CALL, self._sequence)
        arguments(*values, **named).write(self._oprot)
        self._oprot.writeMessageEnd()
        self._oprot.trans.flush()
        _, kind, _ = self._iprot.readMessageBegin()
        if kind == TMessageType.EXCEPTION:
            error = TApplicationException()
            error.read(self._iprot)
            self._iprot.readMessageEnd()
            raise error
        answer = result()
        answer.read(self._iprot)
        self._iprot.readMessageEnd()
        thrown = getattr(answer, "ouch", None)
        if thrown is not None:
            raise thrown
        if returns is None:
            return None
        if answer.success is None:
            raise TApplicationException(
                TApplicationException.MISSING_RESULT, f"{name} has returned nothing"
            )
        return answer.success

    call.__name__ = name
    call.__doc__ = f"{name}({', '.join(parameter for parameter, _ in parameters)})"
    return call
