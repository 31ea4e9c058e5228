"""Submissions that cost no thought, five or more for each exercise.

The start as it is, a constant, everything to one place, nothing to anywhere, the input copied. They
are made from the start files, so they stay current when an exercise changes.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from course.exercise import SOLUTIONS, Exercise

# From a file of the exercise to what is handed in as that file.
Files = Mapping[str, str]


def lazies(exercise: Exercise) -> dict[str, Files]:
    """The files of the start that each lazy submission replaces, by its name."""
    folder = SOLUTIONS / exercise.name / "lazy"
    made = (
        {each.name: _files(each) for each in folder.iterdir()}
        if folder.exists()
        else MAKERS[exercise.name](lambda file: (exercise.start / file).read_text())
    )
    return {"untouched": {}, **made}


def _files(folder: Path) -> Files:
    return {file.name: file.read_text() for file in folder.iterdir()}


def hand_in(exercise: Exercise, files: Files, into: Path) -> Path:
    """The start with the files of a lazy submission in it."""
    into.mkdir(parents=True, exist_ok=True)
    for file in exercise.files:
        text = files[file] if file in files else (exercise.start / file).read_text()
        (into / file).write_text(text)
    return into


Read = Callable[[str], str]


def _swapped(text: str, *pairs: tuple[str, str]) -> str:
    """The text with some lines replaced, each of which must be there."""
    for before, after in pairs:
        assert before in text, before
        text = text.replace(before, after)
    return text


def _first_router(read: Read) -> dict[str, Files]:
    file = "router.p4"
    gap = "// GAP 4: look up the route of what may be forwarded, drop everything else."
    parse = (
        "// GAP 1: IPv4 headers of five words go on to parse_ipv4. All else is left alone.",
        "ETHERTYPE_IPV4: parse_ipv4;",
    )

    def ingress(code: str, *more: tuple[str, str]) -> Files:
        return {file: _swapped(read(file), (gap, code), *more)}

    return {
        "drops everything": ingress("mark_to_drop(standard_metadata);"),
        "everything to port 1": ingress("standard_metadata.egress_spec = 1;"),
        "back where it came from": ingress(
            "standard_metadata.egress_spec = standard_metadata.ingress_port;"
        ),
        "routes and drops everything": ingress(
            "routes.apply(); mark_to_drop(standard_metadata);", parse
        ),
        "drops what is not IPv4": ingress(
            "if (hdr.ipv4.isValid()) standard_metadata.egress_spec = 1; "
            "else mark_to_drop(standard_metadata);",
            parse,
        ),
        "TTL and nothing else": ingress(
            "hdr.ipv4.ttl = hdr.ipv4.ttl - 1; standard_metadata.egress_spec = 1;", parse
        ),
    }


def _control_plane(read: Read) -> dict[str, Files]:
    head = "class Control:\n    def __init__(self, switch, router, ports, static):\n"
    made = head + "        self.switch, self.ports = switch, ports\n"
    tick = "    def tick(self, now):\n        pass\n"

    def control(body: str, ticks: str = tick) -> Files:
        packet_in = f"    def packet_in(self, now, port, reason, frame):\n        {body}\n"
        return {"control.py": made + packet_in + ticks}

    flood = "for each in self.ports:\n            self.switch.send(each.number, frame)"
    return {
        "does nothing": control("pass"),
        "copies what comes": control("self.switch.send(port, frame)"),
        "everything to the first port": control("self.switch.send(self.ports[0].number, frame)"),
        "floods": control(flood),
        "swaps the addresses": control(
            "self.switch.send(port, frame[6:12] + frame[:6] + frame[12:])"
        ),
        "always fails": control("raise ValueError('no')"),
    }


def _voice_and_bulk(read: Read) -> dict[str, Files]:
    def ports(text: str, rules: str = "[]") -> Files:
        return {
            "qos.yaml": f"classes: {{bulk: 0, voice: 1}}\nrules: {rules}\nports:\n  4: {text}\n"
        }

    return {
        "one class": ports("{classes: 1, queue: 1000 packets}"),
        "a short queue": ports("{classes: 2, queue: 10 packets}"),
        "no queue": ports("{classes: 2, queue: 1 packets}"),
        "everything is a call": ports("{classes: 2, queue: 1000 packets}", "[{class: voice}]"),
        "empty": {"qos.yaml": "{}\n"},
    }


def _how_much_buffer(read: Read) -> dict[str, Files]:
    keys = {
        "predicted": ("bdp_packets", "used_tenth", "lost_full", "buffer_many_packets"),
        "measured": ("used_tenth", "used_full", "lost_full", "wait_full_ms", "used_many"),
    }

    def all_are(value: str, rule: str) -> Files:
        lines = []
        for part, names in keys.items():
            lines += [f"{part}:", *(f"  {name}: {value}" for name in names)]
        return {"answers.yaml": "\n".join([*lines, f'rule: "{rule}"']) + "\n"}

    return {
        "ones": all_are("1", "1"),
        "not a number": all_are(".nan", "flows * 0"),
        "infinite": all_are(".inf", "rate_bps"),
        "yes": all_are("true", "true"),
        "a thousand digits": all_are("9" * 1000, "9 ** 9 ** 9"),
        "half": all_are("0.5", "100"),
    }


def _head_of_line(read: Read) -> dict[str, Files]:
    def arbiters(body: str, value: str = "0.0") -> Files:
        classes = "".join(
            f"class {name}(Arbiter):\n    def match(self, asks, now):\n        {body}\n\n"
            for name in ("Pim", "Islip")
        )
        return {"arbiter.py": f"from insides import Arbiter\n\n{classes}", **numbers(value)}

    def numbers(value: str) -> Files:
        patterns = ("uniform", "diagonal", "logdiagonal", "unbalanced")
        row = ", ".join(f"{name}: {value}" for name in patterns)
        keys = ("fifo", "fifo_speedup_2", "voq")
        text = "".join(f"{key}: {{{row}}}\n" for key in keys)
        # The size of the router that the seed of the tests is given.
        return {"numbers.yaml": "ports: PORTS\n" + text}

    return {
        "matches nobody": arbiters("return []"),
        "asks nobody": arbiters("return [(port, port) for port in range(self.ports)]", "1"),
        "one pair": arbiters(
            "return [(each[0], output) for output, each in enumerate(asks) if each][:1]", "true"
        ),
        "the diagonal where it was asked for": arbiters(
            "return [(port, port) for port in range(self.ports) if port in asks[port]]", ".nan"
        ),
        "no numbers": arbiters("return []", ".inf"),
        "numbers as text": arbiters("return []", "'0.586'"),
    }


def _fair_queues(read: Read) -> dict[str, Files]:
    def schedulers(body: str) -> Files:
        classes = "".join(
            f"class {name}(Scheduler):\n    turn = -1\n    last = None\n\n"
            f"    def choose(self, heads, now):\n        {body}\n\n"
            for name in ("Drr", "Wfq")
        )
        return {"scheduler.py": f"from insides import Scheduler\n\n\n{classes}"}

    return {
        "always class 0": schedulers("return 0"),
        "the highest": schedulers("return max(heads)"),
        "the shortest packet": schedulers("return min(heads, key=heads.get)"),
        "the longest packet": schedulers("return max(heads, key=heads.get)"),
        "packets in turn": schedulers(
            "self.turn += 1\n        return list(heads)[self.turn % len(heads)]"
        ),
        "nobody": schedulers("return None"),
    }


def _own_aqm(read: Read) -> dict[str, Files]:
    file = "aqm.p4"
    gap = "// GAP 3: has the wait been above TARGET for INTERVAL? If so, is a drop due?"

    def egress(code: str) -> Files:
        return {file: _swapped(read(file), (gap, code))}

    drop = "mark_to_drop(standard_metadata);"
    return {
        "drops everything": egress(drop),
        "drops above the target": egress(f"if (standard_metadata.deq_timedelta > TARGET) {drop}"),
        "drops above an interval": egress(f"if (standard_metadata.deq_timedelta > 100000) {drop}"),
        "a short queue": egress(f"if (standard_metadata.deq_qdepth > 20) {drop}"),
        "drops whatever waited": egress(f"if (standard_metadata.deq_timedelta > 0) {drop}"),
    }


def _own_tcp(read: Read) -> dict[str, Files]:
    def control(grow: str, lost: str) -> Files:
        return {
            "tcp.py": "from insides import CongestionControl\n\n\n"
            "class MyTcp(CongestionControl):\n"
            f"    def grow(self, window, path, acked):\n        {grow}\n\n"
            f"    def lost(self, window, path):\n        {lost}\n"
        }

    return {
        "one packet": control("window.cwnd = 1", "return 1"),
        "a million": control("window.cwnd = 1000000", "return 1000000"),
        "twenty": control("window.cwnd = 20", "return 20"),
        "thirty": control("window.cwnd = 30", "return 30"),
        "only grows": control("window.cwnd += acked", "return window.cwnd"),
        "fails": control("raise ValueError('no')", "return 2"),
    }


def _elephants(read: Read) -> dict[str, Files]:
    file = "elephants.p4"
    count = "// GAP 2: count the packet, and mark it if its flow is an elephant."
    cells = "// GAP 1: the counters. All registers together may have 1024 cells of 32 bits at most."
    register = (cells, "register<bit<32>>(1024) counts;")

    def ingress(code: str, *more: tuple[str, str]) -> Files:
        return {file: _swapped(read(file), (count, code), *more)}

    return {
        "marks everything": ingress("hdr.ipv4.dscp = MARK;"),
        "drops everything": ingress("mark_to_drop(standard_metadata);"),
        "writes counters and marks nothing": ingress("counts.write(0, 1);", register),
        "one counter for everybody": ingress(
            "bit<32> n; counts.read(n, 0); n = n + 1; counts.write(0, n); "
            "if (n >= ELEPHANT) hdr.ipv4.dscp = MARK;",
            register,
        ),
        "back where it came from": ingress(
            "standard_metadata.egress_spec = standard_metadata.ingress_port;", register
        ),
    }


def _address_translation(read: Read) -> dict[str, Files]:
    file = "nat.p4"
    gap = "outbound.apply();\n            inbound.apply();"

    def ingress(code: str, *more: tuple[str, str]) -> Files:
        return {file: _swapped(read(file), (gap, code), *more)}

    out = ("// GAP 2: another source, and out by port 2.", "send_to_port(ostd, OUTSIDE);")
    into = ("// GAP 2: another destination, and in by port 1.", "send_to_port(ostd, INSIDE);")
    return {
        "drops everything": ingress("ingress_drop(ostd);"),
        "everything to port 2": ingress("send_to_port(ostd, OUTSIDE);"),
        "everything to port 1": ingress("send_to_port(ostd, INSIDE);"),
        "back where it came from": ingress("send_to_port(ostd, istd.ingress_port);"),
        "across, as it came": ingress(gap, out, into),
    }


def _who_filled_the_queue(read: Read) -> dict[str, Files]:
    def find(body: str) -> Files:
        return {"culprit.py": f"def find(reports):\n    {body}\n"}

    most = "row = max(reports, key=lambda row: row['occupancy_bytes'] or 0)\n    "
    return {
        "nothing ever": find("return None"),
        "fails": find("raise ValueError('no')"),
        "the first report": find(
            "row = reports[0]\n    "
            "return row['router'], row['egress_port'], row['time_s'], row['flow']"
        ),
        "not a number": find(
            f"{most}return row['router'], row['egress_port'], float('nan'), row['flow']"
        ),
        "infinite": find(f"{most}return row['router'], row['egress_port'], 1e999, row['flow']"),
        "the fullest queue": find(
            f"{most}return row['router'], row['egress_port'], row['time_s'], row['flow']"
        ),
    }


def _watch_the_queue(read: Read) -> dict[str, Files]:
    file = "watch.p4"
    memory = "// GAP 1: what must be remembered from packet to packet? At most 1 KiB."
    gap = "// GAP 2: send_report() for packets that were in the queue when it was fullest."
    register = (memory, "register<bit<32>>(1) count;")

    def telemetry(code: str, *more: tuple[str, str]) -> Files:
        return {file: _swapped(read(file), (gap, code), *more)}

    return {
        "everything": telemetry("send_report();"),
        "one in sixteen": telemetry(
            "bit<32> n; count.read(n, 0); count.write(0, n + 1); meta.packets = 16; "
            "if ((n & 15) == 0) { send_report(); }",
            register,
        ),
        "at random": telemetry(
            "bit<8> dice; random(dice, 8w0, 8w255); if (dice < 64) { send_report(); }"
        ),
        "every packet that waited": telemetry("if (meta.wait_ns > 0) { send_report(); }"),
        "the first packet of all": telemetry(
            "bit<32> n; count.read(n, 0); count.write(0, 1); if (n == 0) { send_report(); }",
            register,
        ),
        "drops what leaves a deep queue": telemetry(
            "if (meta.depth_bytes >= DEEP_BYTES) { mark_to_drop(standard_metadata); }"
        ),
    }


def _spread_the_load(read: Read) -> dict[str, Files]:
    file = "spread.p4"

    def slot(code: str) -> Files:
        return {file: _swapped(read(file), ("meta.slot = 0;", code))}

    return {
        "the last path": slot("meta.slot = meta.count - 1;"),
        "drops everything": slot("meta.slot = 65535;"),
        "at random": slot("random(meta.slot, (bit<16>) 0, meta.count - 1);"),
        "by time": slot("meta.slot = (bit<16>) standard_metadata.ingress_global_timestamp & 1;"),
        "by the last bit of an address": slot("meta.slot = (bit<16>) (hdr.ipv4.src_addr & 1);"),
    }


def _capstone(read: Read) -> dict[str, Files]:
    program, control = "router.p4", "control.py"
    drop = _swapped(
        read(program), ("to_controller(NEIGHBOUR);", "mark_to_drop(standard_metadata);")
    )
    one = _swapped(
        read(program), ("to_controller(NEIGHBOUR);", "standard_metadata.egress_spec = 1;")
    )
    across = _swapped(
        read(program),
        (
            "to_controller(NEIGHBOUR);",
            "standard_metadata.egress_spec = standard_metadata.ingress_port ^ 3;",
        ),
    )
    head = (
        "class Control:\n    def __init__(self, switch, router, ports, static):\n"
        "        self.switch, self.ports = switch, ports\n"
        "    def tick(self, now):\n        pass\n"
        "    def packet_in(self, now, port, reason, frame):\n"
    )
    flood = "        for each in self.ports:\n            self.switch.send(each.number, frame)\n"
    return {
        "drops everything": {program: drop},
        "everything to port 1": {program: one},
        "across": {program: across},
        "the controller copies": {control: head + "        self.switch.send(port, frame)\n"},
        "the controller floods": {control: head + flood},
    }


MAKERS: dict[str, Callable[[Read], dict[str, Files]]] = {
    "first-router": _first_router,
    "control-plane": _control_plane,
    "voice-and-bulk": _voice_and_bulk,
    "how-much-buffer": _how_much_buffer,
    "head-of-line": _head_of_line,
    "fair-queues": _fair_queues,
    "own-aqm": _own_aqm,
    "own-tcp": _own_tcp,
    "elephants": _elephants,
    "address-translation": _address_translation,
    "who-filled-the-queue": _who_filled_the_queue,
    "watch-the-queue": _watch_the_queue,
    "spread-the-load": _spread_the_load,
    "capstone": _capstone,
}
