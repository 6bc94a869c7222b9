#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Job files: the one of docs/howto/write-a-job-file.md is planned and runs at each fidelity, as it stands there; a path is that
beside the scenario; bad files are refused with status 2 and their place."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WEFT = os.environ["WEFT"]
SOURCE = pathlib.Path(os.environ["WEFT_SOURCE"])
failed = 0


def run(*words):
    done = subprocess.run([WEFT, *words], capture_output=True, text=True, cwd="/", timeout=600)
    return done.returncode, done.stdout, done.stderr


def expect(is_good, what):
    global failed
    failed += not is_good
    print("ok:" if is_good else "not ok:", what)


def refused(what, words, *says):
    status, out, said = run(*words)
    expect(status == 2 and out == "" and all(text in said for text in says), f"{what}: {said.strip()}")


def keys_of(text):
    """Keys with figures: all but what it is called, and what was published, which has its source."""
    section, keys = "", []
    for line in text.splitlines():
        word = re.match(r"( *)(\w+):", line)
        if word and word[1] == "":
            section = word[2]
        elif word and f"{section}.{word[2]}" != "model.name" and section not in ("published", "inputs"):
            keys.append(f"{section}.{word[2]}")
    return keys


MOVED = """name: moved
model: {layers: 8, hidden: 1024, heads: 8, ffn: 2816, vocab: 8192}
cut: {dp: 8}
step: {micro_batches: 3, sequence: 512}
wire: {gradients: 4B}
times: {forward: 4ms, backward: 8ms}
"""
LAYER, EMBEDDING, HIDDEN, RANKS, ACCUMULATED = 4 * 1024**2 + 3 * 1024 * 2816 + 2 * 1024, 8192 * 1024, 1024, 8, 3
PARAMS = 8 * LAYER + 2 * EMBEDDING + HIDDEN  # each unit divides by 8, each of Megatron's buckets by 128
ONE = PARAMS * (RANKS - 1) // RANKS  # numbers that a rank sends in a gather or a scatter of all
def hybrid(shard, gathers):
    """Hybrid sharding: scatters and gathers among the ranks of a shard, all-reduce of a shard among the others."""
    same = RANKS // shard
    grads = 4 * PARAMS * (shard - 1) // shard + 2 * 4 * PARAMS // shard * (same - 1) // same
    return grads * ACCUMULATED, 2 * gathers * PARAMS * (shard - 1) // shard * ACCUMULATED


# what follows the file, and bytes that a rank sends of gradients and of parameters in a step
WAYS = {
    "": (4 * ONE, 2 * ONE),
    "reduce: {distributed_optimizer: false}": (2 * 4 * ONE, 0),
    "reduce: {kind: ddp}": (2 * 4 * ONE, 0),
    "reduce: {kind: ddp, sync: each}": (2 * 4 * ONE * ACCUMULATED, 0),
    "reduce: {kind: zero-1}": (4 * ONE, 2 * ONE),
    "reduce: {kind: zero-2}": (4 * ONE * ACCUMULATED, 2 * ONE),
    "reduce: {kind: fsdp}": (4 * ONE * ACCUMULATED, 2 * 2 * ONE * ACCUMULATED),
    "reduce: {kind: zero-3, sync: last}": (4 * ONE, 2 * 2 * ONE * ACCUMULATED),
    "reduce: {kind: local, every: 8}": (2 * 4 * ONE, 0),
    "reduce: {kind: fsdp, within: 2}": hybrid(2, 2),
    "reduce: {kind: fsdp, within: 4, reshard: false}": hybrid(4, 1),
    "reduce: {kind: zero-3, within: 1}": hybrid(1, 2),
    "reduce: {kind: fsdp, within: 8}": (4 * ONE * ACCUMULATED, 2 * 2 * ONE * ACCUMULATED),
    "reduce: {kind: fsdp, reshard: false}": (4 * ONE * ACCUMULATED, 2 * ONE * ACCUMULATED),
}


