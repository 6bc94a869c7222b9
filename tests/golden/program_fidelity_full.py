#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft sim --fidelity full and --fidelity all: a step small enough for every packet, at three fidelities that must agree."""
import functools
import json
import os
import sys
import tempfile

import weft
from weft import check, check_parts

SMALL = "llama-small-3-fidelities"
EXPERTS = "moe-small-3-fidelities"
sim = functools.partial(weft.outcome, "sim")
refused = functools.partial(weft.refused, "sim")


def at(depth, *words, scenario=SMALL):
    status, out, errors = sim(scenario, "--fidelity", depth, "--json", *words)
    if status != 0:
        check(False, f"{words}: {errors}")
        sys.exit(1)
    return json.loads(out)


def check_depths():
    """Sample and full within 5 % of exposed time, and above the closed forms by what headers, SACKs and filling cost."""
    for rate in ("100Gb/s", "50Gb/s", "25Gb/s"):
        result = at("all", "--set", f"fabric.link_rate={rate}", "--sample", "fill=2,steps=4")
        own, sample, full = (result[name]["exposed_ps"] / 1e9 for name in ("model_own_sends", "sample", "full"))
        check(abs(sample / full - 1) < 0.05, f"{rate}: exposed {sample:.3f} ms by sample, {full:.3f} by all packets")
        check(1.05 < full / own < 1.30, f"and {own:.3f} ms by closed forms")
        terms = list(result["terms"][f"with_{name}_ps"] for name in ("latency", "credits", "headers", "sacks"))
        check(terms == sorted(terms) and 1.0 < full * 1e9 / terms[-1] < 1.15, f"{rate}: with headers and SACKs {terms[-1] / 1e9:.3f} ms")
        for part in ("head_ps", "tail_ps"):
            one, other = result["sample"][part], result["full"][part]
            check(abs(one / other - 1) < 0.1, f"{part}: {one / 1e9:.3f}, {other / 1e9:.3f} ms")
        check(abs(result["sample"]["step_ps"] / result["full"]["step_ps"] - 1) < 0.003, "steps within 0.3 %")
        model = json.loads(sim(SMALL, "--fidelity", "model", "--json", "--set", f"fabric.link_rate={rate}")[1])
        check(result["model"]["exposed_ps"] == model["step"]["exposed_ps"], "the model is --fidelity model")


def check_books():
    """What a full step sends is what its plan says: rings, credits, activations."""
    first, again = at("full"), at("full")
    check(first["full"] == again["full"], f"two runs are one: {first['full']['digest']}")
    full = first["full"]
    check(full["step_ps"] == full["silent_ps"] + full["exposed_ps"], "exposed is what the step is longer")
    # Buckets of a rank in bytes: stage 0 has its first cell in two and three of 23.6 MB, stage 1 three and the last of
    # 20.2 MB, each gathered and reduced by 2 tensor groups. A ring's 4 channels leave each of 4 racks once: 7/8 of each.
    buckets = [11536384, 8652800, *[23601152] * 6, 20191232]
    total = 2 * 2 * sum(buckets)
    expected = total * 7 / 8 * 4
    check(abs(full["fabric_bytes"] / expected - 1) < 0.01, f"{full['fabric_bytes'] / 1e9:.3f} GB over the fabric, by hand {expected / 1e9:.3f}")


