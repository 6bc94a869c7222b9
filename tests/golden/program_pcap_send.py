#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap send: over a veth pair in a namespace of its own the frames of a capture come as they are, in their order and at their times; at half
the speed in twice the time, in loops one after the other; and so they do into a port of DPDK. Without root or veth the device is left out, and said so."""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import weft
from weft import WEFT, check

SPACE = f"weft-send-{os.getpid()}"
LISTEN = """
import socket, struct, sys
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
port.setsockopt(socket.SOL_SOCKET, 35, 1)  # stamps in ns
port.bind(("vb0", 3))
port.settimeout(20)
print("ready", flush=True)
for _ in range(int(sys.argv[1])):
    frame, more, _, origin = port.recvmsg(65536, 128)
    while origin[2] == socket.PACKET_OUTGOING or frame[12:14] != bytes.fromhex("88b5"):
        frame, more, _, origin = port.recvmsg(65536, 128)
    seconds, ns = struct.unpack("qq", more[0][2][:16])
    print(seconds * 10**9 + ns, frame.hex(), flush=True)
"""
GAPS_US = [0, 3000, 0, 20000, 100, 40000, 7000, 30000]


def write_capture(path, cut=None):
    """A pcap of ns with a frame at each time. Returns the times and the frames."""
    data, at, times, frames = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1), 1_700_000_000 * 10**9 + 123, [], []
    for i, gap in enumerate(GAPS_US):
        at += gap * 1000
        frame = bytes.fromhex("02000000000202000000000188b5") + bytes((i * 7 + k) % 256 for k in range(60 + 100 * i))
        kept = frame[:cut] if cut else frame
        data += struct.pack("<IIII", at // 10**9, at % 10**9, len(kept), len(frame)) + kept
        times.append(at)
        frames.append(kept + bytes(len(frame) - len(kept)))
    path.write_bytes(data)
    return times, frames


def send(path, count, *words):
    inside = ["ip", "netns", "exec", SPACE]
    with subprocess.Popen([*inside, sys.executable, "-c", LISTEN, str(count)], stdout=subprocess.PIPE, text=True) as listener:
        listener.stdout.readline()
        done = subprocess.run([*inside, WEFT, "pcap", "send", path, "va0", *words], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            listener.terminate()
            return done, [], []
        rows = [line.split() for line in listener.stdout]
    return done, [int(row[0]) for row in rows], [bytes.fromhex(row[1]) for row in rows]


def check_times(what, got, want_ns):
    """No frame is early, and in the middle they are late by less than 20 ms, on a busy host too; lateness does not add up."""
    base = min(g - w for g, w in zip(got, want_ns))
    late = sorted(g - w - base for g, w in zip(got, want_ns))
    check(late[len(late) // 2] < 20_000_000, f"{what}: late by {late[len(late) // 2] / 1000:.0f} us in the middle, {late[-1] / 1000:.0f} at most")


def check_device(folder):
    path = folder / "some.pcap"
    times, frames = write_capture(path)
    since = [at - times[0] for at in times]
    done, got, came = send(path, len(frames))
    check(done.returncode == 0 and came == frames and f"{len(frames)} frames sent" in done.stdout, f"frames as they are: {done.stdout.strip()} {done.stderr}")
    check_times("once", got, since)
    done, got, came = send(path, len(frames), "--speed", "0.5")
    check(came == frames, "half the speed: the same frames")
    check_times("half the speed", got, [2 * at for at in since])
    check(got[-1] - got[0] >= 1.9 * since[-1], "in twice the time")
    done, got, came = send(path, 3 * len(frames), "--loops", "3", "--speed", "2")
    period = since[-1] * (1 + 1 / len(frames))
    check(came == 3 * frames, "three loops")
    check_times("loops", got, [(at + loop * period) / 2 for loop in range(3) for at in since])
    _, cut = write_capture(path, cut=40)
    done, got, came = send(path, len(cut))
    check(came == cut and "had been cut" in done.stdout, "what was cut is zeros")
    # What the device does not take is not late, though its time has passed.
    times, frames = write_capture(path)
    path.write_bytes(path.read_bytes() + 20 * (struct.pack("<IIII", times[0] // 10**9, times[0] % 10**9, 9100, 9100) + bytes(9100)))
    done, got, came = send(path, len(frames), "--speed", "10")
    late = re.search(r"^(\d+) were late", done.stdout, re.M)
    check(came == frames and "20 left out: longer than the device takes (its MTU)\n" in done.stdout and int(late.group(1) if late else 0) <= len(frames),
          f"too long for the device: {done.stdout}")


def read_pcap(path):
    """Times in ns and frames of a pcap of us or ns."""
    data, at, rows = path.read_bytes(), 24, []
    unit = 1 if data[:4] == bytes.fromhex("4d3cb2a1") else 1000
    while at < len(data):
        seconds, part, kept, _ = struct.unpack_from("<IIII", data, at)
        rows.append((seconds * 10**9 + part * unit, data[at + 16:at + 16 + kept]))
        at += 16 + kept
    return [row[0] for row in rows], [row[1] for row in rows]


def check_port(folder):
    """Into a port of DPDK that writes a pcap itself."""
    path, out = folder / "some.pcap", folder / "out.pcap"
    times, frames = write_capture(path)
    since = [at - times[0] for at in times]
    for words, factor in (([], 1), (["--speed", "0.5", "--drift", "-1000"], 2 / 0.999), (["--loops", "2"], 1)):
        done = weft.run("pcap", "send", path, f"net_pcap0,tx_pcap={out}", *words, timeout=60)
        if done.returncode == 3 and ("without DPDK" in done.stderr or "net_pcap" in done.stderr):
            print(f"no port of DPDK that writes files here: left out ({done.stderr.strip()})")
            return False
        loops = 2 if "--loops" in words else 1
        got, came = read_pcap(out)
        check(done.returncode == 0 and came == loops * frames, f"into a port {words}: {done.stdout.strip()} {done.stderr}")
        period = since[-1] * (1 + 1 / len(frames))
        check_times(f"into a port {words}", got, [factor * (at + loop * period) for loop in range(loops) for at in since])
    return True


def check_drift(folder):
    """1 s of a clock that was slow by 1000 ppm takes 2 ms longer than of one that was fast by as much. The driver's own clock, which stamps, may be
    off; a first frame that is late on a busy host makes it less: five tries."""
    path, out = folder / "long.pcap", folder / "drift.pcap"
    rows = b"".join(struct.pack("<IIII", s, 0, 60, 60) + bytes(60) for s in (1000, 1001))
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1) + rows)
    longer = 0
    for _ in range(5):
        spans = []
        for ppm in ("-1000", "1000"):
            weft.run("pcap", "send", path, f"net_pcap0,tx_pcap={out}", "--drift", ppm, text=False, timeout=60, check=True)
            got, _ = read_pcap(out)
            spans.append(got[1] - got[0])
        longer = max(longer, spans[0] - spans[1])
        if longer >= 1_500_000:
            break
    check(longer >= 1_500_000, f"drift: {longer / 1e6:.3f} ms longer")


def check_refusals(folder):
    path = folder / "some.pcap"
    write_capture(path)
    for words in ([path], [path, "absent0"], [path, "lo", "--speed", "0"], [path, "lo", "--speed", "fast"], [path, "lo", "--loops", "0"],
                  [path, "lo", "--drift", "1001"], [path, "lo", "--drift", ""], [path, "net_absent0"],
                  ["-", "lo", "--loops", "2"], [folder / "absent", "lo"], [path, "lo", "x"]):
        done = weft.run("pcap", "send", *words, input="", timeout=60)
        environment = os.geteuid() != 0 or "net_absent0" in words
        check(done.returncode == (3 if environment and done.returncode == 3 else 2), f"refused: {done.stderr.strip()}")
        check(done.stdout == "" and done.stderr.count("\n") == 1, "in one line")


def main():
    with tempfile.TemporaryDirectory() as room:
        check_refusals(pathlib.Path(room))
        if check_port(pathlib.Path(room)):
            check_drift(pathlib.Path(room))
        made = os.geteuid() == 0 and subprocess.run(["ip", "netns", "add", SPACE], capture_output=True, check=False).returncode == 0
        try:
            link = ["ip", "-n", SPACE, "link"]
            words = (["add", "va0", "mtu", "9000", "type", "veth", "peer", "name", "vb0", "mtu", "9000"], ["set", "va0", "up"], ["set", "vb0", "up"])
            made = made and all(subprocess.run([*link, *one], capture_output=True, check=False).returncode == 0 for one in words)
            if made:
                check_device(pathlib.Path(room))
            else:
                print("no namespace or veth can be made here: the device is left out")
        finally:
            subprocess.run(["ip", "netns", "del", SPACE], capture_output=True, check=False)
    return check.failed > 0


if __name__ == "__main__":
    sys.exit(main())
