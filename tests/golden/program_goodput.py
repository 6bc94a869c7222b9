#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft goodput: the Azure job's figures, where they come from (rates by component, the schedule's step without a port,
closed forms), what Llama 3's published >90 % takes, and what is refused."""
import functools
import json
import math
import os
import pathlib
import sys
import tempfile
import xml.etree.ElementTree

import weft
from weft import SOURCE, check, check_parts, documented, fields_of

AZURE = "azure-gb200-llama405b"
LLAMA = {"gpu": 148, "hbm": 72, "software": 54, "network": 35, "maintenance": 32, "sram": 19, "gsp": 17, "nic": 7, "watchdog": 7,
         "sdc": 6, "thermal": 6, "ssd": 3, "power": 3, "chassis": 2, "io-board": 2, "dependency": 2, "cpu": 2, "memory": 2}
refused = functools.partial(weft.refused, "goodput")


def raw(*words):
    return json.loads(weft.outcome("goodput", AZURE, *words, "--json")[1])


def goodput(*words):
    status, out, errors = weft.outcome("goodput", AZURE, *words, "--json")
    if status != 0:
        check(False, f"{words}: {errors}")
        sys.exit(1)
    result = json.loads(out)
    result["mrc"], result["roce"] = result["fabrics"]
    for side in result["fabrics"]:
        side["of"] = {component["name"]: component for component in side["components"]}
    return result


def mean(side):
    return side["goodput"]["mean"]


def near(found, wanted, off_max):
    return abs(found - wanted) <= off_max


def check_golden():
    """Four digits: runs are the same everywhere, but for the last bits of a logarithm."""
    result = goodput()
    mrc, roce = result["mrc"], result["roce"]
    check((result["job"]["gpus"], result["days"], result["runs"]) == (8192, 54, 200), "8,192 GPUs, 54 days, 200 runs")
    for side, kept, interval, mtbf in ((mrc, 0.9561, 370, 24300), (roce, 0.9545, 355, 22270)):
        check(near(mean(side), kept, 0.0001) and near(side["checkpoint_s"], interval, 2) and near(side["mtbf_s"], mtbf, 1),
              f"{side['fabric']}: {mean(side):.4%}, a checkpoint every {side['checkpoint_s']:.1f} s, M {side['mtbf_s']:.0f} s")
    worth = result["mrc_less_roce"]
    check(near(worth["mean"], 0.0016, 0.0001) and worth["half_95"] < 0.0002 and worth["verdict"] == "differs",
          f"cables and switches that do not end a job: {worth['mean']:.4%}")
    check(goodput() == result, "the seed gives the same again")
    other = goodput("--seed", "5")
    check(mean(other["mrc"]) != mean(mrc) and
          near(mean(other["mrc"]), mean(mrc), 3 * mrc["goodput"]["half_95"]), "another seed, nearly the same")


