"""Controllers: each turns a topology into the entries of one P4 program."""
