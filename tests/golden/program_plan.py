#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft plan: published jobs with their published sizes, groups that leave their racks, models from dimensions alone, and
what is refused."""
import json
import os
import re
import sys
import tempfile

import weft
from weft import check

CUSTOM = ["layers=32", "hidden=4096", "heads=32", "kv_heads=8", "head_dim=128", "ffn=14336", "vocab=128256", "sequence=8192",
          "dp=64"]  # Llama 3.1 8B: 8,030,261,248 parameters on its model card
# plan and options: lines that must stand in the table, blanks aside
LINES = {
    "llama-3.1-405b-azure": [
        "llama-3.1-405b: 405.853 B parameters in 126 layers",
        "0 15 12479594496 0 24.959 GB",
        "1 16 12751208448 0 25.502 GB",
        "7 15 12479610880 0 24.959 GB",
        "0 0 dense 142622720 285.2 MB",
        "1 0 dense 1593901056 3187.8 MB",
        "dp 32 256 128 2 to 2 4096/8192 0",
        "pp 128 33.554 MB 4.295 GB inside domains",
        "dp reduce 8 3187.802 MB 25.502 GB 12.701 GB",
        "dp gather 8 3187.802 MB 25.502 GB 12.701 GB",
    ],
    "llama-3.1-405b-azure --order dp-tp-cp-pp": [
        "tp 2048 4 4 1 to 1 8192/8192 0",
        "tp 1280 134.218 MB 171.799 GB 128.849 GB leaves its domain",
    ],
    "deepseek-v3-gb300-8192": [
        "deepseek-v3: 671.026 B parameters in 61 layers",
        "ep 256 32 1 32 to 32 0/8192 0",
        "pp 2048 4 4 1 to 1 8192/8192 0",
        "edp 128 64 32 2 to 2 4096/8192 0",
        "ep 512 469.762 MB 240.518 GB inside domains",
        "pp 64 58.720 MB 3.758 GB 3.758 GB",
    ],
    "deepseek-v3-gb300-8192 --domain 8": [
        "ep 256 32 4 8 to 8 1024/8192 1024",
        "ep 512 469.762 MB 240.518 GB 180.389 GB leaves its domain",
    ],
    "gpt-oss-20b-gb300-512": ["ep 96 23.593 MB 2.265 GB inside domains", "dp 2 256 8 32 to 32 16/512 16"],
    "gpt-3-175b-h100-11616 --domain 8 --tray 8": ["gpt-3-175b: 174.604 B parameters in 96 layers", "tp 2904 4 1 4 to 4 0/11616 0"],
    "bert-large-a100-4096 --domain 8 --tray 8": ["0 24 336226108 0 0.672 GB", "dp reduce 1 672.452 MB 0.672 GB 0.168 GB"],
}
REFUSED = [
    ([], "no job given"),
    (["--list", "llama-small"], "--list goes alone; unexpected argument 'llama-small'"),
    (["llama"], "no job 'llama' is shipped; did you mean llama-small, llama-2-7b-fsdp-32 or llama-3.1-405b-azure? (weft plan --list has all)"),
    (["llama3"], "did you mean llama-3.1-405b-azure, llama-3.1-8b-fsdp-h100 or llama-3-405b-meta-16384? (weft plan --list has all)"),
    (["gpt3"], "did you mean gpt-3-175b-h100-8192 or gpt-3-175b-h100-11616? (weft plan --list has all)"),
    (["llama3-8b"], "no job 'llama3-8b' is shipped; did you mean llama-3.1-8b-fsdp-h100?"),
    (["mixtral"], "gpt-oss-20b-gb300-512 ... (weft plan --list has all)"),
    (["custom"], "custom: a plan needs its layers"),
    (["llama-3.1-405b-azure", "other"], "unexpected argument 'other'"),
    (["llama-3.1-405b-azure", "--set", "tp=3"], "128 heads do not divide by 3 tensor ranks"),
    (["llama-3.1-405b-azure", "--set", "dp=1", "--set", "colour=1"], "--set:2: there is no size colour"),
    (["llama-3.1-405b-azure", "--order", "tp-cp-pp"], "--order:1:9: the order lacks a dimension"),
    (["llama-3.1-405b-azure", "--order", "tp-cp-xx-dp"], "--order:1:7: an order is made of"),
    (["deepseek-v3-gb300-8192", "--order", "tp-cp-ep-pp-dp"], "put pp last"),
    (["llama-3.1-405b-azure", "--domain", "0"], "1 to 1000000"),
    (["llama-3.1-405b-azure", "--quick"], "unknown option"),
]


def plan(*words):
    done = weft.run("plan", *words)
    return done.returncode, done.stdout, done.stderr


# plan and options: what the answer says, blanks aside
ANSWERS = {
    "llama-3.1-405b-azure": [
        "llama-3.1-405b-azure: 8192 ranks on GB200, 64 in a domain of 64 GPUs",
        "Memory of the fullest rank: 119.8 GB of 186.0 GB: it fits",
        "tp, sp 1280 128.849 GB stays inside",
        "dp 16 50.806 GB 25.403 GB 55.882 ms",
        "Step by closed form 1.300 s, of which exposed 55.882 ms (4.3 %)",
        "tp 4, pp 8, dp 128, tp-cp-pp-dp exposed 55.882 ms, step 1.300 s, 119.8 GB",
    ],
    "llama-3.1-405b-azure --order dp-tp-cp-pp": ["tp, sp 1280 128.849 GB 128.849 GB 2.776 s"],
    "llama-3.1-405b-azure --set dp=1 --set pp=1 --set vpp=1 --set layers_first=0 --set layers_last=0": [
        "Memory of the fullest rank: 1082.6 GB of 186.0 GB: it does not fit, 896.6 GB are missing", "No mapping of it fits"],
    "llama-small": ["No step by closed form: its file has no times.device, and no domain.rate and domain.nic_rate"],
}


def check_answers():
    """One screen, and what it says; -v has the tables behind it."""
    for words, lines in ANSWERS.items():
        status, text, _ = plan(*words.split())
        found = [" ".join(line.split()) for line in text.splitlines()]
        for line in lines:
            check(status == 0 and line in found, f"{words}: {line}")
        check(len(found) <= 24 and max(map(len, text.splitlines())) <= 200, f"{words}: one screen")
    of = json.loads(plan("llama-3.1-405b-azure", "--json")[1])
    check(of["memory"]["fits"] and sum(of["step"]["exposed_by_ps"].values()) == of["step"]["exposed_ps"], "--json: dimensions add up")
    check(list(of["step"]["exposed_by_ps"]) == ["tp", "cp", "ep", "pp", "dp", "etp"], "--json: each dimension, who cut an expert among them")
    least = [mapping["exposed_ps"] for mapping in of["mappings"]]
    check(least == sorted(least) and least[0] <= of["step"]["exposed_ps"] and len(least) == 3, "--json: mappings that expose least")
    check(all(mapping["memory_bytes"] <= of["memory"]["device_bytes"] for mapping in of["mappings"]), "--json: mappings that fit")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as job:
        job.write("name: one\nmodel: {layers: 8, hidden: 1024, heads: 8, ffn: 2816, vocab: 8192}\ncut: {cp: 4, pp: 2}\n"
                  "step: {sequence: 4096, micro_batches: 4}\ntimes: {device: H100}\n")
        job.flush()
        one = json.loads(plan(job.name, "--json")[1])
        check(any(one["step"]["exposed_ps"] == mapping["exposed_ps"] for mapping in one["mappings"]), "--json: one replica is its own mapping")
    check(all(mapping["tp"] * 2 * mapping["pp"] * mapping["dp"] == of["ranks"] for mapping in of["mappings"]), "--json: on as many ranks")


def check_devices():
    """The table of devices stands in the documentation as the program prints it."""
    status, text, _ = plan("--devices")
    rows = [line for line in open(os.environ["WEFT_SOURCE"] + "/docs/job-file.md").read().splitlines() if re.match(r"\| [ABGHMT]\S+ \| \d", line)]
    told = [re.findall(r"[\w.-]+", line.replace("Gb/s  ", " ")) for line in text.splitlines()[1:]]
    documented = [re.findall(r"[\w.-]+", row.replace("TB/s", "TB", 1).replace("GB/s", "GB", 1).replace("Gb/s", "", 1)) for row in rows]
    check(status == 0 and len(told) == 10 and told == documented, "--devices is the table of docs/job-file.md")


def check_json():
    """The same figures as in the table, and all cells."""
    status, text, _ = plan("llama-3.1-405b-azure", "--json")
    of = json.loads(text)
    check(status == 0 and of["ranks"] == 8192 and of["cut"]["order"] == ["tp", "cp", "ep", "pp", "dp"], "--json: the cut")
    check([len(stage["cells"]) for stage in of["stages"]] == [8] * 8, "--json: every cell")
    first = of["stages"][0]["cells"][0]["buckets"]
    check([bucket["grad_bytes"] for bucket in first] == [436207616, 872448000, 285245440, 1050673152], "--json: the first cell")
    for stage in of["stages"]:
        parameters = sum(bucket["parameters"] for cell in stage["cells"] for bucket in cell["buckets"])
        check(parameters == stage["dense_parameters"] + stage["expert_parameters"], "--json: buckets hold all parameters")
    reduce = next(message for message in of["messages"] if message["kind"] == "dp reduce")
    whole = max(bucket["grad_bytes"] for stage in of["stages"] for cell in stage["cells"] for bucket in cell["buckets"])
    check(reduce["largest_bytes"] == whole and reduce["count"] == 8, "--json: messages of the fullest stage")
    check(reduce["nic_bytes"] == reduce["total_bytes"] * 255 // 256 // 2, "--json: what a NIC sends of a ring of 256, two in a domain")
    status, out, errors = plan("--list", "--json")
    check(status == 2 and out == "" and "--list goes alone" in errors, "--json with --list is refused")


def main():
    for words, lines in LINES.items():
        status, text, _ = plan(*words.split(), "-v")
        found = [" ".join(line.split()) for line in text.splitlines()]
        for line in lines:
            check(status == 0 and line in found, f"{words}: {line}")
    sets = [word for size in CUSTOM for word in ("--set", size)]
    status, text, _ = plan("custom", *sets, "-v")
    check(status == 0 and "0      32       8030261248                0    16.061 GB" in text, "a model from its dimensions")
    for words, says in REFUSED:
        status, out, errors = plan(*words)
        check(status == 2 and out == "" and errors.count("\n") == 1 and says in errors, f"{words}: {errors.strip()}")
    for path in sorted((weft.SOURCE / "apps/models").glob("*.yaml")):
        lines = plan(path.stem)[1].splitlines()
        check(0 < len(lines) <= 24 and max(map(len, lines)) <= 100, f"{path.stem}: one screen, {len(lines)} lines of {max(map(len, lines))} columns at most")
    check_json()
    check_answers()
    check_devices()
    status, out, _ = plan("--list")
    check(status == 0 and "gpt-3-175b-h100-11616" in out and "llama-small" in out and len(out.splitlines()) == 18, "--list")
    status, out, _ = plan("--list-keys")
    check(status == 0 and "micro_batches" in out, "--list-keys")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
