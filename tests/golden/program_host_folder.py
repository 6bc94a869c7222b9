#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host --out: the result of all hosts as one folder, whole, with losses, cut by a host that is killed; and what is refused."""
import json
import os
import signal
import time
import unittest

import weft
from weft import BAD_INPUT, DONE, PEER_LOST

RANKS = 4
# A sum of this result, and the same of what host 0 prints.
SUMS = {
    "transport.messages_sent": "messages_sent",
    "transport.messages_received": "messages_received",
    "transport.data_packets": "data_packets",
    "transport.duplicates": "duplicates",
    "transport.payload_bytes_placed": "payload_bytes_good",
    "congestion.retransmitted": "resent",
}
WITHHELD = ("congestion.marked", "congestion.queue_bytes_max", "cables", "switches", "conservation.holds", "conservation.dropped", "links",
            "delays", "culprits", "speed.hops", "speed.windows")

RING = """name: ring
fabric: {nics: 4, planes: 2, nics_per_t0: 4, t1_count: 1, link_rate: 10Gb/s}
transport: {evs: 16}
watch: {links: true, delays: true, bin: 100ms, bins: 600}
traffic: {kind: ring, collective: all_reduce, bytes: %s}
limits: {time: 600s}
"""


def at(document, path):
    for name in path.split("."):
        document = document[name]
    return document


