#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft scaling: the Azure job on 16 to 512 racks, figure by figure, held against weft sim --fidelity model; both definitions
of efficiency; seeds; the plot; what is refused."""
import csv
import functools
import io
import json
import sys
import xml.etree.ElementTree

import weft
from weft import check, check_parts, documented, fields_of

AZURE = "azure-gb200-llama405b"
# racks, step and exposed in us
GOLDEN = [(16, 1269963, 25684), (32, 1270285, 26006), (64, 1270513, 26234), (112, 1270967, 26688), (128, 1271200, 26921),
          (256, 1276059, 31780), (512, 1299497, 55218)]
RACKS = ",".join(str(racks) for racks, *_ in GOLDEN)
refused = functools.partial(weft.refused, "scaling")


def scaling(*words):
    status, out, errors = weft.outcome("scaling", *words, "--json")
    if status != 0:
        check(False, f"{words}: {errors}")
        sys.exit(1)
    return json.loads(out)


def check_golden():
    result = scaling(AZURE, "--racks", RACKS)
    points = result["points"]
    found = [(point["racks"], round(point["step_ps"] / 1e6), round(point["exposed_ps"] / 1e6)) for point in points]
    check(found == GOLDEN, f"every step is what it was: {found}")
    table = weft.outcome("scaling", AZURE, "--racks", "16,32")[1]
    check(f"  step rests on times that are calibrated: {result['times_from']}\n" in table and
          "1.2712 s comes out" in result["times_from"] and result["times_assumed"] is False, "the steps are said to be fitted")
    check(result["reference_racks"] == 16, "the smallest is the reference")
    check(all(point["gpus"] == point["racks"] * 64 and point["ring_ranks"] == point["racks"] * 2 and
              point["batch"] == point["racks"] * 8 for point in points), "GPUs, rings and batch grow with the racks")
    first = points[0]["step_ps"]
    for point in points:
        off = abs(point["efficiency"] - first / point["step_ps"]) + \
            abs(point["consistency"] - (1 - abs(point["step_ps"] - first) / first))
        check(off < 1e-9, f"{point['racks']} racks: efficiency {point['efficiency']:.4%}, consistency {point['consistency']:.4%}")
    small, large = points[3], points[4]
    check(abs(large["step_ps"] / small["step_ps"] - 1) < 0.001, "112 to 128 racks: within 0.1 %")
    model = json.loads(weft.outcome("sim", AZURE, "--fidelity", "model", "--json", "--set", "fabric.nics=16384")[1])["step"]
    check(model["step_ps"] == points[5]["step_ps"] and model["exposed_ps"] == points[5]["exposed_ps"],
          "256 racks: the step of weft sim --fidelity model")


def check_reference():
    """Against the larger one both definitions tell another story."""
    points = {point["racks"]: point for point in scaling(AZURE, "--racks", "112,512", "--reference", "512")["points"]}
    check(points[512]["efficiency"] == 1 and points[112]["efficiency"] > 1 > points[112]["consistency"],
          "a faster step is above 100 %, and less consistent")


def check_seeds():
    words = [AZURE, "--racks", "16,128,256", "--jitter", "2", "--seeds", "12"]
    result = scaling(*words)
    check(result == scaling(*words), "seeds give the same again")
    plain = {point["racks"]: point for point in scaling(AZURE, "--racks", "16,128,256")["points"]}
    for point in result["points"]:
        seeds = point["seeds"]
        check(seeds["min_s"] < seeds["mean_s"] < seeds["max_s"] and 0 < seeds["cv"] < 0.001 and
              seeds["half_95_s"] < seeds["sd_s"], f"{point['racks']} racks: CV {seeds['cv']:.4%}")
        check(point["step_ps"] == plain[point["racks"]]["step_ps"] and seeds["mean_s"] > point["step_ps"] / 1e12,
              "jitter makes steps longer: the slowest is waited for")
    check([point["seeds"].get("against_reference") for point in result["points"]] == [None, "differs", "differs"],
          "more racks differ by more than chance")
    other = scaling(*words, "--seed", "77")
    check(other["points"][0]["seeds"] != result["points"][0]["seeds"], "another seed, other steps")
    for one, another in zip(result["points"], other["points"]):
        apart = abs(one["seeds"]["mean_s"] - another["seeds"]["mean_s"])
        half = one["seeds"]["half_95_s"] + another["seeds"]["half_95_s"]
        check(apart < 1.5 * half, f"but the mean is near: {apart * 1e3:.3f} ms with {half * 1e3:.3f} ms of confidence")


def check_jitter(folder):
    """All kinds of jitter of weft sim; a list is drawn from, and a step is the one that weft sim has of the seed."""
    ratios = folder / "ratios.txt"
    ratios.write_text("# two, far apart\n0.9\n1.1\n", encoding="utf-8")
    seen = []
    for kind, word in (("uniform", "10"), ("normal", "normal:10"), ("lognormal", "lognormal:10"), ("list", f"list:{ratios}")):
        result = scaling(AZURE, "--racks", "4,8", "--jitter", word, "--seeds", "2")
        check(result["jitter_kind"] == kind, f"{word}: told as {result['jitter_kind']}, {result['jitter']}")
        seen.append(result["points"][0]["seeds"]["mean_s"])
        steps = json.loads(weft.outcome("sim", AZURE, "--fidelity", "model", "--json", "--jitter", word, "--steps", "2", "--set",
                                "fabric.nics=256")[1])["steps"]
        check(near(steps["mean_s"], seen[-1], 1e-9), f"the mean of two steps is that of weft sim: {seen[-1]:.6f} s")
    check(len(set(seen)) == 4, "no two are the same")
    missing = folder / "none.txt"
    status, out, errors = weft.outcome("scaling", AZURE, "--racks", "4", "--jitter", f"list:{missing}", "--seeds", "2")
    check(status in (2, 3) and out == "" and str(missing) in errors, f"no such list: {errors.strip()}")
    ratios.write_text("1\nx\n", encoding="utf-8")
    refused("a list that is none", [AZURE, "--racks", "4", "--jitter", f"list:{ratios}", "--seeds", "2"], f"{ratios}:2:")


def check_sample():
    """A thin sample: packets give what weft sim --fidelity sample gives, near the schedule's; seeds scatter."""
    thin = ["--sample", "steps=8,fill=4"]
    small = [AZURE, "--racks", "4,8", "--fidelity", "sample", *thin]
    result = scaling(*small)
    first, second = result["points"]
    alone = json.loads(weft.outcome("sim", AZURE, "--fidelity", "sample", "--json", *thin, "--set", "fabric.nics=512")[1])["step"]
    check(result["step_fidelity"] == "sample" and second["step_ps"] == alone["step_ps"] and second["exposed_ps"] == alone["exposed_ps"],
          f"8 racks: {second['step_ps'] / 1e9:.3f} ms, as weft sim says")
    check(near(second["exposed_error_s"], alone["exposed_error_steps_ps"] / 1e12, 1e-12) and first["packets"] > 100000, "with its error")
    model = scaling(AZURE, "--racks", "4,8")["points"]
    for one, another in zip(result["points"], model):
        check(near(one["step_ps"] / another["step_ps"], 1, 0.005), f"{one['racks']} racks: near the closed forms' step")
    both = scaling(*small, "--seeds", "2")
    seeds = both["points"][0]
    listed = fields_of(both) ^ documented("Weak scaling")
    check(not listed, f"docs/result.md lists every field: {sorted(listed)}")
    check(seeds["seeds"]["count"] == 2 and seeds["step_ps"] == first["step_ps"] and
          near(seeds["seeds"]["mean_s"], first["step_ps"] / 1e12, 0.001), "two seeds, of which the first is the scenario's")


