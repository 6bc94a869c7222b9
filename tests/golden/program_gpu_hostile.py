#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links that are damaged, and peers that lie: weft emu and weft gpu end with a message and the exit status that their help
names, none by a signal, and none waits for ever. The sanitizer builds run this, too."""
import concurrent.futures
import fcntl
import mmap
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

import weft
from weft import BAD_INPUT, ENVIRONMENT, PEER_LOST

HANGS_S = 300
MAGIC, VERSION = 0x316B6E696C757067, 3
GATE, FILL, REDUCE, UPDATE, COMPUTE = range(5)
WAITS, RUNS, DONE, FAILED = 1, 2, 3, 4
READY, RANK_DONE, RANK_FAILED = 1, 2, 3
NEVER = 2**63 - 1
HEADER = ("magic", "version", "header_bytes", "file_bytes", "rank_count", "op_count", "ops", "ranks", "asked", "done", "buffers",
          "buffer_bytes", "stretch_bytes", "bucket_bytes", "slice_bytes", "block_bytes", "element_bytes", "host_pid", "seed",
          "dilation_milli", "state", "group_ranks", "has_barrier", "limit_s", "start_ns", "beat_ns")
HEADER_FORMAT = "<QIIQII5QQ4QIIQQIIIIqq"
OP, ROW, FLAG = struct.Struct("<6IQQq"), 280, struct.Struct("<IIq")
EMU = ["emu", "gradients", "--ports", "memory", "--set", "traffic.buckets=2", "--set", "traffic.bytes=32KiB", "--set",
       "traffic.steps=1200", "--dilation", "20", "--gpu"]


def offsets():
    at, ret = 0, {}
    codes = "".join(code * int(count or 1) for count, code in re.findall(r"(\d*)([A-Za-z])", HEADER_FORMAT))
    for name, code in zip(HEADER, codes):
        ret[name] = (at, "<" + code)
        at += struct.calcsize("<" + code)
    return ret


OFFSETS = offsets()


def up(value, grain):
    return (value + grain - 1) // grain * grain


def good_ops():
    """Two steps of two buckets, each of two slices of 128 bytes: work, needs, step, bucket, slice, 0, offset, bytes, time."""
    ops = []
    for step in (0, 1):
        ops += [[GATE, int(step > 0), step, bucket, 0, 0, bucket * 256, 256, 1000] for bucket in (0, 1)]
        for k in range(4):
            ops += [[work, int(work == REDUCE), step, k // 2, k % 2, 0, k * 128, 128, 1000] for work in (FILL, REDUCE)]
        ops.append([UPDATE, 1, step, 0, 0, 0, 0, 512, 1000])
    return ops + [[GATE, 1, 2, bucket, 0, 0, bucket * 256, 256, 0] for bucket in (0, 1)]


class Image:
    """A link of two ranks that is right, in memory."""

    def __init__(self):
        self.list = good_ops()
        self.row = [(0, 0), (0, 1)]  # what is added to the buffer's offset; number
        count = len(self.list)
        self.head = dict(magic=MAGIC, version=VERSION, header_bytes=168, rank_count=2, op_count=count, ops=192, stretch_bytes=512,
                         bucket_bytes=256, slice_bytes=128, block_bytes=64, element_bytes=2, host_pid=1, seed=1, dilation_milli=1000,
                         state=WAITS, group_ranks=2, has_barrier=0, limit_s=60, start_ns=0, beat_ns=time.monotonic_ns())
        self.head["ranks"] = 192 + up(count * OP.size, 64)
        self.head["asked"] = self.head["ranks"] + up(2 * ROW, 64)
        self.head["done"] = up(self.head["asked"] + 2 * count * FLAG.size, 64)
        self.head["buffers"] = up(self.head["done"] + 2 * count * FLAG.size, 65536)
        self.head["buffer_bytes"] = 65536
        self.head["file_bytes"] = self.head["buffers"] + 2 * 65536

    def bytes(self):
        data = bytearray(self.head["buffers"] + 2 * 65536)
        struct.pack_into(HEADER_FORMAT, data, 0, *(self.head[name] for name in HEADER))
        for i, op in enumerate(self.list):
            OP.pack_into(data, 192 + i * OP.size, *op)
        for rank, (more, number) in enumerate(self.row):
            struct.pack_into("<QI", data, 192 + up(len(self.list) * OP.size, 64) + rank * ROW + 16,
                             (self.head["buffers"] + rank * 65536 + more) % 2**64, number)
        return data


def changed(**head):
    def change(image):
        image.head.update(head)
        return image.bytes()
    return change


def op(at, field, value):
    def change(image):
        image.list[at][("work", "needs", "step", "bucket", "slice", "reserved", "offset", "bytes", "compute").index(field)] = value
        return image.bytes()
    return change


def listed(change_list):
    def change(image):
        change_list(image.list)
        return image.bytes()
    return change


def rows(*row):
    def change(image):
        image.row = row
        return image.bytes()
    return change


def raw(change_bytes):
    return lambda image: bytes(change_bytes(image.bytes()))


# What weft gpu is given as its link, which a run seems to hold: (name, the file's bytes, what it says)
NO_LINK, CUT, SIZES, LENGTH = "not a link of a run", "cut short", "sizes do not fit together", "not as long as it says"
FILES = [
    ("64 KiB of 0xff", raw(lambda data: b"\xff" * 65536), NO_LINK),
    ("one byte", raw(lambda data: b"x"), NO_LINK),
    ("text", raw(lambda data: b"precious\n" * 50), NO_LINK),
    ("the magic number alone", raw(lambda data: data[:8]), CUT),
    ("half a header", raw(lambda data: data[:100]), CUT),
    ("a header alone", raw(lambda data: data[:168]), LENGTH),
    ("cut in the computations", raw(lambda data: data[:1000]), LENGTH),
    ("a page short", raw(lambda data: data[:-4096]), LENGTH),
    ("a byte short", raw(lambda data: data[:-1]), LENGTH),
    ("a byte long", raw(lambda data: data + b"\0"), LENGTH),
    ("zeros behind the header", raw(lambda data: data[:168] + bytes(len(data) - 168)), "a rank's data lie elsewhere"),
    ("0xff behind the header", raw(lambda data: data[:168] + b"\xff" * (len(data) - 168)), "a rank's data lie elsewhere"),
    ("version 2", changed(version=2), "another version"),
    ("another header", changed(header_bytes=160), "another version"),
    ("op_count 0", changed(op_count=0), SIZES),
    ("op_count 2^31", changed(op_count=2**31), SIZES),
    ("op_count 2^32 - 1", changed(op_count=2**32 - 1), SIZES),
    ("op_count 2^24", changed(op_count=2**24), LENGTH),
    ("one op more", changed(op_count=len(good_ops()) + 1), LENGTH),
    ("rank_count 0", changed(rank_count=0), SIZES),
    ("rank_count 2^32 - 1", changed(rank_count=2**32 - 1), SIZES),
    ("rank_count 4096", changed(rank_count=4096, group_ranks=4096), SIZES),
    ("group_ranks 0", changed(group_ranks=0), SIZES),
    ("group_ranks 1", changed(group_ranks=1), SIZES),
    ("group_ranks 2^31", changed(group_ranks=2**31), SIZES),
    ("dilation 0", changed(dilation_milli=0), SIZES),
    ("dilation 2^64 - 1", changed(dilation_milli=2**64 - 1), SIZES),
    ("limit 0", changed(limit_s=0), SIZES),
    ("limit of 136 years", changed(limit_s=2**32 - 1), SIZES),
    ("a barrier of 2", changed(has_barrier=2), SIZES),
    ("elements of 3 bytes", changed(element_bytes=3), SIZES),
    ("elements of 0 bytes", changed(element_bytes=0), SIZES),
    ("blocks of 0", changed(block_bytes=0), SIZES),
    ("blocks of 2^63", changed(block_bytes=2**63, slice_bytes=0), SIZES),
    ("slices of 0", changed(slice_bytes=0), SIZES),
    ("buckets of 0", changed(bucket_bytes=0), SIZES),
    ("stretches of 2^64 - 256", changed(stretch_bytes=2**64 - 256), SIZES),
    ("stretches of 16 TiB", changed(stretch_bytes=2**44), LENGTH),
    ("ops elsewhere", changed(ops=2**64 - 48), LENGTH),
    ("ranks elsewhere", changed(ranks=0), LENGTH),
    ("asked beyond the end", changed(asked=2**40), LENGTH),
    ("done before the file", changed(done=2**64 - 4096), LENGTH),
    ("buffers elsewhere", changed(buffers=8), LENGTH),
    ("buffers of 2^63", changed(buffer_bytes=2**63), LENGTH),
    ("file_bytes 0", changed(file_bytes=0), LENGTH),
    ("a buffer before the file", rows((-2**63, 0), (0, 1)), "a rank's data lie elsewhere"),
    ("a buffer beyond the end", rows((0, 0), (65536, 1)), "a rank's data lie elsewhere"),
    ("a number beyond the group", rows((0, 0), (0, 2)), "two ranks have one number"),
    ("a number of 2^32 - 1", rows((0, 0), (0, 2**32 - 1)), "two ranks have one number"),
    ("a number twice", rows((0, 1), (0, 1)), "two ranks have one number"),
    ("no such work", op(0, "work", 5), "no such work"),
    ("work 2^32 - 1", op(7, "work", 2**32 - 1), "no such work"),
    ("a sum that is never asked for", op(3, "needs", 0), "wait for messages"),
    ("an update that is never asked for", op(10, "needs", 0), "wait for messages"),
    ("compute time 2^63 - 1", op(2, "compute", NEVER), "takes longer than the run may"),
    ("compute time a second beyond the limit", op(2, "compute", 61 * 10**9), "takes longer than the run may"),
    ("compute time below 0", op(2, "compute", -1), "takes longer than the run may"),
    ("compute time -2^63", op(12, "compute", -2**63), "takes longer than the run may"),
    ("an offset beyond the data", op(2, "offset", 512), "outside of the data"),
    ("an offset of 2^64 - 128", op(2, "offset", 2**64 - 128), "outside of the data"),
    ("bytes of 2^64 - 1", op(0, "bytes", 2**64 - 1), "outside of the data"),
    ("a gate of more than there is", op(1, "bytes", 512), "outside of the data"),
    ("half a slice", op(2, "bytes", 64), "cuts slices"),
    ("an offset of 1", op(2, "offset", 1), "cuts slices"),
    ("a fill of no bytes", op(2, "bytes", 0), "cuts slices"),
    ("a sum of another slice", op(3, "offset", 128), "one behind the other"),
    ("a fill without a sum", listed(lambda ops: ops[3].__setitem__(0, COMPUTE)), "one behind the other"),
    ("a sum without a fill", listed(lambda ops: ops[2].__setitem__(0, COMPUTE)), "one behind the other"),
    ("a sum first", listed(lambda ops: ops[0].__setitem__(slice(None), ops[3])), "one behind the other"),
    ("no update", listed(lambda ops: [each.__setitem__(0, COMPUTE) for each in ops if each[0] == UPDATE]), "no update at its end"),
    ("step 2^32 - 1", op(5, "step", 2**32 - 1), "one behind the other"),
    ("a gate of step 2^32 - 1", op(0, "step", 2**32 - 1), "a step whose turn it is not"),
    ("all in step 0", listed(lambda ops: [each.__setitem__(2, 0) for each in ops]), "a step whose turn it is not"),
    ("a step that is unlike the first", op(11, "bucket", 1), "not what the first step has"),
    ("an update at the end", listed(lambda ops: ops[-1].__setitem__(0, UPDATE)), "gates alone"),
]


def packed_lock(byte):
    return struct.pack("hhxxxxqqixxxx", fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)


class Link:
    """An open link that this program writes into."""

    def __init__(self, fd):
        self.fd, self.is_over = fd, False
        self.map = mmap.mmap(fd, 0)
        self.head = dict(zip(HEADER, struct.unpack_from(HEADER_FORMAT, self.map)))
        self.beater = None

    def hold(self, *bytes_):
        for byte in bytes_:
            fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK, packed_lock(byte))

    def put(self, name, value):
        at, code = OFFSETS[name]
        struct.pack_into(code, self.map, at, value)

    def row(self, rank, at, code, value):
        struct.pack_into(code, self.map, self.head["ranks"] + rank * ROW + at, value)

    def row_state(self, rank):
        return struct.unpack_from("<I", self.map, self.head["ranks"] + rank * ROW)[0]

    def is_asked(self, rank, at):
        return FLAG.unpack_from(self.map, self.head["asked"] + (rank * self.head["op_count"] + at) * FLAG.size)[0] != 0

    def flag(self, which, rank, at, when):
        FLAG.pack_into(self.map, self.head[which] + (rank * self.head["op_count"] + at) * FLAG.size, 0, 0, when)
        struct.pack_into("<I", self.map, self.head[which] + (rank * self.head["op_count"] + at) * FLAG.size, 1)

    def beat(self, *ranks):
        """A thread that shows that this end lives, of the run or of ranks."""
        def go_on():
            while not self.is_over:
                if not ranks:
                    self.put("beat_ns", time.monotonic_ns())
                for rank in ranks:
                    self.row(rank, 8, "<q", time.monotonic_ns())
                time.sleep(0.05)
        self.beater = threading.Thread(target=go_on, daemon=True)  # a test that fails ends, too
        self.beater.start()

    def still(self):
        self.is_over = True
        if self.beater is not None:
            self.beater.join()

    def close(self):
        self.still()
        self.map.close()
        os.close(self.fd)


def held(path, data):
    """A file that a run seems to hold."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, data)
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, packed_lock(0))
    return fd


