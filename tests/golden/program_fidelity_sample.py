#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft sim --fidelity sample: a step whose collectives run packet by packet where it waits for them. Here on 16 racks; the
whole job is in tests/soak."""
import functools
import json
import pathlib
import tempfile

import weft
from weft import check, check_parts

AZURE = "azure-gb200-llama405b"
SMALL = [AZURE, "--fidelity", "sample", "--set", "fabric.nics=1024", "--sample", "steps=6,fill=4"]
sim = functools.partial(weft.outcome, "sim")
refused = functools.partial(weft.refused, "sim")


def check_ideal():
    """By packets on an ideal fabric within 3 % of the schedule's closed forms; on the real one the terms add up."""
    status, out, errors = sim(*SMALL, "--explain", "--json")
    if status != 0:
        check(False, errors)
        return
    result = json.loads(out)
    step, ideal, terms = result["step"], result["ideal"], result["terms"]
    off = ideal["exposed_ps"] / terms["closed_ps"] - 1
    check(abs(off) < 0.03, f"ideal: exposed {ideal['exposed_ps'] / 1e9:.3f} ms, {off:+.2%} off the closed forms")
    check(ideal["marks"] == ideal["trims"] == ideal["retransmissions"] == 0, "nothing marked, trimmed or sent again")
    check(ideal["trunks_kept"] == ideal["trunks_of"], "all trunks")
    check(step["trunks_kept"] * 32 == step["trunks_of"], "and on the real one a group of 32 at a time keeps a thirty-second")
    model = json.loads(sim(AZURE, "--fidelity", "model", "--json", "--set", "fabric.nics=1024")[1])
    check(terms["closed_ps"] == model["step"]["exposed_ps"], "the closed forms are those of --fidelity model")
    explained = ideal["exposed_ps"] + terms["with_sacks_ps"] - terms["with_credits_ps"]
    off = step["exposed_ps"] / explained - 1
    check(abs(off) < 0.02, f"headers and SACKs explain the rest but for {off:+.2%}")
    check(terms["with_credits_ps"] < terms["with_headers_ps"] < terms["with_sacks_ps"], "each costs something")
    check_collectives(step)


def check_collectives(step):
    runs = [one for one in step["collectives"] if one["is_run"]]
    check(len(runs) >= 5 and all(one["is_run"] for one in step["collectives"] if one["is_critical"]),
          f"{len(runs)} kinds and sizes ran: all that the step waits for")
    check(all(one["steps"] == 10 and one["steps_all"] == 31 and one["error_ps"] > 0 for one in runs), "10 of 31 ring steps each")
    for one in runs:
        longer = one["time_ps"] / one["closed_ps"] - 1
        check(0 < longer < 0.08, f"{one['kind']} of {one['bytes'] / 1e6:.0f} MB: {longer:+.2%}, {one['error_ps'] / 1e9:.3f} ms")
    check(0 < step["exposed_error_steps_ps"] < step["exposed_error_ps"] < 0.11 * step["exposed_ps"], f"exposed +- {step['exposed_error_ps'] / 1e9:.3f} ms")
    check(step["step_ps"] == step["silent_ps"] + step["exposed_ps"], "exposed is what the step is longer")


def check_order():
    """Tensor ranks in four racks: the report names them, and one of their messages ran."""
    words = [AZURE, "--fidelity", "sample", "--sample", "steps=60,fill=66", "--order", "dp-tp-cp-pp"]
    status, out, errors = sim(*words, "--json")
    if status != 0:
        check(False, errors)
        return
    result = json.loads(out)
    step, ours = result["step"], {one["dimension"]: one for one in result["outside"]}
    tensor = step["tensor_message"]
    least = 134217728 * 3 / 4 * 4258 / 4096 / 100e9 * 1e12  # headers are on the line, too
    check(tensor["bytes"] == 134217728 and least < tensor["time_ps"] < 1.04 * least,
          f"a tensor message takes {tensor['time_ps'] / 1e9:.3f} ms by packets, {least / 1e9:.3f} at the line's rate with headers")
    check(tensor["packets"] == 98304 + 4 * 4 * 3 * 8, f"{tensor['packets']} packets: 4 ranks send 3 of 4 parts, and a credit a slice")
    check(sorted(ours) == ["cp", "pp", "tp"] and ours["tp"]["longer_ps"] > 0.5 * step["step_ps"],
          f"tp makes it longer by {ours['tp']['longer_ps'] / 1e9:.1f} ms of {step['step_ps'] / 1e9:.1f}")
    check(ours["tp"]["message_ps"] == tensor["time_ps"], "by what the message took")
    waits = ours["tp"]["forward_ps"] / tensor["time_ps"], ours["tp"]["backward_ps"] / tensor["time_ps"]
    check(all(abs(one - want) < 1e-6 for one, want in zip(waits, (8, 12))), "8 of them a forward, 12 a backward")
    text = sim(*words)[1]
    check("because of tp" in text and "Messages of pp did not run" in text, "the table says so, and what did not run")
    check(step["packets"] > 100000, "rings of gradients run in that order, too: they leave racks of 64 of 128 ranks")


