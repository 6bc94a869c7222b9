#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of Linux's own RoCE (rdma_rxe in two guests of QEMU) with one fault drawn by seed: weft pcap analyze names it first, and its
counts are those of the stack and of who made the fault: netem in a guest, or a relay between the guests that drops, doubles, holds back
and damages frames of the capture's other side. WEFT_RXE_FIRST and WEFT_RXE_COUNT say which draws of each kind (3 from 1), WEFT_RXE_KINDS
which kinds; WEFT_RXE_KEEP a folder for the captures. Needs root, QEMU and the guests' tools; else it is skipped."""
import ctypes
import json
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import typing

import weft
from weft import SHARED, SKIPPED

TOOLS = pathlib.Path(SHARED, "tools", "rxe")
FIRST, COUNT = (int(os.environ.get(f"WEFT_RXE_{name}", default)) for name, default in (("FIRST", 1), ("COUNT", 3)))
KEEP = os.environ.get("WEFT_RXE_KEEP")
SPACE = f"weftrxe{os.getpid()}"
ADDRESSES = ("198.18.0.2", "198.18.0.3")
PORT, REQUESTS = 4791, set(range(0x0D)) | {0x13, 0x14, 0x16, 0x17}


class Kind(typing.NamedTuple):
    """Who makes the fault (netem at guest 0 or 1, the relay by this word, the program), at whose tap the capture is, the cause, what guest 0
    asks for, and whether the relay takes that or the answers to it."""
    fault: str | None
    tap: int
    cause: str | None
    how: str = "write"
    of: str = "requests"


KINDS = {
    "none": Kind(None, 0, None),
    "several QPs": Kind(None, 1, None),
    "SENDs": Kind(None, 0, None, "send"),
    "immediates": Kind(None, 1, None, "imm"),
    "READs": Kind(None, 1, None, "read"),
    "a QP of each verb": Kind(None, 0, None, "each"),
    "netem loss": Kind("netem 0", 0, "loss_before"),
    "netem loss of SENDs": Kind("netem 0", 0, "loss_before", "send"),
    "netem loss of READ responses": Kind("netem 1", 0, "loss_before", "read"),
    "netem doubled": Kind("netem 0", 1, "duplicate"),
    "netem damaged": Kind("netem 0", 1, "corruption_before"),
    "netem reordered": Kind("netem 0", 1, "reordering_before"),
    "netem late answers": Kind("netem 1", 1, "needless_timeout"),
    "relay loss behind": Kind("loss", 0, "loss_behind"),
    "relay loss of SENDs behind": Kind("loss", 0, "loss_behind", "send"),
    "relay loss before": Kind("loss", 1, "loss_before"),
    "relay damaged behind": Kind("damage", 0, "loss_behind"),
    "relay doubled": Kind("double", 1, "duplicate"),
    "relay doubled SENDs": Kind("double", 1, "duplicate", "send"),
    "relay reordered": Kind("reorder", 1, "reordering_before"),
    "relay answers lost": Kind("loss", 1, "needless_timeout", of="answers"),
    "relay loss of READ responses before": Kind("loss", 0, "loss_before", "read", "answers"),
    "relay loss of READ responses behind": Kind("loss", 1, "loss_behind", "read", "answers"),
    "relay doubled READ responses": Kind("double", 0, "duplicate", "read", "answers"),
    "not ready": Kind("program", 0, "receiver_not_ready", "send"),
}
failed = 0


def check(holds, what):
    global failed
    failed += 0 if holds else 1
    if not holds:
        print("FAILED:", what, flush=True)
    return holds


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


# ---------------------------------------------------------------- between the guests


