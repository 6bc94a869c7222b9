#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft pcap capture: frames that are sent over a veth pair, in a namespace made for it, are captured as headers or whole; triggers
end a capture, files are written by turns, a signal ends it whole. From ports of DPDK, too: one that reads a pcap, and shared memory into which
weft pcap send sends. Without root, veth, libpcap or DPDK what needs them is left out, and said so."""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import weft
from weft import SOURCE, WEFT, check

PCAPS = pathlib.Path(SOURCE, "pcaps")
SPACE = f"weft-capture-{os.getpid()}"
ARP = bytes.fromhex("ffffffffffff0200000000010806" + "0001080006040001" + "020000000001" + "0a000001" + "000000000000" + "0a000002")
SEND = """
import socket, sys, time
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind(("va0", 0))
for line in sys.stdin:
    port.send(bytes.fromhex(line))
    time.sleep(0.0002)
"""


def frames(path, interfaces=None):
    """(captured bytes, original length, comment or None) of each packet block, of these interfaces."""
    data, at, ret = path.read_bytes(), 0, []
    while at < len(data):
        length = int.from_bytes(data[at + 4:at + 8], "little")
        if int.from_bytes(data[at:at + 4], "little") == 6 and (interfaces is None or int.from_bytes(data[at + 8:at + 12], "little") in interfaces):
            captured, original = (int.from_bytes(data[at + i:at + i + 4], "little") for i in (20, 24))
            options = data[at + 28 + (captured + 3) // 4 * 4:at + length - 4]
            ret.append((data[at + 28:at + 28 + captured], original, options[4:4 + int.from_bytes(options[2:4], "little")].decode() if options else None))
        at += length
    return ret


def statistics(path):
    data = path.read_bytes()
    length = int.from_bytes(data[-4:], "little")
    block = data[-length:]
    return block[:4] == b"\5\0\0\0", int.from_bytes(block[24:32], "little"), int.from_bytes(block[36:44], "little")


def send(what):
    subprocess.run(["ip", "netns", "exec", SPACE, sys.executable, "-c", SEND], input="\n".join(frame.hex() for frame in what) + "\n", text=True, check=True)


def capture(words, what, stop=False):
    """Status and words of a capture on vb0 while `what` is sent."""
    run = subprocess.Popen(["ip", "netns", "exec", SPACE, WEFT, "pcap", "capture", "vb0", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    first = run.stderr.readline()
    if first == "listening on vb0\n":
        send(what)
        if stop:
            subprocess.run(["sleep", "0.5"], check=True)
            run.send_signal(signal.SIGINT)
    try:
        out, error = run.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        run.kill()
        out, error = run.communicate()
        first += "HANGS "
    return run.returncode, out, first + error


def check_frames(folder):
    target = (2, 3)  # its tap, which has both directions of a cable: no frame is there twice
    sent = [frame for frame, _, _ in frames(PCAPS / "rocev2-go-back-n.pcapng", target)]
    out = folder / "headers.pcapng"
    status, said, error = capture(["-o", out, "--count", len(sent)], [ARP, *sent])
    check(status == 0 and said.startswith(f"{len(sent)} frames captured, ") and "; 0 dropped" in said, f"headers: {said.splitlines()[:1]} {error}")
    got = frames(out)
    check([original for _, original, _ in got] == [len(frame) for frame in sent] and all(frame.startswith(head) for (head, _, _), frame in zip(got, sent)),
          "all frames, as long as they were")
    check(max(len(head) for head, _, _ in got) <= 100 and sum(len(frame) for frame in sent) > 20 * len(sent), "headers alone")
    is_there, received, dropped = statistics(out)
    check(is_there and received >= len(sent) and dropped == 0, f"statistics: {received} received, {dropped} dropped")
    told = weft.run("pcap", "analyze", out).stdout
    check(told.startswith("loss BEFORE the capture point"), "its analysis says what that of the first capture says")
    whole = folder / "whole.pcapng"
    status, said, error = capture(["-o", whole, "--all", "--whole"], [ARP, *sent], stop=True)
    bodies = [body for body, _, _ in frames(whole)]
    check(status == 0 and [body for body in bodies if body in sent] == sent and any(body.startswith(ARP) for body in bodies), f"whole, others too: {said.splitlines()[:1]}")


def check_triggers(folder):
    for name, words, says in (("rocev2-go-back-n", ["nack"], "trigger: NAK"), ("trim-last-hop", ["trim,rnr"], "trigger: trimmed"),
                              ("trim-last-hop", ["nack"], "trigger: NACK"), ("rocev2-cnp", ["ce", "--ce-burst", "3"], "trigger: burst of CE")):
        sent = [frame for frame, _, _ in frames(PCAPS / f"{name}.pcapng")]
        out = folder / f"{name}.pcapng"
        status, said, error = capture(["-o", out, "--trigger", *words, "--after", "2", "--force", "--seconds", "30"], sent)
        comments = [comment for _, _, comment in frames(out)] if out.exists() else []
        check(status == 0 and f"\n{says}; " in said and comments[-3:] == [says, None, None] and len(comments) < len(sent) and not any(comments[:-3]),
              f"{name}: {says}, and 2 more of {len(sent)} {error if status else ''}")
    check_ev(folder)
    status, said, _ = capture(["-o", folder / "none.pcapng", "--trigger", "rnr"], sent, stop=True)
    check(status == 0 and "\nno trigger\n" in said and len(frames(folder / "none.pcapng")) == len(sent), "no trigger: until it is stopped")


def check_ev(folder):
    """A QP that takes another source port after a while: seen at that packet. One that has two from the start, by turns: no change."""
    data = [frame for frame, _, _ in frames(PCAPS / "rocev2-clean-write.pcapng") if len(frame) > 200][0]
    other = data[:54] + bytes([data[54] ^ 1]) + data[55:]  # of the UDP source port
    out = folder / "ev.pcapng"
    status, said, error = capture(["-o", out, "--trigger", "ev", "--after", "2", "--force", "--seconds", "30"], [data] * 40 + [other] * 9)
    comments = [comment for _, _, comment in frames(out)] if out.exists() else []
    check(status == 0 and comments == [None] * 40 + ["trigger: another EV", None, None], f"another EV: {said} {error}")
    status, said, _ = capture(["-o", out, "--trigger", "ev", "--force"], [data, other] * 40, stop=True)
    check(status == 0 and "\nno trigger\n" in said, f"two by turns are no change: {said}")
    # Many EVs, of which none is new for long: none of weft's own, as its QPs draw them.
    sent = [frame for frame, _, _ in frames(PCAPS / "clean-write.pcapng")]
    status, said, _ = capture(["-o", out, "--trigger", "ev", "--force"], sent, stop=True)
    check(status == 0 and "\nno trigger\n" in said, f"no change in a healthy run: {said}")
    # More QPs than there is room for: those without a place are told; before, none was.
    check("not watched" not in said, f"all were watched: {said}")
    sent = [data[:67] + qpn.to_bytes(3, "big") + data[70:] for qpn in range(1, 8193)]
    status, said, _ = capture(["-o", out, "--trigger", "ev", "--force"], sent, stop=True)
    check(status == 0 and "packets not watched for another EV" in said, f"QPs without a place: {said}")


def check_rotation(folder):
    sent = [frame for frame, _, _ in frames(PCAPS / "rocev2-go-back-n.pcapng")]
    sent = [frame.ljust(3000, b"\0") for frame in sent for _ in range(12)]
    out = folder / "ring.pcapng"
    status, said, error = capture(["-o", out, "--whole", "--ring", 2, "--file-mb", 1, "--count", len(sent)], sent)
    names = said.splitlines()[-1].split()
    sizes = [os.path.getsize(name) for name in names]
    check(status == 0 and sorted(names) == [str(folder / f"ring.{i}.pcapng") for i in (0, 1)] and max(sizes) <= 1_000_000, f"two files by turns: {sizes} {error}")
    kept = [body for name in names for body, _, _ in frames(pathlib.Path(name))]
    check(kept == sent[len(sent) - len(kept):], f"the last {len(kept)} of {len(sent)} frames are in them, in order")
    check(all(statistics(pathlib.Path(name))[0] for name in names), "each has its statistics")


def on_port(port, *words):
    # A port ends with the process, and what libpcap allocated is known to DPDK's own memory alone: a leak to a sanitiser.
    unleaky = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    done = weft.run("pcap", "capture", port, *words, timeout=60, env=unleaky)
    return done.returncode, done.stdout, done.stderr


def write_pcap(path, what):
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    path.write_bytes(data + b"".join(struct.pack("<IIII", 0, at, len(frame), len(frame)) + frame for at, frame in enumerate(what)))


def check_ports(folder):
    """The frames that a port of DPDK reads from a file, as headers and whole, up to a trigger, by turns; and those of shared memory."""
    sent = [frame for frame, _, _ in frames(PCAPS / "rocev2-go-back-n.pcapng", (2, 3))]
    given, out = folder / "given.pcap", folder / "port.pcapng"
    write_pcap(given, [ARP, *sent])
    port = f"net_pcap0,rx_pcap={given}"
    status, said, error = on_port(port, "-o", out, "--count", len(sent))
    if status == 3 and ("without DPDK" in error or "net_pcap" in error):
        print(f"no port of DPDK that reads files: left out ({error.strip()})")
        check(not out.exists(), "a build without it says so, and writes nothing")
        return
    got = frames(out)
    check(status == 0 and said.startswith(f"{len(sent)} frames captured, 1 of other") and "; 0 dropped" in said, f"a port: {said.splitlines()[:1]} {error}")
    check([original for _, original, _ in got] == [len(frame) for frame in sent] and all(frame.startswith(head) for (head, _, _), frame in zip(got, sent)) and
          max(len(head) for head, _, _ in got) <= 100, "its frames as headers, as long as they were")
    is_there, received, dropped = statistics(out)
    check(is_there and received >= len(sent) and dropped == 0, f"its statistics: {received} received, {dropped} dropped")
    told = json.loads(weft.run("pcap", "analyze", "--json", out).stdout)
    check(told["finding"]["cause"] == "loss_before", f"its analysis: {told['finding']}")
    # Frames of one poll have one stamp: nothing finer than that is told.
    check(all(row["withheld"] or row["packets"] < 4 for row in told["bursts"] if row["bin_ns"] == 1000), "bins of 1 us are withheld")
    status, said, _ = on_port(port, "-o", out, "--whole", "--all", "--seconds", "1", "--force")
    check(status == 0 and [body for body, _, _ in frames(out)] == [ARP, *sent], "whole, others too, until the time is over")
    status, said, _ = on_port(port, "-o", out, "--trigger", "nack", "--after", "2", "--force")
    kept = frames(out)
    check(status == 0 and "\ntrigger: NAK" in said and kept[-3][2] and not any(comment for _, _, comment in kept[-2:]), f"two frames behind a NAK: {said.splitlines()[1:2]}")
    for words in (["--filter", "udp"], ["--not-promiscuous"]):
        status, said, error = on_port(port, "-o", folder / "x", *words)
        check(status == 2 and said == "" and words[0] in error, f"refused at a port: {error.strip().splitlines()[-1]}")
    status, said, error = on_port("net_nosuch0", "-o", folder / "x")
    check(status in (2, 3) and not (folder / "x").exists(), f"refused: {error.strip().splitlines()[-1]}")
    for wait_s in (0, 1):
        check_shared_memory(given, out, sent, f"memif:capture{os.getpid()}-{wait_s}", wait_s)
    for is_killed in (False, True):
        check_end_that_goes_away(folder, given, out, sent, f"memif:gone{os.getpid()}-{is_killed}", is_killed)


def check_shared_memory(given, out, sent, name, wait_s):
    """The capture calls, whoever starts first."""
    with weft.start("pcap", "capture", name, "-o", out, "--force", "--count", len(sent)) as run:
        time.sleep(wait_s)
        source = weft.run("pcap", "send", given, name, timeout=60)
        try:
            said, error = run.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            run.kill()
            said, error = run.communicate()
    check(source.returncode == run.returncode == 0 and [original for _, original, _ in frames(out)] == [len(frame) for frame in sent],
          f"shared memory: {said.splitlines()[:1]} {error} {source.stderr}")


def check_end_that_goes_away(folder, given, out, sent, name, is_killed):
    """A capture without an end of its own ends with what the other end sent before it ended or was killed."""
    out.unlink()
    with weft.start("pcap", "capture", name, "-o", out) as run:
        loops = ["--loops", "1000000"] if is_killed else []
        with subprocess.Popen([WEFT, "pcap", "send", given, name, *loops], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as source:
            while is_killed and run.poll() is None and not any(draft.stat().st_size > 0 for draft in folder.glob(f"*{out.name}*")):
                time.sleep(0.01)
            if is_killed:
                source.kill()
        try:
            said, error = run.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            run.kill()
            said, error = "HANGS", ""
            run.communicate()
    got = [original for _, original, _ in frames(out)] if out.exists() else []
    check(run.returncode == 0 and "\nthe device is gone: the other end of the shared memory has ended\n" in said and statistics(out)[0],
          f"shared memory whose end goes away, {'killed' if is_killed else 'done'}: {said.splitlines()[:2]} {error}")
    whole = [len(frame) for frame in sent]
    check(got == whole if not is_killed else len(got) > 0 and got == (whole * (len(got) // len(whole) + 1))[:len(got)], f"what it had sent is there: {len(got)} frames")


def check_refusals(folder):
    (folder / "there").write_text("x")
    for words in (["no-such-device", "-o", folder / "x"], ["lo"], ["lo", "-o", folder / "x", "--filter", "no such"], ["lo", "-o", folder / "there"],
                  ["lo", "-o", folder / "x", "--trigger", "nonsense"], ["lo", "-o", folder / "x", "--ring", "3"], ["lo", "-o", folder / "x", "--after", "3"],
                  ["lo", "-o", folder / "x", "--count", "0"], ["lo", "-o", folder / "x", "--ce-burst", "3", "--trigger", "nack"]):
        done = weft.run("pcap", "capture", *words, timeout=60)
        check(done.returncode in (2, 3) and done.stdout == "" and done.stderr.count("\n") == 1, f"refused: {done.stderr.strip()[-100:]}")
    check(not (folder / "x").exists(), "what is refused writes nothing")


def has_devices():
    """A namespace with a veth pair, made here; a build with libpcap."""
    probe = weft.run("pcap", "capture", "no-such-device", "-o", "/dev/null", "--force")
    if "no libpcap" in probe.stderr or not shutil.which("ip") or subprocess.run(["ip", "netns", "add", SPACE], capture_output=True).returncode:
        return False
    words = ["ip", "-n", SPACE, "link", "add", "va0", "mtu", "9000", "type", "veth", "peer", "name", "vb0", "mtu", "9000"]
    is_made = subprocess.run(words, capture_output=True).returncode == 0
    for name in ("va0", "vb0"):
        is_made = is_made and subprocess.run(["ip", "-n", SPACE, "link", "set", name, "up"], capture_output=True).returncode == 0
    return is_made


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    try:
        if has_devices():
            check_frames(folder)
            check_triggers(folder)
            check_rotation(folder)
        else:
            print("no root, no veth or no libpcap: captures of devices are left out")
    finally:
        subprocess.run(["ip", "netns", "del", SPACE], capture_output=True)
    check_ports(folder)
    check_refusals(folder)
sys.exit(1 if check.failed else 0)
