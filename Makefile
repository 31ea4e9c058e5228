# The front door. Targets are short and hold no logic: that is in vm/, tests/ and labs/.
# `make help` lists them from the comments behind them.
.DEFAULT_GOAL := help
.PHONY: help run labs lab results compare report handout labs-check test setup build check lint bless top glass trace up shell reload down conformance conformance-tcp bench conformance-tutorials bench-pipeline bench-control bench-collector bench-world nightly parity provision vm vm-test vm-chroot-test wireshark clean

help:            ## list the targets
	@vm/help.sh Makefile

run:             ## bufferbloat on a real router, its queue live; WORLD=virtual without root, RATE=5mbit QUEUE=<packets> DURATION=<s> CONGESTION=cubic
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m labs run bufferbloat

labs:            ## list the labs, a line each
	@vm/python.sh
	@build/venv/bin/python -m labs list

lab:             ## run one lab: LAB=<name>; QUICK=1 shortens it, WORLD=virtual|both, TOOLCHAIN=p4lang|both, RATE=... as make labs lists them
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m labs run "$(LAB)"

results:         ## list the runs of labs that are kept, with their verdicts
	@vm/python.sh
	@build/venv/bin/python -m labs results

compare:         ## draw two kept runs of a lab side by side: A=<run> B=<run>, as make results names them
	@vm/python.sh
	@build/venv/bin/python -m labs compare "$(A)" "$(B)"

report:          ## draw the report of a kept run anew: RUN=<run>
	@vm/python.sh
	@build/venv/bin/python -m labs report "$(RUN)"

handout:         ## put the table of a kept run into its lab's handout: RUN=<run>
	@vm/python.sh
	@build/venv/bin/python -m labs handout "$(RUN)"

labs-check:      ## run all labs at full length and check every band; QUICK=1 shortens them, WORLD=virtual needs no quiet machine
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m labs check

test:            ## set up and run every test: Rust, Python, live networks
	@vm/setup.sh
	@tests/all.sh

setup:           ## install and build whatever is missing (run and test do it too)
	@vm/setup.sh

build:           ## build the programs and compile the P4 code, nothing else
	@vm/python.sh
	@vm/build.sh

check:           ## every test that needs no network and no root
	@vm/python.sh
	@vm/build.sh
	@tests/rust.sh
	@tests/python.sh -m "not live"

lint:            ## formatting and lints of Rust and Python
	@vm/python.sh
	@tests/lint.sh

bless:           ## accept the compiler's messages of now as what tests/diagnostics expect
	@tests/bless.sh

top:             ## the insides of a running router in the terminal; ROUTER=<name or host:port>
	@vm/python.sh
	@build/venv/bin/python -m labs.top

glass:           ## the page in the browser that shows and steers the network that is up; LESSON=hol-blocking, GLASS=0.0.0.0 for a class to look at
	@vm/setup.sh
	@build/venv/bin/python -m labs.glass

trace:           ## a live packet's life in a router: ROUTER=s1 FLOW='10.0.1.1:*->10.0.2.1:80' COUNT=3
	@vm/python.sh
	@build/venv/bin/python -m labs.trace

up:              ## build a network and open a prompt; WORLD=virtual, TOPO=<file.yaml>, else the first lab's; PROGRAM=<file.p4>; DOMAIN=<file.yaml> for telemetry
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m labs.prompt

shell:           ## p4runtime-shell at a router that is up; ROUTER=<host:port>
	@vm/python.sh
	@build/venv/bin/python -m apps.shell

reload:          ## the network that is up takes its P4 programs as they are now; PROGRAM=<file.p4> ROUTER=<name>
	@vm/as_root.sh build/venv/bin/python -m apps.reload

down:            ## end whatever an interrupted run left behind
	@vm/python.sh
	@vm/as_root.sh build/venv/bin/python -m topo.down

conformance:     ## p4c's own test programs through our compiler and switch; P4C=<its checkout>
	@vm/build.sh
	@tests/conformance/run.sh

conformance-tcp: ## our hosts' TCP beside Linux's, cell by cell, into out/; CELLS="bbr cubic,10mbps" LIVE=1
	@vm/setup.sh
	@tests/conformance/tcp/run.sh

bench:           ## throughput, delay and precision of live switches side by side, into out/; QUICK=1
	@WORLD=live vm/setup.sh
	@vm/as_root.sh build/venv/bin/python -m tests.bench

conformance-tutorials: ## the exercises of p4lang/tutorials on our compiler and switch; TUTORIALS=<its checkout>
	@WORLD=live vm/setup.sh
	@vm/as_root.sh build/venv/bin/python -m tests.conformance.tutorials --tutorials "$(TUTORIALS)"

bench-pipeline:  ## nanoseconds a packet spends in the P4 pipeline, and in simple_switch if there is one
	@vm/bench.sh pipeline

bench-control:   ## table writes and reads a second through gRPC, and how long packets wait for them
	@vm/bench.sh service

bench-collector: ## reports a second that the telemetry collector keeps on one core
	@vm/python.sh
	@build/venv/bin/python -m tests.telemetry.bench_collector

bench-world:     ## packets of TCP a CPU second that virtual networks carry, ns-3 beside; QUICK=1
	@vm/python.sh
	@build/venv/bin/python -m tests.bench.virtual

nightly:         ## what takes too long for every change: a million random TCP transfers, 1000 random networks, the same bytes on wasm32
	@tests/nightly.sh

parity:          ## p4c and simple_switch against ours on every packet test; CASES="clones table_lpm"
	@WORLD=live vm/setup.sh
	@build/venv/bin/python -m tests.parity

provision:       ## turn this fresh Ubuntu or Debian into a lab machine: the kit, Wireshark, p4c where it can be had
	@vm/provision.sh

vm:              ## a bootable lab machine as build/image/vitrine.qcow2, from Debian's packages; ARCHITECTURE=arm64
	@WORLD=live vm/setup.sh
	@vm/image.sh

vm-test:         ## boot that image, log in on its serial console, run the quick bufferbloat lab, check its result
	@python3 vm/boot_test.py

vm-chroot-test:  ## provision a fresh system in a folder and run a lab in it; SUITE=bookworm|trixie|jammy|noble
	@WORLD=live vm/setup.sh
	@vm/chroot_test.sh

wireshark:       ## teach Wireshark and tshark to read INT packets and telemetry reports
	@vm/wireshark.sh

clean:           ## remove everything the build made
	@vm/clean.sh
