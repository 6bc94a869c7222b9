#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind of fault, from the command line and from the file: the same run, in virtual time and with frames, and one that
differs from the run without it."""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import weft
from weft import WEFT, check

WORLD = """name: faults
fabric: {nics: 8, planes: 2, nics_per_t0: 4, t1_count: 2}
transport: {evs: 32, rto: 80us}
traffic:
  kind: flows
  flows:
    - {from: 0, to: 5, bytes: 300kB, start: 2us}
    - {from: 3, to: 1, bytes: 300kB, start: 2us}
    - {from: 6, to: 2, bytes: 300kB, start: 2us}
"""
FAULTS = {  # what people call it: the fault
    "a link down and up": "{kind: link_down, at: {nic: 3, plane: 0}, from: 5us, until: 80us}",
    "a trunk down": "{kind: link_down, at: {t0: 0, up: 1, plane: 0}, from: 5us, until: 80us}",
    "a port that flaps": "{kind: flap, at: {nic: 5, plane: 1}, down: 15us, up: 15us, until: 200us}",
    "a line at a cut rate": "{kind: slow, at: {nic: 0}, rate: 30%}",
    "random loss": "{kind: loss, at: all, probability: 2%}",
    "loss in bursts": "{kind: burst, at: all, probability: 2%, burst: 6}",
    "bursts by their chances": "{kind: burst, at: {plane: 0}, enter: 1%, leave: 20%, bad_loss: 80%}",
    "corruption": "{kind: corrupt, at: all, probability: 2%}",
    "copies": "{kind: duplicate, at: all, probability: 5%}",
    "packets held back": "{kind: reorder, at: all, probability: 20%, delay: 3us}",
    "loss in one direction": "{kind: loss, at: {nic: 5}, way: down, probability: 5%}",
    "a switch that reboots": "{kind: link_down, at: {t0: 1, plane: 1}, from: 5us, until: 60us}",
    "a T1 that reboots": "{kind: link_down, at: {t1: 0, plane: 0}, from: 5us, until: 60us}",
    "a plane": "{kind: link_down, at: {plane: 1}, from: 5us, until: 90us}",
    "a transceiver: all links of a NIC": "{kind: link_down, at: {nic: 6}, from: 5us, until: 60us}",
    "a host that stalls": "{kind: stall, at: {host: 1}, from: 6us, until: 30us}",
    "a straggler": "{kind: straggler, at: {host: 3}, rate: 25%}",
    "a host with few entropy values": "{kind: evs, at: {host: 6}, evs: 2}",
}
# The collective is done, and afterwards QPs fail over its last credits: what these would have placed is nobody's.
LAST_CREDITS = """name: last-credits
seed: 2
fabric: {planes: 1, nic_delay: 56ns, trunk_delay: 81ns, switch_delay: 390ns, nics: 6, nics_per_t0: 2, t1_count: 1}
queue: {trim_choice: coin, bytes: 32773B, control_bytes: 13154B}
transport: {payload: 1511B, evs: 2, mpr: 256, sack_bytes: 11993B, rto: 48us, rto_linear: 1, rto_doublings: 1,
  path_retry: 356us, universe: 2, probe_successes: 2, probe_idle: true, first_psn: 11658560, completion: sack,
  refused: nak, rtt: local, dynamic_mpr: true, hole_age: off}
traffic: {kind: ring, collective: all_reduce, bytes: 32KiB}
faults:
  - {kind: duplicate, from: 9us, at: {plane: 0}, probability: 0.031, until: 91us}
  - {kind: corrupt, from: 17us, at: {nic: 2, plane: 0}, probability: 0.031, until: 110us}
  - {kind: corrupt, from: 24us, at: {plane: 0}, probability: 0.028, until: 126us}
  - {kind: corrupt, from: 10us, at: {nic: 3, plane: 0}, probability: 0.037, until: 111us}
"""


def digest(command, scenario, *words):
    """What names the run."""
    words = [WEFT, command, scenario, *words, "--json"]
    run = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    if run.returncode not in (0, 5):
        sys.exit(f"not ok: {' '.join(map(str, words))}: exit {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)["run"]["digest"]


with tempfile.TemporaryDirectory() as folder:
    plain = pathlib.Path(folder, "plain.yaml")
    plain.write_text(WORLD, encoding="utf-8")
    calm = digest("sim", plain)
    for name, fault in FAULTS.items():
        file = pathlib.Path(folder, "fault.yaml")
        file.write_text(WORLD + f"faults: [{fault}]\n", encoding="utf-8")
        of_file = digest("sim", file)
        check(of_file != calm, f"{name}: changes the run")
        check(digest("sim", plain, "--fault", fault) == of_file, f"{name}: the same from the command line")
        frames = digest("emu", plain, "--fault", fault, "--ports", "memory", "--dilation", "none")
        check(frames == of_file, f"{name}: the same with frames")
    told = weft.run("sim", "--help", timeout=60, check=True).stdout
    examples = [shlex.split(line) for line in told.splitlines() if line.startswith("    weft sim ") and "--fault '" in line]
    check(examples, "the help has an example of a fault")
    for example in examples:
        scenario, *words = example[2:]
        check(digest("sim", scenario, *words) != digest("sim", scenario), f"{' '.join(example)}: changes the run")
    at_once = pathlib.Path(folder, "at_once.yaml")
    at_once.write_text(WORLD.replace(", start: 2us", ""), encoding="utf-8")
    words = [WEFT, "sim", at_once, "--fault", FAULTS["a straggler"]]
    refused = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    check(refused.returncode == 2 and "--fault:1: a straggler has no effect here" in refused.stderr,
          "a straggler with nothing to be late with is refused")
    first, second = FAULTS["random loss"], FAULTS["a plane"]
    file.write_text(WORLD + f"faults: [{first}, {second}]\n", encoding="utf-8")
    check(digest("sim", plain, "--fault", first, "--fault", second) == digest("sim", file), "two faults, in their order")
    file.write_text(WORLD + f"faults: [{first}]\n", encoding="utf-8")
    both = digest("sim", plain, "--fault", first, "--fault", second)
    check(digest("sim", file, "--fault", second) == both, "a fault behind that of the file")
    file.write_text(LAST_CREDITS, encoding="utf-8")
    words = [WEFT, "sim", file, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    check(done.returncode == 0, f"a collective whose last credits fail is done: {done.stderr}")
    if done.returncode == 0:
        counted = json.loads(done.stdout)["transport"]
        check(counted["messages_flushed"] > 0 and
              0 < counted["payload_bytes_new"] - counted["payload_bytes_placed"] <= counted["payload_bytes_flushed"], "  and the credits are flushed")

print(f"{len(FAULTS)} faults, {check.failed} wrong")
sys.exit(check.failed > 0)