def moved(folder):
    """One file, shared among replicas in each way: bytes of the closed forms, and it runs at each fidelity."""
    job, scenario = folder / "moved.yaml", folder / "small.yaml"
    scenario.write_text("name: small\nfabric: {nics: 8, nics_per_host: 2, nics_per_t0: 8, t1_count: 0}\n"
                        "scaleup: {rate: 450GB/s, delay: 1us}\ntraffic: {kind: model, model: moved.yaml}\n")
    for way, (grads, params) in WAYS.items():
        job.write_text(MOVED + way + "\n")
        sums = {row["kind"]: row["total_bytes"] for row in json.loads(run("plan", job, "--json")[1])["messages"]}
        shard = int((re.findall(r"within: (\d)", way) or [RANKS])[0])
        twice = 1 if "dp gather" in sums else 2
        across = 2 * sums.get("dp across", 0) * (1 - shard / RANKS)
        sent = (twice * sums.get("dp reduce", 0) * (shard - 1) / shard + across, sums.get("dp gather", 0) * (shard - 1) / shard)
        expect(sent == (grads, params), f"{way or 'megatron'}: {sent} of {grads}, {params} bytes")
        status, out, said = run("sim", scenario, "--fidelity", "all", "--json")
        expect(status == 0, f"{way or 'megatron'}: it runs at all fidelities {said.strip()}")
        if status == 0:
            found = json.loads(out)
            model, full = found["model"]["exposed_ps"], found["full"]["exposed_ps"]
            expect(model < full < 1.25 * model, f"{way or 'megatron'}: packets expose {full / model - 1:.1%} more than closed forms")
            bytes_sent = found["full"]["fabric_bytes"] + found["full"]["scaleup_bytes"]
            expect(0 <= bytes_sent - RANKS * (grads + params) < 0.001 * bytes_sent, f"{way or 'megatron'}: packets carry them, and credits")


PIPELINED = """name: moved
model: {layers: 8, hidden: 1024, heads: 8, ffn: 2816, vocab: 8192}
cut: {pp: 2, dp: 4}
step: {micro_batches: 3, sequence: 512}
times: {forward: 2ms, backward: 4ms}
"""


def pipelined(folder):
    """Stages reduce buckets of their own: model and packets agree, and the bytes are those of each stage's parameters."""
    job, scenario = folder / "moved.yaml", folder / "small.yaml"
    stages = (4 * LAYER + EMBEDDING, 4 * LAYER + EMBEDDING + HIDDEN)
    edges = 2 * 3 * 512 * 1024 * 2 * 4  # forward and back, of each micro-batch and replica
    for way, grads, params in (("ddp", 2 * 2, 0), ("zero-1", 2, 2), ("local, every: 4", 2 * 2, 0), ("fsdp", 2, 2),
                               ("fsdp, reshard: true, sync: each", 3 * 2, 2 * 3 * 2), ("fsdp, within: 2", (2 * 1 / 2 + 2 * 2 / 2 / 2) / 3 * 4, 2 * 2 / 3)):
        job.write_text(PIPELINED + "reduce: {kind: %s}\n" % way)
        status, out, said = run("sim", scenario, "--fidelity", "all", "--json")
        expect(status == 0, f"pipeline, {way}: it runs at all fidelities {said.strip()}")
        if status == 0:
            found = json.loads(out)
            model, full = found["model"]["exposed_ps"], found["full"]["exposed_ps"]
            expect(0.9 * model < full < 1.3 * model, f"pipeline, {way}: packets expose {full / model - 1:+.1%} against closed forms")
            sent = found["full"]["fabric_bytes"] + found["full"]["scaleup_bytes"]
            own = sum(stage * (grads + params) * 3 for stage in stages) + edges
            expect(0 <= sent - own < 0.002 * own, f"pipeline, {way}: packets carry {sent}, stages have {own}")