def check_causes():
    """Rates are Llama 3's by GPUs; the whole of each run is accounted for; the step is the schedule's."""
    result = goodput("--rate", "flap=100", "--runs", "100")
    scale = 8192 / 16384 / 54
    for name, count in LLAMA.items():
        of = result["roce"]["of"][name]
        check(near(of["rate_per_day"], count * scale, 1e-9), f"{name}: {of['rate_per_day']:.4f} a day")
        runs = result["runs"] * 54 * count * scale
        check(abs(of["events_per_run"] * result["runs"] - runs) < 5 * math.sqrt(runs), "and so many in the runs")
    check(sum(LLAMA.values()) == 419, "419 in all")
    check(near(result["mrc"]["of"]["network"]["rate_per_day"], 8 * 35 * scale, 1e-9), "eight planes, eight times the cables")
    for side in result["fabrics"]:
        whole = mean(side) + side["checkpoints"] + sum(component["loss"] for component in side["components"])
        check(near(whole, 1, 1e-9), f"{side['fabric']}: kept, saved and lost are all of the time")
        reactions = {name: of["reaction"] for name, of in side["of"].items()}
        wanted = ("slow", "slow", "restart") if side["fabric"] == "mrc" else ("restart", "stall", "restart")
        check((reactions["network"], reactions["flap"], reactions["nic"]) == wanted, f"what failures do: {wanted}")
        others = {reactions[name] for name in LLAMA if name != "network"}
        check(others == {"restart"}, "all others end the job")
    cases = json.loads(weft.outcome("sim", AZURE, "--fidelity", "model", "--json")[1])["cases"]
    steps = {case["name"]: case["step_ps"] / 1e12 for case in cases}
    job = result["job"]
    check(near(job["step_s"], steps["as it is"], 1e-9) and
          near(job["step_with_a_port_down_s"], steps["one port of a NIC down, split evenly"], 1e-9), "steps are the schedule's")
    table = weft.outcome("goodput", AZURE, "--runs", "2")[1]
    check("ms (calibrated), with" in table and f"    calibrated times of the step: {job['times_from']}\n" in table and
          "1.2712 s comes out" in job["times_from"] and job["times_assumed"] is False, "the step is said to be fitted")
    assumed = weft.outcome("goodput", "nvidia-h100-8192-quantum2", "--runs", "2")[1]
    check("ms (assumed)" in assumed and "    assumed    times of the step: " in assumed, "or to be assumed")
    slow = result["mrc"]["of"]["network"]
    load = slow["rate_per_day"] / 24 * 4
    share = 1 - job["step_s"] / job["step_with_a_port_down_s"]
    check(near(slow["loss"], load * share * (mean(result["mrc"])), 0.0001), f"slower steps: {slow['loss']:.4%}")


def check_closed():
    """Runs against closed forms: in the regime where they hold, and what they say where it is left."""
    for words in ([], ["--save", "2min", "--load", "10min"], ["--recovery", "nvrx-in-process", "--set", "fabric.nics=16384"]):
        for side in goodput(*words)["fabrics"]:
            gap = mean(side) - side["goodput"]["closed_form"]
            check(abs(gap) < 2 * side["goodput"]["half_95"] + 0.0001, f"{words} {side['fabric']}: off the closed form by {gap:.4%}")
            for form in ("young_s", "daly_s", "closed_form_s"):
                check(near(side["checkpoint_s"] / side[form], 1, 0.12), f"best interval {side['checkpoint_s']:.0f} s, {form} "
                      f"{side[form]:.0f} s")
    rough = ["--set", "fabric.nics=131072", "--save", "20min", "--runs", "30"]
    found = goodput(*rough)
    for side in found["fabrics"]:
        check(near(side["checkpoint_s"] / side["closed_form_s"], 1, 0.15), f"saves of 20 min, M {side['mtbf_s']:.0f} s: best "
              f"{side['checkpoint_s']:.0f} s, complete form {side['closed_form_s']:.0f} s")
        check(side["young_s"] > 1.4 * side["checkpoint_s"], f"where Young says {side['young_s']:.0f} s")
    at_young = goodput(*rough, "--checkpoint", f"{found['roce']['young_s']:.3f}s")
    lost = mean(found["roce"]) - mean(at_young["roce"])
    check(lost > 0.002, f"which would cost {lost:.4%} of goodput")


