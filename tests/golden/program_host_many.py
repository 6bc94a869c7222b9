#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host, many at once on one machine: an incast, jobs side by side, as many ranks as WEFT_HOST_RANKS says (16), and as many as
WEFT_HOST_VHOST says (8) over virtio_user and vhost, a port for each plane and peer."""
import json
import os
import pathlib
import tempfile
import unittest

import weft
from weft import BAD_INPUT, DONE

RANKS = int(os.environ.get("WEFT_HOST_RANKS", "16"))
VHOST_RANKS = int(os.environ.get("WEFT_HOST_VHOST", "8"))
SIZE, MESSAGES = 65536, 50

LOSS = "faults: [{kind: loss, at: all, probability: 1%}]\n"
TWO_PLANES = """name: ring
fabric: {nics: %u, planes: 2, nics_per_t0: %u, t1_count: 1, link_rate: 10Gb/s}
transport: {evs: 16}
traffic: {kind: ring, collective: all_reduce, bytes: 1MiB, channels: 1}
limits: {time: 600s}
"""
RING = """name: ring
fabric: {nics: %u, planes: 1, nics_per_t0: %u, t1_count: 1, link_rate: 100Gb/s}
transport: {evs: 16}
traffic: {kind: ring, collective: all_reduce, bytes: 4MiB, channels: 1}
limits: {time: 600s}
"""


class Many(weft.InFolder):
    def start(self, *words):
        return super().start("host", *words, "--timeout", "250")

    def documents(self, processes):
        ended = [(*process.communicate(timeout=600), process.returncode) for process in processes]
        self.assertEqual([status for _, _, status in ended], [DONE] * len(ended), [err for _, err, _ in ended])
        return [json.loads(out) if out else None for out, _, _ in ended]

    def test_an_incast(self):
        callers = 3
        words = ["--incast", callers, "--json"]
        name = f"incast-{os.getpid()}"
        processes = [self.start("--to", name, "-b", SIZE, "-e", 2 * SIZE, "-n", MESSAGES, *words) for _ in range(callers)]
        processes.append(self.start("--listen", name, *words))
        *ends, listener = self.documents(processes)
        self.assertEqual(sorted(end["host"] for end in ends), [1, 2, 3])
        self.assertEqual([row["bytes"] for row in listener["rows"]], [SIZE, 2 * SIZE])
        placed = 0
        for row, *theirs in zip(listener["rows"], *(end["rows"] for end in ends)):
            self.assertEqual((row["messages"], row["callers"]), (callers * MESSAGES, callers))
            self.assertGreater(row["slowest_bps"], 0)
            self.assertLessEqual(row["slowest_bps"], row["fastest_bps"])
            self.assertAlmostEqual(row["bandwidth_bps"] / (callers * row["slowest_bps"]), 1, places=9)  # the slowest one ends it
            for own in theirs:
                self.assertEqual((own["bytes"], own["messages"]), (row["bytes"], MESSAGES))
                placed += own["bytes"] * (MESSAGES + own["pings"])
        loop = listener["loop"]
        words_to_go = sum(end["loop"]["payload_bytes_good"] for end in ends) - sum(row["pings"] * row["bytes"] for end in ends for row in end["rows"])
        self.assertEqual((loop["payload_bytes_good"], loop["payload_bytes_wrong"]), (placed, 0))
        self.assertEqual(words_to_go, callers * 2 * 4096)

    def test_callers_of_an_incast_want_the_same(self):
        name = f"incast-words-{os.getpid()}"
        processes = [self.start("--to", name, "--incast", 2, "-b", size, "-e", size) for size in ("4K", "8K")]
        processes.append(self.start("--listen", name, "--incast", 2))
        for process in processes:
            out, err = process.communicate(timeout=300)
            self.assertEqual((process.returncode, out), (BAD_INPUT, ""))
            self.assertIn("callers 1 and 2 want other things measured", err)

    def test_an_incast_is_one_at_both_ends(self):
        name = f"incast-pair-{os.getpid()}"
        processes = [self.start("--to", name, "--incast", 2), self.start("--listen", name)]
        for process in processes:
            out, err = process.communicate(timeout=300)
            self.assertEqual((process.returncode, out), (BAD_INPUT, ""))
            self.assertIn("host 0 waits for 2 hosts, the other one is of 3", err)

    def test_four_jobs_side_by_side(self):
        names = [f"job-{os.getpid()}-{index}" for index in range(4)]
        listeners = [self.start("--listen", name, "--json") for name in names]
        callers = [self.start("--to", name, "-b", SIZE, "-e", SIZE, "-n", MESSAGES + index, "--json") for index, name in enumerate(names)]
        callers, listeners = self.documents(callers), self.documents(listeners)
        for index, (caller, listener) in enumerate(zip(callers, listeners)):
            (row,) = caller["rows"]
            self.assertEqual(row["messages"], MESSAGES + index)
            for document, good in ((caller, row["pings"] * SIZE), (listener, (row["pings"] + row["messages"]) * SIZE)):
                loop = document["loop"]
                self.assertEqual((loop["payload_bytes_good"], loop["payload_bytes_wrong"]), (good, 0))
                self.assertEqual(loop["frames_strange"] + sum(loop["bad_frames"].values()) + sum(loop["others"].values()), 0)

    def test_many_ranks_on_one_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ring.yaml"
            path.write_text(RING % (RANKS, RANKS), encoding="utf-8")
            processes = [self.start(path, "--rank", rank, "--ranks", RANKS, "--meet", f"many-{os.getpid()}", "--json") for rank in range(RANKS)]
            total = self.documents(processes)[0]["all"]
            run = weft.run("sim", path, "--json", check=True)
        virtual = json.loads(run.stdout)["transport"]
        self.assertEqual(total["payload_bytes_wrong"], 0)
        self.assertEqual((total["work_done"], total["work_total"]), (RANKS, RANKS))
        self.assertEqual(total["messages_received"], virtual["messages_received"])
        self.assertEqual(total["data_packets"], virtual["data_packets"] + total["resent"])
        print(f"{RANKS} ranks: {total['resent']} of {total['data_packets']} packets sent again, at most {total['lateness_p999_ps'] / 1e9:.1f} ms late")

    def vhost_ports(self, folder, rank, ranks):
        """A port for each plane and neighbour in the ring: who is first has the vhost end. In an order that is not weft's."""
        words, number = [], 0
        for peer in sorted({(rank - 1) % ranks, (rank + 1) % ranks}, reverse=True):
            for plane in (1, 0):
                socket = pathlib.Path(folder) / f"{plane}-{min(rank, peer)}-{max(rank, peer)}"
                port = f"net_vhost{number},iface={socket}" if rank < peer else f"net_virtio_user{number},path={socket},queues=1,queue_size=1024"
                words += ["--port", f"{plane}/{peer}={port}"]
                number += 1
        return words

    def ring_over_vhost(self, more):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ring.yaml"
            path.write_text(TWO_PLANES % (VHOST_RANKS, VHOST_RANKS) + more, encoding="utf-8")
            words = [path, "--ranks", VHOST_RANKS, "--meet", f"vhost-{os.getpid()}-{len(more)}", "--json"]
            processes = [self.start(*words, "--rank", rank, *self.vhost_ports(folder, rank, VHOST_RANKS)) for rank in range(VHOST_RANKS)]
            total = self.documents(processes)[0]["all"]
            run = weft.run("sim", path, "--json", check=True)
        virtual = json.loads(run.stdout)["transport"]
        self.assertEqual((total["payload_bytes_good"], total["payload_bytes_wrong"]), (virtual["payload_bytes_placed"], 0))
        self.assertEqual((total["work_done"], total["work_total"]), (VHOST_RANKS, VHOST_RANKS))
        self.assertEqual(total["messages_received"], virtual["messages_received"])
        self.assertEqual(total["frames_strange"], 0)
        return total

    def test_a_ring_over_vhost(self):
        self.ring_over_vhost("")

    def test_a_ring_over_vhost_that_loses(self):
        total = self.ring_over_vhost(LOSS)
        self.assertGreater(total["frames_faulted"], 0)
        self.assertGreater(total["resent"], 0)

    def test_ports_that_lead_to_nobody(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ring.yaml"
            path.write_text(TWO_PLANES % (4, 4), encoding="utf-8")
            cases = {
                ("2/1", "0/1", "1/1"): "--port 2/1=: the host has no such plane",
                ("0/2", "1/2", "0/1"): "--port 0/2=: this host exchanges nothing with it",
                ("0/0", "1/1", "0/1"): "--port 0/0=: this host exchanges nothing with it",
                ("0/9", "1/1", "0/1"): "--port 0/9=: this host exchanges nothing with it",
                ("0/1", "0/1", "1/1"): "--port 0/1=: appears twice",
                ("0/1", "1/1", "1/3"): "--port 0/3=: is missing: this host exchanges with it",
            }
            for index, (places, why) in enumerate(cases.items()):
                ports = [word for at, place in enumerate(places) for word in ("--port", f"{place}=net_vhost{at},iface={folder}/{at}")]
                alone = self.start(path, "--ranks", 4, "--meet", f"nobody-{os.getpid()}-{index}", "--rank", 0, *ports)
                out, err = alone.communicate(timeout=60)  # it waits for nobody
                self.assertEqual((alone.returncode, out), (BAD_INPUT, ""), err)
                self.assertIn(why, err)
        for words, why in ((["--listen", "x", "--port", "0/1=memif:a", "--port", "memif:b"], "PLANE/PEER= for all ports or for none"),
                           (["--probe", "0/1=memif:a"], "wherever it leads")):
            done = weft.run("host", *words, timeout=60)
            self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    weft.skip_without_dpdk()
    unittest.main()
