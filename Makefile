# The front door. Targets are short and hold no logic: that is in vm/, tests/ and labs/.
# `make help` lists them from the comments behind them.
.DEFAULT_GOAL := help
.PHONY: help run labs lab results compare report handout grade gradescope classroom interop labs-check sweep test setup build exercise check lint bless top metrics glass page trace up shell reload down conformance conformance-tcp bench conformance-tutorials conformance-guests conformance-p4-learning conformance-ptf conformance-testgen conformance-answers bench-pipeline bench-control bench-rude bench-restart bench-collector bench-insides bench-world bench-glass pictures bench-page chaos soak interruptions advisories fuzz corpus reproducible nightly parity provision vm vm-test vm-chroot-test vscode dist wireshark clean

# What can stand behind a lab; which of them a lab takes it says itself.
OF_LABS := LAB RATE QUEUE DURATION CONGESTION ARBITER SCHEDULER AQM QUICK PROGRAM WORLD SEEDS TOOLCHAIN GRPC

help:            ## list the targets
	@vm/help.sh Makefile

run:             ## bufferbloat on a real router, its queue live; WORLD=virtual without root, RATE=5mbit QUEUE=<packets> DURATION=<s> CONGESTION=cubic
	@vm/takes.sh $(OF_LABS)
	@vm/setup.sh
	@VITRINE_OPEN=1 vm/in_world.sh build/venv/bin/python -m labs run bufferbloat

labs:            ## list the labs, a line each
	@vm/takes.sh
	@vm/python.sh
	@build/venv/bin/python -m labs list

lab:             ## run one lab: LAB=<name>; QUICK=1 shortens it, WORLD=virtual|both, TOOLCHAIN=p4lang|both, RATE=... as make labs lists them
	@vm/takes.sh $(OF_LABS)
	@vm/lab.sh "$(LAB)"
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m labs run "$(LAB)"

results:         ## list the runs of labs that are kept, with their verdicts; LAB=<name> only its
	@vm/takes.sh LAB
	@vm/python.sh
	@build/venv/bin/python -m labs results

compare:         ## draw two kept runs of a lab side by side: A=<run> B=<run>, as make results names them
	@vm/takes.sh A B
	@vm/python.sh
	@build/venv/bin/python -m labs compare "$(A)" "$(B)"

report:          ## draw the report of a kept run anew: RUN=<run>
	@vm/takes.sh RUN
	@vm/python.sh
	@build/venv/bin/python -m labs report "$(RUN)"

handout:         ## an exercise as students get it, without solutions: NAME=<name>; or the table of a kept run into its lab's handout: RUN=<run>
	@vm/takes.sh NAME RUN
	@vm/python.sh
ifdef NAME
	@build/venv/bin/python -m course handout "$(NAME)"
else
	@build/venv/bin/python -m labs handout "$(RUN)"
endif

grade:           ## points and a page for every submission: NAME=<exercise> IN=<folder of folders or zips> OUT=<folder>; SECRET=<any word>
	@vm/takes.sh NAME IN OUT SECRET -- UNSAFE WORLD
	@WORLD=virtual vm/setup.sh
	@build/venv/bin/python -m course grade "$(NAME)" "$(IN)" "$(OUT)"

gradescope:      ## the autograder of an exercise as Gradescope takes it: NAME=<exercise>
	@vm/takes.sh NAME -- SECRET UNSAFE WORLD
	@WORLD=virtual vm/setup.sh
	@build/venv/bin/python -m course gradescope "$(NAME)"

classroom:       ## the template repository of an exercise for GitHub Classroom: NAME=<exercise> WHEEL=<its address>
	@vm/takes.sh NAME WHEEL -- WORLD
	@WORLD=virtual vm/setup.sh
	@build/venv/bin/python -m course classroom "$(NAME)" "$(WHEEL)"

interop:         ## routers of every two teams in one ring: NAME=<capstone or control-plane> IN=<folder of folders or zips>
	@vm/takes.sh NAME IN -- SECRET UNSAFE WORLD
	@WORLD=virtual vm/setup.sh
	@build/venv/bin/python -m course interop "$(NAME)" "$(IN)"

labs-check:      ## run all labs at full length and check every band; QUICK=1 shortens them, WORLD=virtual needs no quiet machine
	@vm/takes.sh QUICK WORLD SEEDS -- $(OF_LABS)
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m labs check