def check_plot():
    """Goodput over intervals: its best is that of the table, runs follow the closed form, both fabrics in the picture."""
    with tempfile.TemporaryDirectory() as name:
        path = os.path.join(name, "plot.svg")
        words = ["--runs", "60", "--save", "2min", "--svg", path]
        result = goodput(*words)
        root = xml.etree.ElementTree.parse(path).getroot()
        rows = {one.get("class"): [tuple(map(float, pair.split(","))) for pair in one.get("points").split()]
                for one in root if one.tag.endswith("polyline")}
        check(sorted(rows) == ["mrc", "mrc closed", "roce", "roce closed"] and all(len(row) == 13 for row in rows.values()),
              "four rows of thirteen intervals")
        lines = [float(one.get("y1")) for one in root if one.get("class") == "grid"]
        ticks = [float(one.text.split()[0]) for one in root if one.get("class") == "y"]
        per = (ticks[-1] - ticks[0]) / (lines[0] - lines[-1])
        kept = {row: [ticks[0] + (lines[0] - y) * per for _, y in spots] for row, spots in rows.items()}
        check(near(kept["mrc"][6], mean(result["mrc"]) * 100, 0.05), f"in the middle the table's {kept['mrc'][6]:.2f} %")
        check(max(range(13), key=lambda i: kept["mrc"][i]) in (5, 6, 7), "which is the best of the runs")
        for fabric in ("mrc", "roce"):
            off = max(abs(one - form) for one, form in zip(kept[fabric], kept[f"{fabric} closed"]))
            check(off < 0.3, f"{fabric}: runs and closed form within {off:.2f} points, at {min(kept[fabric]):.1f} to {max(kept[fabric]):.1f} %")
        texts = " ".join(one.text or "" for one in root)
        check("Young" in texts and "Daly" in texts and "8192 GPUs" in texts and "nan" not in texts, "with Young's and Daly's intervals")
        goodput("--runs", "10", "--spares", "8", "--svg", path, "--force")
        check("nan" not in pathlib.Path(path).read_text(encoding="utf-8"), "spares have runs and no closed form")
    refused("a plot nowhere", [AZURE, "--svg", "/nonexistent/x.svg", "--runs", "2"], "cannot write")
    refused("a plot of faults", [AZURE, "--faults", "5ms", "--svg", "x.svg"], "--svg has no effect with --faults")


def check_llama():
    """Published: over 90 % effective time on 16,384 GPUs. It takes restarts of ten minutes or so, and frequent saves."""
    base = ["--set", "fabric.nics=16384"]
    found = {}
    for words in (["--recovery", "nvrx-in-job"], ["--recovery", "new-job"], ["--recovery", "new-job", "--checkpoint", "10min"],
                  ["--recovery", "new-job", "--checkpoint", "30min"]):
        found[" ".join(words)] = mean(goodput(*base, *words)["roce"])
    print({name: round(share, 4) for name, share in found.items()})
    wanted = (0.9195, 0.9044, 0.8960, 0.8507)
    check(all(near(share, *pair) for share, pair in zip(found.values(), [(share, 0.0003) for share in wanted])),
          "what recoveries make of 16,384 GPUs")


def check_options():
    def few_runs(*words):
        return goodput("--runs", "40", *words)

    base = few_runs()

    def better(what, *words):
        check(mean(few_runs(*words)["mrc"]) > mean(base["mrc"]), what)
    better("a faster restart", "--restart", "1min")
    better("a faster look at processes", "--crash", "1s")
    better("a faster look at hangs", "--hang", "1min")
    better("a shorter save", "--save", "100ms", "--load", "2.84s")
    better("fewer failures", "--rates", "rsc-2")
    better("no GPU that fails", "--rate", "gpu=0")
    better("as many cables", "--cables", "1")
    better("repairs in an hour", "--outage", "1h")
    better("no loss of speed", "--slow", "0")
    check(mean(few_runs("--load", "1h")["mrc"]) < mean(base["mrc"]), "a longer load")
    check(mean(few_runs("--checkpoint", "1h")["mrc"]) < mean(base["mrc"]), "a longer interval than the best")
    few, none = few_runs("--spares", "6"), few_runs("--spares", "0", "--repair", "30min")
    check(sum(of["wait"] for of in few["mrc"]["components"]) > 0 and few["mrc"]["goodput"]["closed_form"] is None and
          mean(few["roce"]) < mean(few["mrc"]) < mean(base["mrc"]), "six spares are not enough")
    check(near(none["mrc"]["of"]["gpu"]["wait"] / (none["mrc"]["of"]["gpu"]["events_per_run"] / 54 * 1795 / 86400), 1, 0.1),
          "without spares each GPU is waited for until it is repaired")
    flap = ["--rate", "flap=1000", "--flap", "60s"]
    short, long = few_runs(*flap)["roce"]["of"]["flap"], few_runs(*flap, "--ib-timeout", "22", "--ib-retry", "12")["roce"]["of"]["flap"]
    check((short["reaction"], long["reaction"]) == ("restart", "stall") and long["loss"] < short["loss"],
          "a link that is down for 60 s: RoCE gives up after 30 s, or holds on for 206 s")
    check(near(few_runs("--ib-timeout", "22", "--ib-retry", "12")["job"]["roce_gives_up_s"], 206.2, 0.1), "206 s")
    check(near(base["job"]["roce_gives_up_s"], 30.06, 0.01), "30 s")
    check(near(few_runs("--ib-timeout", "22", "--ib-retry", "12", "--hang", "90s")["job"]["roce_gives_up_s"], 90, 0),
          "unless a hang is found before")
    one_plane = ["--set", "fabric.planes=1", "--set", "fabric.link_rate=800Gb/s"]
    single = few_runs(*one_plane)
    check(single["mrc_less_roce"]["verdict"] == "same" and single["job"]["step_with_a_port_down_s"] is None,
          "with one plane nothing is survived")
    other = few_runs(*one_plane, "--slow", "1")
    check(other["mrc"]["of"]["network"]["reaction"] == "slow" and near(other["job"]["slow"], 1 - 1 / 1.01, 1e-9),
          "unless somebody says at what speed")
    status, out, errors = weft.outcome("goodput", "meta-24k-roce", "--slow", "1", "--runs", "20", "--json")
    check(status == 0 and json.loads(out)["job"]["step_s"] is None, f"with --slow no step is worked out {errors}")
    short_run = goodput("--days", "1", "--runs", "20")
    check(short_run["days"] == 1 and short_run["runs"] == 20 and short_run["mrc"]["goodput"]["sd"] > base["mrc"]["goodput"]["sd"],
          "short runs scatter more")


