#!/usr/bin/env bash
# Executes all notebooks in a Jupyter kernel, as a reader's Jupyter does. Its packages go into a
# folder of their own, so that the kit's stay as they are.
set -euo pipefail
cd "$(dirname "$0")/../.."
build/venv/bin/pip install --quiet --upgrade --target build/jupyter -r tests/notebooks/requirements.txt
PYTHONPATH=$PWD/build/jupyter VITRINE_NOTEBOOKS=all build/venv/bin/python -m pytest tests/notebooks "$@"
