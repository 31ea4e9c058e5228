"""Things that a submission must not find: the kit's own answers, by any way of looking for them."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from controller.toolchain import ROOT
from course import catalogue
from course.exercise import SOLUTIONS, Work
from course.grading.jailed import JailedRunner
from course.jail import KEPT
from course.judge import judge
from course.process import Runner
from course.story import Story
from course.tools.insides import CONTRACT, environment

EXAMPLES = ROOT / "insides" / "examples"
# One quick case of each class that the kit has an example for.
IMPORTED = [
    ("own-tcp", "tcp.py", "slow-start", "reno", "Reno as MyTcp"),
    ("own-tcp", "tcp.py", "slow-start", "cubic", "Cubic as MyTcp"),
    ("fair-queues", "scheduler.py", "turn-by-turn", "drr", "Drr"),
    ("fair-queues", "scheduler.py", "wfq-turn-by-turn", "wfq", "Wfq"),
    ("head-of-line", "arbiter.py", "islip-one-round", "islip", "Islip"),
    ("head-of-line", "arbiter.py", "pim-one-round", "pim", "Pim"),
]


@pytest.fixture
def folder():
    """A folder that a program without rights may read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(params=["jail", "container", "check"])
def runner(request):
    """Both kinds of jail, and what students run themselves: it must find no more."""
    if request.param == "check":
        return Runner()
    runner = JailedRunner(in_container=request.param == "container")
    runner.check()
    return runner


@pytest.mark.parametrize(("name", "file", "case", "module", "what"), IMPORTED)
def test_an_example_of_the_kit_cannot_be_imported_as_a_solution(
    name, file, case, module, what, folder
):
    (folder / file).write_text(f"from insides.examples.{module} import {what}\n")
    runner = JailedRunner()
    judgement = judge(
        catalogue.find(name), folder, seed="test", runner=runner, only=[case], secret="s"
    )
    assert judgement.points == 0
    story = judgement.verdicts[0].story
    assert "No module named 'insides.examples'" in " ".join([story.came, *story.way])


