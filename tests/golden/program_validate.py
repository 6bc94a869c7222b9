#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft validate: every closed form, and htsim's rows over the ten matrices, inside their tolerances; and that it can
tell when they are not. Without the reference data the rows are skipped and said so."""
import os
import pathlib
import re
import sys
import tempfile

import weft

RUNS = os.environ.get("WEFT_VALIDATE_RUNS", "2")


def validate(*words):
    done = weft.run("validate", *words)
    return done.returncode, done.stdout, done.stderr


def check(holds, what):
    print(("ok: " if holds else "FAILED: ") + what)
    return 0 if holds else 1


def outside(text):
    return [line.split()[0] for line in text.splitlines() if " OUTSIDE " in line]


def check_closed():
    status, text, _ = validate()
    print(text)
    failed = check(status == 0 and not outside(text), "closed forms are inside")
    return failed + check("95 inside, 0 outside" in text, "all 95 of them, and of fixed points")


def check_rows(data):
    status, text, _ = validate("--only", "htsim", "--data", str(data), "--runs", RUNS)
    print(text)
    count = int(re.search(r"(\d+) inside", text).group(1))
    return check(status == 0 and count >= 70 and not outside(text), f"{count} figures of htsim's rows are inside")


def check_further(data):
    """Further results: what one run of htsim's may be off is from the deviation of its ten seeds, and without one it is the rows' share."""
    failed = 0
    words = ["--data", str(data), "--runs", "1", "--only"]
    status, text, _ = validate(*words, "further-incast32-ecn-40-42")
    failed += check(status == 0 and "1 inside, 0 outside" in text, "marks just below the trims: as many retransmissions")
    status, text, _ = validate(*words, "further-rccc-incast8")
    failed += check(status == 0 and "2 inside, 0 outside" in text, "credits that senders ask for: as many retransmissions")
    status, text, _ = validate("--data", str(data), "--runs", "4", "--only", "larger-incast32-100g")
    failed += check(status == 0 and "5 inside, 0 outside" in text, "an incast of 2 MB messages, with senders of our own")
    status, text, _ = validate(*words, "larger-ring16")
    failed += check(status == 0 and "1 inside, 0 outside" in text, "a ring as htsim's generator writes it")
    status, text, _ = validate(*words, "further-perm800g-half-us-p")
    failed += check(status == 2, "a name of no case is refused")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        (copy / "matrices").symlink_to(data / "matrices")
        (copy / "runs.csv").symlink_to(data / "runs.csv")
        summary = [line.split(",") for line in (data / "summary.csv").read_text().splitlines()]
        status, text, _ = validate(*words, "further-perm400g-half-us")
        at = summary[0].index("p99_sd")
        row = next(line for line in summary if line[0] == "perm400g_mixed")
        expected = 3 * float(row[at]) / float(row[at - 1]) * 60.3
        failed += check(status == 0 and f" {expected:.4f} us" in text and "3 standard errors" in text, f"three deviations of single runs: {expected:.4f} us")
        row[at] = "0"
        (copy / "summary.csv").write_text("".join(",".join(line) + "\n" for line in summary))
        status, text, _ = validate("--data", folder, "--runs", "1", "--only", "further-perm400g-half-us")
        failed += check(status == 0 and f" {0.02 * 60.3:.4f} us" in text, "no deviation: the share of the rows")
    return failed


def check_that_it_can_fail(data):
    """The same row with a summary that is 5 % off, and with one that lacks it."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        (copy / "matrices").symlink_to(data / "matrices")
        (copy / "runs.csv").symlink_to(data / "runs.csv")
        summary = (data / "summary.csv").read_text().splitlines()
        columns = summary[0].split(",")
        at = columns.index("p50_mean")
        row = next(line for line in summary if line.startswith("perm800g_mixed,")).split(",")
        row[at] = str(float(row[at]) * 1.05)
        (copy / "summary.csv").write_text("\n".join([summary[0], ",".join(row)]) + "\n")
        words = ["--only", "htsim-perm800g", "--data", folder, "--runs", "1"]
        status, text, _ = validate(*words)
        failed += check(status == 1 and outside(text) == ["htsim-perm800g_mixed-p50"], "5 % off is outside")
        (copy / "summary.csv").write_text(summary[0] + "\n")
        status, _, errors = validate(*words)
        failed += check(status == 2 and "lacks a row" in errors, "a summary without the row is refused")
    return failed


