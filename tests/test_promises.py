"""Pages that say which test holds a promise: each of those tests is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CRATES = ROOT / "switch" / "crates"
REQUIREMENTS = ROOT / "docs" / "p4runtime-conformance.md"
THREATS = ROOT / "docs" / "threat-model.md"
UNSAFE, SANITIZED = ROOT / "docs" / "unsafe.md", ROOT / "tests" / "sanitized.sh"
# `service/rules: `one`, `another``, or a file alone.
CITED = re.compile(r"([a-z0-9_]+(?:/[\w.]+)+)(?:: ((?:`\w+`(?:, )?)+))?")
# Tests over a real connection, and tests that play random histories against a model.
PROOF = re.compile(r"\b(service/|tests/control|tests/process|agent/tests/(simulated|dropped))")


def rows(page: Path) -> Iterator[list[str]]:
    """The cells of each row of the tables below a page's first chapter, but for their heads."""
    lines = page.read_text().partition("\n## ")[2].splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("|") and not line.startswith("|---") and not after.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def place(cited: str) -> Path | None:
    """The file or folder that a page calls so."""
    crate, _, rest = cited.partition("/")
    names = [cited, f"switch/crates/{cited}", f"switch/{cited}"]
    names += [f"switch/crates/{crate}/{kind}/{rest}.rs" for kind in ("tests", "src")]
    names += [f"switch/crates/{cited}.rs", f"switch/crates/{crate}/src/{rest}"]
    return next((ROOT / name for name in names if (ROOT / name).exists()), None)


def text_of(found: Path) -> str:
    files = [found] if found.is_file() else sorted(found.rglob("*.rs")) + sorted(found.glob("*.py"))
    return "\n".join(file.read_text() for file in files)


@pytest.mark.parametrize(("what", "proof"), rows(REQUIREMENTS))
def test_each_requirement_of_p4runtime_has_tests_that_are_there(what, proof):
    cited = CITED.findall(proof)
    assert cited, f"nothing holds it: {what}"
    for path, names in cited:
        found = place(path)
        assert found is not None, f"there is no {path}"
        for name in re.findall(r"\w+", names):
            assert re.search(rf"\b(fn|def) {name}\(", text_of(found)), f"{path} has no {name}"


def test_each_requirement_of_p4runtime_is_held_over_a_connection_or_against_the_model():
    assert [what for what, proof in rows(REQUIREMENTS) if not PROOF.search(proof)] == []


def test_unsafe_code_that_a_sanitizer_can_watch_is_watched():
    watched = ("ports", "wire")
    assert all(f"vitrine-{crate}" in SANITIZED.read_text() for crate in watched)
    for file, function, *_, test in rows(UNSAFE):
        crate = file.strip("`").partition("/")[0]
        if crate in watched:
            assert test.strip("`").startswith(f"{crate}/"), f"{file}: {function}"
            assert place(test.strip("`")) is not None


def cited_threats() -> list[str]:
    return sorted(
        {path for cells in rows(THREATS) for path in re.findall(r"`([\w/.]+/[\w/.]+)`", cells[-1])}
    )


@pytest.mark.parametrize("path", cited_threats())
def test_each_promise_to_those_who_are_attacked_has_tests_that_are_there(path):
    assert place(path) is not None


