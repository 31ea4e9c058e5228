"""A YAML file whose every value knows where it stands, so that a complaint names file and line.

    document = Place.load(path)
    hosts = document.fields(required={"hosts"})["hosts"]
    for name, place in hosts.entries().items():
        mac = place.parse(Mac.parse)

Scalars are taken as they are written: YAML's own guesses (`00:11` as sixty-one, `no` as false)
would change what a person wrote, so each value is read by the parser of what it should be.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

import yaml

from controller.errors import ControllerError
from topo.errors import ModelError, TopologyError

T = TypeVar("T")

# The largest document that is read: far beyond any network or sweep.
SIZE_BYTES_MAX = 1 << 20
DEPTH_MAX = 100
# Values of the document, each alias counted as all that it stands for.
VALUE_COUNT_MAX = 200_000
# A whole number has at most as many digits; int() itself stops at 4,300 with an error of its own.
_DIGIT_COUNT_MAX = 30
# So much of a value stands in a complaint.
_SHOWN_MAX = 60

_FLAGS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


class Place:
    """A value of a document: what it is, where it stands, and how to read it."""

    def __init__(self, file: Path, node: yaml.Node, way: tuple[str, ...] = ()) -> None:
        self._file = file
        self._node = node
        # The names that lead here: ("hosts", "h1", "mac").
        self._way = way

    @classmethod
    def load(cls, file: Path) -> Place:
        """The whole document of a file."""
        try:
            with file.open("rb") as opened:
                content = opened.read(SIZE_BYTES_MAX + 1)
            text = content.decode()
        except OSError as error:
            raise ModelError(f"{file} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise ModelError(f"{file} is not YAML: {error}") from error
        return cls.of_text(text, file)

    @classmethod
    def of_text(cls, text: str, file: Path) -> Place:
        """The whole document of a text; `file` is where it comes from, for complaints."""
        if len(text) > SIZE_BYTES_MAX:
            raise ModelError(
                f"{file} is larger than {SIZE_BYTES_MAX >> 20} MiB, the most there is."
            )
        try:
            loader = yaml.SafeLoader(text)
            # Every value then knows its file, also in a document that is made of two.
            loader.name = str(file)
            node = loader.get_single_node()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            raise ModelError(f"{file}:{line}: not YAML: {error.problem}.") from error
        except yaml.YAMLError as error:
            raise ModelError(f"{file} is not YAML: {error}") from error
        except RecursionError as error:
            # Hundreds of brackets in brackets; the reader goes one call deeper for each.
            raise ModelError(
                f"{file}: brackets and lists are nested too deep: is one of them not closed?"
            ) from error
        if node is None:
            raise ModelError(f"{file} is empty.")
        _check_extent(node)
        return cls(file, node)

    # ---- saying where ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The way to the value in words: `hosts.h1.mac`, `links[0]`."""
        return ".".join(self._way).replace(".[", "[") or "the document"

    @property
    def folder(self) -> Path:
        """Where the file lies: files that it names are seen from there."""
        return self._file.resolve().parent

    def error(self, text: str) -> ModelError:
        """A complaint about this value."""
        mark = self._node.start_mark
        return ModelError(f"{mark.name}:{mark.line + 1}: {text}")

    def refuse(self, text: str) -> NoReturn:
        """Raises a complaint about this value; `text` goes behind its name."""
        raise self.error(f"{self.name} {text}")

    def nearest(self, way: Sequence[str]) -> Place:
        """The value at the end of `way`, or the last one on it that exists."""
        place = self
        for step in way:
            if isinstance(place._node, yaml.MappingNode):
                children = place.entries()
            elif isinstance(place._node, yaml.SequenceNode):
                children = {f"[{index}]": each for index, each in enumerate(place.items())}
            else:
                break
            if step not in children:
                break
            place = children[step]
        return place

    # ---- what it is ------------------------------------------------------------------------------

    def is_mapping(self) -> bool:
        """Whether the value has named parts."""
        return isinstance(self._node, yaml.MappingNode)

    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self._node, yaml.SequenceNode)

    def entries(self) -> dict[str, Place]:
        """The value as a mapping with keys of the user's choice."""
        # `ports:` with nothing behind it is an empty mapping.
        if self._is_null():
            return {}
        if not isinstance(self._node, yaml.MappingNode):
            self.refuse(f"must be a mapping, and is {self._shown()}.")
        parts: dict[str, Place] = {}
        for key, value in self._node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.refuse("has a key that is no plain word.")
            place = Place(self._file, value, (*self._way, key.value))
            if key.value in parts:
                # YAML itself would silently take the last one.
                again = Place(self._file, key)
                raise again.error(f"{self.name} has the key {key.value!r} twice.")
            parts[key.value] = place
        return parts

    def fields(
        self, *, required: Collection[str] = (), optional: Collection[str] = ()
    ) -> dict[str, Place]:
        """The value as a mapping of exactly these keys."""
        parts = self.entries()
        for key in sorted(set(required) - parts.keys()):
            self.refuse(f"lacks {key!r}.")
        known = {*required, *optional}
        for key, place in parts.items():
            if key not in known:
                near = difflib.get_close_matches(key, sorted(known), n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                there_are = ", ".join(sorted(known))
                raise place.error(
                    f"{self.name} has an unknown key {key!r}; there are: {there_are}.{meant}"
                )
        return parts

    def items(self) -> list[Place]:
        """The value as a list."""
        if not isinstance(self._node, yaml.SequenceNode):
            self.refuse(f"must be a list, and is {self._shown()}.")
        return [
            Place(self._file, node, (*self._way, f"[{index}]"))
            for index, node in enumerate(self._node.value)
        ]

    # ---- reading it ------------------------------------------------------------------------------

    def text(self) -> str:
        """The value as it is written."""
        if not isinstance(self._node, yaml.ScalarNode):
            self.refuse(f"must be a plain value, and is {self._shown()}.")
        return self._node.value

    def parse(self, parser: Callable[[str], T]) -> T:
        """The value read by `parser`, whose complaint gets the place in front."""
        return self.parse_text(self.text(), parser)

    def parse_text(self, text: str, parser: Callable[[str], T]) -> T:
        """A text that belongs to the value, such as its key, read in the same way."""
        try:
            return parser(text)
        except (TopologyError, ControllerError, ValueError) as error:
            raise self.error(f"{self.name}: {error}") from error

    def whole(self, *, low: int = 0, high: int | None = None) -> int:
        """The value as a whole number from `low` to `high`."""
        text = self.text()
        if not (text.isascii() and text.isdigit()):
            self.refuse(f"must be a whole number, and is {self._shown()}.")
        if len(text) > _DIGIT_COUNT_MAX:
            self.refuse(f"must be a whole number of at most {_DIGIT_COUNT_MAX} digits.")
        number = int(text)
        if number < low or (high is not None and number > high):
            bounds = f"at least {low}" if high is None else f"from {low} to {high}"
            self.refuse(f"must be {bounds}, and is {number}.")
        return number

    def flag(self) -> bool:
        """The value as yes or no."""
        text = self.text()
        if text.lower() not in _FLAGS:
            self.refuse(f"must be yes or no, and is {self._shown()}.")
        return _FLAGS[text.lower()]

    def one_of(self, choices: Mapping[str, T]) -> T:
        """The choice that the value's word names."""
        text = self.text()
        if text not in choices:
            self.refuse(f"must be one of {', '.join(choices)}, and is {self._shown()}.")
        return choices[text]

    def rename(self, names: Mapping[str, str], parents: Collection[str]) -> None:
        """Replaces words a file has given a meaning to: the keys and values right below `parents`.

        Classes of a port can so be called by name wherever their number would stand.
        """
        if self.is_list():
            for place in self.items():
                place.rename(names, parents)
        if not isinstance(self._node, yaml.MappingNode):
            return
        for key, value in self._node.value:
            if key.value in parents:
                for scalar in _scalars(value):
                    scalar.value = names.get(scalar.value, scalar.value)
            Place(self._file, value).rename(names, parents)

    # ---- made of two -----------------------------------------------------------------------------

    def overlaid(self, change: Place, written: Callable[[Place], str]) -> Place:
        """The same document with the changes of `change`: mappings are merged, all else is
        replaced.

        `written` is what a plain value of `change` reads as. Values still know where they stand.
        """
        return Place(self._file, _merged(self._node, change, written), self._way)

    def merged_into(self, base: Place) -> Place:
        """The other way round: this value, with all of `base` that it does not say itself."""
        return Place(self._file, _merged(base._node, self, Place.text), self._way)

    def dump(self) -> str:
        """The value as YAML; its comments are gone."""
        return str(yaml.serialize(self._node, width=100))

    def _is_null(self) -> bool:
        return isinstance(self._node, yaml.ScalarNode) and self._node.value in ("", "~", "null")

    def _shown(self) -> str:
        """The value for a complaint, short."""
        if self.is_mapping():
            return "a mapping"
        if self.is_list():
            return "a list"
        text = self.text()
        return repr(text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}...")


def _check_extent(root: yaml.Node) -> None:
    """Refuses a document that is deep, or whose aliases stand for more values than there may be.

    Each node is visited once, however many aliases lead to it, so this takes as long as the text.
    """
    extents: dict[int, tuple[int, int]] = {}
    # Nodes whose parts are being visited: an alias to one of them never ends.
    open_nodes: set[int] = set()
    waiting = [(root, False)]
    while waiting:
        node, are_parts_known = waiting.pop()
        if are_parts_known:
            open_nodes.discard(id(node))
            parts = [extents[id(part)] for part in _parts(node)]
            count = 1 + sum(count for count, _ in parts)
            depth = 1 + max((depth for _, depth in parts), default=0)
            if count > VALUE_COUNT_MAX:
                _refuse(node, f"more than {VALUE_COUNT_MAX:,} values, with aliases expanded.")
            if depth > DEPTH_MAX:
                _refuse(node, f"nested more than {DEPTH_MAX} deep.")
            extents[id(node)] = (count, depth)
        elif id(node) in open_nodes:
            _refuse(node, "an alias inside the value that it stands for never ends.")
        elif id(node) not in extents:
            open_nodes.add(id(node))
            waiting.append((node, True))
            waiting.extend((part, False) for part in _parts(node))


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _refuse(node: yaml.Node, text: str) -> NoReturn:
    raise ModelError(f"{node.start_mark.name}:{node.start_mark.line + 1}: {text}")


def _merged(old: yaml.Node | None, change: Place, written: Callable[[Place], str]) -> yaml.Node:
    node = change._node
    if isinstance(node, yaml.ScalarNode):
        return yaml.ScalarNode(
            "tag:yaml.org,2002:str", written(change), node.start_mark, node.end_mark
        )
    if isinstance(node, yaml.SequenceNode):
        items = [_merged(None, each, written) for each in change.items()]
        return yaml.SequenceNode(node.tag, items, node.start_mark, node.end_mark)
    parts = {}
    if isinstance(old, yaml.MappingNode):
        parts = {key.value: (key, value) for key, value in old.value}
    changes = change.entries()
    for key, _ in node.value:
        before = parts[key.value][1] if key.value in parts else None
        parts[key.value] = (key, _merged(before, changes[key.value], written))
    return yaml.MappingNode(node.tag, list(parts.values()), node.start_mark, node.end_mark)


def _scalars(node: yaml.Node) -> list[yaml.ScalarNode]:
    """The value itself, or the keys of a mapping."""
    if isinstance(node, yaml.MappingNode):
        return [key for key, _ in node.value]
    return [node] if isinstance(node, yaml.ScalarNode) else []
