"""A network: bringing it up, looking into it, changing it, ending it."""

from __future__ import annotations

from argparse import Namespace

from vitrine.command import options as o
from vitrine.command.labs import page
from vitrine.command.tree import Needs, command


@command(
    "up",
    "build a network and open a prompt",
    o.TOPOLOGY,
    o.PROGRAM,
    o.DOMAIN,
    o.RATE,
    o.QUEUE,
    o.WORLD,
    o.TOOLCHAIN,
    o.GRPC,
    o.NO_GLASS,
    o.SHARE,
    needs=Needs.WORLD,
    examples=[
        "vitrine up",
        "vitrine up labs/load_balancing/topology.yaml --world virtual",
        "vitrine up --program my.p4",
    ],
)
def up(given: Namespace) -> None:
    # Imported here: that takes a second, in which people change their minds.
    from controller.addresses import Way
    from labs.errors import SettingError
    from labs.prompt.up import Asked, run
    from labs.settings import Settings

    if given.topology and (given.rate or given.queue):
        # The first lab's network has these; a file says its own.
        raise SettingError("--rate and --queue are for the first lab's network: leave them out.")
    settings = Settings.chosen(vars(given), ("rate", "queue"))
    way = Way.named(given.grpc)
    run(Asked(given.topology, settings, given.domain, way), page(given))


@command(
    "glass",
    "the page in the browser that shows and steers the network that is up",
    o.LESSON,
    o.SHARE,
    needs=Needs.PROGRAMS,
    examples=["vitrine glass", "vitrine glass --lesson bufferbloat --share 0.0.0.0"],
)
def glass(given: Namespace) -> None:
    from labs.glass.__main__ import show

    show(given.share, given.lesson or "")


@command(
    "top",
    "a router's queues, drops and cables in the terminal",
    o.ROUTER,
    examples=["vitrine top --router s1", "watch vitrine top"],
)
def top(given: Namespace) -> None:
    from labs.top.__main__ import show

    show(given.router)


@command(
    "trace",
    "the life of single packets in a router",
    o.ROUTER,
    o.FLOW,
    o.COUNT,
    o.JSON,
    examples=["vitrine trace --flow '10.0.1.1:*->10.0.2.1:80' --count 3"],
)
def trace(given: Namespace) -> None:
    from labs.errors import SettingError
    from labs.trace import follow

    if not given.count.isdecimal() or int(given.count) == 0:
        raise SettingError(f"--count {given.count}: expected a number of packets, such as 3.")
    follow(given.router, given.flow, int(given.count), as_json=given.json)


@command(
    "metrics",
    "the routers' counters for Prometheus",
    o.ROUTER,
    o.LISTEN,
    examples=["vitrine metrics --listen :9464"],
)
def metrics(given: Namespace) -> None:
    from labs.metrics.__main__ import serve

    serve(given.router, given.listen)


@command("shell", "p4runtime-shell at a router", o.ROUTER, examples=["vitrine shell --router s1"])
def shell(given: Namespace) -> None:
    from apps.shell import open_at

    open_at(given.router)


@command(
    "reload",
    "load changed P4 programs while packets flow",
    o.PROGRAM.saying("another program, for all routers or for --router"),
    o.ROUTER.saying("only this one"),
    needs=Needs.OWNER,
    examples=["vitrine reload", "vitrine reload --program other.p4 --router s1"],
)
def reload(given: Namespace) -> int:
    from apps import reload as network

    return network.reload(given.router, given.program)


@command("qos", "put a file of classes, queues and schedulers into force", o.WORDS, hands_on=True)
def qos(given: Namespace) -> int:
    from apps.qos import main

    return main(given.words)


@command(
    "watch", "record samples and events of a router, as CSV or Parquet", o.WORDS, hands_on=True
)
def watch(given: Namespace) -> int:
    from apps.watch import main

    return main(given.words)


@command(
    "collect", "receive telemetry reports, as Parquet and for Prometheus", o.WORDS, hands_on=True
)
def collect(given: Namespace) -> int:
    from apps.collector import main

    return main(given.words)


@command("down", "end the network that is up, or clean up after a crash", needs=Needs.OWNER)
def down(given: Namespace) -> None:
    from topo.down import down as end

    end()
