#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Routes that reconverge (fabric.reroute_local, fabric.reroute_remote) under RoCEv2, whose QPs have one path each: a link
between T0 0 and a T1 goes down. Without them what is hashed onto it waits until it is back, and QPs give up when that takes
too long. With the local delay what T0 0 sends goes around it; with the remote delay what others send to it does, too, and
packets are lost up to then and not later. Trunks are fast, so that no hash holds anybody up."""
import json
import pathlib
import sys
import tempfile

import weft
from weft import check

SCENARIO = ("name: reroute\nfabric: {nics: 32, link_rate: 100Gb/s, trunk_rate: 400Gb/s, nics_per_t0: 8, t1_count: 8}\n"
            "transport: {kind: rc, qps_per_connection: 4, rto: 262144ns}\ncc: {algorithm: fixed}\nqueue: {bytes: 2MiB}\n"
            "traffic: {kind: permutation, bytes: 40MB}\nwatch: {bin: 50us, bins: 1000}\n")
DOWN = ["--fault", "{kind: link_down, at: {t0: 0, up: 3, plane: 0}, from: 200us}"]
BACK = ["--fault", "{kind: link_down, at: {t0: 0, up: 3, plane: 0}, from: 200us, until: 2ms}"]
LOCAL = ["--set", "fabric.reroute_local=50us"]
RTO_BINS = 6  # what was lost is sent again when the timer rings


def run(*words):
    return weft.run("sim", SCENARIO_FILE, "--json", *words)


def result(*words):
    return json.loads(run(*words).stdout)


def remote(delay):
    return [*LOCAL, "--set", f"fabric.reroute_remote={delay}"]


def goodput(one, first, last):
    """Mean of bins first to last - 1 in Gb/s per NIC."""
    payload = one["series"]["payload_bytes"][first:last]
    return sum(payload) * 8 / len(payload) / (one["series"]["bin_ps"] / 1e12) / 32 / 1e9


def dropped(one):
    return {row["reason"]: row["switches"] + row["cables"] for row in one["drops"]}


def lost_from(one, first):
    """Packets lost in bins from `first` on."""
    return sum(one["series"]["lost_packets"][first:])


with tempfile.TemporaryDirectory() as folder:
    SCENARIO_FILE = pathlib.Path(folder, "reroute.yaml")
    SCENARIO_FILE.write_text(SCENARIO, encoding="utf-8")
    healthy, never, local = result(), result(*DOWN), result(*DOWN, *LOCAL)
    far = {delay: result(*DOWN, *remote(delay)) for delay in ("400us", "1ms")}
    for name, one in (("healthy", healthy), ("never", never), ("local", local), *far.items()):
        print(f"{name}: {one['run']['end']}, 1.6 to 2.6 ms {goodput(one, 32, 52):.2f} Gb/s per NIC, QPs failed "
              f"{one['transport']['qps_failed']}, {dict((k, v) for k, v in dropped(one).items() if v)}")
    check(lost_from(healthy, 0) == 0, "nothing is lost before")
    check(result(*remote("1ms"))["run"]["digest"] == healthy["run"]["digest"], "without a failure the delays move nothing")
    check(never["run"]["end"] == "stalled" and never["transport"]["qps_failed"] > 0, "without them QPs give up")
    check(goodput(never, 32, 52) < 0.97 * goodput(healthy, 32, 52), "and their goodput is gone")
    check(local["transport"]["qps_failed"] > 0 and
          dropped(local)["no_route"] > 2 * dropped(far["1ms"])["no_route"], "far switches go on to lose packets")
    check(dropped(local)["no_route"] > 0 == dropped(never)["no_route"], "at the T1 that has no way left")
    check(0 < dropped(local)["link_down"] < dropped(never)["link_down"], "fewer are lost on the link")
    for delay, one in far.items():
        bins = {"400us": 12, "1ms": 24}[delay]
        check(one["run"]["end"] == "done" and one["transport"]["qps_failed"] == 0, f"{delay}: all ends")
        check(goodput(one, bins + RTO_BINS, 52) > 0.995 * goodput(healthy, bins + RTO_BINS, 52), f"{delay}: goodput is back")
        check(lost_from(one, 4) > 0, f"{delay}: packets were lost up to then")
        check(lost_from(one, bins + 1) == 0, f"{delay}: and none of them on the link later")
        check(dropped(one)["link_down"] == dropped(local)["link_down"], f"{delay}: on the link in the first 50 us alone")
    check(dropped(far["400us"])["no_route"] < dropped(far["1ms"])["no_route"], "a longer delay loses more")
    check(2 < dropped(far["1ms"])["no_route"] / dropped(far["400us"])["no_route"] < 4, "in proportion to the time")  # 950 / 350 us
    back = result(*BACK, *remote("400us"))
    check(back["run"]["end"] == "done" and dropped(back) == dropped(far["400us"]), "a link that comes back loses nothing")
    check(back["run"]["digest"] != far["400us"]["run"]["digest"], "but carries again")
    for words in (["--set", "limits.window=143ns"], ["--set", "limits.order=time"]):
        check(result(*DOWN, *remote("400us"), *words)["run"]["digest"] ==
              far["400us"]["run"]["digest"], f"one digest with {words[1]}")
    for words, reason in ((["--set", "fabric.reroute_remote=1ms"], "needs a fabric.reroute_local"),
                          ([*LOCAL, "--set", "fabric.reroute_remote=9us"], "cannot know"),
                          ([*LOCAL, "--set", "transport.kind=mrc", "--set", "fabric.forwarding=usid"], "source routes"),
                          ([*LOCAL, "--set", "fabric.topology=torus", "--set", "fabric.torus_x=2", "--set", "fabric.torus_y=2"],
                           "dimension order"),
                          ([*LOCAL, "--fault", "{kind: flap, at: {t0: 0, up: 3, plane: 0}, down: 90us, up: 90us}"], "until")):
        refused = run(*words)
        check(refused.returncode == 2 and reason in refused.stderr, f"{reason}: {refused.stderr.strip()}")
print(f"routes after a failure: {check.failed} wrong")
sys.exit(check.failed > 0)