def rests_in_json(folder, scenario, origin):
    """Each program's JSON says of what kind the job's times are, in the same words; so does a sample's table."""
    job = folder / "moved.yaml"
    for where, words in (("step", ["plan", job]), ("", ["scaling", scenario, "--racks", "2,4"]), ("job", ["goodput", scenario, "--runs", "2"]),
                         ("step", ["sim", scenario, "--fidelity", "model"]), ("step", ["sim", scenario, "--fidelity", "sample"]),
                         ("full", ["sim", scenario, "--fidelity", "full"]), ("full", ["sim", scenario, "--fidelity", "all"])):
        status, out, said = run(*words, "--json")
        whole = json.loads(out) if status == 0 else {}
        of = whole.get(where, whole)
        found = [of.get(key) for key in ("times_origin", "times_from", "times_assumed")]
        expect(found == [origin, "my log", origin == "assumed"], f"weft {words[0]} {' '.join(words[2:])} --json: {found} {said.strip()}")
        if words[0] == "sim":
            expect({"origin": origin, "text": "my log"} in whole.get("inputs", []), "among its inputs, too")
    status, out, said = run("sim", scenario, "--json")
    whole = json.loads(out) if status == 0 else {"plan": {}, "inputs": []}
    expect(whole["plan"].get("times_origin") == origin, f"result.json: {origin} {said.strip()}")
    expect({"origin": origin, "text": "times: my log"} in whole["inputs"], f"the job's rows are among its inputs: {whole['inputs']}")
    status, out, said = run("sim", scenario, "--fidelity", "sample")
    expect(status == 0 and f"    {origin:11} my log\n" in out, f"weft sim --fidelity sample: {origin} {said.strip()}")


def elsewhere(folder):
    """The other programs that take a scenario take its job file."""
    scenario = folder / "small.yaml"
    scenario.write_text("name: small\nfabric: {nics: 8, nics_per_host: 2, nics_per_t0: 2, t1_count: 2}\n"
                        "scaleup: {rate: 450GB/s, delay: 1us}\ntraffic: {kind: model, model: moved.yaml}\n")
    for origin in ("fact", "calibrated", "assumed"):
        (folder / "moved.yaml").write_text(MOVED + f"reduce: {{kind: fsdp}}\ninputs:\n  - {{of: times, origin: {origin}, text: my log}}\n")
        status, out, said = run("scaling", scenario, "--racks", "2,4,8")
        expect(status == 0 and f"times that are {origin}: my log" in out, f"weft scaling: {origin} {said.strip()}")
        status, out, said = run("goodput", scenario, "--runs", "2")
        expect(status == 0 and f"    {origin:10} times of the step: my log" in out, f"weft goodput: {origin} {said.strip()}")
        status, out, said = run("plan", folder / "moved.yaml", "-v")
        expect(status == 0 and f"  {origin:10} times " in out, f"weft plan: {origin} {said.strip()}")
        for depth in ("model", "full"):
            status, out, said = run("sim", scenario, "--fidelity", depth)
            expect(status == 0 and f"    {origin:11} my log\n" in out, f"weft sim --fidelity {depth}: {origin} {said.strip()}")
        (folder / "moved.yaml").write_text((folder / "moved.yaml").read_text().replace("kind: fsdp", "kind: ddp"))
        rests_in_json(folder, scenario, origin)
    status, out, said = run("topology", scenario)
    expect(status == 0, f"weft topology {said.strip()}")
    scenario.write_text("name: small\nfabric: {nics: 8, nics_per_host: 2, nics_per_t0: 2, t1_count: 2}\n"
                        "scaleup: {rate: 450GB/s, delay: 1us}\ntraffic: {kind: jobs}\njobs:\n"
                        "  - {name: a, kind: model, model: moved.yaml, ranks: 4}\n  - {name: b, kind: ring, bytes: 8MB, ranks: 4}\n")
    status, out, said = run("sim", scenario, "--json")
    expect(status == 0 and [job["name"] for job in json.loads(out)["jobs"]] == ["a", "b"], f"one of several jobs {said.strip()}")
    scenario.write_text(scenario.read_text().replace("moved.yaml", "gone.yaml"))
    refused("one of several, gone", ["sim", scenario], f"{scenario}:6: jobs[].model: ", "gone.yaml")


TINY = """name: tiny
model: {layers: 2, hidden: 128, heads: 4, ffn: 256, vocab: 512}
cut: {dp: 2}
step: {micro_batches: 2, sequence: 128}
times: {forward: 1ms, backward: 2ms}
reduce: {kind: %s}
"""


def long(folder):
    """A step beyond limits.time: its sample says which limit, and runs with a larger one."""
    scenario = folder / "small.yaml"
    (folder / "moved.yaml").write_text(MOVED.replace("forward: 4ms, backward: 8ms", "forward: 2s, backward: 4s") + "reduce: {kind: ddp}\n")
    scenario.write_text("name: small\nfabric: {nics: 8, nics_per_host: 2, nics_per_t0: 8, t1_count: 0}\n"
                        "scaleup: {rate: 450GB/s, delay: 1us}\ntraffic: {kind: model, model: moved.yaml}\nlimits: {time: 10s}\n")
    status, out, said = run("sim", scenario, "--fidelity", "sample")
    expect(status != 0 and "ms into the step, did not end: raise limits.time" in said, f"a long step {said.strip()}")
    status, out, said = run("sim", scenario, "--fidelity", "sample", "--set", "limits.time=60s")
    expect(status == 0, f"with a larger limit {said.strip()}")


