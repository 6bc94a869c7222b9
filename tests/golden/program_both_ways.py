#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every shipped scenario runs with either transport, by one assignment, and delivers the same messages. A drill with the other
transport may miss what it expects of MRC. What ends early is what docs/protocol.md says: a QP of RoCEv2 whose only path is
dead fails, and its messages with it."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import shipped
import weft
from weft import DONE, MISSED, NOT_VALID, SOURCE, WEFT

PCAPS = SOURCE / "pcaps"
CLOS = "fabric: {topology: clos, nics: 8, nics_per_t0: 4, t1_count: 4, planes: 2}\ntraffic: {kind: permutation, bytes: 100kB}\n"
VALUES = ", ".join(f"{{ev: {number << 27 | 5}}}" for number in range(16))
EVS = {  # choices of entropy values that RC has no use for, or one of its own
    "backups": "transport: {evs: 8, universe: 24, min_active: 4}\n",
    "many": "transport: {evs: 65536}\n",
    "explicit": f"transport: {{evs: 16, ev_profile: explicit, ev_values: [{VALUES}]}}\n",
    "explicit with backups": f"transport: {{evs: 8, universe: 16, ev_profile: explicit, ev_values: [{VALUES}], deny: [{{ev: 5}}]}}\n",
    "generated": "transport: {evs: 16, ev_profile: generated, ev_fields: [{bits: 8, max: 3}, {bits: 8, max: 255}]}\n",
    "ports": "transport: {evs: 2, ev_profile: explicit, ev_values: [{ev: 50000}, {ev: 50001}], deny: [{ev: 50001}]}\nwire: {entropy: port}\n",
    "usid": "fabric: {topology: clos, nics: 8, nics_per_t0: 4, t1_count: 4, planes: 2, forwarding: usid}\n"
            "traffic: {kind: permutation, bytes: 100kB}\n",
}
PATIENCE_S = 600


def run(name, kind):
    """Exit status and result."""
    command = [WEFT, "sim", name, *shipped.WORDS.get(name, []), "--set", f"transport.kind={kind}", "--json"]
    if kind == "rc":
        command += ["--set", "cc.algorithm=fixed"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode not in (DONE, MISSED, NOT_VALID):
        sys.exit(f"not ok: {' '.join(command)}: exit {done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def complaints(name, kind, status, result):
    if result["scenario"]["transport"] != kind:
        yield f"ran with {result['scenario']['transport']}"
    ran, asked = result["scenario"]["cc"], result["scenario"]["cc_asked"]
    if ran != asked or (kind == "rc" and ran != "fixed"):
        yield f"congestion control {ran}, asked for {asked}"
    if not result["conservation"]["holds"]:
        yield f"packets are not accounted for: {result['conservation']}"
    if status == MISSED and not name.startswith("drill-"):
        yield "it expects nothing, and misses it"
    is_imprecise = any(one["time_ps"] is None and one["end_ps"] is not None for one in result["collectives"])  # one step is no sample
    if status == NOT_VALID and not is_imprecise and (kind == "mrc" or result["transport"]["qps_failed"] == 0):
        yield f"it did not end well: {result['run']}"


def written(folder):
    """Files with each of EVS."""
    for name, text in EVS.items():
        path = pathlib.Path(folder) / f"{name.replace(' ', '-')}.yaml"
        path.write_text(text if "fabric:" in text else CLOS + text, encoding="utf-8")
        yield str(path)


def main():
    with tempfile.TemporaryDirectory() as folder:
        both_ways(folder)


def both_ways(folder):
    failed, stalled = 0, []
    names = shipped.names()
    names += [str(path) for path in sorted(PCAPS.glob("*.yaml")) if path.stem != "retry-exhausted"]  # no path works there
    names += sorted(written(folder))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        running = {(name, kind): pool.submit(run, name, kind) for name in names for kind in ("mrc", "rc")}
    for name in names:
        results = {}
        for kind in ("mrc", "rc"):
            status, results[kind] = running[name, kind].result()
            for text in complaints(name, kind, status, results[kind]):
                print(f"not ok: {name} with {kind}: {text}")
                failed += 1
            if status == NOT_VALID:
                stalled.append(name)
        told = {kind: result["transport"]["messages_received"] for kind, result in results.items()}
        if name not in stalled and told["mrc"] != told["rc"]:
            print(f"not ok: {name}: messages received: {told}")
            failed += 1
    print(f"{len(names)} scenarios both ways; RoCEv2 lost its only path in {', '.join(stalled)}")
    if failed or len(names) < 20 or len(stalled) > len(names) // 3:
        sys.exit(1)


if __name__ == "__main__":
    weft.skip_when_sanitized()
    main()
