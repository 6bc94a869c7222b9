# SPDX-License-Identifier: Apache-2.0
"""Random collectives of random fabrics, run whole and extrapolated by weft coll. A case follows from its seed."""
import json
import random
import tempfile

import weft

KINDS = {  # collective: algorithms that it has
    "all_reduce": "ring tree double_tree halving_doubling hierarchical credit_ring",
    "reduce_scatter": "ring halving_doubling direct hierarchical credit_ring pat",
    "all_gather": "ring halving_doubling direct hierarchical credit_ring pat",
    "alltoall": "direct hierarchical",
    "broadcast": "ring tree",
    "reduce": "ring tree",
    "gather": "direct",
    "scatter": "direct",
    "sendrecv": "direct",
}
BASE = "fabric: {nics: 8, nics_per_t0: 8, t1_count: 1}\ntraffic: {kind: collective, collective: all_reduce, bytes: 1MB}\n"
ALL = str(10 ** 9)  # packets: whole


def divisors(number):
    return [each for each in range(1, number + 1) if number % each == 0]


def topology(rng, hosts, per_host):
    """Keys of a random topology; what leaves a T0, a pod or a rail is up to four times too little."""
    nics, kind = hosts * per_host, rng.choice(["clos", "clos", "clos", "fat-tree", "rail", "torus", "dumbbell"])
    over = rng.choice([1, 2, 4])
    if kind == "rail" and per_host > 1:
        return {"topology": kind, "t1_count": max(1, hosts // over)}
    if kind == "dumbbell" and hosts % 2 == 0:
        return {"topology": kind, "bundle": max(1, nics // 2 // over)}
    if kind == "torus":
        row = rng.choice(divisors(hosts))
        return {"topology": kind, "nics_per_t0": per_host, "torus_x": row, "torus_y": hosts // row, "bundle": rng.choice([1, 2])}
    below = per_host * rng.choice([each for each in divisors(hosts)[1:-1] or [hosts]])
    if kind == "fat-tree":
        pod = rng.choice(divisors(nics // below))
        return {"topology": kind, "tor_nics": below, "pod_tors": pod, "pod_aggs": max(1, below // over),
                "cores": max(1, below // over) * max(1, pod // 2)}
    return {"nics_per_t0": below, "t1_count": max(1, below // over)}


def draw(seed):
    """Words of weft coll, but for the size."""
    rng = random.Random(seed)
    kind = rng.choice([*KINDS, *["all_reduce"] * 4, "all_gather", "reduce_scatter", "alltoall"])
    algorithm = rng.choice(KINDS[kind].split())
    per_host = 1 if algorithm == "pat" else rng.choice([1, 1, 2, 4, 8])
    hosts = rng.choice([4, 8, 16] if algorithm == "halving_doubling" else [2, 3, 4, 6, 8] if per_host > 1 else [4, 6, 8, 12, 16, 24])
    keys = topology(rng, hosts, per_host)
    keys.update({"nics": hosts * per_host, "nics_per_host": per_host, "link_rate": rng.choice(["100Gb/s", "200Gb/s", "400Gb/s"]),
                 "planes": rng.choice([1, 1, 2, 4])})
    if rng.random() < 0.3:
        keys["switching"] = "cut_through"
    words = [kind, "--algorithm", algorithm, "--channels", str(rng.choice([1, 1, 2, 4, 8])),
             "--chunk", rng.choice(["64K", "256K", "512K", "1M", "2M"])]
    for key, value in keys.items():
        words += ["--set", f"fabric.{key}={value}"]
    if per_host > 1:
        words += ["--set", "scaleup.rate=" + rng.choice(["50GB/s", "200GB/s", "450GB/s", "900GB/s"])]
    if rng.random() < 0.3:
        words += ["--set", "cc.algorithm=" + rng.choice(["swift", "fixed"])]
    return words, rng.choice([3, 6, 10]) / 10  # what of its packets the long size is extrapolated from


def fault(rng, time_us, keys):
    """A fault of some NIC or host that the job goes on with: mostly from the start to the end, else it begins, and perhaps ends,
    somewhere around a job of so long."""
    kinds = ["loss", "reorder", *([] if keys.get("switching") else ["slow", "slow"])]
    is_steady = rng.random() < 0.7
    kind = rng.choice(kinds if is_steady else [*kinds, "link_down", "stall", "flap"])
    nic = rng.randrange(int(keys["nics"]))
    place = f"host: {nic // int(keys['nics_per_host'])}" if kind == "stall" else f"nic: {nic}"
    fields = {"kind": kind, "at": f"{{{place}}}"}
    if not is_steady:
        start_us = rng.choice([0, rng.uniform(0, 0.2), rng.uniform(0, 1.3)]) * time_us
        lasts = {"link_down": rng.uniform(0.005, 0.1), "stall": rng.uniform(0.005, 0.1), "flap": rng.uniform(0.5, 2)}
        fields["from"] = f"{start_us:.3f}us"
        fields["until"] = f"{start_us + lasts.get(kind, rng.choice([0.01, 0.1, 1, 1.5])) * time_us:.3f}us"
    if kind == "flap":
        fields.update(up=f"{rng.uniform(0.005, 0.1) * time_us:.3f}us", down=f"{rng.uniform(0.001, 0.02) * time_us:.3f}us")
    if kind == "slow":
        fields["rate"] = f"{rng.randrange(20, 95)}%"
    if kind in ("loss", "reorder"):
        fields["probability"] = f"{rng.choice([0.01, 0.1, 1])}%"
    if kind == "reorder":
        fields["delay"] = f"{rng.choice([2, 10, 40])}us"
    return "  - {" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}\n"


def run(words, size, packets, faults=""):
    """The row of a size, or None with the reason."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as base:
        base.write(BASE + faults)
        base.flush()
        done = weft.run("coll", *words, "--scenario", base.name, "-b", size, "--packets", packets, "--json")
    if done.returncode not in (0, 5) or not done.stdout:
        return None, done.stderr.strip()
    sizes = json.loads(done.stdout)["results"]
    return (sizes[0] if sizes else None), done.stderr.strip()


def is_collapse(words, why):
    """A fixed window where several share a trunk: nearly all is trimmed, QPs give up, and there is no time to hold an error against."""
    return "cc.algorithm=fixed" in words and "ended as stalled" in why


def soak(first, count, packets, has_faults=False):
    """Runs cases of so many packets, each with a fault or two where asked; returns sizes seen, those with a time, those whose error
    holds, and what is wrong."""
    seen = timed = held = 0
    wrong, collapsed = [], []
    for seed in range(first, first + count):
        words, share = draw(seed)
        small, why = run(words, 1 << 18, ALL)
        if small is None:
            (collapsed if is_collapse(words, why) else wrong).append(f"seed {seed}: {why}")
            continue
        if small["packets_whole"] == 0:
            continue
        size = (1 << 18) * packets // small["packets_whole"]
        whole, why = run(words, size, ALL)
        if whole is None or whole["out_of_place"]["time"] is None:
            (collapsed if is_collapse(words, why) else wrong).append(f"seed {seed}: {why}")
            continue
        faults = ""
        if has_faults:
            rng = random.Random(-seed)
            keys = dict(word[7:].split("=") for word in words if word.startswith("fabric."))
            faults = "faults:\n" + "".join(fault(rng, whole["out_of_place"]["time"], keys) for _ in range(rng.choice([1, 1, 2])))
            whole, why = run(words, size, ALL, faults)
            if whole is None or whole["out_of_place"]["time"] is None:
                wrong.append(f"seed {seed}: {why} {faults}")
                continue
        row, why = run(words, size, max(1, int(whole["packets_whole"] * share) - 1), faults)
        seen += 1
        for each in (small, whole):
            if each["out_of_place"]["time"] < each["ideal"]:
                wrong.append(f"seed {seed}: {each['out_of_place']['time']} us, below the least of {each['ideal']}: {' '.join(words)}")
        if row is None or row["ideal"] != whole["ideal"]:
            wrong.append(f"seed {seed}: {why} {' '.join(words)}")
        elif row["out_of_place"]["time"] is None:
            continue
        elif row["out_of_place"]["time"] < row["ideal"] or not 0 < row["time_error"] <= row["out_of_place"]["time"] / 10:
            wrong.append(f"seed {seed}: {row}")
        else:
            off = abs(row["out_of_place"]["time"] - whole["out_of_place"]["time"])
            timed += 1
            held += off <= row["time_error"]
            if off > row["time_error"]:
                print(f"seed {seed}: {row['out_of_place']['time']:.1f} +- {row['time_error']:.1f} us for {whole['out_of_place']['time']:.1f}: {' '.join(words)} {faults}",
                      flush=True)
    if collapsed:
        print(f"{len(collapsed)} have no time to compare with: {collapsed[0]}")
    if len(collapsed) > max(1, count // 50):
        wrong.append(f"{len(collapsed)} of {count} collapse")
    return seen, timed, held, wrong
