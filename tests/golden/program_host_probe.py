#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host --probe: what a port is and can, and whether frames fit, before anything is sent.

What it says is held against what the kernel says of its interfaces, and against drivers of DPDK that are known to have a thing
or not.
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

from weft import BAD_INPUT, DONE, PEER_LOST, WEFT


def probe(*words, inside=()):
    return subprocess.run([*inside, WEFT, "host", "--probe", *words], capture_output=True, text=True, timeout=300, check=False)


HAS_DPDK = "built without DPDK" not in probe("memif:try").stderr
NAMESPACE = f"weft-probe-{os.getpid()}"


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, timeout=60, check=True).stdout


# Turns offloads of an interface on or off by the commands of ethtool: tx, tso, gso. `ip` cannot.
OFFLOADS = """
import array, fcntl, socket, struct, sys
for command in (0x17, 0x1f, 0x24):
    value = array.array("I", [command, int(sys.argv[2])])
    request = struct.pack("16sP16x", sys.argv[1].encode(), value.buffer_info()[0])
    fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8946, request)
"""

# Sends a datagram by one interface, takes it at the other, and says whether its checksum is right.
CHECKSUM = """
import socket, struct
taker = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
taker.bind(("va", 0))
taker.settimeout(20)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
sender.sendto(b"weft", ("198.18.255.255", 9))
while True:
    frame = taker.recv(2000)
    if frame[23] == 17 and frame[36:38] == struct.pack(">H", 9):
        break
words = struct.unpack(">16H", frame[26:34] + struct.pack(">HH", 17, 12) + frame[34:46] + bytes(8))
print(sum(words) % 0xffff == 0)
"""


def has_veth():
    if not shutil.which("ip") or subprocess.run(["ip", "netns", "add", NAMESPACE], capture_output=True, check=False).returncode:
        return False
    words = ["ip", "-n", NAMESPACE, "link", "add", "va", "type", "veth", "peer", "name", "vb"]
    is_made = subprocess.run(words, capture_output=True, check=False).returncode == 0
    subprocess.run(["ip", "netns", "del", NAMESPACE], check=False)
    return is_made


@unittest.skipUnless(HAS_DPDK, "built without DPDK")
class Drivers(unittest.TestCase):
    def table(self, port, *words):
        run = probe(port, *words)
        self.assertEqual(run.returncode, DONE, run.stderr)
        rows = re.findall(r"^(.{40}) (hw|sw|unavailable) +(\S.*)$", run.stdout, re.M)
        self.assertEqual(len(rows), 9, run.stdout)
        return run.stdout, {name.strip(): has for name, has, _ in rows}

    def test_shared_memory(self):
        out, table = self.table("memif:nobody")
        self.assertIn("port memif:nobody: net_memif\n", out)
        self.assertIn("link: down\n", out)  # nobody is at its other end
        self.assertIn("they fit (as long as asked for)", out)
        self.assertIn("frames of others come to this port, too: no rule for UDP port: Function not implemented\n", out)
        self.assertIn("frames leave when a turn sends them: net_memif sends nothing at a given time\n", out)
        self.assertEqual(table["frames in several buffers, sent"], "hw")
        self.assertEqual(table["receive queues by a hash of addresses"], "unavailable")
        self.assertEqual(table["only frames of a run, by rules"], "sw")

    def test_drivers_differ(self):
        _, table = self.table("net_null0")
        self.assertEqual(table["frames in several buffers, sent"], "sw")
        self.assertEqual(table["receive queues by a hash of addresses"], "hw")

    def test_frames_are_those_of_the_scenario(self):
        sizes = {}
        for payload in (1024, 4096):
            out, _ = self.table("memif:nobody", "--set", f"transport.payload={payload}B")
            sizes[payload] = int(re.search(rf"at most (\d+) B, with {payload} B of payload", out).group(1))
        self.assertEqual(sizes[4096] - sizes[1024], 4096 - 1024)

    @unittest.skipUnless(has_veth(), "needs root and veth")
    def test_an_interface_is_what_the_kernel_says(self):
        inside = ["ip", "netns", "exec", NAMESPACE]
        ip("netns", "add", NAMESPACE)
        try:
            ip("-n", NAMESPACE, "link", "add", "va", "type", "veth", "peer", "name", "vb")
            for name in ("va", "vb"):
                ip("-n", NAMESPACE, "link", "set", name, "up")
            mac = re.search(r"link/ether (\S+)", ip("-n", NAMESPACE, "link", "show", "va")).group(1)
            for word in ("va", mac):
                small = probe(word, inside=inside)
                self.assertEqual(small.returncode, DONE, small.stderr)
                self.assertIn(f"port {word}: net_af_packet, interface va\nMAC: {mac}\nlink: up", small.stdout)
            fits = int(re.search(r"too long for 1514 B; payload of at most (\d+) B fits", small.stdout).group(1))
            for payload, says in ((fits, "they fit into 1514 B"), (fits + 1, f"payload of at most {fits} B fits")):
                self.assertIn(says, probe(word, "--set", f"transport.payload={payload}B", inside=inside).stdout)
            for mtu, says in ((1280, "too long for 1294 B; payload of at most"), (9000, "they fit into 9014 B")):
                ip("-n", NAMESPACE, "link", "set", "va", "mtu", str(mtu))
                self.assertIn(says, probe("va", inside=inside).stdout)
            ip("-n", NAMESPACE, "link", "set", "va", "down")
            self.assertIn("link: down\n", probe("va", inside=inside).stdout)
        finally:
            ip("netns", "del", NAMESPACE)

    @unittest.skipUnless(has_veth(), "needs root and veth")
    def test_what_a_kernel_leaves_undone_on_veth(self):
        def python(program, *words):
            return subprocess.run([*inside, sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=60, check=True).stdout

        inside = ["ip", "netns", "exec", NAMESPACE]
        ip("netns", "add", NAMESPACE)
        ip("netns", "add", NAMESPACE + "-b")
        try:
            ip("-n", NAMESPACE, "link", "add", "va", "type", "veth", "peer", "name", "vb")
            for name in ("va", "vb"):
                ip("-n", NAMESPACE, "link", "set", name, "up")
            ip("-n", NAMESPACE, "addr", "add", "198.18.0.1/16", "broadcast", "+", "dev", "vb")
            for is_on, says, right in ((1, "vb, checksums of UDP and TCP partial, frames longer than the MTU possible\n  off: ethtool -K vb tx off gso off tso off\n", "False"),
                                       (0, "vb, checksums of UDP and TCP whole, frames longer than the MTU never\n", "True")):
                python(OFFLOADS, "vb", str(is_on))
                out = probe("va", inside=inside).stdout
                self.assertIn("kernel at the other end of this veth: " + says, out)
                self.assertEqual("ethtool" in out, bool(is_on))
                self.assertEqual(python(CHECKSUM).strip(), right)
            ip("-n", NAMESPACE, "link", "set", "vb", "netns", NAMESPACE + "-b")
            self.assertIn("in another namespace, not seen from here", probe("va", inside=inside).stdout)
            self.assertNotIn("veth", probe("lo").stdout)
        finally:
            ip("netns", "del", NAMESPACE)
            ip("netns", "del", NAMESPACE + "-b")

    def test_no_port(self):
        for word, says in (("nothing", "an interface that this machine has, by name or MAC"), ("memif:", "no name for memif"), ("01:02:03:04:05:06", "no interface of the kernel has this MAC")):
            run = probe(word)
            self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (BAD_INPUT, "", 1), run.stderr)
            self.assertIn(says, run.stderr)


