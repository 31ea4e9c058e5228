"""Exercises in a web page: the same checks, in a Python that runs in the browser (Pyodide).

What a check finds elsewhere on its machine, the page provides in the module `vitrine_page`
(glass/js/exercise/python.js): the programs vitrine-p4c and vitrine-sim as WebAssembly, and networks
in virtual time.

desk       what the page asks for: the exercise, a check, the file to hand in
runner     runs a program of the kit
insides    a class of the submission, in this Python instead of a process of its own
channel    stands in for gRPC: calls of a network in the page
network    a check's network
handout    writes the folder with the page; it runs where the kit is, not in the page
"""