# What a run does to weft gpu once it runs: (name, what it does to the link, what the generator says)
def overwrite(value, count):
    def act(link):
        link.still()
        os.pwrite(link.fd, bytes([value]) * count, 0)
    return act


def cut(size, again=False):
    def act(link):
        link.still()
        os.ftruncate(link.fd, size)
        if again:
            os.ftruncate(link.fd, link.head["file_bytes"])
    return act


def put(**values):
    return lambda link: [link.put(name, value) for name, value in values.items()]


def let_go(link):
    link.still()
    fcntl.fcntl(link.fd, fcntl.F_OFD_SETLK, struct.pack("hhxxxxqqixxxx", fcntl.F_UNLCK, os.SEEK_SET, 0, 1, 0))


OVER, CHANGED = "written over", "cut or stretched"
EITHER = f"({OVER}|{CHANGED})"
LATE_RUNS = [
    ("cut to nothing", cut(0), CHANGED),
    ("cut behind the header", cut(168), CHANGED),
    ("cut by a byte", cut(196607), CHANGED),
    ("cut and stretched again", cut(0, again=True), EITHER),
    ("0xff over the header", overwrite(0xFF, 168), OVER),
    ("zeros over everything", overwrite(0, 196608), OVER),
    ("0xff over everything", overwrite(0xFF, 196608), OVER),
    ("op_count 2^31", put(op_count=2**31), OVER),
    ("other offsets", put(asked=2**62, done=2**62, buffers=2**62), OVER),
    ("dilation 0", put(dilation_milli=0), OVER),
    ("a state that is none", put(state=77), "the run has failed"),
    ("it failed", put(state=FAILED), "the run has failed"),
    ("it is done too early", put(state=DONE), "has not asked for everything"),
    ("it is done too early and goes", lambda link: (put(state=DONE)(link), let_go(link)), "has not asked for everything"),
    ("it lets go", let_go, "the run is gone"),
    ("a heartbeat in a thousand years", lambda link: (link.still(), link.put("beat_ns", NEVER)), "the run is silent"),
    ("a heartbeat of -2^63", lambda link: (link.still(), link.put("beat_ns", -2**63)), "the run is silent"),
]
STARTS = [("a start in 2^63 ns", NEVER), ("a start below 0", -2**63), ("a start in an hour", 3600 * 10**9)]