def check_faults():
    """A drawn timeline is one that a scenario takes, and has the events of the first run."""
    words = ["--days", "20", "--set", "fabric.nics=2048", "--rate", "flap=50", "--seed", "3"]
    status, text, errors = weft.outcome("goodput", AZURE, *words, "--faults", "5ms")
    lines = [line for line in text.splitlines() if line.startswith("  - {kind: link_down, at: {nic: ")]
    kinds = [line.split(": ")[-1].split(",")[0] for line in lines]
    starts = [int(line.split("from: ")[1].split("ns")[0]) for line in lines]
    ends = [int(line.split("until: ")[1].split("ns")[0]) for line in lines]
    check(status == 0 and len(lines) > 10 and set(kinds) == {"network", "flap"}, f"{len(lines)} faults {errors}")
    check(starts == sorted(starts) and starts[-1] < 5e6, "in order, within the 5 ms")
    lengths = {kind: {end - start for start, end, of in zip(starts, ends, kinds) if of == kind} for kind in set(kinds)}
    check(lengths == {"network": {round(4 / 24 / 20 * 5e6)}, "flap": {round(12 / 86400 / 20 * 5e6)}}, f"as long as they last: {lengths}")
    counts = goodput(*words, "--runs", "2")["mrc"]["of"]
    rates = [counts[kind]["rate_per_day"] * 20 for kind in ("network", "flap")]
    check(all(abs(kinds.count(kind) - rate) < 5 * math.sqrt(rate) for kind, rate in zip(("network", "flap"), rates)), f"{rates}")
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "azure.yaml")
        shipped = pathlib.Path(SOURCE, "apps", "scenarios", AZURE + ".yaml")
        path.write_text(shipped.read_text(encoding="utf-8") + text, encoding="utf-8")
        status, _, errors = weft.outcome("topology", path, "--set", "fabric.nics=2048")
        check(status == 0, f"a scenario takes them {errors}")
    status, text, _ = weft.outcome("goodput", AZURE, "--days", "0.001", "--faults", "5ms")
    check(status == 0 and text.endswith("faults: []\n"), "and none of a run without any")


def check_text():
    status, text, _ = weft.outcome("goodput", AZURE)
    listed = fields_of(raw("--runs", "2")) ^ documented("Goodput")
    check(not listed, f"docs/result.md lists every field: {sorted(listed)}")
    check(status == 0 and "goodput                                95.6" in text and "It rests on" in text and
          "worth 0.16" in text, "the table")
    status, text, _ = weft.outcome("goodput", AZURE, "--runs", "2", "--restart", "1min")
    check("nvrx-in-job, times as given: " in text and "restart in 60.0 s" in text, "a recovery of one's own is told")
    status, text, _ = weft.outcome("goodput", "--list")
    check(status == 0 and all(f"  {name} " in text for name in [*LLAMA, "flap", "llama-3", "rsc-1", "nvrx-in-process"]), "the lists")
    check(all(len(line) <= 80 for line in text.splitlines()), "--list is at most 80 columns wide")


