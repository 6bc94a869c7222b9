#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finished work is not lost, and half of it is never taken for a result: a folder is replaced only with --force and appears
whole, by one rename; two runs do not mix; a table is printed though its files cannot be written; a study keeps what it has;
signals, limits and closed pipes end a run as they should, and its children with it."""
import fcntl
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import weft
from weft import BAD_INPUT, DONE, ENVIRONMENT, NOT_VALID, WEFT

KILLS = 50
SMALL = """name: small
fabric: {nics: 8, planes: 2, nics_per_t0: 4, t1_count: 2}
traffic: {kind: permutation, bytes: 20kB}
"""
LONG = SMALL.replace("20kB", "4GB") + "limits: {time: 1000s}\n"
MODEL = ["llama-small-3-fidelities", "--fidelity", "model"]


def files_of(folder):
    return sorted(path.name for path in folder.iterdir())


def heed_signals():
    """What nohup or a shell's & lets be ignored would be ignored by runs, too."""
    for how in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(how) == signal.SIG_IGN:
            signal.signal(how, signal.SIG_DFL)


class Kept(weft.InFolder):
    def setUp(self):
        heed_signals()
        super().setUp()
        self.small, self.long = self.folder / "small.yaml", self.folder / "long.yaml"
        self.small.write_text(SMALL, encoding="utf-8")
        self.long.write_text(LONG, encoding="utf-8")
        self.home = self.folder / "home"
        self.home.mkdir()
        self.out = self.home / "out"
        self.part = self.home / ".out.weft-part"

    def weft(self, program, *words, **more):
        return weft.run(program, *words, **more)

    def start(self, *words, **more):
        run = weft.start("sim", *words, **more)
        deadline = time.monotonic() + 30
        while not self.has_part(run) and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        return run

    def has_part(self, run):
        """Whether a run has the folder of its result, and has it open."""
        try:
            return any(os.readlink(entry) == str(self.part) for entry in pathlib.Path(f"/proc/{run.pid}/fd").iterdir())
        except OSError:
            return False  # one that was closed meanwhile, or a run that has ended

    def end_of(self, run):
        printed, said = run.communicate(timeout=600)
        return run.returncode, printed, said

    # ---- folders

    def test_a_result_is_replaced_whole_and_only_with_force(self):
        first = [self.small, "--out", self.out, "--pcap", self.out / "x.pcapng", "--log", self.out / "x.log"]
        self.assertEqual(self.weft("sim", *first).returncode, DONE)
        before = {path: path.read_bytes() for path in self.out.iterdir()}
        again = self.weft("sim", *first)
        self.assertEqual((again.returncode, again.stdout, again.stderr),
                         (BAD_INPUT, "", f"weft sim: {self.out}: holds a result already; --force replaces it\n"))
        self.assertEqual({path: path.read_bytes() for path in self.out.iterdir()}, before)
        os.chmod(self.out, 0o750)
        self.assertEqual(self.weft("sim", *first, "--seed", 2, "--force").returncode, DONE)
        self.assertEqual(files_of(self.out), sorted(path.name for path in before))
        self.assertEqual(self.out.stat().st_mode & 0o777, 0o750)
        self.assertEqual(json.loads((self.out / "result.json").read_text(encoding="utf-8"))["scenario"]["seed"], "2")
        self.assertEqual(self.weft("sim", self.small, "--seeds", 2, "--out", self.out, "--log", "x", "--force").returncode, BAD_INPUT)
        (self.out / "x.log").unlink()
        self.assertEqual(self.weft("sim", self.small, "--seeds", 2, "--out", self.out, "--force").returncode, DONE)
        self.assertIn("study.json", files_of(self.out))
        self.assertNotIn("result.json", files_of(self.out))
        self.assertEqual(files_of(self.home), ["out"])

    def test_force_takes_no_files_of_others(self):
        for kind in ("file", "folder", "link"):
            self.assertEqual(self.weft("sim", self.small, "--out", self.out).returncode, DONE)
            if kind == "file":
                (self.out / "notes.txt").write_text("mine", encoding="utf-8")
            elif kind == "folder":
                (self.out / "trace.et").mkdir()
            else:
                (self.out / "own.hdr").symlink_to(self.small)
            before = files_of(self.out)
            run = self.weft("sim", self.small, "--out", self.out, "--force")
            self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""))
            self.assertIn("holds other files", run.stderr)
            self.assertEqual((files_of(self.out), files_of(self.home)), (before, ["out"]))
            shutil.rmtree(self.out)

    def test_force_takes_no_folder_that_is_read(self):
        self.assertEqual(self.weft("sim", self.small, "--out", self.out).returncode, DONE)
        shutil.copy(self.small, self.out / "own.hdr")
        (self.home / "linked.yaml").symlink_to(self.out / "own.hdr")
        os.link(self.out / "own.hdr", self.home / "hard.yaml")
        for name in ("linked.yaml", "hard.yaml"):
            for words in ([], ["--seeds", 2], ["--sweep", "seed=1,2"]):
                run = self.weft("sim", self.home / name, "--out", self.out, "--force", *words)
                self.assertEqual((run.returncode, run.stdout), (BAD_INPUT, ""), run)
                self.assertIn("this call reads own.hdr", run.stderr)
        self.assertEqual((self.out / "own.hdr").read_text(encoding="utf-8"), SMALL)

    def test_where_a_folder_may_lie(self):
        (self.home / "link").symlink_to(self.out)
        run = self.weft("sim", self.small, "--out", self.home / "link")
        self.assertEqual((run.returncode, files_of(self.home)), (BAD_INPUT, ["link"]))
        self.out.mkdir()
        for path in (self.home / "link", f"{self.home}/link/", f"{self.home}//out/../out/.", self.home / "a" / "b" / ".." / "c"):
            self.assertEqual(self.weft("sim", self.small, "--out", path, "--force").returncode, DONE, path)
            self.assertTrue((pathlib.Path(path) / "result.json").exists())
        self.assertTrue((self.home / "link").is_symlink())
        run = self.weft("sim", self.small, "--out", ".", "--pcap", "x.pcapng", "--force", cwd=self.out)
        self.assertEqual(run.returncode, DONE, run)  # who stands in it stays in it
        self.assertIn("x.pcapng", files_of(self.out))
        self.assertEqual([path for path in self.home.rglob("*weft-part*")], [])
        self.assertEqual(self.weft("sim", self.small, "--out", self.small).returncode, ENVIRONMENT)
        self.assertEqual(self.small.read_text(encoding="utf-8"), SMALL)

    def test_a_folder_may_lie_deep(self):
        """As deep as the system takes; where its files would have no room, that is told before anything runs."""
        deep = self.home.joinpath(*["b" * 240] * 5)
        deep.mkdir(parents=True)
        for words in ([self.small], [self.small, "--seeds", "2"], MODEL):
            run = self.weft("sim", *words, "--out", "out", "--force", cwd=deep)
            self.assertEqual(run.returncode, DONE, run)
            self.assertIn("manifest.json", files_of(deep / "out"))
        length = 4095 - 16 - len(str(self.home))
        deepest = f"{self.home}/" + "/".join("c" * 240 for _ in range(length // 241)) + "/" + "c" * (length % 241)
        run = self.weft("sim", self.long, "--out", deepest)
        self.assertEqual((run.returncode, run.stdout), (ENVIRONMENT, ""), run)
        self.assertIn("File name too long", run.stderr)

    def test_every_kind_of_result_replaces_itself_with_force_alone(self):
        goal = self.folder / "job.goal"
        goal.write_text("num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 1\n}\nrank 1 {\nl1: recv 10b from 0 tag 1\n}\n",
                        encoding="utf-8")
        kinds = {"result.json": ["sim", self.small], "study.json": ["sim", self.small, "--seeds", 2],
                 "step.json": ["sim", *MODEL], "program.goal": ["trace", goal, "--export", "goal"],
                 "rank.0.et": ["sim", self.small, "--export", "chakra"],
                 "trace.json": ["emu", self.small, "--ports", "none", "--dilation", "none"]}
        for name, words in kinds.items():
            with self.subTest(name):
                out = self.home / name
                self.assertEqual(self.weft(*words, "--out", out).returncode, DONE)
                self.assertIn(name, files_of(out))
                again = self.weft(*words, "--out", out)
                self.assertEqual((again.returncode, again.stdout), (BAD_INPUT, ""), again)
                self.assertIn("--force replaces it", again.stderr)
                self.assertEqual(self.weft(*words, "--out", out, "--force").returncode, DONE)

    # ---- one folder, one run

    def test_two_runs_do_not_mix(self):
        run = self.start(self.long, "--out", self.out)
        for program in (["sim", self.small], ["sim", self.small, "--seeds", 2], ["sim", *MODEL]):
            second = self.weft(*program, "--out", self.out, "--force")
            self.assertEqual((second.returncode, second.stdout, second.stderr),
                             (ENVIRONMENT, "", f"weft sim: {self.out}: another run writes its result there\n"))
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.end_of(run)[0], NOT_VALID)
        self.assertEqual(json.loads((self.out / "result.json").read_text(encoding="utf-8"))["run"]["end"], "interrupted")

    def test_two_books_do_not_mix(self):
        words = [self.small, "--quick", "--only", "pair-near", "--out", self.out]
        self.assertIn(self.weft("validate-fabric", *words).returncode, (0, 1))
        held = os.open(self.out, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        run = self.weft("validate-fabric", *words)
        self.assertEqual((run.returncode, run.stdout), (ENVIRONMENT, ""))
        self.assertIn("another run writes its result there", run.stderr)
        os.close(held)
        self.assertIn(self.weft("validate-fabric", *words).returncode, (0, 1))

    # ---- nothing is lost

    def assert_told(self, run, why, table):
        self.assertEqual(run[0], ENVIRONMENT, run)
        self.assertIn(table, run[1])
        self.assertRegex(run[2], why)

    def test_a_folder_that_is_gone_costs_no_table(self):
        for words, table in ((["--quiet"], "PARTIAL RESULT"), (["--json"], '"partial": true')):
            run = self.start(self.long, "--out", self.out, *words)
            shutil.rmtree(self.home)
            run.send_signal(signal.SIGTERM)
            self.assert_told(self.end_of(run), f"weft sim: {self.out}: ", table)
            self.home.mkdir()

    def test_a_folder_that_others_took_costs_no_result(self):
        run = self.start(self.long, "--out", self.out)
        self.out.mkdir()
        (self.out / "mine").write_text("mine", encoding="utf-8")
        run.send_signal(signal.SIGTERM)
        self.assert_told(self.end_of(run), "the result lies in .*weft-part", "PARTIAL RESULT")
        self.assertEqual(files_of(self.out), ["mine"])
        [kept] = self.home.glob(f"{self.part.name}.*")
        self.assertIn("result.json", files_of(kept))
        shutil.rmtree(self.out)
        self.assertEqual(self.weft("sim", self.small, "--out", self.out).returncode, DONE)
        self.assertIn("result.json", files_of(kept))  # the next run with this --out leaves it alone

    def limited(self, *words, bytes_max=3000):
        return self.weft(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, bytes_max)))

    def test_a_full_disk_costs_no_table(self):
        for words, table in (([self.small, "-v"], "Goodput"), ([self.small, "--json"], '"goodput"'), ([self.small, "--seeds", 3], "Goodput"),
                             ([*MODEL], "one step from its schedule"), ([*MODEL, "--json"], '"step')):
            with self.subTest(words):
                whole = self.weft("sim", *words)
                run = self.limited("sim", *words, "--out", self.out)
                self.assert_told((run.returncode, run.stdout, run.stderr), f"^weft sim: {self.out}: .*File too large", table)
                self.assertEqual(run.stdout.count("\n") >= whole.stdout.count("\n"), True)
                self.assertEqual(files_of(self.home), [])

    def test_a_capture_that_was_cut_is_called_so(self):
        profile = self.folder / "p.yaml"
        profile.write_text("name: p\nchecks: [{name: done, metric: run.end, bound: is done, source: s}]\n", encoding="utf-8")
        for option, key in (("--pcap", "pcap_cut"), ("--log", "log_cut")):
            run = self.weft("sim", self.small, "--out", self.out, option, "/dev/full")
            self.assertEqual(run.returncode, ENVIRONMENT)
            self.assertIn("/dev/full: CUT, is not whole: No space left on device", run.stdout)
            capture = json.loads((self.out / "result.json").read_text(encoding="utf-8"))["capture"]
            self.assertEqual([capture[each] for each in ("pcap_cut", "log_cut") if each != key], [None])
            self.assertEqual(capture[key], "No space left on device")
            verdict = self.weft("verdict", self.out, "--profile", profile)
            self.assertEqual(verdict.returncode, NOT_VALID)
            self.assertIn("A capture or a log of the run was cut: it is not whole.", verdict.stdout)
            self.assertIn(": Nothing stands out, a capture or log is not whole: ", self.weft("report", self.out).stdout)
            told = json.loads(self.weft("verdict", self.out, "--profile", profile, "--json").stdout)
            self.assertEqual((told["verdict"], told["cut"], told["partial"]), ("not_valid", True, False))
            shutil.rmtree(self.out)
        self.weft("sim", self.small, "--out", self.out, "--pcap", self.folder / "x.pcapng")
        self.assertEqual(self.weft("verdict", self.out, "--profile", profile).returncode, DONE)

    def test_a_file_limit_is_an_error_with_a_message(self):
        picture = self.folder / "x.svg"
        for program, option in ((["topology", "two-racks"], "--svg"), (["sim", self.small], "--pcap"), (["sim", self.small], "--log")):
            run = self.limited(*program, option, picture, bytes_max=1000)
            self.assertEqual(run.returncode, ENVIRONMENT, run)
            self.assertIn("File too large", run.stderr)
            picture.unlink(missing_ok=True)
        for more in ([], ["--seeds", "2"]):
            run = self.limited("sim", self.small, "--out", self.out, *more, bytes_max=1000)
            self.assertEqual(run.returncode, ENVIRONMENT, run)
            self.assertIn("cannot write the result: File too large\n", run.stderr)
        with open(self.folder / "stdout", "w", encoding="utf-8") as to:
            run = subprocess.run(["bash", "-c", f"ulimit -f 1; exec {WEFT} sim --list-keys"], stdout=to, stderr=subprocess.PIPE,
                                 text=True, timeout=600, check=False)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (ENVIRONMENT, 1), run)

    def test_a_reader_that_leaves_costs_no_result(self):
        for words in ([self.small, "--out", self.out], [self.small, "--seeds", 2, "--out", self.out]):
            run = subprocess.run(["bash", "-c", '"$@" | true; exit ${PIPESTATUS[0]}', "bash", WEFT, "sim", *map(str, words)],
                                 capture_output=True, text=True, timeout=600, check=False)
            self.assertIn(run.returncode, (DONE, ENVIRONMENT), run)
            self.assertTrue(files_of(self.out))
            shutil.rmtree(self.out)

    # ---- signals

    def test_a_hangup_ends_a_run_as_sigterm_does(self):
        for how in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGXCPU):
            run = self.start(self.long, "--out", self.out)
            time.sleep(0.2)
            run.send_signal(how)
            status, printed, said = self.end_of(run)
            self.assertEqual((status, said), (NOT_VALID, "weft sim: interrupted\n"))
            self.assertIn("PARTIAL RESULT", printed)
            self.assertTrue(json.loads((self.out / "result.json").read_text(encoding="utf-8"))["run"]["partial"])
            self.assertEqual(files_of(self.home), ["out"])
            shutil.rmtree(self.out)

    def test_no_signal_leaves_a_draft(self):
        """A program that looks at no signal ends at once, and takes the file away that it has not ended."""
        with_fifo = self.folder / "slow"
        for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGXCPU, signal.SIGTERM):
            os.mkfifo(with_fifo)  # its other files wait for this one: nobody takes what is in the pipe
            self.weft("sim", self.small, "--out", self.out, "--force")
            (self.out / "result.csv").unlink(missing_ok=True)
            os.rename(with_fifo, self.out / "result.csv")
            held = os.open(self.out / "result.csv", os.O_RDONLY | os.O_NONBLOCK)
            fill = os.open(self.out / "result.csv", os.O_WRONLY | os.O_NONBLOCK)
            try:
                while True:
                    os.write(fill, b"x" * 65536)
            except BlockingIOError:
                pass
            run = weft.start("report", self.out, "--quiet")
            deadline = time.monotonic() + 30
            while not any(name.startswith(".report.html.") for name in files_of(self.out)) and run.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.1)
            run.send_signal(how)
            self.assertEqual(self.end_of(run)[0], -how)
            self.assertEqual([name for name in files_of(self.out) if name.startswith(".")], [])
            os.close(held)
            os.close(fill)
            shutil.rmtree(self.out)

    def test_nohup_holds(self):
        run = self.start(self.long, "--out", self.out, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        run.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.end_of(run)[0], NOT_VALID)

    def test_ctrl_c_ends_a_run_whose_capture_nobody_reads(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for is_open in (False, True):  # no reader: refused; waits for the reader to read
            held = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if is_open else None
            run = self.start(self.long, "--out", self.out, "--pcap", pipe)
            for _ in range(40):
                time.sleep(0.25)
                run.send_signal(signal.SIGINT)
                if run.poll() is not None:
                    break
            # The first one ends a wait; one that comes just before the wait does not, and then the second ends all.
            status = self.end_of(run)[0]
            self.assertIn(status, (ENVIRONMENT, NOT_VALID, -signal.SIGINT) if is_open else (BAD_INPUT,))
            if held is not None:
                os.close(held)
            shutil.rmtree(self.out, ignore_errors=True)

    # ---- studies

    @staticmethod
    def children(parent):
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(path.parent.name))
        return found

    def test_a_study_keeps_every_other_run(self):
        mixed = self.folder / "mixed.yaml"
        mixed.write_text(SMALL + "limits: {time: 1000s}\n", encoding="utf-8")
        for jobs in (1, 3):
            run = self.start(mixed, "--sweep", "traffic.bytes=20kB,4GB,30kB", "--jobs", jobs, "--out", self.out)
            deadline, alone = time.monotonic() + 30, 0
            while time.monotonic() < deadline and alone < 20:  # until the long one is there alone
                time.sleep(0.05)
                alone = alone + 1 if len(self.children(run.pid)) == 1 else 0
            os.kill(self.children(run.pid)[0], signal.SIGKILL)
            status, printed, said = self.end_of(run)
            self.assertEqual(status, ENVIRONMENT)
            self.assertIn("run traffic.bytes=4GB, seed 1: killed by signal 9 (KILL)", said)
            study = json.loads((self.out / "study.json").read_text(encoding="utf-8"))
            self.assertEqual([one["end"] for one in study["runs"]], ["done", "killed by signal 9 (KILL)", "done"])
            self.assertEqual([point["complete"] for point in study["points"]], [1, 0, 1])
            self.assertTrue(study["partial"])
            self.assertIn("killed by signal 9", printed)
            shutil.rmtree(self.out)

    def test_children_end_with_a_killed_study(self):
        run = self.start(self.long, "--seeds", 3, "--jobs", 3, "--out", self.out)
        deadline = time.monotonic() + 30
        while len(self.children(run.pid)) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        children = self.children(run.pid)
        self.assertEqual(len(children), 3)
        time.sleep(0.2)
        run.kill()
        self.assertEqual(self.end_of(run)[0], -signal.SIGKILL)
        deadline = time.monotonic() + 10
        while any(self.is_running(child) for child in children) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual([child for child in children if self.is_running(child)], [])
        self.assertEqual(self.weft("sim", self.small, "--seeds", 2, "--out", self.out).returncode, DONE)

    def test_children_end_with_a_killed_benchmark(self):
        if shutil.which("valgrind") is None:
            self.skipTest("there is no valgrind")
        run = subprocess.Popen([WEFT, "bench", "sim", "--scenario", self.long, "--repeat", "1", "--instructions"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        deadline, children = time.monotonic() + 300, []  # it measures first, and then counts instructions in a child
        while not children and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
            children = self.children(run.pid)
        self.assertTrue(children)
        run.kill()
        run.wait(timeout=60)
        deadline = time.monotonic() + 10
        while any(self.is_running(child) for child in children) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual([child for child in children if self.is_running(child)], [])

    @staticmethod
    def is_running(process):
        try:
            text = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        except OSError:
            return False
        return text.rsplit(")", 1)[1].split()[0] != "Z"

    # ---- killed at any moment

    @staticmethod
    def shared_by(process):
        """What a process has in /dev/shm, mapped or open. Other runs on this machine have files of their own there."""
        about, paths = pathlib.Path(f"/proc/{process}"), []
        try:
            paths += [line.split(maxsplit=5)[-1] for line in (about / "maps").read_text(encoding="utf-8").splitlines()]
            paths += [os.path.realpath(link) for link in (about / "fd").iterdir()]
        except OSError:  # it has ended
            pass
        return {path for path in paths if path.startswith("/dev/shm/")}

    def test_what_is_shared_is_seen(self):
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as shared:
            self.assertEqual(self.shared_by(os.getpid()), {shared.name})
        self.assertEqual(self.shared_by(os.getpid()), set())

    def state(self):
        """What a reader sees of the result: None, or a hash over all of its files but for times."""
        if not self.out.exists():
            return None
        names = files_of(self.out)
        whole = json.loads((self.out / "result.json").read_text(encoding="utf-8"))
        digest = hashlib.sha256()
        for name in names:
            if name.endswith((".hdr", ".pcapng")):
                digest.update(name.encode() + (self.out / name).read_bytes())
        return whole["scenario"]["seed"], tuple(names), digest.hexdigest()

    def test_killed_at_any_moment_there_is_a_whole_folder_or_none(self):
        dice = random.Random(7)
        words = [WEFT, "sim", str(self.small), "--set", "traffic.bytes=2MB", "--out", str(self.out), "--pcap",
                 str(self.out / "x.pcapng"), "--force"]
        wholes, times = {}, []
        for seed in ("1", "2"):
            shutil.rmtree(self.out, ignore_errors=True)
            begun = time.monotonic()
            self.assertEqual(subprocess.run([*words, "--seed", seed], stdout=subprocess.DEVNULL, timeout=600, check=False).returncode, DONE)
            times.append(time.monotonic() - begun)
            wholes[seed] = self.state()
        shutil.rmtree(self.out)
        seen, shared = [], set()
        for i in range(KILLS):
            if i % 2 == 0:
                shutil.rmtree(self.out, ignore_errors=True)
            before = self.state()
            with subprocess.Popen([*words, "--seed", str(1 + i % 2)], stdout=subprocess.DEVNULL) as run:
                time.sleep(dice.uniform(0, 1.1 * min(times)))
                shared |= self.shared_by(run.pid)
                run.kill()
            after = self.state()
            self.assertIn(after, (before, wholes[str(1 + i % 2)]))
            seen.append("none" if after is None else "old" if after == before else "new")
        print({what: seen.count(what) for what in ("none", "old", "new")}, f"runs take {min(times):.3f} s")
        self.assertEqual([path for path in shared if os.path.exists(path)], [])
        self.assertEqual(subprocess.run([*words, "--seed", "1"], stdout=subprocess.DEVNULL, timeout=600, check=False).returncode, DONE)
        self.assertEqual((self.state(), files_of(self.home)), (wholes["1"], ["out"]))


if __name__ == "__main__":
    unittest.main()
