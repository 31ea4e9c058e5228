"""`vitrine new lab NAME`: a lab that runs, to be changed into another one."""

from __future__ import annotations

from pathlib import Path

from controller import ownership
from labs import names
from labs.errors import SettingError

FOLDER = Path(__file__).parents[1]
TEMPLATE = Path(__file__).parent / "template"


def write(name: str, folder: Path = FOLDER) -> str:
    """Writes the lab; what to do next."""
    if name in names.names():
        raise SettingError(f"there is a lab {name} already: choose another name.")
    made = names.new_folder("a lab", name, folder)
    made.mkdir()
    for file in sorted(TEMPLATE.iterdir()):
        text = file.read_text().replace("NAME", name).replace("FOLDER", made.name)
        (made / file.name).write_text(text)
    ownership.give_to_caller(made)
    return f"""labs/{made.name} has lab.yaml, topology.yaml and a handout, and runs as it is.
Next:
  vitrine run {name} --world virtual --quick
  edit labs/{made.name}/lab.yaml; docs/new-lab.md explains it in ten minutes
  build/venv/bin/python -m pytest tests/labs -k {name}"""
