#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host with traffic that stands in a file: matrices whose triggers start connections at other hosts, GOAL text, a trace. What arrives
is what weft sim says; hosts with two files do not begin; and a host that is killed while others wait for its triggers ends them."""
import json
import os
import signal
import time
import unittest

import weft
from weft import BAD_INPUT, DONE, PEER_LOST

SCENARIO = """name: triggers
fabric: {nics: %u, planes: 1, nics_per_t0: %u, t1_count: 1, link_rate: 10Gb/s}
transport: {evs: 16}
traffic: {%s}
limits: {time: 600s}
"""
STEPS, BYTES = 12, 20000


def chain(hosts):
    """Round the ring as htsim's generator makes it, a barrier over all its ends, and behind it a connection from each host."""
    lines, last = [], STEPS
    for step in range(STEPS):
        begin = "start 0" if step == 0 else f"trigger {step}"
        end = f"send_done_trigger {step + 1}" if step + 1 < STEPS else ""
        lines.append(f"{step % hosts}->{(step + 1) % hosts} {begin} size {BYTES} {end} recv_done_trigger {last}")
    lines += [f"{host}->{(host + 1) % hosts} trigger {last} size {BYTES}" for host in range(hosts)]
    return lines, [f"trigger id {step} oneshot" for step in range(1, STEPS)] + [f"trigger id {last} barrier"], STEPS + hosts


def multishot(hosts):
    """One host fires it three times: the next connection of the file each time, at whichever host that is."""
    lines = [f"0->1 start {1000 * i} size {BYTES} send_done_trigger 1" for i in range(3)]
    lines += [f"{host % hosts}->{(host + 1) % hosts} trigger 1 size {BYTES}" for host in (1, 0, 1)]
    return lines, ["trigger id 1 multishot"], 6


def matrix(hosts, make):
    lines, triggers, count = make(hosts)
    return "\n".join([f"Nodes {hosts}", f"Connections {len(lines)}", f"Triggers {len(triggers)}", *lines, *triggers, ""]), count


class Hosts(weft.InFolder):
    number = 0

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def start_hosts(self, hosts, paths, *more, is_json=True):
        Hosts.number += 1
        common = ["--ranks", hosts, "--meet", f"matrix-{os.getpid()}-{Hosts.number}", "--timeout", "120", *["--json"][:is_json], *more]
        return [self.start("host", paths[rank], "--rank", rank, *common) for rank in range(hosts)]

    def both(self, hosts, path, *more):
        """What weft host and weft sim came to."""
        ended = [(*process.communicate(timeout=300), process.returncode) for process in self.start_hosts(hosts, [path] * hosts, *more)]
        self.assertEqual([status for _, _, status in ended], [DONE] * hosts, [err for _, err, _ in ended])
        virtual = json.loads(weft.run("sim", path, "--json", check=True).stdout)["transport"]
        document = json.loads(ended[0][0])
        total = document["all"]
        for port in document["ports"]:  # what memif does not have, a result says
            self.assertEqual((port["takes_all"], port["takes_all_because"]), (True, "no rule for UDP port: Function not implemented"))
            self.assertEqual((port["timed"], port["untimed_because"], port["lag_ps"]), (False, "net_memif sends nothing at a given time", 0))
        self.assertEqual((total["payload_bytes_good"], total["payload_bytes_wrong"]), (virtual["payload_bytes_placed"], 0))
        for key in ("messages_sent", "messages_received"):
            self.assertEqual(total[key], virtual[key])
        self.assertEqual(total["work_done"], total["work_total"])
        self.assertEqual(total["data_packets"], virtual["data_received"] + total["resent"])
        return total


class Matrix(Hosts):
    def test_triggers_go_from_host_to_host(self):
        for hosts, make, told, heard in ((2, chain, STEPS - 1 + STEPS, STEPS - 1 + STEPS), (2, multishot, 2, 2), (4, chain, STEPS - 1 + STEPS, None)):
            with self.subTest(hosts=hosts, make=make.__name__):
                text, count = matrix(hosts, make)
                self.write("m.cm", text)
                path = self.write("m.yaml", SCENARIO % (hosts, hosts, "kind: matrix, matrix: m.cm"))
                total = self.both(hosts, path)
                self.assertEqual((total["messages_received"], total["work_done"]), (count, 2 * count))
                self.assertEqual(total["triggers_told"], told)
                self.assertEqual(total["triggers_heard"], told * (hosts - 1) if heard is None else heard)

    def test_the_result_of_all(self):
        """--out: each process then has its own part of the world alone."""
        text, count = matrix(3, chain)
        self.write("m.cm", text)
        path = self.write("m.yaml", SCENARIO % (3, 3, "kind: matrix, matrix: m.cm"))
        self.both(3, path, "--out", self.folder / "out")
        document = json.loads((self.folder / "out/result.json").read_text(encoding="utf-8"))
        self.assertEqual(document["transport"]["messages_received"], count)

    def test_hosts_with_two_files_do_not_begin(self):
        paths = []
        for rank, size in enumerate((BYTES, BYTES + 1)):
            self.write(f"m{rank}.cm", f"Nodes 2\nConnections 1\n0->1 start 0 size {size}\n")
        for rank in range(2):
            (self.folder / str(rank)).mkdir()
            (self.folder / f"m{rank}.cm").rename(self.folder / str(rank) / "m.cm")
            paths.append(self.write(f"{rank}/m.yaml", SCENARIO % (2, 2, "kind: matrix, matrix: m.cm")))
        for process in self.start_hosts(2, paths):
            out, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, out), (BAD_INPUT, ""), err)
            self.assertIn("has another scenario", err)

    def test_other_files_of_traffic(self):
        self.write("g.goal", "num_ranks 2\nrank 0 {\nl1: send 20000b to 1 tag 1\nl2: recv 30000b from 1 tag 2\n}\n"
                   "rank 1 {\nl1: recv 20000b from 0 tag 1\nl2: send 30000b to 0 tag 2\nl2 requires l1\n}\n")
        total = self.both(2, self.write("g.yaml", SCENARIO % (2, 2, "kind: goal, file: g.goal")))
        self.assertEqual((total["messages_received"], total["payload_bytes_good"]), (2, 50000))
        run = weft.run("host", self.write("t.yaml", SCENARIO % (2, 2, "kind: trace")), "--rank", "0", "--ranks", "2", "--meet", "nobody", timeout=60)
        self.assertEqual(run.returncode, BAD_INPUT, run.stderr)
        self.assertIn("names none: --set traffic.trace=FILE", run.stderr)

    def test_who_is_killed_ends_those_that_wait_for_it(self):
        """Host 0 has 4 GB to send before it fires, and the others nothing to do until then."""
        self.write("m.cm", "Nodes 3\nConnections 3\nTriggers 1\n0->1 start 0 size 4000000000 send_done_trigger 1\n"
                   "1->2 trigger 1 size 4000\n2->1 trigger 1 size 4000\ntrigger id 1 oneshot\n")
        path = self.write("m.yaml", SCENARIO % (3, 3, "kind: matrix, matrix: m.cm"))
        processes = self.start_hosts(3, [path] * 3)
        time.sleep(3)  # all of them run
        processes[0].send_signal(signal.SIGKILL)
        begun = time.monotonic()
        for process in processes[1:]:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, PEER_LOST, err)
        self.assertLess(time.monotonic() - begun, 10)


if __name__ == "__main__":
    weft.skip_without_dpdk()
    unittest.main()
