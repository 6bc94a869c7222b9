#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft host against Linux's own RoCEv2 (rdma_rxe), in a guest of QEMU, over the guest's tap: RDMA writes with and without immediate in both
directions, every byte and every value checked on both sides, with the first PSN below the wrap, without faults and with those that netem makes
in the guest.

WEFT_RXE_WRITES says how many writes of 64 KiB each way (25; 1,000 in soak). A guest boots for seven seconds, so cases that want the same
netem share one. Needs DPDK, root, QEMU and the guest's tools; else it is skipped.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import weft
from weft import DONE, NOT_VALID, PEER_LOST, SKIPPED, WEFT

TOOLS = pathlib.Path(os.environ.get("WEFT_SHARED", "nowhere"), "tools", "rxe")
WRITES = int(os.environ.get("WEFT_RXE_WRITES", "25"))
SIZE = 65536
PSN = 0xFFFFF0  # the 17th packet is past the wrap
QPN_FIRST = 2  # of weft's
US, THEM = "198.18.0.1", "198.18.0.2"
SEED = 7
TIMEOUT = 18  # of the guest: 4.096 us * 2^18, 1.07 s; docs/lab/host.md has what its stack does when weft is slower than that, twice

# What QEMU is to do besides: write down what goes over the guest's interface. A socket of packets on the tap would not see what DPDK sends, past
# the kernel's queues (PACKET_QDISC_BYPASS).
GUEST_ALSO = (('''"-device", f"virtio-net-pci''', '''"-object", f"filter-dump,id=wire,netdev=n,maxlen=64,file={folder}/wire{number}.pcap",
             "-device", f"virtio-net-pci'''),
              ("g.ready = g.read()", "g.ready = g.read(300)"))  # seven seconds of a processor, which others want

# What the peer in the guest is to do besides: look at immediate values, which come in their order, ask for an atomic, and forget MACs.
PEER_ALSO = (
    ('    if (!strcmp(word, "quit")) break;\n',
     '    if (!strcmp(word, "quit")) break;\n    else if (!strcmp(word, "forget")) printf(system("ip neigh flush all >/dev/null 2>&1") ? "failed\\n" : "ok\\n");\n'),
    ("    got += k > 0;",
     """    if (k > 0 && ntohl(wc.imm_data) != (uint32_t)got) {
      printf("failed immediate %u after %d\\n", ntohl(wc.imm_data), got);
      return;
    }
    got += k > 0;"""),
    ("      struct ibv_send_wr *bad;\n",
     """      if (!strcmp(how, "atomic")) {
        sge.length = 8, wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
        wr.wr.atomic.remote_addr = c->address + offset, wr.wr.atomic.compare_add = 1, wr.wr.atomic.rkey = c->rkey;
      }
      struct ibv_send_wr *bad;
"""))


def skip(why):
    print(f"{why}: skipped")
    sys.exit(SKIPPED)


