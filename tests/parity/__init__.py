"""Both compilers and both switches on the same programs and packets: `make parity`."""