class Hostile(weft.InMemory):
    def setUp(self):
        super().setUp()
        self.lock, self.count = threading.Lock(), 0

    def path(self):
        with self.lock:
            self.count += 1
            return str(self.folder / f"link-{self.count}")

    def start(self, *words):
        return weft.start(*words)

    def gpu(self, path, *words):
        return self.start("gpu", "--link", path, "--timeout", "20", *words)

    def says(self, process, name, status, wanted):
        """One line of a message; no signal, no finding of a sanitizer, no hang."""
        try:
            _, err = process.communicate(timeout=HANGS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"{name}: it hangs: {process.communicate()}")
        self.assertEqual((process.returncode, err.count("\n")), (status, 1), (name, err))
        self.assertRegex(err, r"^weft (gpu|emu): .*" + wanted, name)

    def each(self, cases, one, at_once=8):
        """All cases, a few at once; what failed is told of each."""
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            done = {case[0]: pool.submit(one, *case) for case in cases}
        for name, future in done.items():
            with self.subTest(name):
                future.result()

    def test_damaged_files_are_refused(self):
        def one(name, change, wanted):
            path = self.path()
            fd = held(path, change(Image()))
            self.says(self.gpu(path), name, PEER_LOST, wanted)
            self.assertTrue(os.path.exists(path), name)
            os.close(fd)
        self.assertGreaterEqual(len(FILES), 60)
        self.each(FILES, one)

    def test_the_file_without_damage_is_taken(self):
        """Else the cases above say nothing."""
        path = self.path()
        link, process = self.joined(path, Image().bytes())
        link.close()
        self.says(process, "sound", PEER_LOST, "the run is gone")

    def joined(self, path, data):
        """A run of this program, and a generator that took both ranks."""
        link = Link(held(path, data))
        link.beat()
        process = self.gpu(path)
        begin = time.monotonic()
        while link.row_state(0) != READY or link.row_state(1) != READY:
            self.assertIsNone(process.poll(), process.communicate() if process.poll() is not None else "")
            self.assertLess(time.monotonic(), begin + HANGS_S)
            time.sleep(0.01)
        return link, process

    def test_a_run_that_lies_is_given_up(self):
        def one(name, act, wanted):
            link, process = self.joined(self.path(), Image().bytes())
            link.put("start_ns", time.monotonic_ns())
            link.put("state", RUNS)
            time.sleep(0.2)
            act(link)
            self.says(process, name, PEER_LOST, wanted)
            link.close()
        self.each(LATE_RUNS, one)

    def test_a_start_that_cannot_be_is_refused(self):
        def one(name, start_ns):
            link, process = self.joined(self.path(), Image().bytes())
            link.put("start_ns", start_ns + (time.monotonic_ns() if 0 < start_ns < NEVER else 0))
            link.put("state", RUNS)
            self.says(process, name, PEER_LOST, "its start cannot be")
            link.close()
        self.each(STARTS, one)

    def test_nobody_computes_for_ever(self):
        """A run that beats and never asks is given up when the limit that it gave is over."""
        link, process = self.joined(self.path(), changed(limit_s=1)(Image()))
        link.put("start_ns", time.monotonic_ns())
        link.put("state", RUNS)
        self.says(process, "never asks", PEER_LOST, "has not ended within 1 s")
        link.close()

    # ------------------------------------------------------------ what stands in the link's place

    def places(self, path, kind):
        other = self.path()
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            os.mkdir(path)
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(path)
        elif kind == "symbolic link":
            pathlib.Path(other).write_text("precious", encoding="utf-8")
            os.symlink(other, path)
        elif kind == "dangling link":
            os.symlink(other, path)
        elif kind == "another's to write":
            os.close(held(path, Image().bytes()))
            os.chmod(path, 0o666)
        return other

    def test_what_is_no_file_of_ours_is_left_alone(self):
        def one(kind, wanted, status):
            for start in (self.gpu, lambda path: self.start(*EMU, path)):
                path = self.path()
                other = self.places(path, kind)
                before = os.lstat(path)
                self.says(start(path), kind, status, wanted)
                self.assertEqual(os.lstat(path).st_ino, before.st_ino, kind)
                self.assertEqual(os.path.exists(other), kind == "symbolic link", kind)
        self.each([("fifo", "a link is a regular file", BAD_INPUT), ("folder", "a link is a regular file", BAD_INPUT),
                   ("socket", "a link is a regular file", BAD_INPUT), ("symbolic link", "a symbolic link", BAD_INPUT),
                   ("dangling link", "a symbolic link", BAD_INPUT), ("another's to write", "other users may write", ENVIRONMENT)], one)
        for words in (["gpu", "--link", "/dev/null"], [*EMU, "/dev/null"]):
            self.says(self.start(*words), "device", BAD_INPUT, "a link is a regular file")

    def test_a_file_that_is_no_link_stays(self):
        path = self.path()
        pathlib.Path(path).write_bytes(b"\xff" * 65536)
        self.says(self.start(*EMU, path), "a file that is no link", ENVIRONMENT, "there is a file that is not a link")
        self.assertEqual(pathlib.Path(path).read_bytes(), b"\xff" * 65536)

    def test_only_the_runs_own_file_is_taken_away(self):
        """Somebody put another file, or a symbolic link, in the place of the run's."""
        def one(kind):
            path, other = self.path(), self.path()
            pathlib.Path(other).write_text("precious", encoding="utf-8")
            emu = self.start(*EMU, path, "--gpu-timeout", "2")
            self.offered(path, emu).close()
            if kind == "symbolic link":
                os.unlink(path)
                os.symlink(other, path)
            elif kind == "file":
                os.link(other, path + "-2")
                os.rename(path + "-2", path)
            else:
                os.unlink(path)
            self.says(emu, kind, PEER_LOST, "have no generator")
            self.assertEqual(pathlib.Path(other).read_text(encoding="utf-8"), "precious")
            self.assertEqual(os.path.lexists(path), kind != "nothing")
        self.each([("file",), ("symbolic link",), ("nothing",)], one)

    def test_waiting_ends_with_a_signal(self):
        process = self.gpu(self.path())
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.says(process, "waits", 5, "interrupted")

    # ------------------------------------------------------------ weft emu, and generators that lie

    def offered(self, path, emu):
        begin = time.monotonic()
        while not os.path.exists(path) or pathlib.Path(path).read_bytes()[:8] != struct.pack("<Q", MAGIC):
            self.assertIsNone(emu.poll())
            self.assertLess(time.monotonic(), begin + HANGS_S)
            time.sleep(0.01)
        return Link(os.open(path, os.O_RDWR))

    def answered(self, path):
        """A run of weft emu, and generators of this program that took all of its ranks."""
        emu = self.start(*EMU, path)
        link = self.offered(path, emu)
        link.hold(*range(1, 5))
        link.beat(*range(4))
        for rank in range(4):
            link.row(rank, 32, "64s", b"\x1b[31m" * 20)  # no end, and escapes
            link.row(rank, 0, "<I", READY)
        begin = time.monotonic()
        while struct.unpack_from("<I", link.map, OFFSETS["state"][0])[0] != RUNS:
            self.assertIsNone(emu.poll(), emu.communicate() if emu.poll() is not None else "")
            self.assertLess(time.monotonic(), begin + HANGS_S)
            time.sleep(0.01)
        self.assertFalse(os.path.exists(path), "its name is gone when it runs")
        return link, emu

    def test_generators_that_lie_are_given_up(self):
        def state(value):
            return lambda link: link.row(2, 0, "<I", value)

        def done(when):
            return lambda link: [link.flag("done", rank, 0, when) for rank in range(4)]

        def silent(beat):
            return lambda link: (link.still(), [link.row(rank, 8, "<q", beat) for rank in range(4)])
        cannot = "what the generator of rank [0-3] wrote cannot be: "
        self.each([
            ("done at once", state(RANK_DONE), cannot + "it is done, but"),
            ("failed", state(RANK_FAILED), "the generator of rank 2 is gone"),
            ("a state that is none", state(2**32 - 1), "the generator of rank 2 is gone"),
            ("free again", state(0), "the generator of rank 2 is gone"),
            ("an end in 2^63 ns", done(NEVER), cannot + "a computation ended when"),
            ("an end at -2^63", done(-2**63), cannot + "a computation ended when"),
            ("an end in an hour", lambda link: done(time.monotonic_ns() + 3600 * 10**9)(link), cannot + "a computation ended when"),
            ("cut to nothing", cut(0), CHANGED),
            ("cut behind the header", cut(4096), CHANGED),
            ("cut and stretched again", cut(0, again=True), EITHER),
            ("0xff over the header", overwrite(0xFF, 168), OVER),
            ("0xff over flags and ranks", overwrite(0xFF, 65536), OVER),
            ("op_count 2^31", put(op_count=2**31), OVER),
            ("buffers elsewhere", put(buffers=2**62, buffer_bytes=2**62), OVER),
            ("heartbeats in a thousand years", silent(NEVER), "is silent"),
            ("heartbeats of -2^63", silent(-2**63), "is silent"),
        ], self.lie)

    def lie(self, name, act, wanted):
        link, emu = self.answered(self.path())
        act(link)
        self.says(emu, name, PEER_LOST, wanted)
        link.close()

    def test_a_fault_that_somebody_sends_ends_a_run(self):
        """What puts memory in place of lost pages is not for a SIGBUS of others."""
        path = self.path()
        emu = self.start(*EMU, path)
        link = self.offered(path, emu)
        emu.send_signal(signal.SIGBUS)
        emu.communicate(timeout=HANGS_S)
        if not os.environ.get("WEFT_SANITIZE"):  # which has a handler of its own
            self.assertEqual(emu.returncode, -signal.SIGBUS)
        link.close()

    def test_figures_that_cannot_be_are_no_result(self):
        """Generators that do all that is asked at once, and tell absurd figures at the end."""
        def one(name, at, value):
            link, emu = self.answered(self.path())
            count = link.head["op_count"]
            for rank in range(4):
                for i in range(count):
                    link.flag("done", rank, i, time.monotonic_ns())
                for k in range(23):
                    link.row(rank, 96 + 8 * k, "<q", 0)
                link.row(rank, 96 + 8 * at, "<q", value)
                link.row(rank, 0, "<I", RANK_DONE)
            self.says(emu, name, PEER_LOST, "what the generator of rank 0 wrote cannot be")
            link.close()
        self.each([("releases", 0, -1), ("late", 3, -1), ("later than the latest", 1, 1), ("gates", 4, NEVER), ("wrong", 9, 5),
                   ("bytes", 13, NEVER)], one)

    # ------------------------------------------------------------ both ends of weft, and somebody who writes into their link

    def test_both_ends_survive_a_third(self):
        def one(name, act):
            path = self.path()
            emu = self.start(*EMU, path)
            link = self.offered(path, emu)
            gpu = self.gpu(path)
            begin = time.monotonic()
            while os.path.exists(path):
                self.assertLess(time.monotonic(), begin + HANGS_S)
                time.sleep(0.01)
            time.sleep(0.3)
            act(link, emu, gpu)
            self.says(emu, name, PEER_LOST, ".")
            self.says(gpu, name, PEER_LOST, ".")
            link.close()
            self.assertFalse(os.path.exists(path))

        def third(act):
            return lambda link, emu, gpu: act(link)

        def replayed(name=None, end=None, times=1):
            """What the file held a moment ago stands there once more, all of it or a part; or again and again, until both end."""
            def act(link, emu, gpu):
                begin = link.head.get(name, 0)
                size = link.head.get(end, link.head["file_bytes"]) - begin
                kept = os.pread(link.fd, size, begin)
                time.sleep(0.3)
                for _ in range(times):
                    os.pwrite(link.fd, kept, begin)
                    if emu.poll() is not None and gpu.poll() is not None:
                        break
                    time.sleep(0.01)
            return act

        def stop(link, which, other):
            which.send_signal(signal.SIGSTOP)
            begin = time.monotonic()
            while other.poll() is None and time.monotonic() < begin + HANGS_S:
                time.sleep(0.05)
            which.send_signal(signal.SIGCONT)
        self.each([
            ("cut to nothing", third(cut(0))), ("cut by half", third(cut(65536))), ("cut behind the header", third(cut(4096))),
            ("cut and stretched again", third(cut(0, again=True))), ("zeros", third(overwrite(0, 65536))),
            ("0xff", third(overwrite(0xFF, 65536))), ("0xff over the header", third(overwrite(0xFF, 168))),
            ("replayed", replayed()), ("replayed without data", replayed(end="buffers")), ("what was asked, replayed", replayed("asked", "done")),
            ("what was done, replayed", replayed("done", "buffers")),
            ("replayed without end", replayed(times=30000)), ("what was done, replayed without end", replayed("done", "buffers", 30000)),
            ("the run stops", stop), ("the generator stops", lambda link, emu, gpu: stop(link, gpu, emu)),
        ], one)


if __name__ == "__main__":
    unittest.main()
