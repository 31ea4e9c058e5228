"""Every scenario can be set up, and says all that a page without Python needs."""

import base64

from vitrine.v1 import world_pb2

from labs.catalogue import COURSE
from labs.scenarios.recording import SET_CONFIG
from labs.scenarios.scenario import P4_SOURCES


def test_each_scenario_says_how_it_begins(kit):
    names = [each["name"] for each in kit["scenarios"]]
    assert len(names) == len(set(names)) > 0
    for scenario in kit["scenarios"]:
        build = world_pb2.BuildRequest.FromString(base64.b64decode(scenario["build"]))
        routers = {str(each.device_id): each.name for each in build.topology.routers}
        assert scenario["programs"].keys() == routers.keys()
        assert set(scenario["programs"].values()) <= kit["files"].keys()
        assert scenario["about"]["router"] in routers.values()
        methods = [method for method, _ in scenario["said"]]
        # Each router has one controller, which is primary before it loads a program.
        assert methods.count(SET_CONFIG) == len(routers)
        assert methods[0].endswith("/StreamChannel")


def test_programs_are_left_to_the_page(kit):
    for scenario in kit["scenarios"]:
        for method, message in scenario["said"]:
            # A compiled program has some ten thousand bytes.
            assert method != SET_CONFIG or len(base64.b64decode(message)) < 100


def test_the_gallery_has_every_lab_of_the_course(kit):
    names = {each["name"] for each in kit["scenarios"]}
    # Its lesson has the name of the lab on queue management.
    assert {lab.name for lab in COURSE} | {"active-queue-management"} <= names


def test_every_classic_comes_with_packet_tests(kit):
    tested = {name.split("/")[1] for name in kit["files"] if name.startswith("tests/")}
    assert {file.stem for file in P4_SOURCES.glob("classics/*.p4")} <= tested


def test_routers_are_named_by_their_own_addresses(kit):
    """Each host's gateway is a router, and no address is one of two nodes."""
    for scenario in kit["scenarios"]:
        network = scenario["network"]
        of_hosts = {each for host in network["hosts"] for each in host["addresses"]}
        of_routers = [each for router in network["routers"] for each in router["addresses"]]
        assert len(of_routers) == len(set(of_routers)) >= len(network["hosts"])
        assert of_hosts.isdisjoint(of_routers)