sweep:           ## one experiment over parameters and seeds: SWEEP=<name or file.yaml>; QUICK=1, JOBS=<processes>, SCHEDULER=tcp://<host>:8786
	@vm/takes.sh SWEEP QUICK JOBS SCHEDULER -- WORLD RATE QUEUE DURATION CONGESTION ARBITER SCHEDULER AQM
	@WORLD=virtual vm/setup.sh
	@build/venv/bin/python -m labs.sweep

test:            ## set up and run the tests: lints, Rust, Python, live networks; make nightly has the breadth
	@vm/takes.sh
	@vm/setup.sh tests
	@tests/all.sh

setup:           ## install and build whatever is missing (run and test do it too)
	@vm/takes.sh WORLD
	@vm/setup.sh

build:           ## build the programs and compile the P4 code, nothing else
	@vm/takes.sh
	@vm/python.sh
	@vm/build.sh

exercise:        ## a working copy of an exercise: NAME=<name> puts it into work/<name>, without NAME they are listed; it asks for your name, or takes STUDENT=<your name>
	@vm/takes.sh NAME STUDENT -- WORLD
	@WORLD=virtual vm/setup.sh
	@build/venv/bin/python -m course exercise "$(NAME)"

check:           ## what is right of an exercise: NAME=<name>, CASE=<one of its cases>, LIVE=1 on live routers, GLASS=1 keeps all its networks as pages; without NAME every test of the kit that needs no root
	@vm/takes.sh NAME CASE LIVE
ifdef NAME
	@vm/live_or_not.sh vm/setup.sh
	@vm/live_or_not.sh vm/in_world.sh build/venv/bin/python -m course check "$(NAME)"
else
	@vm/python.sh
	@vm/build.sh tests
	@tests/rust.sh
	@tests/python.sh
endif

lint:            ## formatting, lints and types of Rust and Python
	@vm/takes.sh
	@vm/python.sh
	@tests/lint.sh

bless:           ## accept the compiler's messages of now as what tests/diagnostics expect, and where handouts' lines stand now
	@vm/takes.sh
	@tests/bless.sh

top:             ## the insides of a running router in the terminal; ROUTER=<name or address>
	@vm/takes.sh ROUTER
	@vm/python.sh
	@build/venv/bin/python -m labs.top

metrics:         ## what the routers count that are up, for Prometheus; ROUTER=<name or address> LISTEN=<host:port>
	@vm/takes.sh ROUTER LISTEN
	@vm/python.sh
	@build/venv/bin/python -m labs.metrics

glass:           ## the page in the browser that shows and steers the network that is up; LESSON=bufferbloat, GLASS=0.0.0.0 for a class to look at
	@vm/takes.sh LESSON -- WORLD
	@vm/setup.sh
	@build/venv/bin/python -m labs.glass

page:            ## out/vitrine.html: compiler, network, editor and glass as one file that needs nothing
	@vm/takes.sh -- WORLD
	@WORLD=virtual vm/setup.sh
	@vm/page.sh

trace:           ## a live packet's life in a router: ROUTER=s1 FLOW='10.0.1.1:*->10.0.2.1:80' COUNT=3 FORM=json
	@vm/takes.sh ROUTER FLOW COUNT FORM
	@vm/python.sh
	@build/venv/bin/python -m labs.trace

up:              ## build a network and open a prompt; WORLD=virtual, TOPO=<file.yaml>, else the first lab's; PROGRAM=<file.p4>; DOMAIN=<file.yaml> for telemetry; GRPC=tcp
	@vm/takes.sh TOPO PROGRAM DOMAIN WORLD TOOLCHAIN GRPC RATE QUEUE
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m labs.prompt

shell:           ## p4runtime-shell at a router that is up; ROUTER=<name or address>
	@vm/takes.sh ROUTER
	@vm/python.sh
	@build/venv/bin/python -m apps.shell

reload:          ## the network that is up takes its P4 programs as they are now; PROGRAM=<file.p4> ROUTER=<name>
	@vm/takes.sh PROGRAM ROUTER
	@vm/as_owner.sh build/venv/bin/python -m apps.reload

down:            ## end whatever an interrupted run left behind
	@vm/takes.sh
	@vm/python.sh
	@vm/as_owner.sh build/venv/bin/python -m topo.down

conformance:     ## p4c's own test programs through our compiler and switch; P4C=<its checkout>
	@vm/takes.sh P4C -- P4C_LIST
	@vm/python.sh
	@vm/build.sh
	@tests/conformance/run.sh

conformance-tcp: ## our hosts' TCP beside Linux's, cell by cell, into out/; CELLS="bbr cubic,10mbps" LIVE=1
	@vm/takes.sh CELLS LIVE -- WORLD
	@vm/setup.sh
	@vm/build.sh optimised
	@tests/conformance/tcp/run.sh