FIGURES = ("p50", "p99", "max", "rtx", "acks")
COMMAND = "./htsim_uec -tm matrices/{matrix}_s{seed}.cm -topo topologies/{topology}.topo -linkspeed {rate} {words} -seed {seed} -end 4000 -o out/x.dat"


def made_rows():
    """Rows that the data do not have: name, matrix, topology, rate in Mb/s, options; and why weft cannot run them."""
    plain, tree = "-sender_cc_only -paths 128 -load_balancing_algo mixed", "fat_tree_128_1os"
    return (("perm200g", "half", f"{tree}_200g", 200000, "-sender_cc_only -paths 64 -load_balancing_algo reps -sack_threshold 4000", ""),
            ("perm100g", "half", tree, 100000, plain, ""),
            ("slow_marks", "half", tree, 100000, f"{plain} -ecn 20 40 -target_q_delay 12", ""),
            ("credits", "incast_128_8to1_1MiB", tree, 100000, "-receiver_cc_only -paths 128", ""),
            ("still", "half", tree, 100000, "-sender_cc_only -sender_cc_algo constant -load_balancing_algo oblivious", ""),
            ("paths", "half", tree, 100000, "-load_balancing_algo clairvoyant", "-load_balancing_algo clairvoyant"),
            ("option", "half", tree, 100000, f"{plain} -warp 9", "option -warp"),
            ("tree", "half", "fat_tree_1024_1os", 100000, plain, "fat_tree_1024_1os"),
            ("rates", "half", tree, 400000, plain, "topology at its rate"),
            ("failures", "half", tree, 100000, f"{plain} -failed 8", "8 links"),
            ("control", "half", tree, 100000, f"{plain} -sender_cc_algo dctcp", "dctcp"),
            ("strategy", "half", tree, 100000, f"{plain} -strat simple", "-strat simple"),
            ("hosts", "few", tree, 100000, plain, "64 hosts"))


def write_rows(folder, means):
    """runs.csv of three seeds each, and a summary with these means."""
    runs, summary = ["row,seed,command,flows"], ["row,seeds," + ",".join(f"{figure}_mean,{figure}_sd" for figure in FIGURES)]
    for name, matrix, topology, rate, words, _ in made_rows():
        runs += [f"{name},{seed}," + COMMAND.format(matrix=matrix, topology=topology, rate=rate, words=words, seed=seed) + ",128" for seed in (1, 2, 3)]
    for name in [row[0] for row in made_rows()] + ["unheard"]:
        summary.append(f"{name},3," + ",".join(f"{mean},0" for mean in means.get(name, [1] * 5)))
    (folder / "runs.csv").write_text("\n".join(runs) + "\n")
    (folder / "summary.csv").write_text("\n".join(summary) + "\n")


def measured_of(text):
    found = {}
    for line in text.splitlines():
        if match := re.match(r"htsim-(\w+)-(\w+) +\S+ +(\S+)", line):
            found.setdefault(match[1], []).append(float(match[3]))
    return found