class Relay(threading.Thread):
    """Carries frames between two taps. Of requests from guest 0, or of answers to it, it makes one in so many faulty."""

    def __init__(self):
        super().__init__(daemon=True)
        self.fault, self.of, self.share, self.dice, self.is_over = None, None, 0, random.Random(0), False
        self.hits, self.held = 0, []  # held: (frames to let pass, end of its time, frame, whether one passed)
        self.is_ready = threading.Event()

    def make(self, fault, of, share, seed):
        self.hits, self.of, self.share, self.dice, self.fault = 0, of, share, random.Random(f"relay {seed}"), fault

    def run(self):
        libc = ctypes.CDLL(None, use_errno=True)
        with open(f"/run/netns/{SPACE}", encoding="utf-8") as space:
            if libc.setns(space.fileno(), 0x40000000) != 0:  # of this thread alone
                raise OSError(ctypes.get_errno(), "setns")
        self.sockets = []
        for tap in ("tap0", "tap1"):
            one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
            one.bind((tap, 3))
            self.sockets.append(one)
        self.is_ready.set()
        while not self.is_over:
            ready, _, _ = select.select(self.sockets, [], [], 0.005)
            for one in ready:
                frame, origin = one.recvfrom(65536)
                if origin[2] != socket.PACKET_OUTGOING:
                    self.carry(self.sockets.index(one), frame)
            self.let_go(0)

    def carry(self, side, frame):
        udp = 14 + 4 * (frame[14] & 15) if len(frame) > 54 and frame[12:14] == b"\x08\x00" else 0
        is_roce = udp and frame[23] == 17 and int.from_bytes(frame[udp + 2:udp + 4], "big") == PORT
        is_request = is_roce and frame[udp + 8] in REQUESTS
        wanted = is_roce and self.fault and (side == 1 and not is_request if self.of == "answers" else side == 0 and is_request)
        if not wanted or self.dice.random() >= self.share:
            self.send(1 - side, frame)
        elif self.fault == "reorder":
            self.held.append([self.dice.choice([1, 2, 3]), time.monotonic() + 0.02, frame, False])
            return
        else:
            self.hits += 1
            if self.fault == "double":
                self.send(1 - side, frame)
                self.send(1 - side, frame)
            elif self.fault == "damage":
                at = udp + 8 + 12 + self.dice.randrange(max(1, len(frame) - udp - 24))
                self.send(1 - side, frame[:at] + bytes([frame[at] ^ 1 << self.dice.randrange(8)]) + frame[at + 1:])
        if side == 0 and is_request:
            self.let_go(1)

    def let_go(self, passed):
        """What waited long enough; it was overtaken if a frame passed it."""
        for one in self.held[:]:
            one[0] -= passed
            one[3] |= passed > 0
            if one[0] <= 0 or time.monotonic() > one[1]:
                self.hits += one[3]
                self.held.remove(one)
                self.send(1, one[2])

    def send(self, side, frame):
        while True:
            try:
                self.sockets[side].send(frame)
                return
            except OSError as why:  # the guest takes no more just now
                if why.errno != 105:
                    raise
                time.sleep(0.0005)


class Pair:
    """Two guests, each on a tap, and the relay between."""

    def __init__(self, guests, folder, netem=("", "")):
        self.guests, self.folder, self.netem = guests, folder, netem

    def __enter__(self):
        for turn in range(3):
            try:
                return self.begin()
            except EOFError:  # a guest ended as it started: on a machine that is too busy
                self.__exit__()
                if turn == 2:
                    raise
            except BaseException:
                self.__exit__()
                raise
        return None

    def begin(self):
        self.pair, self.relay, self.next = [], None, 0
        inside = ("ip", "netns", "exec", SPACE, "ip")
        subprocess.run(["ip", "netns", "add", SPACE], check=True)
        for n, address in enumerate(ADDRESSES):
            subprocess.run([*inside, "tuntap", "add", f"tap{n}", "mode", "tap"], check=True)
            subprocess.run([*inside, "link", "set", f"tap{n}", "mtu", "4200", "txqueuelen", "10000", "up"], check=True)
            self.pair.append(self.guests.Guest(str(self.folder), SPACE, n, f"{address}/16", self.netem[n]))
        self.relay = Relay()
        self.relay.start()
        self.relay.is_ready.wait(10)
        for guest in self.pair:
            if not guest.read().startswith("ready"):
                raise RuntimeError("a guest has no RoCE")
        return self

    def __exit__(self, *_):
        if self.relay is not None:
            self.relay.is_over = True
            self.relay.join()
        for guest in self.pair:
            guest.process.terminate()
            guest.process.wait()
        subprocess.run(["ip", "netns", "del", SPACE], check=True)

    def connect(self, size, mtu, dice, timeout):
        """A connection with first PSNs by lot. Returns its number."""
        number, self.next = self.next, self.next + 1
        psns = [dice.randrange(1 << 24) for _ in (0, 1)]
        local = [self.pair[n].say(f"open {number} {size} {mtu} {psns[n]}").split() for n in (0, 1)]
        for n in (0, 1):
            _, _, qpn, psn, key, address, _ = local[1 - n]
            for _ in range(5):  # netem loses ARP, too
                said = self.pair[n].say(f"connect {number} {ADDRESSES[1 - n]} {qpn} {psn} {key} {address} {timeout} 7")
                if said == "ok":
                    break
            if said != "ok":
                raise RuntimeError(f"connect: {said}")
        return number

    def counters(self):
        return [{name: int(value) for name, value in (word.split("=") for word in guest.say("counters").split())} for guest in self.pair]


class Capture:
    def __init__(self, tap, path):
        self.path = path
        program = ["dumpcap", "-q", "-P", "-i", tap, "-w", path] if shutil.which("dumpcap") else ["tcpdump", "-i", tap, "-w", path, "-U", "-B", "65536"]
        self.process = subprocess.Popen(["ip", "netns", "exec", SPACE, *map(str, program)], stderr=subprocess.DEVNULL)
        for _ in range(200):
            if path.exists() and path.stat().st_size > 0:
                break
            time.sleep(0.05)
        time.sleep(0.3)

    def end(self):
        time.sleep(0.7)
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