class Folder(weft.InFolder):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "result"

    def start(self, *words):
        return super().start("host", *words, "--timeout", "250")

    def ranks(self, size, *words, who=(0,), more=""):
        path = self.folder / "ring.yaml"
        path.write_text(RING % size + more, encoding="utf-8")
        name = f"folder-{os.getpid()}-{self.id()[-12:]}"
        return [self.start(path, "--rank", rank, "--ranks", RANKS, "--meet", name, *words, *(["--out", self.out] if rank in who else []))
                for rank in range(RANKS)]

    def result(self):
        """The folder's result, which readers take."""
        said = weft.run("report", self.out, check=True).stdout
        self.assertIn("culprit   the fabric between these hosts is not weft's", said)
        self.assertIn("conclude", json.loads((self.out / "result.json").read_text())["fidelity"])
        return json.loads((self.out / "result.json").read_text())

    def judged(self, status):
        done = weft.run("verdict", self.out, "--profile", "hosts", timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def check_sums(self, result, told):
        self.assertEqual({path: at(result, path) for path in SUMS}, {path: told[key] for path, key in SUMS.items()})
        each = result["wall"]["each"]
        for key in ("messages_sent", "data_packets", "resent", "payload_bytes_good", "payload_bytes_wrong", "frames_sent", "frames_faulted"):
            self.assertEqual(sum(one[key] for one in each), told[key], key)
        self.assertEqual(sum(plane["bytes"] for plane in result["planes"]["each"]), result["transport"]["data_bytes"])
        (count,) = [row["count"] for row in result["messages"] if row["count"] > 0]
        self.assertLessEqual(count, told["messages_received"])  # the last ones may not have heard of their end
        self.assertGreater(count, told["messages_received"] / 2)
        self.assertEqual(sum(result["series"]["payload_bytes"]), told["payload_bytes_good"])

    def run_whole(self, who=(0,), more=""):
        processes = self.ranks("1MiB", "--json", who=who, more=more)
        ended = [(*process.communicate(timeout=600), process.returncode) for process in processes]
        self.assertEqual([status for _, _, status in ended], [DONE] * RANKS, [err for _, err, _ in ended])
        told = json.loads(ended[0][0])
        result = self.result()
        self.assertEqual((result["run"]["end"], result["run"]["partial"]), ("done", False))
        self.assertEqual((result["wall"]["hosts"], result["wall"]["hosts_told"]), (RANKS, RANKS))
        self.check_sums(result, told["all"])
        for host, one in zip(told["hosts"], result["wall"]["each"]):
            same = {key: value for key, value in host.items() if key != "end_ps"}  # there by its own clock
            self.assertEqual(same, {key: one[key] for key in same})
        for path in WITHHELD:
            *above, name = path.split(".")
            owner = at(result, ".".join(above)) if above else result
            self.assertIsNone(owner[name], path)
            self.assertTrue(owner[f"{name}_reason"], path)
        self.assertEqual(result["conservation"]["sent"], sum(way["frames_left"] for way in result["fidelity"]["ways"]))
        self.assertFalse(list(self.out.glob("depth_*")) + list(self.out.glob("one_way_*")) + list(self.out.glob("cables.csv")))
        return result, told

    def test_the_result_of_all(self):
        result, told = self.run_whole(who=range(RANKS))  # as mpirun gives it to all
        run = weft.run("sim", self.folder / "ring.yaml", "--json", check=True)
        virtual = json.loads(run.stdout)
        for path in ("transport.messages_received", "transport.payload_bytes_placed", "goodput.payload_bytes",
                     "plan.packets_run"):
            self.assertEqual(at(result, path), at(virtual, path), path)
        (one,) = result["collectives"]
        self.assertGreater(one["time_ps"], virtual["collectives"][0]["time_ps"] / 2)
        span = told["collectives"][0]["time_ps"]
        self.assertEqual(one["time_ps"], span)
        self.assertIn("PASS", self.judged(0))
        self.assertIsNotNone(result["wall"]["clock_error_ns"])

    def test_the_result_of_all_with_losses(self):
        result, told = self.run_whole(more="faults: [{kind: loss, at: all, probability: 2%}]\n")
        self.assertGreater(told["all"]["frames_faulted"], 0)
        self.assertGreaterEqual(result["wall"]["frames_unseen"], told["all"]["frames_faulted"])
        self.assertGreater(result["congestion"]["retransmitted"], 0)

    def test_two_results_of_wall_time_are_two(self):
        digests = set()
        for name in ("one", "two"):
            self.out = self.folder / name
            digests.add(self.run_whole()[0]["run"]["digest"])
        self.assertEqual(len(digests), 2)

    def test_a_host_that_is_killed_leaves_the_parts_of_the_others(self):
        processes = self.ranks("32GiB")
        self.assertTrue(processes[0].stdout.readline())  # traffic begins
        time.sleep(1)
        processes[3].send_signal(signal.SIGKILL)
        ended = [(*process.communicate(timeout=600), process.returncode) for process in processes[:3]]
        self.assertEqual([status for _, _, status in ended], [PEER_LOST] * 3, [err for _, err, _ in ended])
        result = self.result()
        self.assertEqual((result["run"]["end"], result["run"]["partial"]), ("peer lost", True))
        each = result["wall"]["each"]
        self.assertEqual(result["wall"]["hosts_told"], len(each))
        self.assertNotIn(3, [one["host"] for one in each])
        self.assertIn(0, [one["host"] for one in each])
        self.assertEqual(result["transport"]["payload_bytes_placed"], sum(one["payload_bytes_good"] for one in each))
        self.assertEqual(result["transport"]["data_packets"], sum(one["data_packets"] for one in each))
        for path in ("goodput.total_bps", "conservation.sent", "wall.frames_unseen"):
            self.assertIsNone(at(result, path), path)
        self.judged(5)

    def refused(self, text, *words):
        done = weft.run("host", *words, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""), done.stderr)
        self.assertIn(text, done.stderr)
        self.assertFalse(self.out.exists())

    def test_what_is_refused(self):
        self.refused("only ranks of a scenario take '--out'", "--listen", "x", "--out", self.out)
        self.refused("needs --pcap or --out", "--listen", "x", "--force")
        path = self.folder / "ring.yaml"
        path.write_text(RING % "1MiB", encoding="utf-8")
        words = [path, "--rank", "0", "--ranks", RANKS, "--meet", "x"]
        self.refused("--pcap lies in the folder of --out", *words, "--out", self.out, "--pcap", self.out / "a.pcapng")
        other = self.folder / "other"
        other.mkdir()
        (other / "letter.txt").write_text("mine")
        done = weft.run("host", *words, "--out", other, timeout=60)
        self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
        self.assertEqual((other / "letter.txt").read_text(), "mine")

    def test_an_expectation_that_is_missed_is_status_1(self):
        processes = self.ranks("64KiB", more="expect: [{measure: goodput, formula: ring_writes, tolerance: 1%, name: as the line}]\n")
        ended = [(process.communicate(timeout=300)[1], process.returncode) for process in processes]
        self.assertEqual([status for _, status in ended], [1, 0, 0, 0], ended)
        self.assertIn("weft host: expectations not met", ended[0][0])
        self.assertEqual([each["inside"] for each in self.result()["expect"]], [False])

    def test_host_0_writes(self):
        processes = self.ranks("1MiB", who=(2,))
        for process in processes:
            out, err = process.communicate(timeout=300)
            self.assertEqual((process.returncode, out), (BAD_INPUT, ""))
            self.assertIn("host 2 has --out, and host 0, which writes the result of all, does not", err)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    weft.skip_without_dpdk()
    unittest.main()