bench:           ## throughput, delay and precision of live switches side by side, into out/; QUICK=1
	@vm/takes.sh QUICK -- WORLD
	@WORLD=live vm/setup.sh
	@vm/build.sh optimised
	@vm/as_root.sh build/venv/bin/python -m tests.bench

conformance-tutorials: ## the exercises of p4lang/tutorials on our compiler and switch; TUTORIALS=<its checkout>
	@vm/takes.sh TUTORIALS -- WORLD
	@WORLD=live vm/setup.sh
	@vm/as_root.sh build/venv/bin/python -m tests.conformance.tutorials --tutorials "$(TUTORIALS)"

conformance-guests: ## programs of other projects on our compiler, and their P4Info; CHECKOUTS=<folder of checkouts>
	@vm/takes.sh CHECKOUTS
	@vm/python.sh
	@vm/build.sh
	@build/venv/bin/python -m tests.conformance.guests --checkouts "$(CHECKOUTS)"

conformance-p4-learning: ## p4-learning's networks on p4-utils with our compiler and switch; CHECKOUTS=<folder> P4UTILS=<Python that has it>
	@vm/takes.sh CHECKOUTS P4UTILS -- WORLD
	@WORLD=live vm/setup.sh
	@vm/as_root.sh build/venv/bin/python -m tests.conformance.p4_learning --checkouts "$(CHECKOUTS)" --python "$(P4UTILS)"

conformance-ptf: ## p4-guide's PTF tests on our compiler and switch; CHECKOUTS=<folder> PTF=<Python with ptf and p4runtime-shell>
	@vm/takes.sh CHECKOUTS PTF -- WORLD
	@WORLD=live vm/setup.sh
	@vm/as_root.sh build/venv/bin/python -m tests.conformance.ptf --checkouts "$(CHECKOUTS)" --python "$(PTF)"

conformance-testgen: ## P4Testgen's tests of all programs on our compiler and switch; ORACLE=<folder of p4testgen> P4C=<checkout of p4c> SMITH=<random programs> ONLY="drops clones" MOST=<tests of one>
	@vm/takes.sh ORACLE P4C SMITH ONLY MOST
	@vm/python.sh
	@vm/build.sh
	@build/venv/bin/python -m tests.conformance.testgen

conformance-answers: ## what simple_switch_CLI is answered by our switch and by the original, for p4-learning's programs; CHECKOUTS=<folder> ORACLE=<folder of simple_switch>
	@vm/takes.sh CHECKOUTS ORACLE
	@vm/python.sh
	@vm/build.sh
	@build/venv/bin/python -m tests.conformance.answers --checkouts "$(CHECKOUTS)" --original "$(ORACLE)"

bench-pipeline:  ## nanoseconds a packet spends in the P4 pipeline, and in simple_switch if there is one
	@vm/takes.sh
	@vm/bench.sh pipeline

bench-control:   ## table writes and reads a second through gRPC, and how long packets wait for them
	@vm/takes.sh
	@vm/bench.sh service

bench-rude:      ## how long packets and a polite client wait beside 64 rude ones, in turn with none; QUICK=1
	@vm/takes.sh QUICK -- WORLD
	@WORLD=live vm/setup.sh
	@vm/build.sh optimised
	@vm/as_root.sh build/venv/bin/python -m tests.bench.rude

bench-restart:   ## how soon a router that was killed is back with all that it had, and where the time goes; QUICK=1
	@vm/takes.sh QUICK -- WORLD
	@WORLD=live vm/setup.sh
	@vm/build.sh optimised
	@vm/as_root.sh build/venv/bin/python -m tests.bench.restart

bench-collector: ## reports a second that the telemetry collector keeps on one core
	@vm/takes.sh
	@vm/python.sh
	@build/venv/bin/python -m tests.telemetry.bench_collector

bench-insides:   ## decisions a second of the built-in parts as Python classes
	@vm/takes.sh -- WORLD
	@WORLD=virtual vm/setup.sh
	@vm/build.sh optimised
	@build/venv/bin/python -m tests.bench.insides

bench-world:     ## packets of TCP a CPU second that virtual networks carry, ns-3 beside; QUICK=1
	@vm/takes.sh QUICK
	@vm/python.sh
	@vm/build.sh optimised
	@build/venv/bin/python -m tests.bench.virtual

