"""The command `vitrine`: what people type, from a clone and from an installed wheel.

options    every option, once
tree       what a command is, and the list of all of them
labs, networks, programs, course, develop   the commands; each imports its work when it is run
parser     argparse with examples, suggestions and completion
run        parses, runs, and turns errors into sentences and exit codes
door       the same from a clone: sets up what a command needs, as root only where it must
make       `make run RATE=5mbit` as words of this command
doctor     what this machine can do, and what adds the rest

Everything up to the parsed words needs nothing but Python's standard library, because a fresh clone
refuses a misspelt option before it installs anything.
"""