def ask(runner, folder, script):
    """The output of a script that runs in the place of a class of the submission."""
    work = Work(folder, folder / "scratch", "test", runner)
    work.scratch.mkdir(exist_ok=True)
    work.scratch.chmod(0o755)
    (folder / "ask.py").write_text(script)
    told = environment(work)
    done = subprocess.run(
        [*told["VITRINE_PYTHON"].split(), str(folder / "ask.py")],
        env={**runner.environment(), "PYTHONPATH": told["PYTHONPATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_no_way_of_importing_finds_more_than_the_contract(runner, folder):
    found = ask(
        runner,
        folder,
        """
import importlib, importlib.util, json, pkgutil, sys
import insides
found = sorted(each.name for each in pkgutil.iter_modules(insides.__path__))
names = ("insides.examples", "insides.examples.reno", "course", "controller", "labs", "vitrine",
         "topo", "apps", "yaml", "grpc", "numpy", "pip")
for name in names:
    for how in (importlib.import_module, importlib.util.find_spec):
        try:
            if how(name) is not None:
                found.append(name)
        except (ImportError, OSError):
            pass
# A path file is read where site-packages are; nobody reads them here.
found += [each for each in sys.path if "-packages" in each]
found += [type(each).__module__ for each in sys.meta_path if "editable" in type(each).__module__]
print(json.dumps(found))
""",
    )
    assert found == sorted(Path(name).stem for name in CONTRACT if name != "__init__.py")


@pytest.mark.parametrize("in_container", [False, True], ids=["namespaces", "container"])
def test_no_file_of_the_kit_that_answers_can_be_read(in_container, folder):
    runner = JailedRunner(in_container=in_container)
    secret = folder / "secret"
    secret.mkdir()
    (secret / "rosebud").write_text("s")
    files = [
        EXAMPLES / "reno.py",
        ROOT / "insides" / "contract.py",
        ROOT / "course" / "judge.py",
        ROOT / "course" / "exercises" / "own_tcp" / "exercise.py",
        SOLUTIONS / "own-tcp" / "right" / "tcp.py",
        ROOT / "p4src" / "programs" / "router.p4",
        ROOT / "build" / "bin" / "vitrine-sim",
        Path(f"/proc/{os.getpid()}/environ"),
        Path("/etc/passwd"),
    ]
    found = ask(
        runner,
        folder,
        f"""
import json, os
found = []
for name in {[str(each) for each in files]!r}:
    for path in (name, os.path.join("/proc/self/cwd", name), os.path.realpath(name)):
        try:
            open(path, "rb").read(1)
            found.append(path)
        except OSError:
            pass
# A link to it is no other way.
for folder in ({str(folder)!r}, "/tmp", "/dev/shm"):
    try:
        os.symlink(os.path.dirname({str(files[0])!r}), os.path.join(folder, "way"))
        found.append(folder)
    except OSError:
        pass
print(json.dumps(found))
""",
    )
    assert found == []


def test_a_link_in_the_submission_leads_nowhere(folder):
    (folder / "examples").symlink_to(EXAMPLES)
    found = ask(
        JailedRunner(),
        folder,
        f"""
import json, os, sys
sys.path.insert(0, {str(folder)!r})
try:
    from examples.reno import Reno
    print(json.dumps("found"))
except (ImportError, OSError) as error:
    print(json.dumps(type(error).__name__))
""",
    )
    assert found in ("PermissionError", "ModuleNotFoundError")


def test_where_the_kit_is_installed_the_jail_hides_it_among_other_packages(folder):
    packages = folder / "python" / "lib" / "site-packages"
    for name in ("vitrine_kit/insides/examples/reno.py", "other/module.py"):
        (packages / name).parent.mkdir(parents=True)
        (packages / name).write_text("text")
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from course.jail import walls
walls._KIT = {str(packages / "vitrine_kit")!r}
sys.prefix = sys.base_prefix = {str(folder / "python")!r}
walls.confine([], [])
for name in ("vitrine_kit/insides/examples/reno.py", "other/module.py"):
    try:
        print(open({str(packages)!r} + "/" + name).read())
    except OSError as error:
        print(type(error).__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.splitlines() == ["PermissionError", "text"], done.stderr


@pytest.mark.parametrize(
    ("name", "file", "case"),
    [
        ("own-tcp", "tcp.py", "slow-start"),
        ("head-of-line", "arbiter.py", "islip-one-round"),
        ("control-plane", "control.py", "arp"),
        ("who-filled-the-queue", "culprit.py", "alone"),
    ],
)
def test_the_secret_of_grading_is_in_no_environment_of_a_submission(
    name, file, case, folder, monkeypatch
):
    """With it the scenarios of grading could be predicted, and a story would reveal it."""
    monkeypatch.setenv("SECRET", "rosebud")
    shutil.copytree(SOLUTIONS / name / "right", folder, dirs_exist_ok=True)
    frames = catalogue.find(name).start / "frames.py"
    if frames.exists():
        shutil.copy(frames, folder)
    kept = set(KEPT) | {"LC_CTYPE"}
    script = f"import os\nif set(os.environ) - {kept!r}: raise ValueError(dict(os.environ))\n"
    (folder / file).write_text(script + (folder / file).read_text())
    judgement = judge(
        catalogue.find(name), folder, seed="test", runner=JailedRunner(), only=[case], secret="s"
    )
    assert judgement.verdicts[0].story is None, judgement.verdicts[0].story


def test_a_class_in_the_folder_of_the_kit_finds_no_more_than_elsewhere(folder, monkeypatch):
    """Python looks first where it was started, and students start checks in the kit's folder."""
    monkeypatch.chdir(ROOT)
    (folder / "tcp.py").write_text("from insides.examples.reno import Reno as MyTcp\n")
    (verdict,) = judge(catalogue.find("own-tcp"), folder, seed="test", only=["slow-start"]).verdicts
    assert "No module named 'insides.examples'" in verdict.story.came


def test_a_submission_s_words_do_nothing_to_a_terminal():
    story = Story("\x1b[2Jd", "e\r", "b", "c\x9b", ("\x07w",)).shortened()
    assert (story.done, story.expected, story.came, story.way) == ("?[2Jd", "e?", "c?", ("?w",))
