# The front door. Labs, networks and exercises are commands of `vitrine`: build/bin/vitrine, or `vitrine`
# after `. build/activate`. Variables of a target become options: RATE=5mbit is --rate 5mbit.
.DEFAULT_GOAL := help
.PHONY: help run lab up test check lint setup build bench nightly page dist vm down clean

help:            ## list the targets; vitrine --help lists the commands
	@vm/help.sh Makefile

run:             ## bufferbloat on a real router, its queue live; RATE=5mbit QUEUE=<packets> CONGESTION=bbr QUICK=1 WORLD=virtual
	@vm/vitrine make run --open

lab:             ## run a lab: LAB=<name>, and settings as for run
	@vm/vitrine make run

up:              ## build a network and open a prompt: TOPO=<file.yaml> PROGRAM=<file.p4> WORLD=virtual
	@vm/vitrine make up

down:            ## end the network that is up, or clean up after a crash
	@vm/vitrine make down

test:            ## set up and run the tests: lints, Rust, Python, live networks
	@vm/vitrine takes
	@vm/setup.sh tests
	@tests/all.sh

check:           ## the tests that need no root
	@vm/vitrine takes
	@vm/python.sh
	@vm/build.sh tests
	@tests/rust.sh
	@tests/python.sh

lint:            ## formatting, lints and types of Rust and Python
	@vm/vitrine takes
	@vm/python.sh
	@tests/lint.sh

nightly:         ## the breadth that takes too long for every change; QUICK=1
	@vm/vitrine make dev nightly

bench:           ## throughput, delay and precision of live switches, into out/; QUICK=1
	@vm/vitrine make dev bench

setup:           ## install and build what is missing; run and test do it too
	@vm/vitrine takes
	@vm/setup.sh

build:           ## build the programs and compile the P4 code, nothing else
	@vm/vitrine takes
	@vm/python.sh
	@vm/build.sh

page:            ## write out/vitrine.html: compiler, network, editor and view in one file
	@vm/vitrine make dev page

dist:            ## out/dist: wheel, Debian package and tarball; ARCHITECTURE=arm64
	@vm/vitrine make dev dist

vm:              ## a bootable lab machine, build/image/vitrine.qcow2; ARCHITECTURE=arm64 SUITE=trixie
	@vm/vitrine make dev image

clean:           ## remove everything the build made, and all results of labs
	@vm/vitrine takes
	@vm/clean.sh

# A target of an earlier version prints its new command. Without .PHONY the folder glass/ would hide one.
.PHONY: glass
glass .DEFAULT:
	@vm/vitrine moved $@
