#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft emu through the real program. What it refuses: one line on stderr says why, the exit status says which kind it was,
nothing is printed and nothing is written. And what it promises of a run: the digest is that of weft sim, however late it
was; a signal ends it with what there is.

In a build without DPDK what needs DPDK is refused, and that is what is tested.
"""
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

import weft
from weft import BAD_INPUT, DONE, ENVIRONMENT, NOT_VALID, wait_for_work

NOWAIT = ["--dilation", "none"]
SMALL = ["two-racks", "--set", "traffic.bytes=1MiB"]
CPUS = len(os.sched_getaffinity(0))
PACED = 5000  # SMALL then takes more than a second; unpaced it is over long before
BIG = """name: big
fabric: {nics: 4096, planes: 8, nics_per_t0: 128, t1_count: 16}
transport: {mpr: 64}
traffic: {kind: flows, flows: [{from: 0, to: 1, bytes: 1kB}]}
"""


class Emu:
    def __init__(self, folder):
        self.folder = folder
        self.out = folder / "out"
        self.done = self.failed = 0
        run = weft.run("emu", *SMALL, *NOWAIT, "--ports", "ring")
        self.has_dpdk = "built without DPDK" not in run.stderr
        print("with DPDK" if self.has_dpdk else "without DPDK")

    def hold(self, what, is_so, run=None):
        self.done += 1
        if not is_so:
            self.failed += 1
            print(f"not ok: {what}")
            if run is not None:
                print(f"  exit {run.returncode}\n  stdout {run.stdout[:300]!r}\n  stderr {run.stderr!r}")

    def clear(self):
        for path in self.out.glob("*"):
            path.unlink()
        if self.out.exists():
            self.out.rmdir()

    def refused(self, what, words, says, status=BAD_INPUT, program="emu", out=True):
        """`weft emu WORDS` ends with `status` and one line that has all of `says`."""
        run = weft.run(program, *words, *(["--out", self.out] if out else []))
        says = [says] if isinstance(says, str) else says
        is_told = run.stderr.count("\n") == 1 and run.stderr.startswith(f"weft {program}: ")
        is_told = is_told and all(text in run.stderr for text in says)
        self.hold(f"{what} is refused with {status} and {says}", run.returncode == status and is_told and not run.stdout, run)
        self.hold(f"{what}: nothing is written", not any(path.name != "big.yaml" for path in self.folder.iterdir()), run)


def words_of_emu(emu):
    for word in ("foo", "0", "-1", "1.5", "ringo", "4294967297"):
        emu.refused(f"--ports {word}", [*SMALL, "--ports", word], ["--ports", f"'{word}'"])
    for word in ("0", "-1", "x", "1e99", "0.5", "nan", "inf", "1x", "0x10", "1e", " 1"):
        emu.refused(f"--dilation {word}", [*SMALL, "--dilation", word], ["--dilation", f"'{word}'"])
    for word in ("99", "17", "0", "x", "-2", "1.5"):
        emu.refused(f"--lanes {word}", [*SMALL, "--lanes", word], ["--lanes", f"'{word}'"])
    for ports in ("none", "memory"):
        emu.refused(f"--lanes with --ports {ports}", [*SMALL, "--ports", ports, "--lanes", "2"], ["--lanes", "no effect"])
        emu.refused(f"--eal with --ports {ports}", [*SMALL, "--ports", ports, "--eal", "-v"], ["--eal", "no effect"])
    for option in ("--ports", "--dilation", "--lanes", "--eal", "--pcap", "--log"):
        emu.refused(f"{option} twice", [*SMALL, option, "1", option, "1"], ["given twice", option])
        emu.refused(f"{option} with nothing", [*SMALL, option, ""], ["empty", option])
        emu.refused(f"{option} without a value", [*SMALL, option], option, out=False)
    for option in ("--ports", "--dilation", "--lanes", "--eal"):
        emu.refused(f"{option} for weft sim", [*SMALL, option, "1"], ["unknown option", option], program="sim")


def lossless(emu):
    pfc = [*SMALL, "--set", "queue.pfc=true"]
    emu.refused("PFC with frames", [*pfc, *NOWAIT, "--ports", "memory"], ["queue.pfc", "--ports none"])
    for program, more in (("sim", []), ("emu", [*NOWAIT, "--ports", "none"])):
        emu.refused(f"PFC with {program} --log", [*pfc, *more, "--log", emu.folder / "x"], ["queue.pfc", "--log"], program=program)
    digests = [digest_of(weft.run("sim", *pfc)), digest_of(weft.run("emu", *pfc, *NOWAIT, "--ports", "none"))]
    emu.hold(f"PFC without frames is what it is in virtual time: {digests}", digests[0] is not None and digests[0] == digests[1])


def switching(emu):
    cut = [*SMALL, "--set", "fabric.switching=cut_through"]
    digests = [digest_of(weft.run("sim", *cut)), digest_of(weft.run("emu", *cut, *NOWAIT, "--ports", "memory"))]
    emu.hold(f"cut-through with frames is what it is without: {digests}", digests[0] is not None and digests[0] == digests[1])


def files(emu):
    for program in ("sim", "emu"):
        more = [] if program == "sim" else [*NOWAIT, "--ports", "memory"]
        for option in ("--pcap", "--log"):
            emu.refused(f"{program} {option} in a folder that is not there", [*SMALL, *more, option, emu.folder / "none" / "x"],
                        ["none/x: ", "No such file"], program=program)
            emu.refused(f"{program} {option} on a folder", [*SMALL, *more, option, f"{emu.folder}/"], "Is a directory",
                        program=program)
        emu.refused(f"{program} with one file for both", [*SMALL, *more, "--pcap", emu.folder / "x", "--log", emu.folder / "x"],
                    "is written already by this call", program=program)
        run = weft.run(program, *SMALL, *more, "--pcap", "/dev/full", "--log", "/dev/full", "--out", emu.out)
        emu.hold(f"{program}: a full disk is told", run.returncode == ENVIRONMENT and "/dev/full: " in run.stderr, run)
        emu.hold(f"{program}: and costs no result", digest_of(run) is not None and (emu.out / "result.json").exists(), run)
        emu.clear()


def without_dpdk(emu):
    for words in (["--ports", "ring"], ["--ports", "4"], ["--ports", "ring", "--eal", "-v"], ["--ports", "ring", "--lanes", "2"]):
        emu.refused(" ".join(words), [*SMALL, *words], "built without DPDK; --ports memory", ENVIRONMENT)
    run = weft.run("emu", *SMALL, *NOWAIT)
    emu.hold("without words there are ports in memory", run.returncode == DONE, run)


def with_dpdk(emu):
    ring = [*SMALL, *NOWAIT, "--ports", "ring"]
    emu.refused("40 ports", [*SMALL, *NOWAIT, "--ports", "40"], ["32 ports", "40"], ENVIRONMENT)
    big = emu.folder / "big.yaml"
    big.write_text(BIG, encoding="utf-8")
    for ports in ("ring", "32", "1"):
        emu.refused(f"a world of 73,728 cables on {ports}", [big, *NOWAIT, "--ports", ports],
                    ["73728 cables", "512 queues", "64 cables each"] if ports != "1" else ["73728 cables"])
    big.unlink()
    emu.refused("more ports than queues", ["two-racks", "--set", "fabric.planes=1", "--set", "fabric.t1_count=1", *NOWAIT,
                                           "--ports", "32", "--set", "limits.memory=1GiB"], ["queues", "32 ports"])
    for words, says in (
        ("-m 1", ["no memory for", "-m MiB"]), ("--vdev=net_nope0", ["DPDK does not start", "net_nope0"]),
        ("--vdev=net_null0", ["net_null", "no cable"]), ("--no-huge --in-memory", ["DPDK does not start", "--in-memory"]),
        ("--nonsense", ["DPDK does not start", "--nonsense"]), ("-Z", ["DPDK does not start", "'Z'"]),
        ("--log-level", ["DPDK does not start", "--log-level", "argument"]), ("-l", ["DPDK does not start", "'l'"]),
        ("-l 0-1023", "DPDK does not start"), ("-m 1000000000", "DPDK does not start"), ("--lcores=0@0,1@0", ["2 lcores", "1 lane"]),
    ):
        emu.refused(f"--eal '{words}'", [*ring, "--eal", words], says, ENVIRONMENT)
    emu.refused("--eal without words", [*ring, "--eal", "  "], ["--eal", "no words"])
    for words in ("-h", "--help", "stray", "-v stray", "-- stray"):
        emu.refused(f"--eal '{words}'", [*ring, "--eal", words], ["--eal: ", words.rsplit(" ", 1)[-1]])
    emu.refused("many words", [*ring, "--eal", "-v " * 33], ["--eal", "too many"])
    emu.refused("long words", [*ring, "--eal", "x" * 2000], ["--eal", "too long"])
    if CPUS < 16:
        emu.refused("more lanes than CPUs", [*ring, "--lanes", "16"], ["16 lanes", f"there are {CPUS}"], ENVIRONMENT)
    for words in ("--log-level=info", "-v", "--no-huge -m 256", "--file-prefix=mine"):
        run = weft.run("emu", *ring, "--quiet", "--eal", words)
        emu.hold(f"--eal '{words}' is taken", run.returncode == DONE and not run.stderr, run)


# ---------------------------------------------------------------- what a run promises

def digest_of(run):
    found = re.search(r"digest ([0-9a-f]{16})", run.stdout)
    return found.group(1) if found else None


def is_paced_as_told(result, ports, dilation):
    pace, frames = result["pace"], result["ports"]
    return (pace["dilation"] == dilation and frames["frames_agree"] and frames["payload_bytes_wrong"] == 0
            and frames["frames_missed"] == 0 and frames["frames_sent"] == frames["frames_received"] == result["speed"]["hops"]
            and frames["payload_bytes_good"] == result["transport"]["payload_bytes_placed"]
            and (frames["name"] == "net_ring") == (ports == "ring"))


def runs(emu, ports):
    sim = digest_of(weft.run("sim", "two-racks", "--quiet"))
    run = weft.run("emu", "two-racks", "--quiet", "--ports", ports)
    emu.hold(f"{ports}: with a dilation found by a trial, the digest of sim", sim is not None and digest_of(run) == sim, run)
    run = weft.run("emu", "two-racks", "--ports", ports, "--dilation", "1", "--json", "--out", emu.out)
    emu.hold(f"{ports}: a run that is late is done", run.returncode == DONE, run)
    if run.returncode != DONE:
        return
    result = json.loads((emu.out / "result.json").read_text(encoding="utf-8"))
    emu.hold(f"{ports}: a run that is late has the digest of sim", result["run"]["digest"] == sim)
    emu.hold(f"{ports}: and says how late", result["pace"]["lateness"]["p99_ns"] > 0)
    emu.hold(f"{ports}: and what went through the ports", is_paced_as_told(result, ports, 1.0))
    run = weft.run("emu", "two-racks", "--quiet", "--ports", ports, "--seed", "2", *NOWAIT)
    emu.hold(f"{ports}: another seed is another run", digest_of(run) not in (None, sim), run)


def watched(emu, ports):
    """What is watched does not depend on the driver, nor on the lanes; it adds up to the totals."""
    words = ["link-down", "--set", "traffic.bytes=12MiB", "--set", "watch.bin=10us", "--set", "watch.nics=true"]
    words += ["--set", "watch.bypasses=10000", "--json"]
    sim = json.loads(weft.run("sim", *words).stdout)
    for lanes in ((), ("--lanes", "2"))[:2 if ports == "ring" and CPUS > 1 else 1]:
        run = weft.run("emu", *words, *NOWAIT, "--ports", ports, *lanes)
        result = json.loads(run.stdout)
        emu.hold(f"{ports} {lanes}: counts over time are those of sim", result["series"] == sim["series"], run)
        emu.hold(f"{ports} {lanes}: dead paths are those of sim", result["bypass"] == sim["bypass"], run)
    series, bypass, lost = sim["series"], sim["bypass"], sum(row["cables"] for row in sim["drops"])
    sums = {key: sum(series[key]) + series["after"][key] for key in series["after"]}
    emu.hold("payload over time is all payload", sums["payload_bytes"] == sim["transport"]["payload_bytes_placed"])
    emu.hold("arrivals over time are all arrivals", sums["data_packets"] == sim["transport"]["data_received"])
    emu.hold("losses over time are of data only", 0 < sums["lost_packets"] <= lost)
    emu.hold("all losses belong to dead paths", bypass["lost_packets"] + bypass["later_tries"] == sums["lost_packets"])
    emu.hold("and to links", 0 < bypass["links"]["count"] < bypass["paths"]["count"])


def paced(emu, ports):
    """Virtual time times the dilation is wall time, as near as a machine that others use can be."""
    run = weft.run("emu", *SMALL, "--ports", ports, "--dilation", str(PACED), "--json")
    result = json.loads(run.stdout)
    wanted = result["run"]["last_completion_ps"] / 1e12 * PACED
    emu.hold(f"{ports}: a run takes {wanted:.2f} s or more: {result['speed']['wall_s']:.2f}", result["speed"]["wall_s"] >= wanted * 0.9)


def stopped(emu, ports, what):
    out = emu.folder / f"stopped-{ports}-{what.name}"
    words = ["two-racks", "--ports", ports, "--dilation", "200000", "--out", out, "--pcap", emu.folder / "stopped.pcapng", "--force"]
    with weft.start("emu", *words) as run:
        deadline = time.monotonic() + 30
        while not out.with_name(f".{out.name}.weft-part").exists() and time.monotonic() < deadline:  # made when the run is about to begin
            time.sleep(0.01)
        time.sleep(1.0)
        asked = time.monotonic()
        run.send_signal(what)
        printed, said = run.communicate(timeout=600)
        spent = time.monotonic() - asked
    emu.hold(f"{ports}: {what.name} ends a run with 5 and its reason: {run.returncode}, {said!r}",
             run.returncode == NOT_VALID and said == "weft emu: interrupted\n")
    emu.hold(f"{ports}: soon: {spent:.2f} s", spent < 5)
    emu.hold(f"{ports}: its table says that it is partial", "PARTIAL RESULT" in printed)
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    emu.hold(f"{ports}: its result says so, too", result["run"]["partial"] and result["run"]["end"] == "interrupted")
    emu.hold(f"{ports}: what was counted adds up", result["conservation"]["holds"] and result["transport"]["data_packets"] > 0)
    emu.hold(f"{ports}: pace and ports are told", is_paced_as_stopped(result))


def stopped_in_trial(emu, ports):
    """A trial of several seconds is stopped within its first one."""
    out = emu.folder / f"trial-{ports}"
    words = ["link-down", "--set", "traffic.bytes=512MiB", "--ports", ports, "--out", out]
    with weft.start("emu", *words) as run:
        wait_for_work(run, 0.7)
        run.send_signal(signal.SIGINT)
        printed, said = run.communicate(timeout=600)
    emu.hold(f"{ports}: a trial that is stopped ends with 5 and one line: {run.returncode}, {said!r}",
             run.returncode == NOT_VALID and said == "weft emu: interrupted while it looked for a dilation\n" and printed == "")
    emu.hold(f"{ports}: and leaves nothing", not out.exists())


def is_paced_as_stopped(result):
    pace, frames = result["pace"], result["ports"]
    return pace["dilation"] == 200000.0 and pace["lateness"]["count"] > 0 and frames["payload_bytes_wrong"] == 0 \
        and frames["frames_missed"] == 0


def seen(emu, ports):
    """What hosts saw of each other adds up to what the cables of NICs took and brought, with losses on the way."""
    losses = ["--fault", "{kind: loss, at: all, probability: 1%}"]
    run = weft.run("emu", *SMALL, *NOWAIT, "--ports", ports, *losses, "--json")
    emu.hold(f"{ports}: a run with losses", run.returncode == DONE, run)
    result = json.loads(run.stdout)
    ways, sums = result["fidelity"]["ways"], result["conservation"]
    left, came = (sum(way[which] for way in ways) for which in ("frames_left", "frames_came"))
    emu.hold(f"{ports}: {left} left, {came} came, {sums}", (left, came) == (sums["sent"], sums["delivered"]) and 0 < came < left)
    hops = {way[which] for way in ways for which in ("hops_least", "hops_most")}
    emu.hold(f"{ports}: over T0, T1 and T0 from rack to rack: {hops}", hops == {3})
    emu.hold(f"{ports}: by paths: {ways}", all(0 < way["paths_came"] <= way["paths_left"] <= 4 * 256 and not way["more_paths"] for way in ways))
    emu.hold(f"{ports}: a sentence", "as in weft sim" in result["fidelity"]["conclude"])
    run = weft.run("sim", *SMALL, *losses, "--json")
    emu.hold("without a clock nothing of it is there", "fidelity" not in json.loads(run.stdout), run)


def main():
    with tempfile.TemporaryDirectory() as folder:
        emu = Emu(pathlib.Path(folder))
        words_of_emu(emu)
        lossless(emu)
        switching(emu)
        files(emu)
        (with_dpdk if emu.has_dpdk else without_dpdk)(emu)
        for ports in ("memory", "ring") if emu.has_dpdk else ("memory",):
            runs(emu, ports)
            watched(emu, ports)
            seen(emu, ports)
            emu.clear()
            paced(emu, ports)
            for what in (signal.SIGINT, signal.SIGTERM):
                stopped(emu, ports, what)
            stopped_in_trial(emu, ports)
        print(f"{emu.done} checks, {emu.failed} failed")
        sys.exit(1 if emu.failed else 0)


if __name__ == "__main__":
    main()