def check_refusals():
    refused("nothing", [], "no scenario given")
    refused("no such scenario", ["nosuch"], "nosuch")
    refused("two scenarios", [AZURE, "incast"], "unexpected argument")
    refused("no model", ["incast"], "only a training job has steps: traffic.kind must be model")
    refused("no such key", [AZURE, "--set", "fabric.foo=1"], "--set:1:1: ")
    refused("rates of nobody", [AZURE, "--rates", "llama-4"], "llama-4")
    refused("no such recovery", [AZURE, "--recovery", "prayer"], "prayer")
    for rate in ("gpus=1", "gpu", "gpu=", "gpu=-1", "gpu=x", "gpu=nan", "=1", "gpu=1x"):
        refused(f"rate '{rate}'", [AZURE, "--rate", rate], "--rate")
    refused("a rate twice", [AZURE, "--rate", "gpu=1", "--rate", "gpu=2"], "twice")
    for option in ("checkpoint", "outage", "crash", "hang", "restart", "save", "load"):
        for word in ("", "0s", "-1s", "1", "1 s", "x", "1sec", "inf", "1e3s", "99999999d"):
            refused(f"--{option} '{word}'", [AZURE, f"--{option}", word], f"--{option} is" if word else "an empty value")
    for option, words in {"days": ("0", "-1", "x", "1d"), "runs": ("1", "0", "x", "1000000"), "cables": ("0", "x"),
                          "ib-timeout": ("0", "32"), "ib-retry": ("0", "101"), "spares": ("-1", "x"), "slow": ("-1", "x%")}.items():
        for word in words:
            refused(f"--{option} '{word}'", [AZURE, f"--{option}", word], f"--{option} is")
    refused("repair without spares", [AZURE, "--repair", "1h"], "--repair needs --spares")
    refused("flaps that never come", [AZURE, "--flap", "1s"], "--flap needs --rate flap=RATE")
    one = ["--set", "fabric.planes=1", "--set", "fabric.link_rate=800Gb/s"]
    refused("cables of one plane", [AZURE, *one, "--cables", "2"], "one port")
    refused("given twice", [AZURE, "--days", "1", "--days", "2"], "twice")
    refused("a seed that is none", [AZURE, "--seed", "x"], "seed")
    refused("too many failures", [AZURE, "--rate", "gpu=1000000000"], "failures in a run")
    refused("too many outages", [AZURE, "--rate", "network=10000", "--outage", "30d"], "outages at a time")
    refused("too many hosts", [AZURE, "--spares", "3", "--repair", "1000d"], "in repair")
    refused("saves without end", [AZURE, "--checkpoint", "1ms", "--save", "1ms"], "saves in a run")
    refused("more faults than a scenario has", [AZURE, "--faults", "5ms", "--days", "1000"], "fewer --days")
    for word in ("checkpoint=1h", "runs=9", "slow=1", "recovery=new-job", "crash=1s", "save=1s", "spares=3", "ib-retry=7"):
        refused(f"--faults with --{word}", [AZURE, "--faults", "5ms", "--days", "9", f"--{word}"], "has no effect with --faults")
    refused("outages of nothing", [AZURE, "--faults", "1ms", "--days", "20", "--outage", "1ms"], "shorter than 1 ns")
    refused("faults as JSON", [AZURE, "--faults", "5ms", "--json"], "has no effect with --json")
    refused("faults in no time", [AZURE, "--faults", "0s"], "--faults is")
    refused("an unknown option", [AZURE, "--day", "1", "--fabric", "x"], "unknown option")


if __name__ == "__main__":
    check_parts(check_golden, check_causes, check_closed, check_plot, check_llama, check_options, check_faults, check_text, check_refusals)