bench-glass:     ## frame times of the page with 5,000 packets; MINUTES=10: its memory; needs chromium
	@vm/takes.sh MINUTES
	@vm/python.sh
	@vm/build.sh optimised
	@build/venv/bin/python -m tests.glass.bench

pictures:        ## the pictures of the page that docs show, taken again in Chromium
	@vm/takes.sh
	@WORLD=virtual vm/setup.sh
	@vm/browser.sh
	@build/venv/bin/python -m tests.glass.pictures

bench-page:      ## packets of TCP a second in the page that is one file, and its size
	@vm/takes.sh
	@vm/python.sh
	@vm/build.sh optimised
	@vm/page.sh
	@build/venv/bin/python -m tests.bench.page

chaos:           ## a live network on which everything goes wrong, and after each fault all must hold: TIME=20min SEED=<number>
	@vm/takes.sh TIME SEED -- WORLD
	@WORLD=live vm/setup.sh
	@vm/as_root.sh build/venv/bin/python -m tests.chaos

soak:            ## the same network for long and with nothing wrong: whatever grows is found and drawn; HOURS=8 WORLD=virtual
	@vm/takes.sh HOURS WORLD -- TIME SEED
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m tests.chaos.soak

interruptions:   ## run, lab, up, glass and sweep stopped at random instants, by every signal: TIME=10min or COUNT=1000 SEED=<number> WORLD=virtual
	@vm/takes.sh TIME COUNT SEED WORLD
	@vm/setup.sh
	@vm/in_world.sh build/venv/bin/python -m tests.chaos.interruptions

advisories:      ## what is known to be wrong with crates and Python packages; ADVISORIES=<RustSec's advisory-db>:<PyPA's advisory-database>
	@vm/takes.sh ADVISORIES
	@vm/python.sh
	@build/venv/bin/python -m tests.advisories

fuzz:            ## any bytes as everything that strangers send; TIME=10min in all, ONLY="source stf" SANITIZER=address
	@vm/takes.sh TIME ONLY SANITIZER
	@vm/python.sh
	@vm/build.sh
	@tests/fuzz.sh

corpus:          ## what fuzzing has found, as few inputs as take all ways through the code, for make test to try; ONLY="source stf"
	@vm/takes.sh ONLY
	@vm/python.sh
	@vm/build.sh
	@tests/fuzz.sh minimise

reproducible:    ## the programs of the last commit, built in two folders, are the same bytes
	@vm/takes.sh
	@vm/python.sh
	@tests/reproducible.sh

nightly:         ## what takes too long for every change: a million random TCP transfers, 100,000 histories of controllers, 10,000 generated programs, 1000 random networks, the same bytes on wasm32; QUICK=1
	@vm/takes.sh QUICK
	@tests/nightly.sh

parity:          ## p4c and simple_switch against ours on every packet test; CASES="clones table_lpm"
	@vm/takes.sh CASES -- WORLD
	@WORLD=live vm/setup.sh
	@build/venv/bin/python -m tests.parity

provision:       ## turn this fresh Ubuntu or Debian into a lab machine: the kit, Wireshark, p4c where it can be had
	@vm/provision.sh

vm:              ## a bootable lab machine as build/image/vitrine.qcow2, from Debian's packages; ARCHITECTURE=arm64
	@vm/takes.sh ARCHITECTURE SUITE IMAGE_GB IMAGE_USER IMAGE_PASSWORD -- WORLD
	@WORLD=live vm/setup.sh
	@vm/image.sh

vm-test:         ## boot that image, log in on its serial console, run the quick bufferbloat lab, check its result
	@vm/takes.sh
	@python3 vm/boot_test.py

vm-chroot-test:  ## provision a fresh system in a folder and run a lab in it; SUITE=bookworm|trixie|jammy|noble
	@vm/takes.sh SUITE ARCHITECTURE IMAGE_USER -- WORLD
	@WORLD=live vm/setup.sh
	@vm/chroot_test.sh

vscode:          ## pack the P4 extension for VS Code as out/vitrine-p4.vsix (wants npm)
	@vm/takes.sh
	@editors/vscode/pack.sh

dist:            ## out/dist: wheel, Debian package and tarball for machines that build nothing; ARCHITECTURE=arm64
	@vm/takes.sh ARCHITECTURE -- WORLD
	@WORLD=virtual vm/setup.sh
	@vm/dist.sh

wireshark:       ## teach Wireshark and tshark to read INT packets and telemetry reports
	@vm/takes.sh
	@vm/wireshark.sh

clean:           ## remove everything the build made, and all results of labs
	@vm/takes.sh
	@vm/clean.sh
