"""Labs that are files: `labs/NAME/lab.yaml`, which docs/lab-files.md describes key by key.

names.py      the values and functions that a file's expressions may use
steps.py      what a run does: pings, flows, waits, datagrams
measures.py   what is measured in a recording, by the names of the file
figures.py    the figures that a file asks for by name
document.py   a file, read and checked
from_file.py  the lab that a file describes
"""