def check_steps():
    """Steps with jitter use what the packets took."""
    words = ["llama-small-3-fidelities", "--fidelity", "sample", "--jitter", "2", "--seed", "5"]
    one = json.loads(sim(*words, "--json")[1])
    many = json.loads(sim(*words, "--steps", "40", "--json")[1])
    check(one["steps"] is None and many["steps"]["count"] == 40 and many["step"] == one["step"], "40 steps beside the one")
    check(many["steps"]["min_s"] <= one["step"]["step_ps"] / 1e12 <= many["steps"]["max_s"], "of which it is the first")
    check(0 < many["steps"]["cv"] < 0.01, f"CV {many['steps']['cv']:.3%}")
    closed = json.loads(sim(*words[:1], "--fidelity", "model", *words[3:], "--steps", "40", "--json")[1])["steps"]
    check(many["steps"]["mean_s"] != closed["mean_s"], "and not what closed forms give")
    refused("steps that are alike", ["llama-small-3-fidelities", "--fidelity", "sample", "--steps", "4"], "needs --jitter")


def check_refusals():
    deep = [AZURE, "--fidelity", "sample"]
    refused("a depth that is none", [AZURE, "--fidelity", "deep"], "--fidelity is ")
    refused("no model", ["incast", "--fidelity", "sample"], "traffic.kind must be model")
    refused("an order that is none", [*deep, "--order", "tp-cp-dp"], "the order lacks a dimension")
    refused("a NIC's fault where tensor ranks leave", [*deep, "--order", "dp-tp-cp-pp", "--sample", "steps=2,fill=2", "--fault",
                                                       "{kind: link_down, at: {nic: 256, plane: 0}}"], "no faults of a single NIC")
    refused("a measured file", [*deep, "--measured", "x"], "--measured needs --fidelity model")
    refused("--explain without packets", [AZURE, "--fidelity", "model", "--explain"], "--explain needs --fidelity sample")
    refused("--explain alone", [AZURE, "--explain"], "needs --fidelity sample")
    refused("a NIC that no group has", [*SMALL, "--fault", "{kind: link_down, at: {nic: 1, plane: 0}}"], "in no group that")
    refused("an ideal fabric with a fault", [*SMALL, "--explain", "--fault", "{kind: link_down, at: {plane: 0}}"], "no faults")
    refused("no room for all", [*deep, "--set", "fabric.nics=1024", "--sample", "packets=3M,steps=16"], "too few for all")


EXPERTS = """name: experts
model: {layers: 4, hidden: 1024, heads: 8, experts: 16, experts_per_token: 2, expert_ffn: 1600, vocab: 32064}
cut: {ep: 8, dp: 64}
step: {sequence: 512}
times: {device: H200}
"""
FABRIC = """name: experts
fabric: {nics: 64, nics_per_host: 8, nics_per_t0: 8, t1_count: 16, link_rate: 400Gb/s}
scaleup: {rate: 450GB/s, delay: 1us}
traffic: {kind: model, model: experts-job.yaml}
"""


def gives_a_time(scenario, option):
    for _ in range(3):
        status, out, errors = sim(scenario, "--fidelity", "sample", "--sample", option)
        if status != 5:
            break
        check("ring steps are too few; run more of them: --sample " in errors, errors.strip())
        option = errors.split("--sample ")[-1].strip()
    check(status == 0 and "exposed communication" in out, f"what it says to type gives a time: --sample {option} {errors.strip()}")


def check_what_to_type():
    """A sample of too few ring steps says what to type, and that gives a time, at the second go at most; of rings of 64 and of 8
    ranks the long ones have too few."""
    for option in ("steps=1", "steps=2,fill=1", "steps=1,packets=100K"):
        gives_a_time("llama-small-3-fidelities", option)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "experts-job.yaml").write_text(EXPERTS, encoding="utf-8")
        (folder / "experts.yaml").write_text(FABRIC, encoding="utf-8")
        gives_a_time(folder / "experts.yaml", "steps=15,fill=3")


if __name__ == "__main__":
    check_parts(check_ideal, check_order, check_steps, check_refusals, check_what_to_type)
