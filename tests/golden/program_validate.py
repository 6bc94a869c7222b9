#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft validate: every closed form, and htsim's rows over the ten matrices, inside their tolerances; and that it can
tell when they are not. Without the reference data the rows are skipped and said so."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WEFT = os.environ["WEFT"]
RUNS = os.environ.get("WEFT_VALIDATE_RUNS", "2")


def validate(*words):
    done = subprocess.run([WEFT, "validate", *words], capture_output=True, text=True, timeout=600)
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
        status, _, errors = validate(*words, *(["--only", "htsim"] if words[0] == "--data" else []))
        failed += check(status == 2 and reason in errors, f"refused: {' '.join(words)}")
    return failed


def main():
    shared = os.environ.get("WEFT_SHARED") or os.environ.get("WEFT_SOURCE", ".") + "/../shared"
    data = pathlib.Path(shared) / "data" / "htsim"
    failed = check_closed() + check_refusals()
    if os.environ.get("WEFT_SANITIZE") and not os.environ.get("WEFT_WHOLE"):
        print("htsim's rows take minutes under sanitizers: `tests/run sanitize` runs them")
    elif (data / "summary.csv").is_file():
        failed += check_rows(data) + check_further(data) + check_that_it_can_fail(data) + check_differences(data)
    else:
        print(f"skipped: no reference data in {data}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
