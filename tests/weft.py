# SPDX-License-Identifier: Apache-2.0
"""What tests in Python share: where weft and its sources lie, how a run ends, and checks that are counted. tests/meson.build puts
this folder on the path of each test; by hand: WEFT=build/apps/weft PYTHONPATH=tests tests/golden/program_table.py."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("WEFT_SOURCE") or pathlib.Path(__file__).resolve().parent.parent)
SHARED = pathlib.Path(os.environ.get("WEFT_SHARED") or SOURCE.parent / "shared")  # captures and tables of others
SCENARIOS = SOURCE / "apps" / "scenarios"
WEFT = os.environ.get("WEFT", "")
DONE, MISSED, BAD_INPUT, ENVIRONMENT, PEER_LOST, NOT_VALID, SKIPPED = 0, 1, 2, 3, 4, 5, 77  # how a program or a test ends
TIMEOUT_S = 600  # then it hangs


def run(*words, timeout=TIMEOUT_S, text=True, check=False, **more):
    """Runs weft with these words: what subprocess.run says of it, with its output as text."""
    return subprocess.run([WEFT, *map(str, words)], capture_output=True, text=text, timeout=timeout, check=check, **more)


def outcome(*words, **more):
    """The same as exit status, output and errors."""
    done = run(*words, **more)
    return done.returncode, done.stdout, done.stderr


def start(*words, **more):
    """Starts weft with these words, its output and errors in pipes."""
    return subprocess.Popen([WEFT, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


class InFolder(unittest.TestCase):
    """A test with a folder of its own and programs that it starts; both are gone when it has ended."""
    WHERE = None  # the folder in which that one is made

    def setUp(self):
        room = tempfile.TemporaryDirectory(dir=self.WHERE)
        self.addCleanup(room.cleanup)
        self.folder, self.started = pathlib.Path(room.name), []
        self.addCleanup(self.end_started)

    def start(self, *words, **more):
        self.started.append(start(*words, **more))
        return self.started[-1]

    def end_started(self):
        for process in self.started:
            process.kill()
            process.communicate()


class InMemory(InFolder):
    """The same with the folder in memory, where there is such a place."""
    WHERE = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def result_of(*words, **more):
    """The JSON that weft prints with these words; the test ends if it does not."""
    done = run(*words, **more)
    if done.returncode != DONE:
        sys.exit(f"FAILED: weft {' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def skip(why):
    """Ends the test as skipped."""
    print(why)
    sys.exit(SKIPPED)


def is_sanitized():
    """Whether a test shall do less: sanitizers make it ten times slower, the plain build does it all, and so does `tests/run sanitize`."""
    return bool(os.environ.get("WEFT_SANITIZE")) and not os.environ.get("WEFT_WHOLE")


def skip_when_sanitized():
    """Ends a test that takes minutes in a build with sanitizers, unless all is asked for."""
    if is_sanitized():
        skip("takes minutes under sanitizers: `tests/run sanitize` runs it")


def check(holds, what):
    """Says whether a check holds, and counts it in check.failed if not."""
    check.failed += not holds
    print(("ok: " if holds else "FAILED: ") + what, flush=True)
    return bool(holds)


check.failed = 0


def refused(program, what, words, *says, status=BAD_INPUT):
    """`weft PROGRAM WORDS` prints nothing and ends so, with one line of error that has all of `says`."""
    got, out, errors = outcome(program, *words)
    check(got == status and out == "" and errors.count("\n") == 1 and errors.startswith(f"weft {program}: ") and all(one in errors for one in says),
          f"{what}: {errors.strip()}")


def has_dpdk():
    return "built without DPDK" not in run("host", "--probe", "memif:try", timeout=60).stderr


def skip_without_dpdk():
    if not has_dpdk():
        skip("built without DPDK: skipped")


def has_namespaces():
    """Root, and a kernel with veth."""
    name = f"weft-try-{os.getpid()}"
    if not shutil.which("ip") or subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode != 0:
        return False
    words = ["ip", "-n", name, "link", "add", "va0", "type", "veth", "peer", "name", "vb0"]
    linked = subprocess.run(words, capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", name], check=False)
    return linked.returncode == 0


def processor_s(pid):
    """Processor time of a process and of its children, 0 when it has ended: on a machine that others keep busy a clock on the wall
    does not say how far it is."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except OSError:
        return 0
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(processor_s, children))


def wait_for_work(process, seconds):
    """Waits until a process that was started has had the processor for so long; it may end before."""
    deadline = time.monotonic() + TIMEOUT_S
    while process.poll() is None and processor_s(process.pid) < seconds:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{process.args[0]} had {processor_s(process.pid):.2f} s of the processor in {TIMEOUT_S} s")
        time.sleep(0.01)


def fields_of(value, path=""):
    """Paths of all leaves, as docs/result.md writes them."""
    if isinstance(value, dict):
        return set().union(*(fields_of(inner, f"{path}.{name}" if path else name) for name, inner in value.items()), set())
    if isinstance(value, list):
        return set().union(*(fields_of(inner, path + "[]") for inner in value), set())
    return {path}


def documented(title):
    text = pathlib.Path(SOURCE, "docs", "result.md").read_text(encoding="utf-8")
    rows = [line for line in text.split(f"## {title}\n")[1].split("\n## ")[0].splitlines() if line.startswith("| ")]
    return {name.strip() for row in rows[1:] for name in row.split("|")[1].split(",")}


def blocks(text):
    """Yields (name, text) of a file: a block between fences whose first line is a comment with its name."""
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        name = re.match(r"# (\S+)\n", block)
        if name:
            yield name[1], block


def brightness(colour):
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    bright, dark = sorted((brightness(one), brightness(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def check_parts(*parts, given=None, of_given=()):
    """Each part in a folder of its own, where it takes one, and those that need what others gave, where that is here; ends the program."""
    is_here = given is None or given.is_dir()
    with tempfile.TemporaryDirectory() as name:
        for part in (*parts, *(of_given if is_here else ())):
            folder = pathlib.Path(name, part.__name__)
            folder.mkdir()
            part(*[folder][:part.__code__.co_argcount])
    if not is_here:
        print(f"what others gave is not here ({given}): its part is left out")
    print(f"{check.failed} failed")
    sys.exit(1 if check.failed else 0 if is_here else SKIPPED)
