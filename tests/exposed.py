# SPDX-License-Identifier: Apache-2.0
"""What packets expose of the shipped systems that have a schedule, the table of docs/systems.md: closed forms, with the fabric's
latency, credits, headers and SACKs, and by packets with the stated error. All are those of exposed.txt to the picosecond, and the page
has them in milliseconds; what is left between the second and the third is 5 %, 10 % where switches choose the path."""
import json
import pathlib
import re

import weft
from weft import SOURCE, check

TABLE = pathlib.Path(__file__).with_name("exposed.txt")


def table():
    """Of each system its options and picoseconds."""
    rows = [line.split(" | ") for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {name: (words.split(), list(map(int, figures.split()))) for name, words, figures in rows}


def page():
    """The same rows of docs/systems.md, texts of its three columns; None where there is no time."""
    text = (SOURCE / "docs/systems.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+)(?: ms)? \| ([\d.]+) \| (?:([\d.]+) \+- ([\d.]+))?", text, re.M)
    return {name: figures for name, *figures in rows}


def hold(system):
    """Runs one and holds it against table and page."""
    words, was = table()[system]
    done = weft.run("sim", system, "--fidelity", "sample", *words, "--json", timeout=3600)
    if not check(done.returncode == 0, f"{system}: its step runs as a sample {done.stderr.strip()}"):
        return
    result = json.loads(done.stdout)
    step, terms = result["step"], result["terms"]
    now = [terms["closed_ps"], terms["with_sacks_ps"], step["exposed_ps"], step["exposed_error_ps"]]
    check(now == was, f"{system}: {now} ps, it was {was}")
    shown = [f"{one / 1e9:.3f}" for one in now]
    check(shown == page()[system], f"{system}: {shown} ms, docs/systems.md says {page()[system]}")
    left = now[2] / now[1] - 1
    check(abs(left) < (0.1 if system == "uec" else 0.05), f"{system}: packets leave {left:+.2%} to rings, queues, marks and windows")


def hold_closed(system):
    """A sample that says too little is refused with what closed forms expose on this fabric: the page's second column."""
    done = weft.run("sim", system, "--fidelity", "sample", "--sample", "steps=2,fill=2")
    found = re.search(r"closed forms with this fabric's .* expose ([\d.]+) ms", done.stderr)
    shown = found[1] if found else done.stderr.strip()
    check(done.returncode == weft.NOT_VALID and shown == page()[system][1], f"{system}: {shown} ms, docs/systems.md says {page()[system][1]}")
