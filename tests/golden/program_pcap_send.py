#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap send: over a veth pair in a namespace of its own the frames of a capture come as they are, in their order and at their times; at half
the speed in twice the time, in loops one after the other. Without root or veth the device is left out, and said so."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

WEFT = os.environ["WEFT"]
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
failed = 0


def check(holds, what):
    global failed
    failed += 0 if holds else 1
    print(("ok: " if holds else "FAILED: ") + what)


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


def check_refusals(folder):
    path = folder / "some.pcap"
    write_capture(path)
    for words in ([path], [path, "absent0"], [path, "lo", "--speed", "0"], [path, "lo", "--speed", "fast"], [path, "lo", "--loops", "0"],
                  ["-", "lo", "--loops", "2"], [folder / "absent", "lo"], [path, "lo", "x"]):
        done = subprocess.run([WEFT, "pcap", "send", *map(str, words)], input="", capture_output=True, text=True, timeout=60, check=False)
        check(done.returncode == 2 or (done.returncode == 3 and os.geteuid() != 0), f"refused: {done.stderr.strip()}")
        check(done.stdout == "" and done.stderr.count("\n") == 1, "in one line")


def main():
    with tempfile.TemporaryDirectory() as room:
        check_refusals(pathlib.Path(room))
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
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