class Rxe(unittest.TestCase):
    folder = ""

    @contextlib.contextmanager
    def boot(self, netem=""):
        """Once more where the guest ended before it was up, which is no matter of weft's; its console says why."""
        from guests import Guests
        words = f"{THEM}/16 no_timer_check"  # on a busy machine the kernel's check of its timer fails, and it would panic
        guests = Guests(self.folder, [(words, netem)], space=f"weftrxe{os.getpid()}")
        for is_last in (False, True):
            try:
                guests.__enter__()
                break
            except (EOFError, TimeoutError) as error:
                console = pathlib.Path(guests[0].console).read_text(encoding="utf-8", errors="replace")
                print(f"the guest did not come up: {error!r}\n{console[-2000:]}", flush=True)
                self.shut(guests)
                if is_last:
                    raise
        try:
            yield guests
        finally:
            self.shut(guests)

    def shut(self, guests):
        guests[0].socket.close()
        guests.__exit__()

    def connect(self, guests, first, memory, payload, receives, words):
        """Connection `first` of the guest receives, the next one sends; weft's QPs are in the same order. Starts weft, and joins them."""
        guest = guests[0]
        ends = [guest.say(f"open {first + i} {memory} {payload} {PSN}").split() for i in (0, 1)]
        if receives:
            self.assertEqual([guest.say(f"fill {first + 1} {SEED}"), guest.say(f"receive {first} {receives}")], ["ok", "ok"])
        foreign = [f"--foreign={qpn},{rkey},{address}" for _, _, qpn, _, rkey, address, _ in ends]
        words = ["--port", "tap0", *foreign, "--set", f"transport.payload={payload}B", "--set", f"transport.first_psn={PSN}", *words]
        told = len(self.arp_of(US))
        weft = subprocess.Popen(["ip", "netns", "exec", guests.space, WEFT, "host", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
        while len(self.arp_of(US)) == told and weft.poll() is None:  # its loop begins: what comes before is nobody's
            time.sleep(0.01)
        self.assertEqual(guest.say("forget"), "ok")
        # the guest asks for the MAC of its peer before it connects: weft answers
        connected = [self.join(guest, f"connect {first + i} {US} {QPN_FIRST + i} {PSN} 1 0 {TIMEOUT} 7") for i in (0, 1)]
        if connected != ["ok", "ok"]:
            weft.kill()
            self.fail(f"{connected}: {weft.communicate()}")
        return weft

    def arp_of(self, sender):
        """ARP frames at the guest's interface so far, of a sender or of all (None): time in ms, kind (1 asks, 2 tells), sender, target."""
        frames = arp_frames(pathlib.Path(self.folder, "wire0.pcap").read_bytes())
        return [frame for frame in frames if sender in (None, frame[2])]

    def join(self, guest, words):
        """Asked again where the MAC was not told in time (110), as by a weft that had not started yet."""
        said = guest.say(words)
        for _ in range(3):
            if said != "failed connect 110":
                break
            said = guest.say(words)
        return said

    def counters(self, guest):
        return {name: int(value) for name, value in (pair.split("=") for pair in guest.say("counters").split())}

    def run_pair(self, guests, payload, writes, first=0, is_plain=False):
        """What weft counted, and the guest. Plain: the writes have no immediate, but for one more behind them."""
        guest = guests[0]
        before = self.counters(guest)
        told = 1 if is_plain else writes  # that have an immediate
        plain = writes if is_plain else 0
        writes = plain + told
        words = ["-b", SIZE, "-n", plain or told, "--depth", 4, *(["--plain"] if is_plain else [])]
        weft = self.connect(guests, first, writes * SIZE, payload, told, words)
        try:
            if is_plain:
                guest.tell(f"write {first + 1} {plain} {SIZE}")
                self.assertRegex(guest.read(120 + writes), rf"^done {plain} {SIZE} ")
            guest.tell(f"write {first + 1} {told} {SIZE} imm")
            try:
                wrote = guest.read(120 + writes)  # an emulated guest beside others
            except TimeoutError:
                weft.send_signal(signal.SIGINT)
                self.fail(f"the guest is not done: {weft.communicate(timeout=60)}")
            waited = guest.say(f"wait {first} {told} 60000", 90)
            out, err = weft.communicate(timeout=100)
            checked = guest.say(f"check {first} 0 {writes * SIZE} {SEED}", 90)
            counters = {name: value - before[name] for name, value in self.counters(guest).items()}
        finally:
            weft.kill()
        self.assertRegex(wrote, rf"^done {told} {SIZE} ")
        self.assertRegex(waited, rf"^got {told} ")
        self.assertEqual(checked, "ok")
        self.assertEqual((weft.returncode, err), (DONE, ""), out)
        counts = json.loads(out)
        self.assertEqual((counts["messages_sent"], counts["messages_received"]), (writes, told))
        self.assertEqual((counts["payload_bytes_placed"], counts["payload_bytes_wrong"]), (writes * SIZE, 0))
        self.assertEqual((counts["qps_failed"], counts["neighbours_learnt"], counters["rdma_recvs"]), (0, 1, told))
        self.assertEqual(counts["data_packets"] - sum(counts["sent_again"].values()), writes * SIZE // payload)
        print(f"payload {payload}{', plain' if is_plain else ''}: sent again {counts['sent_again']}, {counts['answers']}, "
              f"guest {({k: v for k, v in counters.items() if v})}", flush=True)
        self.assert_weft_explained(counts, counters)
        self.assertEqual(counts["data_received"], writes * SIZE // payload + counts["duplicates"] + counts["answers"]["out_of_order"])
        return counts, counters

    def assert_weft_explained(self, counts, counters):
        """Nothing is lost on weft's way to the guest, so what goes again either came when the guest's connection was not there, and is in
        none of its counts, or it had it already and says so, or asked for it: its connection came up in the middle of a window, which then
        goes again. weft begins before the guest is connected, and its timer for such a peer, 67 ms, may ring before an emulated guest
        answers: a longer transport.rto makes these counts smaller, and is needed for nothing else."""
        answers, again = counts["answers"], counts["sent_again"]
        sent = counts["loop"]["frames_sent"] - counts["loop"]["neighbours_said"]
        self.assertEqual(sent, counts["data_packets"] + answers["acks_sent"] + answers["naks_sent"])
        untaken = sent - counters["rcvd_pkts"]
        behind_gaps = sum(again.values()) - untaken - counters["duplicate_request"]
        self.assertGreaterEqual(untaken, 0)
        self.assertEqual(behind_gaps > 0, counters["out_of_seq_request"] > 0)
        self.assertEqual(again["nack"] > 0, answers["naks_received"] > 0)
        self.assertEqual(sum(again.values()), again["nack"] + again["timeout"])
        # NAKs of weft's; one for a packet that the guest was about to send again is no news to it
        self.assertLessEqual(counters["rcvd_seq_err"], answers["naks_sent"])

    def test_without_faults(self):
        with self.boot() as guests:
            self.payloads(guests, is_plain=False)
            self.messages_that_fit_no_receive_are_counted(guests, 4)
            for first, how in ((6, "read"), (8, "send"), (10, "atomic")):
                with self.subTest(how=how):
                    self.what_weft_has_not_is_answered_by_the_nak_for_it(guests, first, how)
            self.a_guest_that_is_killed_is_a_qp_error(guests, 12)
        self.assert_each_host_answers_arp()

    def assert_each_host_answers_arp(self):
        """Each weft, before the guest connects to it. No kernel has the address that the guest asks for: the loop of weft is what tells it."""
        asked_ms, took_ms = None, []
        for at_ms, kind, sender, target in self.arp_of(None):
            if (kind, sender, target) == (1, THEM, US):
                asked_ms = at_ms
            elif (kind, sender, target) == (2, US, THEM) and asked_ms is not None:
                took_ms.append(at_ms - asked_ms)
                asked_ms = None
        self.assertGreaterEqual(len(took_ms), 7, took_ms)
        print(f"{len(took_ms)} answers to ARP of the guest, after {min(took_ms):.3f} to {max(took_ms):.3f} ms", flush=True)
        self.assertLess(min(took_ms), 500)

    def test_without_immediate(self):
        with self.boot() as guests:
            self.payloads(guests, is_plain=True)
            self.an_immediate_before_the_rest_is_no_end(guests, 4)

    def payloads(self, guests, is_plain):
        for first, payload in ((0, 1024), (2, 4096)):
            with self.subTest(payload=payload):
                packets = (WRITES + is_plain) * SIZE // payload
                self.without_faults(*self.run_pair(guests, payload, WRITES, first, is_plain), packets)

    def without_faults(self, counts, counters, packets):
        # all that the guest sent came: its data, what went again of it, and its answers
        answers = counts["answers"]
        self.assertEqual(counters["sent_pkts"], counts["data_received"] + answers["acks_received"] + answers["naks_received"])
        # where others have the cores for long, either end's timer may ring: what goes again is then told by both
        self.assertEqual((counts["data_received"] - counts["duplicates"], counts["bad_frames"]), (packets, {}))
        self.assertEqual(counts["duplicates"] > 0, counters["completer_retry_err"] > 0)
        self.assertEqual(answers["naks_received"], counters["out_of_seq_request"])
        for name in ("rcvd_seq_err", "retry_exceeded_err"):
            self.assertEqual(counters[name], 0, (name, counters))

    def test_what_the_guest_loses_it_sends_again(self):
        writes = max(WRITES, 50)  # 3,200 packets: some are lost
        with self.boot("loss 1%") as guests:
            counts, counters = self.run_pair(guests, 1024, writes)
        self.assertGreater(counters["rcvd_seq_err"] + counters["completer_retry_err"], 0)  # NAKs of weft's, and timers
        answers = counts["answers"]
        lost = counters["sent_pkts"] - counts["data_received"] - answers["acks_received"] - answers["naks_received"]
        self.assertLessEqual(answers["naks_sent"], lost)  # a gap has a packet that was lost
        self.assertGreaterEqual(counters["completer_retry_err"], counters["rcvd_seq_err"])  # it went back at each, and where its timer rang
        # each of them goes back to the packet that is missing: all from there on came again
        self.assertGreater(counts["data_received"], writes * SIZE // 1024)

    def test_what_comes_twice_and_in_disorder_is_placed_once(self):
        for netem in ("duplicate 2%", "delay 2ms reorder 95%"):
            with self.subTest(netem=netem), self.boot(netem) as guests:
                writes = max(WRITES // 2, 25)
                counts, _ = self.run_pair(guests, 4096, writes)
                self.assertGreaterEqual(counts["data_received"], writes * SIZE // 4096)
                if "duplicate" in netem:
                    self.assertGreater(counts["duplicates"], 0)

    def messages_that_fit_no_receive_are_counted(self, guests, first):
        """The guest sends eight messages of half the length that is waited for: none is taken, none ends the program."""
        guest = guests[0]
        weft = self.connect(guests, first, 8 * SIZE, 4096, 4, ["-b", 2 * SIZE, "-n", 4])
        try:
            guest.tell(f"write {first + 1} 8 {SIZE} imm")
            self.assertRegex(guest.read(120), f"^done 8 {SIZE} ")
            weft.send_signal(signal.SIGINT)
            out, err = weft.communicate(timeout=30)
        finally:
            weft.kill()
        self.assertNotEqual(weft.returncode, DONE)
        self.assertGreater(weft.returncode, 0, err)
        self.assertEqual((json.loads(out)["messages_unexpected"], json.loads(out)["payload_bytes_wrong"]), (8, 0))
        self.assertIn("weft host: 8 messages fit no receive", err)

    def an_immediate_before_the_rest_is_no_end(self, guests, first):
        """The guest sends two of four plain writes, and then the one that says that all are there."""
        guest = guests[0]
        weft = self.connect(guests, first, 5 * SIZE, 4096, 1, ["-b", SIZE, "-n", 4, "--plain"])
        try:
            for words in (f"2 {SIZE}", f"1 {SIZE} imm"):
                guest.tell(f"write {first + 1} {words}")
                self.assertRegex(guest.read(120), "^done ")
            out, err = weft.communicate(timeout=60)
        finally:
            weft.kill()
        self.assertEqual((weft.returncode, json.loads(out)["payload_bytes_wrong"]), (NOT_VALID, 0), err)
        self.assertIn(f"{3 * SIZE} bytes came before the immediate that says that all {5 * SIZE} are there", err)

    def what_weft_has_not_is_answered_by_the_nak_for_it(self, guests, first, how):
        """A READ, a SEND and an atomic of the guest end its work request with "remote invalid request", and weft names them."""
        weft = self.connect(guests, first, SIZE, 4096, 0, ["-b", SIZE, "-n", 1])
        try:
            self.assertEqual(guests[0].say(f"write {first + 1} 1 4096 {how}", 60), "failed remote invalid request error after 0")
            out, err = weft.communicate(timeout=60)
        finally:
            weft.kill()
        self.assertEqual(weft.returncode, PEER_LOST, err)
        name = how if how == "atomic" else how.upper()
        self.assertEqual((json.loads(out)["requests_refused"], json.loads(out)["bad_frames"]), ({name: 1}, {}))
        self.assertIn(f"for {name}, which weft does not have", err)
        self.assertIn("a QP went to ERROR: by that NAK", err)

    def a_guest_that_is_killed_is_a_qp_error(self, guests, first):
        words = ["-b", SIZE, "-n", 500, "--depth", 4, "--set", "transport.rto_linear=4", "--set", "transport.rto_doublings=5"]
        weft = self.connect(guests, first, 500 * SIZE, 1024, 500, words)
        try:
            guests[0].tell(f"write {first + 1} 500 {SIZE} imm")
            time.sleep(0.3)
            guests[0].process.send_signal(signal.SIGKILL)
            out, err = weft.communicate(timeout=100)
        finally:
            weft.kill()
        self.assertEqual(weft.returncode, PEER_LOST, err)
        self.assertIn("a QP went to ERROR", err)
        self.assertGreater(json.loads(out)["qps_failed"], 0)
        self.assertEqual(json.loads(out)["payload_bytes_wrong"], 0)


def arp_frames(pcap):
    """Time in ms, kind (1 asks, 2 tells), IP addresses of sender and target of each ARP frame of a pcap file."""
    at = 24
    while at + 16 <= len(pcap):
        seconds, us, length = struct.unpack_from("=III", pcap, at)
        frame = pcap[at + 16:at + 16 + length].removeprefix(bytes(12))  # virtio's own header
        at += 16 + length
        if frame[12:14] == b"\x08\x06":
            yield seconds * 1e3 + us / 1e3, frame[21], *(socket.inet_ntoa(frame[first:first + 4]) for first in (28, 38))


def lacks(folder):
    """What the guest is made of and this machine has not, after an attempt to fetch it: packages, and the kernel."""
    need = re.search(r"^need=\((.*?)\)", (TOOLS / "build").read_text(encoding="utf-8"), re.M).group(1).split()
    known = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Status}\n", *need], capture_output=True, text=True, check=False).stdout
    missing = [name for name in need if f"{name} install ok installed" not in known]
    kernel = list(folder.glob("kernel/boot/vmlinuz-*"))
    return " ".join(missing + ([] if kernel else ["a kernel of Debian"]))


def tools_in(folder):
    """The tools of the guest, with what its peer and QEMU are to do besides."""
    shutil.copytree(TOOLS, folder)
    folder.chmod(0o755)
    sys.path.insert(0, str(folder))
    for name, also in (("peer.c", PEER_ALSO), ("guests.py", GUEST_ALSO)):
        file = folder / name
        file.chmod(0o644)
        text = file.read_text(encoding="utf-8")
        for before, after in also:
            if text.count(before) != 1:
                sys.exit(f"{name} of the guest is another one: {before!r} is not in it once")
            text = text.replace(before, after)
        file.write_text(text, encoding="utf-8")
    return folder


def main():
    if os.getuid() != 0 or not shutil.which("ip"):
        skip("needs root and ip")
    if not shutil.which("dpkg-query"):
        skip("needs Debian, whose kernel the guest runs")
    if not shutil.which("qemu-system-x86_64") or not (TOOLS / "build").exists():
        skip("needs QEMU and the tools of the guest")
    weft.skip_without_dpdk()
    with tempfile.TemporaryDirectory() as folder:
        Rxe.folder = folder
        tools = tools_in(pathlib.Path(folder, "tools"))
        made = subprocess.run([tools / "build", folder], capture_output=True, text=True, timeout=400, check=False)
        if made.returncode:
            missing = lacks(pathlib.Path(folder))
            if missing:
                skip(f"the guest needs {missing}, which cannot be had here")
            sys.exit(f"the guest cannot be made, though all that it needs is here:\n{made.stdout}{made.stderr}")
        unittest.main()


if __name__ == "__main__":
    main()
