#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A study under mpirun: the first process writes, the others run. It is the study of one process, whoever runs what; a process that
dies ends all of them and loses no row; what is wrong is told once. Without MPI or SQLite: skipped."""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import program_tune  # noqa: E402
from program_tune import BAD_INPUT, DONE, KNOBS, WEFT  # noqa: E402

MPI = pathlib.Path(WEFT).parent / "weft-tune-mpi"
RIGHTS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # a container is root
WORDS = ["small.yaml", *KNOBS, "--limit", "queue_bytes_max<=300kB", "--holdout", "small.yaml+mixed", "--budget", "360", "--fresh-seeds", "8", "--race-seeds", "4"]


class Spread(program_tune.Room):
    def start(self, processes, *words):
        return subprocess.Popen(["mpirun", "--oversubscribe", "-n", str(processes), WEFT, "tune", *map(str, words)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **RIGHTS})

    def spread(self, processes, *words, status=DONE):
        run = self.start(processes, *words)
        out, said = run.communicate(timeout=600)
        self.assertEqual(run.returncode, status, said)
        return out, said

    def test_it_is_the_study_of_one_process(self):
        whole = self.weft(*WORDS, "--study", "whole.tune", "--json").stdout
        for processes, more in ((1, []), (1, ["--jobs", 2]), (2, []), (4, [])):
            (self.folder / f"{processes}.tune").unlink(missing_ok=True)
            out, _ = self.spread(processes, *WORDS, *more, "--study", f"{processes}.tune", "--json")
            self.assertEqual(json.loads(out), json.loads(whole))
            self.assertEqual(self.rows(f"{processes}.tune"), self.rows("whole.tune"))
        with sqlite3.connect(self.folder / "4.tune") as store:  # half of it is gone: it is gone on with
            store.execute("DELETE FROM runs WHERE seed % 2 = 1")
        out, _ = self.spread(3, "resume", "4.tune", "--json")
        self.assertEqual(json.loads(out), json.loads(whole))
        self.assertEqual(self.rows("4.tune"), self.rows("whole.tune"))

    def test_who_dies_takes_no_row_along(self):
        words = [*WORDS[:-6], "--budget", "1500", *WORDS[-4:]]
        run = self.start(3, *words, "--study", "killed.tune")
        while run.poll() is None and self.count("killed.tune") < 40:
            time.sleep(0.001)
        mine = [pid for pid in os.listdir("/proc") if pid.isdigit() and self.is_of(pid, run.pid)]
        self.assertGreater(len(mine), 1)
        os.kill(int(mine[-1]), signal.SIGKILL)
        run.communicate(timeout=600)
        self.assertNotEqual(run.returncode, DONE)
        rows = self.rows("killed.tune")
        self.assertGreaterEqual(len(rows), 40)
        whole = self.weft(*words, "--study", "whole.tune", "--json").stdout
        out, _ = self.spread(2, "resume", "killed.tune", "--json")
        self.assertEqual(json.loads(out), json.loads(whole))
        self.assertLessEqual(set(rows), set(self.rows("killed.tune")))
        self.assertEqual(self.rows("killed.tune"), self.rows("whole.tune"))

    @staticmethod
    def is_of(pid, launcher):
        """Whether a process is one that mpirun `launcher` started: its child."""
        try:
            parent = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            return int(parent) == launcher and "weft-tune" in os.readlink(f"/proc/{pid}/exe")
        except OSError:
            return False

    def test_what_is_wrong_is_told_once(self):
        self.weft(*WORDS)
        for words, said in ((WORDS, "there already"), ([*WORDS, "--jobs", 2, "--study", "a.tune"], "mpirun -n says how many"),
                            (["show", "small.tune"], "only run and resume"), (["small.yaml", "--knob", "cc.qa_gat=0..6"], "did you mean"),
                            (["nowhere.yaml", *KNOBS, "--study", "a.tune"], "nowhere.yaml")):
            _, text = self.spread(3, *words, status=BAD_INPUT)
            self.assertEqual(text.count(said), 1, text)


def main():
    if not MPI.exists() or shutil.which("mpirun") is None:
        print("this build has no MPI: skipped")
        sys.exit(program_tune.SKIPPED)
    program_tune.main()


if __name__ == "__main__":
    main()