def check_other_rows(data):
    """A folder with other rows: what its commands say is run, what cannot be is named with the reason, a wrong mean is outside."""
    failed = 0
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        (folder / "matrices").mkdir()
        for seed in (1, 2, 3):
            permutation = (data / f"matrices/perm_128_2MB_s{seed}.cm").read_text()
            (folder / f"matrices/half_s{seed}.cm").write_text(permutation.replace("size 2000000", "size 1000000"))
            (folder / f"matrices/few_s{seed}.cm").write_text("Nodes 64\nConnections 1\n1->2 id 1 start 0 size 1000\n")
            incast = f"matrices/incast_128_8to1_1MiB_s{seed}.cm"
            (folder / incast).symlink_to(data / incast)
        words = ["--data", path, "--only", "htsim", "--runs", "2"]
        write_rows(folder, {})
        status, text, errors = validate(*words)
        print(text + errors)
        found = measured_of(text)
        failed += check(status == 1 and sorted(found) == sorted(row[0] for row in made_rows() if row[5] == ""), "rows that weft can run are run")
        for name, *_, reason in [row for row in made_rows() if row[5]] + [("unheard", "runs.csv has no command")]:
            failed += check(re.search(f"^htsim-{name} +not compared: .*{re.escape(reason)}", text, re.M), f"{name} is named with its reason")
        failed += check("9 rows not compared" in text, "and counted")
        bound = 1000000 / 4086 * 4150 * 8 / 1e5  # us at 100 Gb/s
        failed += check(bound < found["perm100g"][0] < 1.3 * bound + 12 and bound / 2 < found["perm200g"][0] < 0.65 * bound + 12, "rate and size are the row's")
        failed += check(found["perm200g"][4] >= 128 * 245 and found["perm100g"][4] < 128 * 100, "acknowledgements are the row's")
        failed += check(abs(found["credits"][2] - 696.8) < 0.02 * 696.8 and 250 < found["credits"][3] < 345, "credits of receivers, as htsim has them")
        write_rows(folder, found)
        status, text, _ = validate(*words)
        failed += check(status == 0 and "25 inside, 0 outside" in text, "the means that come out are inside")
        found["perm200g"][0] *= 1.02
        write_rows(folder, found)
        status, text, _ = validate(*words)
        failed += check(status == 1 and outside(text) == ["htsim-perm200g-p50"], "a row with a wrong mean fails")
        status, text, errors = validate("--data", path, "--only", "htsim-tree", "--runs", "1")
        failed += check(status == 2 and "not compared" in text and "no case can be compared" in errors, "a row that cannot be run is no success")
        status, text, _ = validate("--data", path, "--only", "further-perm-256", "--runs", "1")
        failed += check(status == 2 and "further-perm-256KiB" in text and "not there" in text, "what needs a row of htsim's is named")
        (folder / "runs.csv").unlink()
        status, _, errors = validate(*words)
        failed += check(status == 2 and "runs.csv" in errors, "without commands nothing can be run")
    return failed


def check_differences(data):
    """The line of htsim's rules is what the claims measure; a rule that matters shows, one that cannot matter does not."""
    failed = 0
    words = ["--data", str(data), "--only", "htsim-incast32", "--matrices", "4", "--runs", "1"]
    status, text, _ = validate(*words, "--differences")
    print(text)
    lines = text.splitlines()
    failed += check(status == 0 and len(lines) == 17, "a row has htsim's rules, fourteen others, and all of them")
    _, claims, _ = validate(*words)
    measured = [float(line.split()[2]) for line in claims.splitlines() if line.startswith("htsim-")]
    shown = [float(word) for word in lines[1].split()[2:]]
    failed += check(len(shown) == 5 and all(abs(a - b) <= 0.05001 for a, b in zip(shown, measured)),
                    "htsim's rules give what is compared with htsim")
    failed += check(lines[3].split()[0] == "no-last-hop-marks" and lines[3].count("*") >= 1, "unmarked last hops differ")
    failed += check(lines[8].split()[0] == "qa-delay-spec" and lines[8].count("  =") == 5, "a rule that decides nothing here: equal")
    status, text, errors = validate("--data", str(data), "--differences", "--only", "flow")
    failed += check(status == 2 and "no row" in errors, "closed forms have no rules to compare")
    return failed


def check_refusals():
    failed = 0
    for words, reason in ((["--runs", "0"], "--runs"), (["--matrices", "11"], "--matrices"), (["--only", "nothing"], "no case"),
                          (["extra"], "unexpected"), (["--differences"], "--data"), (["--bad"], "unknown option"), (["--data", "/nonexistent"], "nonexistent")):
        status, text, errors = validate(*words, *(["--only", "htsim"] if words[0] == "--data" else []))
        failed += check(status == 2 and text == "" and reason in errors, f"refused: {' '.join(words)}")
    return failed


def main():
    shared = os.environ.get("WEFT_SHARED") or os.environ.get("WEFT_SOURCE", ".") + "/../shared"
    data = pathlib.Path(shared) / "data" / "htsim"
    failed = check_closed() + check_refusals()
    if weft.is_sanitized():
        print("htsim's rows take minutes under sanitizers: `tests/run sanitize` runs them")
    elif (data / "summary.csv").is_file():
        failed += check_rows(data) + check_further(data) + check_that_it_can_fail(data) + check_other_rows(data) + check_differences(data)
    else:
        print(f"skipped: no reference data in {data}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