@unittest.skipUnless(HAS_DPDK and has_veth(), "needs DPDK, root and veth")
class Layers(unittest.TestCase):
    """A peer that is a kernel, from which one thing after the other is taken."""

    def setUp(self):
        self.ends = [NAMESPACE + "-a", NAMESPACE + "-b"]
        for name in self.ends:
            ip("netns", "add", name)
            self.addCleanup(ip, "netns", "del", name)
        ip("-n", self.ends[0], "link", "add", "va", "mtu", "9000", "type", "veth", "peer", "name", "vb", "mtu", "9000", "netns", self.ends[1])
        for name, interface, last in zip(self.ends, ("va", "vb"), "12"):
            ip("-n", name, "link", "set", interface, "up")
            ip("-n", name, "addr", "add", f"198.18.0.{last}/24", "dev", interface)
            ip("-n", name, "addr", "add", f"fd00::{last}/64", "dev", interface, "nodad")

    def reach(self, to, status, *words, port="va"):
        run = probe(port, "--to", to, *words, inside=("ip", "netns", "exec", self.ends[0]))
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        layers = re.findall(r"^  (\S.{13}) (fine |LOST ) (.*)$", run.stdout, re.M)
        return [(name.strip(), what.strip()) for name, what, _ in layers], run

    def lost(self, to, layer, *words):
        layers, run = self.reach(to, PEER_LOST, *words)
        self.assertEqual(layers[-1], (layer, "LOST"))
        self.assertTrue(all(what == "fine" for _, what in layers[:-1]), layers)
        self.assertEqual(run.stderr, f"weft host: the peer is lost at: {layer}\n")
        return run.stdout

    def at_peer(self, *words):
        subprocess.run(["ip", "netns", "exec", self.ends[1], *words], capture_output=True, timeout=60, check=True)

    def test_a_peer_that_is_there(self):
        for to, asks in (("198.18.0.2", "ARP"), ("fd00::2", "ND")):
            layers, run = self.reach(to, DONE)
            self.assertEqual(layers, [(name, "fine") for name in ("link", asks, "ping", "UDP port 4791", "payload size")])
            bytes_max = re.search(r"frames of pair: at most (\d+) B", run.stdout).group(1)
            self.assertIn(f"frames of {bytes_max} B come back\n", run.stdout)
            self.assertIn("kernel at the other end of this veth: in another namespace", run.stdout)  # where it has the index that va has here
            mac = re.search(r"link/ether (\S+)", ip("-n", self.ends[1], "link", "show", "vb")).group(1)
            self.assertIn(mac, run.stdout)

    def test_by_the_mac_of_the_port_and_another_address(self):
        ip("-n", self.ends[0], "addr", "add", "198.18.0.9/24", "dev", "va")
        mac = re.search(r"link/ether (\S+)", ip("-n", self.ends[0], "link", "show", "va")).group(1)
        layers, run = self.reach("198.18.0.2", DONE, "--from", "198.18.0.9", port=mac)
        self.assertEqual(len(layers), 5)
        self.assertIn("peer 198.18.0.2, from 198.18.0.9:", run.stdout)

    def test_a_network_of_ones_own(self):
        for name, interface, last in zip(self.ends, ("va", "vb"), "12"):
            ip("-n", name, "addr", "add", f"10.9.0.{last}/24", "dev", interface)
        layers, _ = self.reach("10.9.0.2", DONE, "--i-own-this-network")
        self.assertEqual([what for _, what in layers], ["fine"] * 5)

    def test_link(self):
        ip("-n", self.ends[1], "link", "set", "vb", "down")
        self.lost("198.18.0.2", "link")

    def test_arp_and_nd(self):
        self.lost("198.18.0.7", "ARP")
        self.lost("fd00::7", "ND")

    def test_ping(self):
        self.at_peer("sh", "-c", "echo 1 > /proc/sys/net/ipv4/icmp_echo_ignore_all")
        self.lost("198.18.0.2", "ping")

    def test_udp(self):
        # A socket at both ports that are asked takes what comes without a word, as a filter does; at the scenario's alone, as RoCE does.
        for ports, status in (((4791,), DONE), ((4791, 33434), PEER_LOST)):
            program = "import socket, sys\nheld = []\nfor port in map(int, sys.argv[1:]):\n held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))\n" \
                " held[-1].bind(('', port))\nprint(flush=True)\nsys.stdin.read()"
            words = ["ip", "netns", "exec", self.ends[1], sys.executable, "-c", program, *map(str, ports)]
            with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as listener:
                listener.stdout.readline()
                layers, run = self.reach("198.18.0.2", status)
                listener.stdin.close()
            self.assertEqual(layers[3], ("UDP port 4791", "fine" if status == DONE else "LOST"))
            if status == DONE:
                self.assertIn("was taken without a word", run.stdout)

    def test_payload_size(self):
        ip("-n", self.ends[1], "link", "set", "vb", "mtu", "2000")
        came, lost, mtu = map(int, re.search(r"frames of (\d+) B come back, of (\d+) B they do not: somewhere the MTU is below (\d+)\n",
                                             self.lost("198.18.0.2", "payload size")).groups())
        self.assertTrue(came <= 2000 + 14 + 4 < lost and mtu == lost - 14)  # veth lets a VLAN's tag pass
        ip("-n", self.ends[0], "link", "set", "va", "mtu", "1500")
        self.assertIn("frames of 1514 B come back, which is all that this port carries", self.lost("198.18.0.2", "payload size"))
        self.reach("198.18.0.2", DONE, "--set", "transport.payload=1024B")

    def test_words(self):
        for to, words, says in (("somebody", (), "needs an IP address"), ("198.18.0.2", ("--from", "x"), "--from is an IP address"),
                                ("198.19.0.2", (), "has no address in the network of this peer"), ("198.18.0.2", ("--from", "fd00::1"), "two versions of IP"),
                                ("10.9.0.2", (), "only with --i-own-this-network: '10.9.0.2'"), ("2001:db8::2", (), "only with --i-own-this-network"),
                                ("198.20.0.2", (), "only with --i-own-this-network"), ("198.19.0.2", ("--i-own-this-network",), "has no effect")):
            _, run = self.reach(to, BAD_INPUT, *words)
            self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1), run.stderr)
            self.assertIn(says, run.stderr)


class Words(unittest.TestCase):
    def test_what_has_no_effect_is_refused(self):
        run = probe("lo", "--from", "198.18.0.1")
        self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""))
        self.assertIn("--from needs --to", run.stderr)
        run = probe("lo", "--i-own-this-network")
        self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""))
        self.assertIn("--i-own-this-network needs --to", run.stderr)
        for words in (["--json"], ["--listen", "a"], ["-n", "3"], ["--port", "lo"], ["--own-core"], ["--pcap", "x"]):
            run = probe("lo", *words)
            self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""), words)
            self.assertIn("--probe only looks at a port", run.stderr)


if __name__ == "__main__":
    unittest.main()
