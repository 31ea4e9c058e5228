"""A generated program as P4 text and its packets as STF.

Parentheses are written only where the grammar needs them, so that precedence is tested as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.generated import tree as t

_BINDS = [
    ["||"],
    ["&&"],
    ["==", "!="],
    ["<", "<=", ">", ">="],
    ["|"],
    ["^"],
    ["&"],
    ["<<", ">>"],
    ["+", "-", "|+|", "|-|", "++"],
    ["*"],
]
# From the loosest; what is not here binds as tightly as a name.
STRENGTH = {operator: level for level, row in enumerate(_BINDS, start=1) for operator in row}
_PREFIX = len(_BINDS) + 1
_PRIMARY = _PREFIX + 1

_FRAME = """\
control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr); }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute_nothing(), deparse()) main;
"""


def program(value: t.Program) -> str:
    """The whole source."""
    parts = ["#include <core.p4>\n#include <v1model.p4>\n", "error { Odd }\n"]
    parts += [_declared(each) for each in (*value.types, value.headers, value.metadata)]
    parts += [_lines(_function(each, "")) for each in value.functions]
    parts.append(_parser(value.states))
    parts += [_lines(_control(each)) for each in (*value.controls, value.ingress, value.egress)]
    return "\n".join([*parts, _FRAME])


def type_(value: t.Type) -> str:
    """A type as it is written where it is used."""
    if isinstance(value, t.Bits):
        return f"{'int' if value.signed else 'bit'}<{value.width}>"
    if isinstance(value, t.StackType):
        return f"{value.element.name}[{value.size}]"
    return "bool" if isinstance(value, t.Boolean) else value.name


def expression(value: t.Expression) -> str:
    """An expression that stands alone."""
    return _expression(value)[0]


def _expression(value: t.Expression) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match value:
        case t.Literal():
            return _literal(value)
        case t.Name(name):
            return name, _PRIMARY
        case t.Member(base, name):
            return f"{_within(base, _PRIMARY)}.{name}", _PRIMARY
        case t.Index(base, index):
            return f"{_within(base, _PRIMARY)}[{expression(index)}]", _PRIMARY
        case t.Slice(base, high, low):
            return f"{_within(base, _PRIMARY)}[{high}:{low}]", _PRIMARY
        case t.Unary(operator, operand):
            # `--x` would be another token.
            return f"{operator}{_within(operand, _PRIMARY)}", _PREFIX
        case t.Binary(operator, left, right):
            own = STRENGTH[operator]
            return f"{_within(left, own)} {operator} {_within(right, own + 1)}", own
        case t.Conditional(condition, first, second):
            parts = [_within(each, 1) for each in (condition, first, second)]
            return f"{parts[0]} ? {parts[1]} : {parts[2]}", 0
        case t.Cast(to, operand):
            return f"({type_(to)}){_within(operand, _PREFIX)}", _PREFIX
        case t.IsValid(header):
            return f"{expression(header)}.isValid()", _PRIMARY
        case t.Call(name, arguments):
            return f"{name}({_listed(arguments)})", _PRIMARY
        case t.Hit(table, hit):
            return f"{table}.apply().{'hit' if hit else 'miss'}", _PRIMARY
        case t.Lookahead(to):
            return f"packet.lookahead<{type_(to)}>()", _PRIMARY
        case t.Failed(error):
            return f"std.parser_error == error.{error}", STRENGTH["=="]
    raise TypeError(value)


def _within(value: t.Expression, strength: int) -> str:
    text, own = _expression(value)
    return text if own >= strength else f"({text})"


def _literal(value: t.Literal) -> tuple[str, int]:
    if isinstance(value.type, t.Boolean):
        return ("true" if value.value else "false"), _PRIMARY
    number = str(value.value) if value.value < 10 else hex(value.value)
    if value.bare:
        return number, _PRIMARY if value.value >= 0 else _PREFIX
    if value.value < 0:
        return f"({type_(value.type)})({value.value})", _PREFIX
    return f"{value.type.width}{'s' if value.type.signed else 'w'}{number}", _PRIMARY


def _listed(values: Iterable[t.Expression]) -> str:
    return ", ".join(map(expression, values))


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _declared(value: t.Type) -> str:
    words = {t.HeaderType: "header", t.StructType: "struct", t.UnionType: "header_union"}
    fields = [f"    {type_(each)} {name};" for name, each in value.fields]
    return _lines([f"{words[type(value)]} {value.name} {{", *fields, "}"])


def _parameters(values: Sequence[t.Parameter]) -> str:
    return ", ".join(f"{each.direction} {type_(each.type)} {each.name}".strip() for each in values)


def _function(value: t.Function, word: str) -> list[str]:
    result = type_(value.result) if value.result else "void"
    head = f"{word or result} {value.name}({_parameters(value.parameters)}) {{"
    return [head, *_indented(_body(value.body)), "}"]


def _body(values: t.Body) -> list[str]:
    return [line for each in values for line in statement(each)]


def statement(value: t.Statement) -> list[str]:
    """The lines of one statement."""
    match value:
        case t.Declare(name, kind, first):
            return [f"{type_(kind)} {name}{f' = {expression(first)}' if first else ''};"]
        case t.Assign(target, operator, source):
            return [f"{expression(target)} {operator} {expression(source)};"]
        case t.If(condition, then, other):
            lines = [f"if ({expression(condition)}) {{", *_indented(_body(then))]
            if other:
                lines += ["} else {", *_indented(_body(other))]
            return [*lines, "}"]
        case t.Switch():
            return _switch(value)
        case t.Apply(name, arguments):
            return [f"{name}.apply({_listed(arguments)});"]
        case t.Invoke(name, arguments):
            return [f"{name}({_listed(arguments)});"]
        case t.For(name, kind, count, ranged, body):
            each = f"{type_(kind)} {name}"
            head = f"{each} = 0; {name} < {count}; {name} = {name} + 1"
            if ranged:
                head = f"{each} in {type_(kind).replace('bit<', '').rstrip('>')}w0 .. {count - 1}"
            return [f"for ({head}) {{", *_indented(_body(body)), "}"]
        case t.Block(body):
            return ["{", *_indented(_body(body)), "}"]
        case t.Return(result):
            return [f"return {expression(result)};" if result else "return;"]
        case _:
            return [_call(value)]


def _call(value: t.Statement) -> str:
    match value:
        case t.SetValid(header, valid):
            return f"{expression(header)}.{'setValid' if valid else 'setInvalid'}();"
        case t.Move(stack, operation, count):
            return f"{expression(stack)}.{operation}({count});"
        case t.RegisterRead(register, target, index):
            return f"{register}.read({expression(target)}, {expression(index)});"
        case t.RegisterWrite(register, index, source):
            return f"{register}.write({expression(index)}, {expression(source)});"
        case t.Count(counter, index):
            return f"{counter}.count({expression(index)});"
        case t.Simple(word):
            return f"{word};"
        case t.Drop():
            return "mark_to_drop(std);"
        case t.Extract(header):
            return f"packet.extract({expression(header)});"
        case t.Advance(bits):
            return f"packet.advance({bits});"
        case t.Verify(condition):
            return f"verify({expression(condition)}, error.Odd);"
    raise TypeError(value)


def _switch(value: t.Switch) -> list[str]:
    subject = expression(value.value) if value.value else f"{value.table}.apply().action_run"
    lines = [f"switch ({subject}) {{"]
    for case in value.cases:
        label = "default" if case.label is None else case.label
        label = label if isinstance(label, str) else expression(label)
        if case.body is None:
            lines.append(f"    {label}:")
        else:
            lines += [f"    {label}: {{", *_indented(_indented(_body(case.body))), "    }"]
    return [*lines, "}"]


def _control(value: t.Control) -> list[str]:
    lines = []
    for array in value.arrays:
        if array.kind == "register":
            lines.append(f"register<bit<{array.width}>>({array.size}) {array.name};")
        else:
            lines.append(f"counter({array.size}, CounterType.packets) {array.name};")
    lines += [line for each in value.variables for line in statement(each)]
    lines += [f"{control}() {instance};" for instance, control in value.instances]
    for action in value.actions:
        lines += _function(action, "action")
    for table in value.tables:
        lines += _table(table)
    lines += ["apply {", *_indented(_body(value.body)), "}"]
    return [f"control {value.name}({_parameters(value.parameters)}) {{", *_indented(lines), "}"]


def _table(value: t.Table) -> list[str]:
    keys = [
        f'{expression(each.expression)} : {each.kind} @name("{each.name}");' for each in value.keys
    ]
    bound = {each.action: each.bound for each in value.choices}

    def call(entry: t.Entry) -> str:
        return f"{entry.action}({_listed((*bound[entry.action], *entry.data))})"

    lines = ["key = {", *_indented(keys), "}"] if keys else []
    actions = [
        f"{each.action}{f'({_listed(each.bound)})' if each.bound else ''};"
        for each in value.choices
    ]
    lines += ["actions = {", *_indented(actions), "}"]
    lines.append(f"default_action = {call(value.default)};")
    if value.constant and value.entries:
        entries = [
            f"({', '.join(map(_match, each.matches))}) : {call(each)};" for each in value.entries
        ]
        lines += ["const entries = {", *_indented(entries), "}"]
    return [f"table {value.name} {{", *_indented(lines), "}"]


def _match(value: t.Match) -> str:
    if value.kind == "any":
        return "_"
    if value.kind == "range":
        return f"{value.value:#x} .. {value.mask:#x}"
    return f"{value.value:#x}" + ("" if value.kind == "exact" else f" &&& {value.mask:#x}")


def _parser(states: Sequence[t.State]) -> str:
    lines = []
    for state in states:
        lines += [f"state {state.name} {{", *_indented(_body(state.body))]
        if not state.keys:
            lines += [f"    transition {state.branches[0].state};", "}"]
            continue
        lines.append(f"    transition select({_listed(state.keys)}) {{")
        for branch in state.branches:
            label = "default"
            if branch.matches is not None:
                label = ", ".join(map(_match, branch.matches))
                label = f"({label})" if len(branch.matches) > 1 else label
            lines.append(f"        {label}: {branch.state};")
        lines += ["    }", "}"]
    head = "parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,"
    return _lines([head, "             inout standard_metadata_t std) {", *_indented(lines), "}"])


def entries(control: t.Control) -> list[str]:
    """The entries of a control's tables, as STF."""
    lines = []
    nothing = t.Function("NoAction", None, (), ())
    actions = {each.name: each for each in (*control.actions, nothing)}
    for table in control.tables:
        for entry in () if table.constant else table.entries:
            keys = [
                f"{key.name}:{_digits(match, key.expression.type.width)}"
                for key, match in zip(table.keys, entry.matches, strict=True)
                if match.kind != "any"
            ]
            names = [each.name for each in actions[entry.action].parameters if not each.direction]
            data = [f"{name}:{each.value:#x}" for name, each in zip(names, entry.data, strict=True)]
            has_priority = any(key.kind in ("ternary", "optional") for key in table.keys)
            priority = [str(entry.priority)] if has_priority else []
            within = "" if entry.action == "NoAction" else f"{control.name}."
            call = f"{within}{entry.action}({', '.join(data)})"
            lines.append(" ".join(["add", f"{control.name}.{table.name}", *priority, *keys, call]))
    return lines


def _digits(match: t.Match, width: int) -> str:
    """A match with a digit for each bit, `*` where it does not count."""
    if match.kind == "exact":
        # All digits: of a prefix only those count that are written.
        return f"0x{match.value:0{(width + 3) // 4}x}"
    bits = [
        f"{match.value >> at & 1}" if match.mask >> at & 1 else "*" for at in reversed(range(width))
    ]
    return f"0b{''.join(bits)}"