# Sentences of the page, and the constants that the tests of these promises use.
NUMBERS = [
    (
        "At most 64, each with a bounded buffer",
        "service/src/publisher.rs",
        "SUBSCRIBER_COUNT_MAX: usize = 64;",
    ),
    ("at most 16 at a time", "service/src/strangers.rs", "STRANGER_COUNT_MAX: usize = 16;"),
    ("one second each", "service/src/strangers.rs", "STAY: Duration = Duration::from_secs(1);"),
    (
        "One connection has at most 16 roles",
        "p4runtime/src/arbitration.rs",
        "ROLES_PER_CONNECTION_MAX: usize = 16;",
    ),
    (
        "at most 32; one more closes the oldest",
        "controller/http_server.py",
        "CONNECTIONS_MAX = 32\n",
    ),
    ("closed after 5 seconds", "apps/reload.py", "_SILENT_S = 5.0\n"),
    (
        "at most 1,024 frames per port and turn",
        "switchd/src/switch.rs",
        "FRAMES_PER_TURN_MAX: usize = 1024;",
    ),
    (
        "turns over a millisecond count in `lags`",
        "switchd/src/switch.rs",
        "LAG_MAX: Span = Span::from_ms(1);",
    ),
    (
        "64 KiB of errors per stream",
        "agent/src/front/outbox.rs",
        "ERROR_SIZE_BYTES_MAX: usize = 64 << 10;",
    ),
    (
        "64 MiB of reports per device",
        "agent/src/front/outbox.rs",
        "REPORTS_SIZE_BYTES_MAX: usize = 64 << 20;",
    ),
    ("below 1 MiB a second", "service/src/calls/intake.rs", "PACE_BYTES_PER_S: u64 = 1 << 20;"),
    (
        "after a minute they are discarded",
        "service/src/calls/p4runtime.rs",
        "READ_STALL_MAX: Duration = Duration::from_secs(60);",
    ),
    (
        "64 requests wait for the data plane",
        "agent/src/exchange.rs",
        "WAITING_COUNT_MAX: usize = 64;",
    ),
    ("runs 16 steps between two rounds", "agent/src/slice.rs", "SLICE_STEPS_MAX: usize = 16;"),
    (
        "`service/src/address.rs` requests 128",
        "service/src/address.rs",
        "TCP_BUFFER_BYTES: u32 = 128 << 10;",
    ),
    ("arrays of at most 512 MiB", "pipeline/src/room.rs", "ARRAY_MEMORY_BYTES: u64 = 512 << 20;"),
    ("declared tables of 4 GiB", "pipeline/src/room.rs", "TABLE_MEMORY_BYTES: u64 = 4 << 30;"),
    ("more than 28,232 connections", "hosts/src/stack/mod.rs", "EPHEMERAL_COUNT: u16 = 28_232;"),
    (
        "a million datagrams at one instant",
        "stage/src/apps.rs",
        "AT_ONCE_COUNT_MAX: u64 = 1 << 20;",
    ),
    ("followed at most 16 times", "page/src/dissecting.rs", "STATES_MAX: usize = 16;"),
    ("more than 100,000 rows", "labs/sweep/plan.py", "JOBS_MAX = 100_000\n"),
    ("at most 12 calls run at once", "labs/worlds/live/telling.py", "_LOOKING_MAX = 12\n"),
    ("4 threads remain for the key's user", "labs/worlds/live/telling.py", "_CALLS_MAX = 16\n"),
    ("requests are at most 64 KiB", "labs/glass/looking.py", "FRAME_BYTES_MAX = 64 << 10\n"),
    ("at most 24 of a router's 32 streams", "labs/glass/looking.py", "WATCHES_MAX = 24\n"),
    ("at most 24 of a router's 32 streams", "agent/src/watch.rs", "WATCHER_COUNT_MAX: usize = 32;"),
    ("four for each page", "labs/glass/looking.py", "WATCHES_OF_PAGE_MAX = 4\n"),
    ("At most 64 such pages", "labs/glass/looking.py", "PAGES_MAX = 64\n"),
    ("24 of one address", "labs/glass/looking.py", "PAGES_OF_CLIENT_MAX = 24\n"),
    ("at most 4 reads at routers", "labs/glass/looking.py", "READS_MAX = 4\n"),
    ("an answer is at most 2 MiB", "labs/glass/looking.py", "ANSWER_BYTES_MAX = 2 << 20\n"),
    ("at most 64 of one address", "labs/glass/arrivals.py", "ARRIVALS_OF_CLIENT_MAX = 64\n"),
    ("256 in all", "labs/glass/arrivals.py", "ARRIVALS_MAX = 256\n"),
    ("closed after 30 seconds", "labs/glass/arrivals.py", "TIMEOUT_S = 30\n"),
    ("more than 16 MiB of them", "labs/glass/server.py", "_FRAME_BYTES_MAX = 16 << 20\n"),
    ("at most 64 programs", "labs/worlds/live/flows.py", "RUNNING_MAX = 64\n"),
]


