#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a T1 switch that goes down costs at full load where a mark costs a path one turn, with and without shares of the
window per plane (transport.plane_share): goodput lost over capacity lost, in the steady part and over the whole run; and what shares cost
where nothing is wrong. One of 32 T1 switches is 1 / 32 of what leads from one rack to the other."""
import json
import pathlib
import sys
import tempfile

import weft
from weft import check

SCENARIO = ("name: share\nfabric: {nics: 32, planes: 8, link_rate: 100Gb/s, nics_per_t0: 16, t1_count: 4, bundle: 4}\n"
            "transport: {skip_time: turn}\ntraffic: {kind: tornado, bytes: 200MB}\nwatch: {bin: 10us, bins: 1000}\n")
T1_DOWN = ["--fault", "{kind: link_down, at: {t1: 0, plane: 0}, from: 100us}"]
T1_SHARE, DOWN_AT, SETTLED_AT, SENT_BY = 1 / 32, 10, 25, 190  # bins; in all runs every NIC still sends then


def run(folder, *words):
    file = pathlib.Path(folder, "share.yaml")
    file.write_text(SCENARIO, encoding="utf-8")
    return weft.run("sim", file, "--json", *words)


def result(folder, share, *words):
    return json.loads(run(folder, "--set", f"transport.plane_share={share}", *words).stdout)


def goodput(one, first, last):
    """Mean of bins first to last - 1 in Gb/s per NIC."""
    payload = one["series"]["payload_bytes"][first:last]
    return sum(payload) * 8 / len(payload) / (one["series"]["bin_ps"] / 1e12) / 32 / 1e9


def whole(one):
    return one["goodput"]["per_nic_bps"] / 1e9


def cost(healthy, down, first):
    """Goodput lost over capacity lost from bin `first` on."""
    return (1 - goodput(down, first, SENT_BY) / goodput(healthy, first, SENT_BY)) / T1_SHARE


def whole_cost(healthy, down):
    return (1 - whole(down) / whole(healthy)) / T1_SHARE


with tempfile.TemporaryDirectory() as folder:
    line, line_down = (result(folder, "line", *words) for words in ([], T1_DOWN))
    marks, marks_down = (result(folder, "marks", *words) for words in ([], T1_DOWN))
    for name, ok, down in (("line", line, line_down), ("marks", marks, marks_down)):
        print(f"{name}: {goodput(ok, SETTLED_AT, SENT_BY):.1f} Gb/s per NIC, whole {whole(ok):.1f}; T1 down "
              f"{goodput(down, SETTLED_AT, SENT_BY):.1f}, whole {whole(down):.1f}; over the capacity lost "
              f"{cost(ok, down, SETTLED_AT):.2f}, whole {whole_cost(ok, down):.2f}")
    check(cost(line, line_down, SETTLED_AT) > 2, "a free line alone lets the plane hold up the others")
    check(0 < cost(marks, marks_down, SETTLED_AT) <= 1.3, "with shares a failure costs little more than what it takes")
    check(cost(marks, marks_down, DOWN_AT) <= 1.3, "and no more in the first 150 us")
    check(0 < whole_cost(marks, marks_down) <= 2.5 < 0.85 * whole_cost(line, line_down), "over the whole run it is less, too")
    check(goodput(marks, SETTLED_AT, SENT_BY) > 0.995 * goodput(line, SETTLED_AT, SENT_BY), "shares cost nothing at full load")
    check(whole(marks) > 0.99 * whole(line), "nor do the slowest end later")
    check(json.loads(run(folder).stdout)["run"]["digest"] == marks["run"]["digest"], "marks are the default")
    one = [json.loads(run(folder, "--set", "fabric.planes=1", "--set", f"transport.plane_share={share}", "--set", "traffic.bytes=4MB").stdout)["run"]["digest"]
           for share in ("auto", "line")]
    check(one[0] == one[1], "one plane has no shares")
    refused = run(folder, "--set", "transport.path=rotate", "--set", "transport.plane_share=marks")
    check(refused.returncode == 2 and "no effect here" in refused.stderr, "shares need the paths of MRC")
    refused = run(folder, "--set", "fabric.planes=1", "--set", "transport.plane_share=marks")
    check(refused.returncode == 2 and "two planes or more" in refused.stderr, f"shares need planes {refused.stderr.strip()}")
print(f"four runs, {check.failed} wrong")
sys.exit(check.failed > 0)
