"""Programs of the projects that do not compile, or lose packets, and why that is right.

A program that fails and is not here is a failure of ours; one that is here and compiles is one too,
because then the line is to go.
"""

from __future__ import annotations

from fnmatch import fnmatch

_COMPLETE = "for students to complete"
_GENERATED = "includes a file that another tool makes"
_DUMP = "a pass of p4c written out, which is no program"
_IDEA = "written in a language or architecture that is only proposed"
_REFUSED = "shows what a compiler must refuse"
_SWITCH = "more than the switch of p4c's back end can do"
_OLDER = "for an architecture file of its time"
_FLAT = "JSON whose multicast group is in a field of its own, where no switch looks"

# By project: pattern of the path, cause.
_PROGRAMS = {
    "tutorials": (("exercises/flowcache/flowcache.p4", _COMPLETE),),
    "p4-learning": (
        ("exercises/03-L2_Basic_forwarding/p4runtime/p4src/l2_basic_forwarding.p4", _COMPLETE),
        ("exercises/03-L2_Basic_forwarding/thrift/p4src/l2_basic_forwarding.p4", _COMPLETE),
        ("exercises/04-MPLS/*/mpls_basics/basics.p4", _COMPLETE),
        ("exercises/04-MPLS/*/mpls_stacked/stacked.p4", _COMPLETE),
        ("exercises/05-ECMP/p4src/ecmp.p4", _COMPLETE),
        ("exercises/05-Flowlet_Switching/p4src/flowlet_switching.p4", _COMPLETE),
        ("exercises/06-Heavy_Hitter_Detector/heavy_hitter.p4", _COMPLETE),
        ("exercises/11-Packet-Loss-Detection/p4src/loss-detection.p4", _COMPLETE),
    ),
    "p4-guide": (
        ("v1model-special-ops/p414-multicast-bmv2.p4c-2019-01-25.json", _FLAT),
        ("exit-statement/err-exit-1.p4", _REFUSED),
        ("loop-test-progs/err-loop-var-*.p4", _REFUSED),
        ("loop-test-progs/err-var-is-not-compile-time-known-value1.p4", _REFUSED),
        ("calling-convention/calling-convention.p4", _OLDER),
        ("checksum/checksum-ipv4-with-options.p4", _OLDER),
        ("code-generation/example1.p4", _GENERATED),
        ("demo-if-stmts/demo-if-stmts3.p4", _GENERATED),
        ("instantiation/extern-ref.p4", _IDEA),
        ("instantiation/instantiations1.p4", _IDEA),
        ("instantiation/table-ctrl-1-inst.p4", _SWITCH),
        ("instantiation/table-ctrl-dti-2-times.p4", _REFUSED),
        ("ipdk/dash_*/dash_bmv2_v1model.p4", "a part that dash_pipeline.p4 includes"),
        ("loop-test-progs/tmp/loop-var-exprs-not-constant1-0003-*", _DUMP),
        ("loop-test-progs/tmp/loop-var-in-list-elems-modified?-0003-*", _DUMP),
        ("loop-test-progs/tmp/loop-var-modifiable-in-body1-0003-*", _DUMP),
        ("multipipeline/example-1pipeline.p4", _IDEA),
        ("multipipeline/psa-multipipe.p4", _IDEA),
        ("name-annotations/v1model/after-*.p4", _DUMP),
        ("namespaces/sample1.p4", _IDEA),
        ("p4runtime-translation/weird-case4.p4", _REFUSED),
        ("p4runtime/v1model-p4runtime-most-types3.p4", _SWITCH),
        ("preprocessor/exper1a.p4", _REFUSED),
        ("run-time-params/control-variable*.p4", _REFUSED),
        ("scope-of-declared-variables/prog4p4.p4", _REFUSED),
        ("table-entries-with-for-loops/example2.p4", "includes headers of Boost"),
        ("table-size-tests/keyless-table-with-entries-bmv2.p4", _REFUSED),
        ("tcp-options-parser/look-for-ts-tcp-option/*.p4", _GENERATED),
        ("templates/demo1_*.p4", _GENERATED),
        ("templates/*_ethernet_parsing_only.p4", _GENERATED),
        ("traffic-management/*red-prototype.p4", _IDEA),
        ("v1model-special-ops/*-reasons-field-list-annot.p4", _IDEA),
        ("v1model-special-ops/*-reasons-params.p4", _IDEA),
        ("v1model-special-ops/*-reasons-resubmit-annot.p4", _IDEA),
    ),
}


def cause(project: str, path: str) -> str | None:
    """Why this program is not meant to compile; `None` for one that is."""
    patterns = _PROGRAMS.get(project, ())
    return next((why for pattern, why in patterns if fnmatch(path, pattern)), None)