def check_experts():
    """Experts in two racks: their tokens are on the fabric, and the three fidelities agree on what they cost."""
    result = at("all", scenario=EXPERTS)
    full, sample, model = result["full"], result["sample"], result["model_own_sends"]
    # 1,024 tokens over 2 tensor ranks, 2 experts a token, 512 numbers of 2 bytes: out and back, forward and backward, in 2
    # micro-batches; stage 0 has 3 layers with experts, stage 1 has 4, and of 8 expert ranks 4 are in the other rack
    experts = 16 * (3 + 4) * 8 * (1024 // 2 * 2 * 512 * 2) * 4 / 8
    # 3 edges between cells, both ways, for 16 ranks and 2 micro-batches; stages are in different racks
    stages = 3 * 2 * 2 * 16 * (1024 // 2 * 512 * 2)
    # rings of 8 with two ranks in each of 4 racks, for 2 tensor ranks; gathered and reduced
    dense = 2 * 2 * (8146944 + 2 * 1609728 + 5804544) * 4 * 7 / 8
    # rings of 2 in two racks for 8 expert ranks of each stage: the first cell has one layer of them, the others two
    of_experts = 8 * 2 * (4718592 + 3 * 9437184) * 2 * 1 / 2
    expected = experts + stages + dense + of_experts
    check(0 <= full["fabric_bytes"] / expected - 1 < 0.001,
          f"experts: {full['fabric_bytes'] / 1e6:.2f} MB over the fabric, {expected / 1e6:.2f} by hand, credits apart")
    check(model["exposed_ps"] > 3 * json.loads(sim(EXPERTS, "--fidelity", "model", "--json", "--set", "fabric.nics_per_host=8")[1])
          ["step"]["exposed_ps"], "inside one rack they would expose a third at most")
    # trims where the experts' tokens meet make single steps differ by 8 % of what is exposed: the mean of four
    fulls = [full] + [at("full", "--set", f"seed={seed}", scenario=EXPERTS)["full"] for seed in (2, 3, 4)]
    exposed, step = (sum(one[key] for one in fulls) / len(fulls) for key in ("exposed_ps", "step_ps"))
    for name, one in (("model", model), ("sample", sample)):
        check(abs(one["exposed_ps"] / exposed - 1) < 0.1 and abs(one["step_ps"] / step - 1) < 0.01,
              f"{name}: exposed {one['exposed_ps'] / 1e9:.3f} ms, {exposed / 1e9:.3f} by all packets")


def check_all_reduces():
    """Without a distributed optimizer gradients go round the ring twice: in the closed form, and by packets."""
    words = ("a100-4096", "--fidelity", "model", "--json", "--set", "fabric.nics=256")
    status, out, errors = sim(*words)
    check(status == 0, f"256 A100: {errors.strip()}")
    model = json.loads(out)["step"]["exposed_ps"]
    floor = 672452216 * 2 * 255 / 256 / (8 * 25e9) * 1e12
    check(0.9 < model / floor < 1.2, f"all-reduces of 672 MB expose {model / 1e9:.3f} ms, {floor / 1e9:.3f} at the rate of 8 NICs")
    status, out, errors = sim("a100-4096", "--fidelity", "sample", "--json", "--set", "fabric.nics=256", "--sample", "steps=24,fill=24")
    check(status == 0 and '"all_reduce"' in out, f"and runs by packets {errors.strip()}")
    if status == 0:
        sample = json.loads(out)["step"]["exposed_ps"]
        check(abs(sample / model - 1) < 0.05, f"in {sample / 1e9:.3f} ms")


def check_orders():
    """Tensor ranks in other racks, by packets: the step explodes here, too."""
    good, bad = at("full")["full"], at("full", "--order", "dp-cp-tp-pp")
    check(bad["full"]["step_ps"] > 1.3 * good["step_ps"],
          f"{good['step_ps'] / 1e9:.1f} ms, {bad['full']['step_ps'] / 1e9:.1f} ms with tensor ranks in two racks")
    check(bad["model"]["step_ps"] > 1.3 * good["step_ps"], f"{bad['model']['step_ps'] / 1e9:.1f} ms in closed forms")
    text = sim(SMALL, "--fidelity", "full", "--order", "dp-cp-tp-pp")[1]
    check("tp leaves its domain" in text and "because of tp" in text, "and the report says who left, and whose fault it is")
    longer = {one["dimension"]: one["longer_ps"] for one in bad["outside"]}
    check(max(longer, key=longer.get) == "tp" and longer["tp"] > 0.9 * bad["model"]["exposed_ps"],
          f"{longer['tp'] / 1e9:.2f} ms of {bad['model']['exposed_ps'] / 1e9:.2f} because of tp")
    check(good["step_ps"] > 0 and at("full")["outside"] == [], "nothing leaves in the order as it is")
    sample = at("all", "--order", "dp-cp-tp-pp")["sample"]["step_ps"]
    full, model = bad["full"]["step_ps"], bad["model"]["step_ps"]
    check(abs(sample / full - 1) < 0.05 < abs(model / full - 1),
          f"{sample / 1e9:.1f} ms with one tensor message by packets, nearer to all packets than closed forms")


def check_delays():
    """A slow stage and jitter cost what they do in the schedule: no more than a hundredth of the step apart."""
    for words in (["--slow", "1:20"], ["--jitter", "10"], ["--slow", "gpu5:20"], ["--jitter", "normal:5"],
                  ["--jitter", "lognormal:5"]):
        result = at("full", *words)
        own, full = result["model_own_sends"]["step_ps"], result["full"]["step_ps"]
        check(abs(full / own - 1) < 0.01, f"{' '.join(words)}: {own / 1e9:.3f} ms, {full / 1e9:.3f} by packets")
        check(full > 1.005 * at("full")["full"]["step_ps"], "and longer than without")


def check_folder():
    """--out keeps what --json prints, at each depth."""
    with tempfile.TemporaryDirectory() as name:
        for depth in ("model", "sample", "full", "all"):
            out = os.path.join(name, depth)
            status, text, errors = sim(EXPERTS, "--fidelity", depth, "--json", "--out", out)
            told = json.loads(text) if status == 0 else {}
            with open(os.path.join(out, "step.json"), encoding="utf-8") as file:
                kept = json.load(file)
            check(kept.keys() == told.keys() and kept.get("model") == told.get("model"), f"--fidelity {depth} --out: {list(kept)} {errors}")
        with open(os.path.join(name, "other"), "w", encoding="utf-8") as file:
            file.write("x")
        refused("a folder of other files", [EXPERTS, "--fidelity", "full", "--out", name], "holds other files")


def check_refusals():
    refused("8,192 GPUs", ["azure-gb200-llama405b", "--fidelity", "full"], "all packets of this step would be 508")
    refused("few allowed", [SMALL, "--fidelity", "full", "--sample", "packets=1K"], "over the 1000 allowed")
    refused("no model", ["incast", "--fidelity", "full"], "traffic.kind must be model")
    for words in (["--explain"], ["--measured", "x"], ["--steps", "3", "--jitter", "2"]):
        refused(" ".join(words), [SMALL, "--fidelity", "full", *words], "needs --fidelity")
    refused("a GPU that is none", [SMALL, "--fidelity", "model", "--slow", "gpu32:2"], "no GPU 32 of 32")
    refused("a jitter that is none", [SMALL, "--fidelity", "model", "--jitter", "cauchy:2"], "--jitter is")
    status, out, _ = sim(SMALL, "--fidelity", "full", "--set", "limits.time=5ms")
    check(status == 5 and out == "", f"a step that does not end in time has none: {status}")


if __name__ == "__main__":
    check_parts(check_depths, check_books, check_experts, check_all_reduces, check_orders, check_delays, check_folder, check_refusals)