def near(found, wanted, off_max):
    return abs(found - wanted) <= off_max


def check_csv():
    status, out, _ = weft.outcome("scaling", AZURE, "--racks", "128,16", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    check([row["times"] for row in rows] == ["calibrated"] * 2, "each says that its times are fitted")
    check(status == 0 and [row["racks"] for row in rows] == ["128", "16"], "rows of --csv in the order of --racks")
    check(abs(float(rows[0]["step_s"]) - 1.2712) < 1e-4 and float(rows[1]["efficiency"]) == 1, "with their figures")


def check_svg(folder):
    path = folder / "plot.svg"
    status, out, errors = weft.outcome("scaling", AZURE, "--racks", RACKS, "--jitter", "2", "--seeds", "2", "--svg", path)
    check(status == 0 and "efficiency" in out, f"a plot beside the table {errors}")
    root = xml.etree.ElementTree.fromstring(path.read_text(encoding="utf-8"))
    width, height = float(root.get("width")), float(root.get("height"))
    lines = [element for element in root if element.tag.endswith("polyline")]
    check(len(lines) == 4 and all(len(line.get("points").split()) == len(GOLDEN) for line in lines), "four rows of seven points")
    spots = [tuple(map(float, pair.split(","))) for line in lines for pair in line.get("points").split()]
    check(all(0 < x < width and 0 < y < height for x, y in spots), "all of them in the picture")
    steps = [float(pair.split(",")[1]) for pair in lines[0].get("points").split()]
    check(steps == sorted(steps, reverse=True) and steps[-1] < steps[0], "longer steps lie higher")
    texts = "".join(element.text or "" for element in root)
    check("512" in texts and "&" not in texts and AZURE in texts, "with racks and title")
    ticks = [float(element.text.split()[0]) for element in root if element.get("class") == "y"]
    check(all(abs(tick / 0.5 - round(tick / 0.5)) < 1e-9 for tick in ticks) and len(ticks) >= 6, f"axes have round numbers: {ticks}")
    weft.outcome("scaling", AZURE, "--racks", "64,65,66,67,68,128,256", "--svg", path)
    root = xml.etree.ElementTree.fromstring(path.read_text(encoding="utf-8"))
    labels = [float(element.get("x")) for element in root if element.tag.endswith("text") and (element.text or "").isdigit()]
    rows = [labels[:len(labels) // 2], labels[len(labels) // 2:]]
    check(all(b - a >= 20 for row in rows for a, b in zip(row, row[1:])) and len(rows[0]) >= 3, "numbers of racks do not lie on each other")
    status, out, _ = weft.outcome("scaling", AZURE, "--racks", "64", "--svg", path, "--force")
    check(status == 0 and "nan" not in path.read_text(encoding="utf-8"), "one point has a plot, too")


def check_refusals():
    with_racks = [AZURE, "--racks", "16,32"]
    refused("nothing", [], "no scenario given")
    refused("no racks", [AZURE], "no racks given: --racks is needed")
    refused("no such scenario", ["nosuch", "--racks", "4"], "nosuch")
    refused("two scenarios", [*with_racks, "incast"], "unexpected argument")
    refused("racks that fill no switch", [AZURE, "--racks", "16,17"], "with 17 racks: ")
    refused("racks beyond what a scenario may have", [AZURE, "--racks", "999999"], "--racks: with 999999 racks: ")
    for racks in ("0", "16,", ",16", "16,,32", "-1", "x", "1e3", "16 32", "1000001", "99999999999"):
        refused(f"racks '{racks}'", [AZURE, "--racks", racks], "--racks is a list")
    for option in ("--racks", "--reference", "--seeds"):
        refused(f"{option} of nothing", [*(with_racks if option != "--racks" else [AZURE]), option, ""], f"an empty value for '{option}'")
    refused("racks twice", [AZURE, "--racks", "16,32,16"], "twice")
    refused("65 racks", [AZURE, "--racks", ",".join(str(4 * i) for i in range(1, 66))], "at most 64")
    for word in ("64", "16x", "-16"):
        refused(f"reference '{word}'", [*with_racks, "--reference", word], "--reference is one of")
    refused("no model", ["incast", "--racks", "16"], "with 16 racks: ")
    refused("no model", ["two-racks", "--racks", "2"], "traffic.kind must be model")
    refused("seeds without jitter", [*with_racks, "--seeds", "3"], "needs --jitter")
    refused("a seed without jitter", [*with_racks, "--seed", "3"], "needs --jitter")
    refused("jitter without seeds", [*with_racks, "--jitter", "3"], "--seeds")
    for jitter in ("0", "51", "nan", "-1", "2%", ""):
        refused(f"jitter '{jitter}'", [*with_racks, "--jitter", jitter, "--seeds", "3"], "jitter")
    for seeds in ("1", "1001", "x"):
        refused(f"seeds '{seeds}'", [*with_racks, "--jitter", "1", "--seeds", seeds], "--seeds is a whole number from 2 to 1000")
    refused("a seed that is none", [*with_racks, "--jitter", "1", "--seeds", "3", "--seed", "x"], "seed")
    refused("another depth", [*with_racks, "--fidelity", "full"], "model or sample")
    refused("a sample without packets", [*with_racks, "--sample", "steps=2"], "needs --fidelity sample")
    refused("jitter with packets", [*with_racks, "--fidelity", "sample", "--jitter", "1", "--seeds", "3"], "has no effect with --fidelity sample")
    refused("a sample that is none", [*with_racks, "--fidelity", "sample", "--sample", "step=2"], "--sample")
    refused("another number of NICs", [*with_racks, "--set", "fabric.nics=64"], "--racks says")
    refused("no such key", [*with_racks, "--set", "fabric.foo=1"], "--set:1:1: ")
    refused("two forms", [*with_racks, "--json", "--csv"], "--csv")
    refused("an unknown option", [*with_racks, "--depht"], "unknown option")
    refused("given twice", [*with_racks, "--racks", "4"], "given twice")
    refused("a plot nowhere", [*with_racks, "--svg", "/nonexistent/x.svg"], "cannot write")


def main(folder):
    for part in (check_golden, check_reference, check_seeds, check_sample, check_csv, check_refusals):
        part()
    check_svg(folder)
    check_jitter(folder)


if __name__ == "__main__":
    check_parts(main)
