#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The culprit of each of twelve faults, at places drawn from seeds, is named first; on a healthy run nobody is.
WEFT_CULPRIT_SEEDS: how many seeds (2); more print the table of docs/howto/name-the-culprit.md."""
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from goal_rounds import rounds
import weft
from weft import WEFT

SEEDS = int(os.environ.get("WEFT_CULPRIT_SEEDS", "2"))
NICS, T0S, T1S, PLANES = 32, 4, 8, 2
WORLD = f"""name: culprits
fabric: {{nics: {NICS}, nics_per_t0: {NICS // T0S}, t1_count: {T1S}, planes: {PLANES}}}
transport: {{evs: 64}}
traffic: {{kind: goal, file: rounds.goal}}
watch: {{links: true, delays: true, operations: true}}
"""
# Three T0s send to the fourth over half as many T1s: the queues of these are deep.
CONVERGE = f"""name: converge
fabric: {{nics: {NICS}, nics_per_t0: {NICS // T0S}, t1_count: {T1S // 2}, planes: {PLANES}}}
transport: {{evs: 64}}
traffic: {{kind: flows, flows: [%s]}}
watch: {{links: true, delays: true}}
"""


def converge(to):
    """All NICs below the other T0s send to those below T0 `to`."""
    first, below = to * NICS // T0S, NICS // T0S
    others = [nic for nic in range(NICS) if not first <= nic < first + below]
    return CONVERGE % ", ".join(f"{{from: {nic}, to: {first + i % below}, bytes: 400kB}}" for i, nic in enumerate(others))


def drawn(dice):
    """The faults: what people call each, the words for it, the kind of place and how the culprit's name begins."""
    nic, plane, t0, t1, up = (dice.randrange(most) for most in (NICS, PLANES, T0S, T1S, T1S))
    at, name = dice.choice(((f"{{nic: {nic}, plane: {plane}}}", f"nic {nic} plane {plane} -"),
                            (f"{{t0: {t0}, up: {up}, plane: {plane}}}", f"t0 {t0} up {up} plane {plane} -")))
    depths = dice.choice(("low: 4KiB, high: 8KiB", "low: 16KiB, high: 64KiB", "low: 200KiB, high: 400KiB"))
    begin = dice.choice(("0s", "40us"))
    return (
        ("slow link", f"{{kind: slow, at: {at}, rate: {dice.choice((25, 50, 75))}%}}", "link", name),
        ("lossy link", f"{{kind: loss, at: {at}, probability: {dice.choice((1, 2, 5))}%}}", "link", name),
        ("dead plane", f"{{kind: link_down, at: {{plane: {plane}}}, from: {begin}}}", "plane", f"plane {plane}"),
        ("straggler host", f"{{kind: straggler, at: {{host: {nic}}}, rate: {dice.choice((50, 70, 90))}%}}", "host", f"host {nic}"),
        ("mis-set ECN on one T0", f"{{kind: ecn, at: {{t0: {t0}, plane: {plane}}}, {depths}}}", "switch", f"t0 {t0} plane {plane}"),
        ("one T1 at half rate", f"{{kind: slow, at: {{t1: {t1}, plane: {plane}}}, rate: 50%}}", "switch", f"t1 {t1} plane {plane}"),
        ("NIC port flap", f"{{kind: flap, at: {{nic: {nic}, plane: {plane}}}, down: 20us, up: 30us}}", "link", f"nic {nic} plane {plane} -"),
        ("stalled host", f"{{kind: stall, at: {{host: {nic}}}, from: {dice.choice((20, 40, 60))}us, until: {dice.choice((70, 90, 110))}us}}", "host",
         f"host {nic}"),
        ("link that delivers twice", f"{{kind: duplicate, at: {at}, probability: {dice.choice((1, 2, 5))}%}}", "link", name),
        ("link that reorders", f"{{kind: reorder, at: {at}, probability: {dice.choice((1, 2, 5))}%, delay: {dice.choice((1, 5, 20))}us}}", "link", name),
        ("wrong EV profile on one host", f"{{kind: evs, at: {{host: {nic}}}, evs: {dice.choice((2, 4))}}}", "host", f"host {nic}"),
    )


def result(path, seed, *words):
    words = [WEFT, "sim", str(path), "--seed", str(seed), "--json", *words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"not ok: {' '.join(words)}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["culprits"]


def culprits(path, seed, *words):
    return result(path, seed, *words)["list"]


def is_first(found, place, name):
    return found != [] and found[0]["place"] == place and (found[0]["name"] + " ").startswith(name + " ")


def middle(found, part, whole):
    """The share of the slowest in the middle run, and in brackets that of all."""
    both = [(each[part], each[whole]) for each in found if each[part] is not None]
    return "-" if not both else "{:.0f} % ({:.0f} %)".format(*(statistics.median(each) * 100 for each in zip(*both)))


def table(path):
    """How often each culprit was first, and those that were."""
    firsts, named = {}, {}
    for seed in range(1, SEEDS + 1):
        firsts["healthy: nobody"] = firsts.get("healthy: nobody", 0) + (culprits(path, seed) == [])
        for what, fault, place, name in drawn(random.Random(seed)):
            found = culprits(path, seed, "--fault", fault)
            firsts[what] = firsts.get(what, 0) + is_first(found, place, name)
            if is_first(found, place, name):
                named.setdefault(what, []).append(found[0])
            else:
                print(f"seed {seed}: {what} {fault}: first is {found[:1]}")
    return firsts, named


def unmarked(path):
    """How often a T1 that never marks is named where its queues are deep, and how often nobody is without a fault."""
    named = healthy = 0
    for seed in range(1, SEEDS + 1):
        dice = random.Random(100 + seed)
        t1, plane = dice.randrange(T1S // 2), dice.randrange(PLANES)
        path.write_text(converge(dice.randrange(T0S)), encoding="utf-8")
        calm = result(path, seed)
        healthy += calm["list"] == [] and calm["switches_judged"] >= PLANES * T1S // 2
        found = culprits(path, seed, "--fault", f"{{kind: ecn, at: {{t1: {t1}, plane: {plane}}}, low: 1GB, high: 1GB}}")
        named += is_first(found, "switch", f"t1 {t1} plane {plane}") and found[0]["finding"] == "ecn"
    return named, healthy


def unjudged(path):
    """Where queues are short that is not known, and said; nobody is named."""
    fault = "{kind: ecn, at: {t1: 1, plane: 0}, low: 1GB, high: 1GB}"
    found = result(path, 1, "--fault", fault)
    text = weft.run("sim", path, "-v", "--fault", fault).stdout
    light = result(path, 1, "--set", "queue.ecn_low=90KiB", "--set", "queue.ecn_high=100KiB")
    return (found["list"] == [] and 0 < found["switches_judged"] < found["switches"]
            and f"{found['switches'] - found['switches_judged']} of {found['switches']} switches cannot be judged by their marks at this load" in text
            and light["findings"]["ecn"] is None and "cannot be judged at this load" in light["findings"]["ecn_reason"])


def dated(path):
    """What was on its way when a cable went down was lost then, and not when it was sent."""
    for place in ("{t0: 1, up: 2, plane: 0}", "{nic: 9, plane: 1}"):
        found = culprits(path, 1, "--fault", f"{{kind: link_down, at: {place}, from: 20us}}")
        if "from 20.00 us on" not in found[0]["evidence"]:
            print(f"not dated: {found[0]}")
            return False
    return True


def bundled(path):
    """Where two switches have several cables, what all of these do is put down to the bundle, by whatever way the fault says it."""
    path.write_text(WORLD.replace(f"t1_count: {T1S}", f"t1_count: {T1S // 4}, bundle: 4"), encoding="utf-8")
    cables = [f"{{t0: 2, up: {up}, plane: 1}}" for up in range(4)]
    for places in (["{t0: 2, t1: 0, plane: 1}"], cables, cables[1:]):
        for kind in ("kind: slow, rate: 30%", "kind: loss, probability: 3%"):
            words = [word for at in places for word in ("--fault", f"{{{kind}, at: {at}}}")]
            found = culprits(path, 1, *words)
            if len(found) != 1 or not is_first(found, "bundle", "bundle t0 2 plane 1 - t1 0") or found[0]["links_of"] != 4:
                print(f"not put down to the bundle: {words}: {found[:2]}")
                return False
    return is_first(culprits(path, 1, "--fault", f"{{kind: slow, at: {cables[3]}, rate: 30%}}"), "link", "t0 2 up 3 plane 1 - t1 0")


TAPERED = """name: tapered
fabric: {topology: rail, nics: 192, nics_per_host: 4, link_rate: 200Gb/s, oversubscription: 3:1}
scaleup: {rate: 450GB/s}
traffic: {kind: permutation, bytes: 1MB}
watch: {links: true}
"""
ALL_PAIRS = """name: all pairs
fabric: {nics: 16, planes: 2, nics_per_t0: 4, t1_count: 4, link_rate: 100Gb/s, trunk_rate: 100Gb/s}
transport: {evs: 32}
traffic: {kind: all_to_all, bytes: 1MB}
watch: {links: true}
"""
HIT = (3, 42, 100)  # NICs whose port flaps


def only_causes(path):
    """A NIC whose port flaps gives up paths, and so does the one that sends to it: neither is named for that. A host that was given few is."""
    path.write_text(TAPERED, encoding="utf-8")
    lossy, few = "{kind: loss, at: {t0: 3, up: 7, plane: 0}, probability: 1%}", "{kind: evs, at: {host: 5}, evs: 2}"
    for seed in range(1, SEEDS + 2):
        for nic in HIT:
            flaps = f"{{kind: flap, at: {{nic: {nic}, plane: 0}}, up: 30us, down: 20us, from: 5us, until: 500us}}"
            named = [(each["name"].split(" -")[0], each["finding"]) for each in culprits(path, seed, "--fault", flaps, "--fault", lossy, "--fault", few)]
            if sorted(named) != sorted([(f"nic {nic} plane 0", "down"), ("t0 3 up 7 plane 0", "lossy"), ("host 5", "few_paths")]):
                print(f"seed {seed}, nic {nic} flaps: named are {named}")
                return False
    return True


def few_evs_everywhere(path):
    """Where no NIC stands out but connections have fewer EVs than asked for, paths cannot be judged; healthy ones can."""
    path.write_text(ALL_PAIRS, encoding="utf-8")
    for fault in ("{kind: evs, at: all, evs: 2}", "{kind: evs, at: {host: 3}, evs: 16}"):
        found = result(path, 1, "--fault", fault)
        if found["list"] != [] or "cannot be judged: connections have fewer" not in found["findings"]["few_paths_reason"]:
            print(f"few EVs are silent: {fault}: {found}")
            return False
        told = weft.run("sim", path, "--fault", fault).stdout
        if "  paths     cannot be judged: connections have fewer entropy values" not in told:
            print(f"the short form says nothing of few EVs: {fault}: {told}")
            return False
    named = culprits(path, 1, "--fault", "{kind: evs, at: {host: 3}, evs: 2}")
    return is_first(named, "host", "host 3") and "few_paths_reason" not in result(path, 1)["findings"] and "cannot be judged" not in weft.run("sim", path).stdout


def controls(path):
    """Another place than the fault's is not taken for it, and the terminal says what result.json does."""
    fault = "{kind: loss, at: {nic: 3, plane: 1}, probability: 5%}"
    found = culprits(path, 1, "--fault", fault)
    text = weft.run("sim", path, "-v", "--fault", fault).stdout
    calm = weft.run("sim", path, "-v").stdout
    off = weft.run("sim", path, "--set", "watch.links=false", "--json")
    unwatched = json.loads(off.stdout)
    watched = json.loads(weft.run("sim", path, "--json").stdout)
    return (not is_first(found, "link", "nic 3 plane 0 -") and not is_first(found, "nic", "nic 3")
            and f"look at: {found[0]['name']} (lossy)" in text and found[0]["evidence"] in text
            and "no culprit among" in calm and "look at" not in calm
            and unwatched["culprits"] is None and "watch.links" in unwatched["culprits_reason"]
            and unwatched["run"]["digest"] == watched["run"]["digest"])


with tempfile.TemporaryDirectory() as folder:
    world = pathlib.Path(folder, "culprits.yaml")
    world.write_text(WORLD, encoding="utf-8")
    pathlib.Path(folder, "rounds.goal").write_text(rounds(NICS, (9, 13, 17, 24), 5000), encoding="utf-8")
    counts, culprits_named = table(world)
    is_right = controls(world) and unjudged(world) and dated(world) and bundled(pathlib.Path(folder, "bundles.yaml")) and only_causes(pathlib.Path(folder, "tapered.yaml")) and few_evs_everywhere(pathlib.Path(folder, "pairs.yaml"))
    counts["one T1 that never marks"], healthy = unmarked(pathlib.Path(folder, "converge.yaml"))
for what, count in counts.items():
    own = culprits_named.get(what, [])
    print(f"| {what} | {count} of {SEEDS} | {middle(own, 'tail_share', 'pairs_share')} | {middle(own, 'worst_steps_share', 'steps_share')} |")
calm_count = min(counts.pop("healthy: nobody"), healthy)
if not is_right or calm_count < SEEDS or any(count < 0.9 * SEEDS for count in counts.values()):
    sys.exit(f"not ok: {counts}, healthy {calm_count}, controls {is_right}")