@pytest.mark.parametrize(("said", "path", "constant"), NUMBERS)
def test_each_number_of_a_promise_is_that_of_the_code(said, path, constant):
    found = place(path)
    assert found is not None
    assert said in THREATS.read_text()
    assert constant in found.read_text()


# Sentences of the page without a number of the code, and the test that holds each: `file: test`.
HELD = {
    "subscribers only listen": "service/tests/notifications.rs: sixty_four_may_subscribe_at_a_time",
    "a connection that is no subscriber is closed": "service/tests/notifications.rs: "
    "subscribers_may_come_over_tcp_and_strangers_are_sent_away",
    "Unix sockets with mode 0600": "service/src/address.rs: "
    "a_socket_is_its_owners_and_goes_with_who_listens",
    "PERMISSION_DENIED with the owner's name": "service/src/strangers.rs: "
    "each_call_is_refused_and_then_the_client_is_asked_to_go",
    "any local user can control a switch": "tests/topo/test_ways.py: "
    "test_who_says_grpc_tcp_has_them_at_ports",
    "closed by default, except under the name `simple_switch`": "tests/thrift/test_switch.py: "
    "test_the_door_is_closed_unless_it_is_asked_for",
    "a message that arrives byte by byte is read once": "thrift/src/message.rs: "
    "a_message_in_pieces_is_read_once",
    "the switch starts, publishes digests": "service/tests/notifications.rs: "
    "a_name_that_is_taken_moves_the_socket_and_clients_are_told_where",
    "only devices of the command line": "switchd/src/later_ports.rs: "
    "devices_of_the_start_come_back_and_strangers_do_not_come",
    "seccomp allows only the system calls": "ports/src/system_calls.rs: "
    "a_restricted_thread_starts_no_program_and_reaches_no_other_process",
    "on all threads: no program start": "tests/process/test_confined.py: "
    "test_no_thread_can_start_a_program_or_gain_a_right",
    "Landlock allows only the files": "ports/src/reach.rs: "
    "only_files_that_were_named_can_be_opened",
    "no outgoing connection": "ports/src/reach.rs: "
    "only_where_it_was_said_can_somebody_listen_and_nowhere_connect",
    "privileges cannot return": "ports/src/privilege.rs: "
    "a_confined_thread_gets_no_right_that_it_lacks",
    "threads that read requests have none": "tests/process/test_confined.py: "
    "test_each_thread_keeps_what_it_needs",
    "later links lead nowhere": "tests/control/test_ports.py: "
    "test_no_capture_is_led_out_of_its_folder",
    "refuse those of other users before they start": "tests/controller/test_ownership.py: "
    "test_a_command_of_root_ends_before_it_writes_through_a_link",
    "open no log through a link": "tests/controller/test_ownership.py: "
    "test_a_log_is_not_written_through_a_link_or_a_pipe",
    "give no file behind a link": "tests/controller/test_ownership.py: "
    "test_no_file_behind_a_link_is_given_away",
    "Where no descriptor is free": "tests/process/test_exhausted.py: "
    "test_a_polite_client_is_answered_beside_silent_ones",
    "a silent client is closed": "tests/apps/test_reload.py: "
    "test_a_client_that_sends_nothing_does_not_keep_others_out",
    "a client that does not end its request": "tests/apps/test_reload.py: "
    "test_a_client_that_never_ends_its_request_does_not_keep_others_out",
    "a new connection replaces an idle one": "service/src/places.rs: "
    "the_longest_idle_connection_of_whoever_has_most_gives_way",
    "A returning primary replaces a backup": "p4runtime/src/arbitration.rs: "
    "a_primary_that_returns_finds_room_among_standbys",
    "An address other than loopback needs TLS": "tests/process/test_confined.py: "
    "test_other_machines_are_let_in_on_purpose_only",
    "a controller needs a certificate of that authority": "tests/process/test_tls.py: "
    "test_asked_for_certificates_of_clients_it_answers_those_with_one",
    "it can take only these": "tests/process/test_tls.py: "
    "test_a_certificate_that_names_roles_lets_its_bearer_take_no_other",
    "0.0.0.0 without TLS means 127.0.0.1": "tests/process/test_confined.py: "
    "test_scripts_for_the_original_get_this_machine",
    "no panic, [no access": "ports/src/segment_tests.rs: garbage_never_panics",
    "other ports lose nothing": "tests/live/test_ports.py: "
    "test_a_host_that_asks_for_pieces_of_one_byte_costs_other_ports_no_packet",
    "no port may hold more than remains free": "device/tests/memory.rs: "
    "a_full_port_leaves_an_idle_one_its_share",
    "the packet thread waits for no file": "switchd/src/spool.rs: "
    "who_writes_into_a_stalled_pipe_does_not_wait_and_the_loss_is_said",
    "the process survives any mix": "tests/control/test_memory.py: "
    "test_whatever_clients_do_at_once_the_switch_lives_in_its_group",
    "a response; the switch continues": "agent/tests/garbage.rs: damaged_messages_are_answered",
    "refused or carried out; packets continue": "agent/tests/extremes.rs: "
    "packets_go_on_whatever_numbers_a_change_has",
    "takes effect completely or not at all": "agent/tests/dropped.rs: "
    "a_write_is_carried_out_or_not_whoever_waits_for_it",
    "no stream may hold more than remains free": "agent/src/front/outbox.rs: "
    "unread_streams_leave_room_to_others",
    "it yields to others": "service/src/calls/intake.rs: "
    "who_announces_much_and_sends_little_gives_way_and_who_sends_does_not",
    "a connection may not hold more than remains free": "units/src/memory.rs: "
    "a_client_gets_no_more_once_it_has_more_than_is_free",
    "with a minimum for each": "units/src/memory.rs: "
    "however_many_take_what_they_can_who_comes_finds_a_little",
    "16 steps between two rounds": "service/tests/slices.rs: "
    "entries_are_inserted_read_and_deleted_in_slices",
    "Twice the text takes little more": "compiler/tests/growth.rs: "
    "each_construct_costs_what_its_length_says",
    "no devices or pipes": "p4c/tests/command_line.rs: devices_and_pipes_are_not_included",
    "refused with its JSON path": "pipeline/tests/robustness.rs: "
    "a_refusal_names_the_place_and_what_there_is_instead",
    "refused before the text is read": "pipeline/tests/allocation.rs: "
    "a_text_whose_tree_finds_no_room_is_refused_before_it_is_read",
    "machine code and the interpreter agree": "native/tests/same.rs: "
    "programs_of_calls_that_are_made_up_give_the_same_either_way",
    "one program loads at a time": "service/src/loading.rs: "
    "a_client_that_leaves_gives_its_turn_to_the_next",
    "they would stay at one instant for ever": "stage/src/apps.rs: "
    "numbers_that_would_stop_the_network_are_refused",
    "refused beyond an hour": "stage/tests/steering.rs: times_of_tcp_beyond_an_hour_are_refused",
    "each parser state is followed": "page/src/dissecting.rs: "
    "a_state_is_followed_once_however_many_ways_lead_there",
    "unsafe figure names": "tests/labs/test_sweeps.py: "
    "test_a_mistake_is_refused_with_its_place_and_what_was_meant",
    "Somebody else's scenario runs only after consent": "tests/page/test_alone.py: "
    "test_a_shared_address_shows_everything_and_runs_nothing_until_one_says_so",
    "files below the topology's folder only": "tests/insides/test_worlds.py: "
    "test_a_topology_names_no_class_outside_its_own_folder",
    "never as root: with sudo": "tests/insides/test_host.py: test_a_class_never_runs_as_root",
    "broken ones are refused in a sentence": "tests/glass/packets_test.js: "
    "captures_of_both_kinds_are_read_and_others_refused",
    "no signal to another process": "ports/src/system_calls.rs: "
    "a_restricted_thread_starts_no_program_and_reaches_no_other_process",
    "numbers of at most 10,000 digits": "stf/src/script.rs: "
    "a_number_has_a_bound_and_its_mask_is_read_as_fast_as_its_digits",
    "hide no other run": "tests/labs/test_keeping.py: "
    "test_damaged_results_of_one_run_hide_no_other_and_stop_none",
    "what `tarfile` would read for ever": "tests/course/test_intake.py: "
    "test_a_tar_file_that_is_read_for_ever_is_refused_or_read_in_part",
    "zip members that unpack whole": "tests/course/test_intake.py: "
    "test_a_zip_packed_in_a_way_that_unpacks_whole_is_refused",
    "never read: only Jupyter opens them": "tests/course/test_intake.py: test_no_notebook_is_read",
    "run in a jail without privileges or network": "tests/course/test_grading.py: "
    "test_in_the_jail_there_is_no_network_and_nobody_to_kill",
    "they read only their own files": "tests/course/test_grading.py: "
    "test_in_the_jail_one_reads_what_one_is_given_and_writes_nothing",
    "has a permissive licence": "tidy/tests/licences.rs: "
    "every_crate_in_the_programs_has_a_licence_that_asks_for_no_more_than_to_be_named",
    "that only root and the user who called sudo can open": "tests/labs/test_kernel_sockets.py: "
    "test_other_users_cannot_open_the_socket",
    "in a file that only they can read": "tests/labs/test_live_flows.py: "
    "test_the_key_of_a_network_is_its_users_and_goes_with_it",
    "One socket per host and call": "tests/labs/test_kernel_sockets.py: "
    "test_a_host_that_a_request_names_often_takes_one_socket",
    "refuses Start and Stop": "tests/glass/test_live_flows.py: test_a_class_starts_nothing",
    "a file that only its user can read": "tests/glass/test_beside.py: "
    "test_no_argument_of_a_browser_has_the_token_of_a_page",
    "their streams may lose messages": "tests/glass/test_looking.py: "
    "test_a_watch_of_a_looking_page_may_always_lose",
    "the router never waits for the page": "tests/glass/test_cost_of_looking.py: "
    "test_any_history_of_pages_that_look_costs_others_little",
    "one more closes the oldest of the address": "tests/glass/test_arrivals.py: "
    "test_a_client_with_too_many_loses_its_own_oldest",
    "nothing appears on its terminal": "tests/glass/test_server.py: "
    "test_what_is_no_request_fills_no_terminal",
    "MiB of them is closed": "tests/glass/test_looking.py: "
    "test_messages_that_no_router_takes_end_their_page",
    "only iperf3 and ping": "tests/labs/test_live_flows.py: "
    "test_what_programs_have_no_words_for_is_refused_and_starts_nothing",
    "all end with the network": "tests/labs/test_live_flows.py: test_so_many_run_and_no_more",
}
# Held by a model that has no test of its own for each sentence: agent/tests/simulated.
OF_THE_MODEL = ("refused, in any order of streams",)


def test_each_sentence_is_on_the_page_and_its_test_is_there():
    page, wrong = THREATS.read_text(), []
    for said, held in HELD.items():
        path, _, name = held.partition(": ")
        found = place(path)
        if said not in page:
            wrong.append(f"the page does not say: {said}")
        if found is None or not re.search(rf"\b(fn|def|function) {name}\(", text_of(found)):
            wrong.append(f"there is no {held}")
    assert wrong == []


def test_each_row_of_the_threat_model_has_a_sentence_that_a_test_holds():
    known = [*HELD, *OF_THE_MODEL, *(said for said, *_ in NUMBERS)]
    promises = [cells[1] for cells in rows(THREATS) if re.search(r"`[\w/.]+`", cells[-1])]
    assert len(promises) > 50
    assert [each for each in promises if not any(said in each for said in known)] == []
