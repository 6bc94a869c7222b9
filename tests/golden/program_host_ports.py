#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host: ports by name, MAC and PCI address, and words for DPDK's start. Needs DPDK, neither root nor a NIC."""
import glob
import json
import os
import unittest

import weft
from weft import BAD_INPUT, DONE, ENVIRONMENT

SOCKET = f"weft-ports-{os.getpid()}"


def probe(port, *words):
    return weft.run("host", "--probe", port, *words)


def memif(role, mac):
    return f"role={role},id=0,socket={SOCKET},socket-abstract=yes,bsize=4608,rsize=10,mac={mac}"


def nics():
    """PCI devices of this machine that are NICs, and the driver that the kernel has for each."""
    for folder in sorted(glob.glob("/sys/bus/pci/devices/*")):
        with open(folder + "/class", encoding="ascii") as file:
            if file.read().startswith("0x02"):
                driver = os.path.basename(os.readlink(folder + "/driver")) if os.path.islink(folder + "/driver") else ""
                yield os.path.basename(folder), driver


HAS_DPDK = "built without DPDK" not in probe("memif:try").stderr


@unittest.skipUnless(HAS_DPDK, "built without DPDK")
class Ports(unittest.TestCase):
    def pair(self, listener, caller):
        """Both ends, each with its words; what they say."""
        words = [[*words, "--json"] for words in (["--listen", SOCKET, *listener], ["--to", SOCKET, "-b", "4K", "-e", "4K", "-n", "200", *caller])]
        ends = [weft.start("host", *end) for end in words]
        try:
            return [(*end.communicate(timeout=200), end.returncode) for end in ends]
        finally:
            for end in ends:
                end.kill()

    def refused(self, run, says, status=BAD_INPUT):
        self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (status, "", 1), run.stderr)
        self.assertIn(says, run.stderr)

    def test_ports_that_dpdk_has_from_its_start(self):
        plane = ["--set", "fabric.planes=1"]
        macs = ["02:00:00:00:39:01", "02:00:00:00:39:02"]
        ends = self.pair([*plane, "--port", macs[0], "--eal", "--vdev=net_memif7," + memif("server", macs[0])],
                         [*plane, "--port", "net_memif9", "--eal", "--log-level=error --vdev=net_memif9," + memif("client", macs[1])])
        self.assertEqual([end[2] for end in ends], [DONE, DONE], ends)
        loop = json.loads(ends[0][0])["loop"]
        self.assertEqual((loop["payload_bytes_wrong"], loop["neighbours_learnt"]), (0, 1))
        self.assertGreaterEqual(loop["payload_bytes_good"], 200 << 12)

    def test_words_that_have_no_effect_or_clash(self):
        null = "--vdev=net_null0"
        for port, words, says, status in (
                ("net_null0", "--vdev=net_null1", "port net_null1, which no --port names", BAD_INPUT),
                ("net_null0,size=64", null, "so its arguments have no effect", BAD_INPUT),
                ("02:00:00:00:39:09", null, "DPDK does not open this port", ENVIRONMENT),
                ("net_null0", "word", "DPDK takes no 'word'", BAD_INPUT),
                ("net_null0", "--help", "DPDK's help would end", BAD_INPUT),
                ("net_null0", "--no-such", "unrecognized option '--no-such'", ENVIRONMENT),
                ("net_null0", " ", "--eal has no words", BAD_INPUT),
                ("net_null0", "-l 0,1", "2 lcores to 1 lanes", ENVIRONMENT)):
            with self.subTest(port=port, words=words):
                if "-l" in words and len(os.sched_getaffinity(0)) < 2:
                    continue
                self.refused(probe(port, "--eal", words), says, status)
        run = weft.run("host", "--listen", "x", "--telemetry", "--eal", "--no-telemetry", timeout=60)
        self.refused(run, "--eal says '--no-telemetry'")

    def test_words_that_dpdk_takes(self):
        for port, words in (("net_null0", "--vdev=net_null0,size=64"), ("net_null0", "-m 200"), ("memif:nobody", "--log-level=error")):
            run = probe(port, "--eal", words)
            self.assertEqual((run.returncode, run.stderr), (DONE, ""), words)

    def test_zero_copy_of_memif_wants_its_memory_in_one_file(self):
        words, one_file = ["net_memif0,role=server,zero-copy=yes"], ["--eal", "--single-file-segments"]
        run = weft.run("host", "--probe", *words, timeout=60)
        self.refused(run, 'zero-copy, which memif has only with its memory in one file: --eal "--single-file-segments"')
        run = weft.run("host", "--probe", *words, *one_file, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_mac_of_nobody(self):
        self.refused(probe("02:00:00:00:39:09"), "no interface of the kernel has this MAC")

    def test_what_is_wrong_with_ports_is_said_before_anybody_is_waited_for(self):
        zero_copy = "net_memif0,role=server,zero-copy=yes"
        for ports, says in (
                (["memif:a"], "the scenario has 2 planes, and 1 ports were given"),
                (["memif:a", "memif:b", "memif:c"], "the scenario has 2 planes, and 3 ports were given"),
                (["memif:a", "memif:a"], "a port is named twice: 'memif:a'"),
                ([zero_copy, "memif:b"], 'zero-copy, which memif has only with its memory in one file: --eal "--single-file-segments"'),
                (["net_af_packet0,iface=lo,framesz=4096", "memif:b"], "has places of 4096 bytes (framesz), and frames here take 4202"),
                (["02:00:00:00:39:09", "memif:b"], "no interface of the kernel has this MAC"),
                (["2/1=memif:a", "1/1=memif:b"], "--port 2/1=: the host has no such plane"),
                (["0/1=memif:a"], "--port 1/1=: is missing: this host exchanges with it")):
            with self.subTest(ports=ports):
                words = [word for port in ports for word in ("--port", port)]
                self.refused(weft.run("host", "--listen", SOCKET, *words, "--timeout", 300, timeout=60), says)
        self.refused(weft.run("host", "--to", "127.0.0.1:7000", "--timeout", 300, timeout=60), "between machines ports have to be named")
        words = ["two-planes", "--rank", 0, "--ranks", 8, "--meet", SOCKET, "--timeout", 300, "--port", "memif:a"]
        self.refused(weft.run("host", *words, timeout=60), "planes, and 1 ports were given")

    def test_pci_devices_that_dpdk_cannot_take(self):
        self.refused(probe("ffff:ff:1f.7"), "this machine has no PCI device: 'ffff:ff:1f.7'")
        for address, driver in nics():
            if driver not in ("vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core", "mlx4_core"):
                self.refused(probe(address), f"dpdk-devbind.py -b vfio-pci {address}")


if __name__ == "__main__":
    unittest.main()
