"""Exercises in a web page: the same checks, in a Python that runs in the browser (Pyodide).

The page provides what the checks find elsewhere on their machine, as the module `vitrine_page`
(glass/js/exercise/python.js): vitrine-p4c and vitrine-sim as WebAssembly, and networks in virtual
time.

requests   the page's requests: a check, a command line, the student's numbers
runner     runs a program of the kit
decider    a class of the submission, in this Python instead of a process of its own
channel    replaces gRPC: calls to a network in the page
network    a check's network
handout    writes the folder with the page; it runs in a clone of the kit, not in the page
"""