def recorded(folder):
    """A record of a rank of a job of one's own, played back without a device."""
    scenario, out = folder / "small.yaml", folder / "record"
    (folder / "moved.yaml").write_text((TINY % "megatron").replace("dp: 2", "dp: 8"))
    scenario.write_text("name: small\nfabric: {nics: 8, nics_per_host: 2, nics_per_t0: 8, t1_count: 0}\n"
                        "scaleup: {rate: 450GB/s, delay: 1us}\ntraffic: {kind: model, model: moved.yaml}\n")
    status, _, said = run("sim", scenario, "--fidelity", "model", "--record-rank", "0", "--out", out)
    expect(status == 0 and (out / "rank-0.record").is_file(), f"a rank's record {said.strip()}")
    status, told, said = run("gpu", "--play", out / "rank-0.record", "--device", "none")
    expect(status == 0 and "played back: the other 7 of 8" in told, f"played back against the other seven {said.strip()}")


def hosts(folder):
    """Two processes, each a host of the scenario, run the job over real ports; with another job they do not begin."""
    if subprocess.run([WEFT, "host", "--version"], capture_output=True, check=False).returncode != 0:
        return
    scenario = folder / "hosts.yaml"
    scenario.write_text("name: hosts\nfabric: {nics: 2, nics_per_t0: 2, t1_count: 1, link_rate: 10Gb/s}\ntransport: {evs: 16}\n"
                        "traffic: {kind: model, model: tiny.yaml}\nlimits: {time: 60s}\n")
    other = folder / "other"
    other.mkdir()
    (other / "hosts.yaml").write_text(scenario.read_text())
    (folder / "tiny.yaml").write_text(TINY % "fsdp")
    (other / "tiny.yaml").write_text(TINY % "ddp")
    for second, good in ((scenario, True), (other / "hosts.yaml", False)):
        words = ["--ranks", "2", "--meet", f"job-{os.getpid()}-{good}", "--json"]
        ends = [subprocess.Popen([WEFT, "host", path, "--rank", str(rank), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for rank, path in enumerate((scenario, second))]
        told = [(*end.communicate(timeout=120), end.returncode) for end in ends]
        if good and any("DPDK" in said for _, said, _ in told):
            print("ok: weft host was built without DPDK: left out")
            return
        status = [code for _, _, code in told]
        expect(status == ([0, 0] if good else [2, 2]), f"weft host, {'one job' if good else 'two jobs'}: {status} {told[0][1].strip()[:120]}")


def small(folder, job, fabric):
    """Every packet of the page's small model, with the figures of the page."""
    (folder / "small.yaml").write_text(job)
    scenario = folder / "small-fabric.yaml"
    scenario.write_text(fabric)
    expect(json.loads(run("plan", folder / "small.yaml", "--json")[1])["parameters"] == 134515008, "SmolLM: 134,515,008 parameters")
    status, out, said = run("sim", scenario, "--fidelity", "full", "--json")
    full = json.loads(out)["full"] if status == 0 else {}
    came = [full.get(key) for key in ("operations", "packets")] + [round(full.get(key, 0) / 1e9, 3) for key in ("exposed_ps", "step_ps")]
    expect(came == [60984, 467102, 1.390, 21.177], f"every packet of it: {came} {said.strip()}")


def main():
    job, fabric, *of_small = re.findall(r"```yaml\n(.*?)```", (SOURCE / "docs/howto/write-a-job-file.md").read_text(), re.S)
    expect(job.startswith("# my-7b.yaml\n") and len(job.splitlines()) == 1 + 8, "a job file of eight lines below its name")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "my-7b.yaml").write_text(job)
        scenario = folder / "my-fabric.yaml"
        scenario.write_text(fabric)
        status, out, _ = run("plan", folder / "my-7b.yaml", "--json")
        plan = json.loads(out)
        expect(status == 0 and plan["parameters"] == 6738415616 and plan["ranks"] == 32, "its plan: 6,738,415,616 parameters, 32 ranks")
        expect([row["origin"] for row in plan["inputs"]] == ["fact", "assumed", "fact"], "what it rests on")
        expect(plan["memory"]["fits"] and plan["cut"]["gpus_per_domain"] == 8, "it fits, 8 GPUs in a domain")
        exposed = {}
        for depth in ("model", "sample", "full"):
            status, out, said = run("sim", scenario, "--fidelity", depth, "--json")
            expect(status == 0, f"it runs at depth {depth} {said.strip()}")
            if status == 0:
                exposed[depth] = json.loads(out)
        model = exposed["model"]["step"]
        expect(model["times_assumed"] is True and "roofline of H100" in model["times_from"], "the step says that its times are a guess")
        expect(plan["step"]["exposed_ps"] == model["exposed_ps"], "the plan exposes what --fidelity model does")
        expect(plan["step"]["step_ps"] == model["step_ps"], "and its step is that")
        status, out, _ = run("sim", scenario, "-v")
        expect(status == 0 and "traffic model my-7b.yaml" in out, "its sample runs by packets")
        status, out, said = run("sim", scenario, "--set", "traffic.model=llama-2-7b-fsdp-32", "--set", "sample.steps=31", "--fidelity", "sample")
        expect(status == 0, f"Llama 2 7B with FSDP, as the page says {said.strip()}")
        status, out, said = run("scaling", scenario, "--racks", "1,2,4,8")
        expect(status == 0 and "T(1 rack) / T:" in out, f"it scales from one rack, as the page says {said.strip()}")
        refused("one rack that fills no switch", ["scaling", scenario, "--racks", "1", "--set", "fabric.nics_per_t0=16"], "with 1 rack: ")
        status, out, said = run("sim", scenario, "--fidelity", "model")
        expect(status == 0 and "the job's file has" not in out, f"its fabric is that of its device {said.strip()}")
        slow = [scenario, "--set", "fabric.link_rate=200Gb/s"]
        for words in (["sim", *slow, "--fidelity", "model"], ["scaling", *slow, "--racks", "2,4"]):
            status, out, said = run(*words)
            expect(status == 0 and "the job's file has NICs of 50.00 GB/s, which weft plan takes" in out, f"a fabric with others {said.strip()}")
        expect("on NICs of 50.00 GB/s and domains of 8," in run("plan", folder / "my-7b.yaml")[1], "the plan says which NICs it takes")
        small(folder, *of_small)
        moved(folder)
        pipelined(folder)
        elsewhere(folder)
        recorded(folder)
        long(folder)
        hosts(folder)
        bad = folder / "bad.yaml"
        bad.write_text(job.replace("tp: 4", "tpp: 4"))
        refused("a misspelt key, planned", ["plan", bad], f"{bad}:4:7: there is no key cut.tpp; did you mean cut.tp?")
        refused("the same, run", ["sim", scenario, "--set", f"traffic.model={bad}"], f"{bad}:4:7: there is no key cut.tpp")
        refused("no such file", ["sim", scenario, "--set", "traffic.model=none.yaml"], "--set:1:15: traffic.model: ", "none.yaml")
        refused("no such name", ["sim", scenario, "--set", "traffic.model=llama-9"], "--set:1:15: traffic.model: no job 'llama-9' is shipped")
        scenario.write_text(fabric.replace("my-7b.yaml", "bad.yaml"))
        refused("named by the scenario", ["sim", scenario], f"{bad}:4:7: there is no key cut.tpp")
        scenario.write_text(fabric.replace("my-7b.yaml", "gone.yaml"))
        refused("gone", ["sim", scenario], f"{scenario}:5:31: traffic.model: ", "gone.yaml")
    for path in sorted((SOURCE / "apps/models").glob("*.yaml")):
        plan = json.loads(run("plan", path.stem, "--json")[1])
        words = {word for row in plan["inputs"] for word in row["of"].split()}
        bare = [key for key in keys_of(path.read_text()) if not {key, key.split(".")[0]} & words]
        expect(plan["name"] == path.stem and bare == [], f"{path.stem}: says of each figure what it rests on {bare}")
    return failed > 0


sys.exit(main())