# ---------------------------------------------------------------- a draw


def netem_of(kind, dice):
    share = dice.choice([0.5, 1, 2, 3])
    words = {"netem doubled": f"duplicate {share}%",
             "netem damaged": f"corrupt {share}%", "netem reordered": f"delay 1ms reorder {100 - share}%",
             "netem late answers": f"delay {dice.choice([12, 15, 20])}ms"}.get(kind, f"loss {share}%" if kind.startswith("netem loss") else "")
    return (words, "") if KINDS[kind].fault == "netem 0" else ("", words)


def transfer(pair, kind, dice):
    """Runs the writes of a draw. Returns what was asked for, in words."""
    mtu, size = dice.choice([1024, 2048, 4096]), dice.choice([16, 64, 128]) << 10
    count, timeout = max(4, dice.choice([2, 3]) * (1 << 20) // size), 16
    how = KINDS[kind].how
    if kind == "netem late answers":
        timeout = 11  # 8 ms
    if kind in ("relay answers lost", "netem late answers"):
        size, count, timeout = 4096, 40, min(timeout, 13)
    if kind == "not ready":
        count, size = dice.choice([20, 40]), 4096
    verbs = ["write", "imm", "send", "read"] if how == "each" else [how] * (dice.choice([2, 3]) if kind == "several QPs" else 1)
    qps = [pair.connect(1 << 20, mtu, dice, timeout) for _ in verbs]
    for qp, how in zip(qps, verbs):
        if how in ("imm", "send") and kind != "not ready":
            pair.pair[1].say(f"receive {qp} {count}")
        if kind == "not ready":
            pair.pair[0].tell(f"write {qp} {count} {size} send")
            time.sleep(dice.choice([0.05, 0.1]))
            pair.pair[1].say(f"receive {qp} {count}")
            said = [pair.pair[0].read(90)]
        elif kind == "several QPs" and qp == qps[-1]:  # this one both ways at a time
            pair.pair[1].tell(f"write {qp} {count} {size}")
            said = [pair.pair[0].say(f"write {qp} {count} {size}", 90), pair.pair[1].read(90)]
        elif count == 40 and kind != "not ready":  # one at a time: nothing behind it acknowledges it
            said = [pair.pair[0].say(f"write {qp} 1 {size}", 90) for _ in range(count)]
        else:
            said = [pair.pair[0].say(f"write {qp} {count} {size} {how}", 90)]
        for word in said:
            check(word.startswith("done"), f"{kind}: {word}")
    return f"{count} x {size} B, MTU {mtu}, {len(qps)} QP"


def check_nic(kind, draw, capture, counters, wanted):
    """The same counters as `rdma statistic -j` prints them, read by the program: those that the draw holds equal agree."""
    paths = [capture.with_suffix(f".{when}.json") for when in ("before", "after")]
    for path, sides in zip(paths, counters):
        path.write_text(json.dumps([{"ifname": "rxe0", **sides[1]}]), encoding="utf-8")
    words = ["--nic", ADDRESSES[1], "--before", paths[0], "--after", paths[1], "--json"]
    done = weft.run("pcap", "analyze", capture, *words)
    states = {row["counter"]: row["state"] for row in json.loads(done.stdout)["nic"]} if done.returncode == 0 else {}
    for what, counter in (("NAKs", "out_of_seq_request"), ("RNRs", "send_rnr_err")):
        if what in wanted and kind != "several QPs":
            check(states.get(counter) == "agrees", f"{kind} {draw}: {counter} {states.get(counter)} {done.stderr}")


def judge(kind, draw, capture, counters, hits):
    """`counters`: those of the two stacks before and after."""
    moved = [{name: counters[1][n][name] - counters[0][n][name] for name in counters[0][n]} for n in (0, 1)]
    fault, tap, cause, how, of = KINDS[kind]
    done = weft.run("pcap", "analyze", capture, "--json")
    if not check(done.returncode == 0, f"{kind} {draw}: {done.stderr}"):
        return
    told = json.loads(done.stdout)
    figures, found = told["figures"], told["finding"]
    broken = {row["rule"]: row["first_packet"] for row in told["rules"] if row["packets"]}
    check(not broken and not told["dscp_changes"], f"{kind} {draw}: no rule of the protocol is broken: {broken}")
    by_source = {n: sum(stream["packets"] for stream in told["streams"] if stream["source"] == address) for n, address in enumerate(ADDRESSES)}
    from_sender, from_target = by_source[0], by_source[1]
    sent = [side["sent_pkts"] for side in moved]
    if cause is not None and figures["retransmitted"] + figures["doubled"] + hits == 0 and kind != "not ready":
        print(f"    {kind} {draw}: nothing was hit")
        return
    check(found["cause"] == cause, f"{kind} {draw}: {found}, not {cause}; {hits} hits")
    wanted = {}
    if cause in (None, "loss_behind", "receiver_not_ready") or how == "read":
        wanted["packets of the sender"] = (from_sender, sent[0])
    lost = (sent[1] - from_target if how == "read" else sent[0] - from_sender) if cause == "loss_before" else None
    if lost is not None:  # the last packet before a step back leaves no trace if it is lost
        steps = len([repair for repair in told["repairs"] if repair["repeat_packet"]])
        check(lost - steps <= figures["lost_before"] <= lost, f"{kind} {draw}: {figures['lost_before']} lost, the stack has {lost}")
    if cause == "duplicate":
        wanted["doubled"] = (figures["doubled"], from_target - sent[1] if how == "read" else from_sender - sent[0])
    if kind == "netem damaged":  # addresses are damaged, too; a MAC without the ICRC's notice
        missing = sum(stream["packets"] for stream in told["streams"]) - from_target - moved[1]["rcvd_pkts"]
        check(abs(figures["damaged"] - missing) <= 2 + missing // 20, f"{kind} {draw}: {figures['damaged']} damaged, {missing} did not arrive")
    if kind == "relay reordered":
        wanted["overtaken"] = (figures["overtaken"], hits)
    if cause == "loss_behind":
        check(1 <= figures["lost_behind"] <= hits, f"{kind} {draw}: {figures['lost_behind']} losses behind, of {hits}")
    if of != "answers" and fault != "netem 1":  # all answers come to the tap
        wanted["NAKs"] = (figures["naks"], sum(side["out_of_seq_request"] for side in moved))
        wanted["RNRs"] = (figures["rnrs"], sum(side["send_rnr_err"] for side in moved))
    for what, (here, there) in wanted.items():
        check(here == there, f"{kind} {draw}: {what}: {here}, the stack has {there}")
    if lost is not None:
        wanted["lost"] = (figures["lost_before"], lost)
    check_nic(kind, draw, capture, counters, wanted)
    counts = ", ".join(f"{what} {here} of {there}" for what, (here, there) in wanted.items())
    print(f"    {kind} {draw}: {found['cause']} {found['causes']}; {counts}", flush=True)


def run(pair, kind, draw, folder):
    dice = random.Random(f"{kind} {draw}")
    fault, tap, _, how, of = KINDS[kind]
    capture = Capture(f"tap{tap}", folder / f"{kind.replace(' ', '-')}-{draw}.pcap")
    before = pair.counters()
    shares = [0.1, 0.2, 0.3] if of == "answers" and how != "read" else [0.005, 0.01, 0.02]
    pair.relay.make(fault if kind.startswith("relay") else None, of, dice.choice(shares), f"{kind} {draw}")
    transfer(pair, kind, dice)
    pair.relay.fault = None
    time.sleep(0.1)
    after = pair.counters()
    capture.end()
    judge(kind, draw, capture.path, (before, after), pair.relay.hits)


def stop(*_):
    sys.exit(1)  # guests and namespace go, too


def main():
    signal.signal(signal.SIGTERM, stop)
    if os.geteuid() != 0 or not TOOLS.is_dir():
        skip("not root" if TOOLS.is_dir() else f"{TOOLS} is not here")
    for program in ("qemu-system-x86_64", "ip"):
        if shutil.which(program) is None:
            skip(f"{program} is not here")
    if not (shutil.which("dumpcap") or shutil.which("tcpdump")):
        skip("neither dumpcap nor tcpdump is here")
    sys.path.insert(0, str(TOOLS))
    import guests  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as room:
        image = pathlib.Path(os.environ.get("WEFT_RXE_GUEST", room))
        if not (image / "initrd.gz").exists():
            made = subprocess.run([TOOLS / "build", image], capture_output=True, text=True, check=False)
            if made.returncode != 0:
                skip(f"no guest can be built here: {made.stderr.strip()[-200:]}")
        folder = pathlib.Path(KEEP or room)
        kinds = [kind for kind in KINDS if kind in os.environ.get("WEFT_RXE_KINDS", kind).split(",")]
        draws = range(FIRST, FIRST + COUNT)
        for kind in (kind for kind in kinds if not kind.startswith("netem")):
            with Pair(guests, image) as pair:  # a guest has 64 QPs in its life
                for draw in draws:
                    run(pair, kind, draw, folder)
        for kind in (kind for kind in kinds if kind.startswith("netem")):
            for draw in draws:
                with Pair(guests, image, netem_of(kind, random.Random(f"netem {kind} {draw}"))) as pair:
                    run(pair, kind, draw, folder)
        print(f"{len(kinds) * COUNT} draws, {failed} failed checks")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
