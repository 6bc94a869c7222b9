#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the start of DPDK does to the real program around it: words that make DPDK end the program do not end it in silence,
standard files that are closed stay closed, and nothing is left on the machine."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from weft import BAD_INPUT, DONE, ENVIRONMENT, SKIPPED, WEFT

EMU = pathlib.Path(WEFT).parent / "weft-emu"
WORDS = ["two-racks", "--set", "traffic.bytes=1MiB", "--dilation", "none", "--quiet"]


def emu(*words, **more):
    return subprocess.run([EMU, *WORDS, *words], capture_output=True, text=True, timeout=600, check=False, **more)


class Start(unittest.TestCase):
    def test_words_that_ask_for_help_are_refused(self):
        for word in ("-h", "--help", "-vh", "--log-level=help"):
            with self.subTest(word=word):
                run = emu("--eal", word)
                self.assertEqual(run.returncode, BAD_INPUT)
                self.assertEqual(run.stdout, "")
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
                self.assertIn("help", run.stderr)

    def closed(self, how):
        """Runs with standard files closed as bash words say."""
        return subprocess.run(["bash", "-c", f'"$@" {how}', "bash", EMU, *WORDS], capture_output=True, text=True, timeout=600,
                              check=False)

    def test_an_output_that_is_closed_stays_closed(self):
        for how in (">&-", ">&- <&-"):
            with self.subTest(how=how):
                run = self.closed(how)
                self.assertEqual((run.returncode, run.stderr), (ENVIRONMENT, "weft emu: cannot write to the standard output\n"))

    def test_other_files_that_are_closed_do_not_matter(self):
        for how in ("<&-", "2>&-", "<&- 2>&-"):
            with self.subTest(how=how):
                run = self.closed(how)
                self.assertEqual((run.returncode, run.stderr), (DONE, ""))
                self.assertIn("reduce_scatter", run.stdout)

    def test_no_folder_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            bases = [pathlib.Path(base) / "dpdk" for base in ("/run", "/tmp", folder)]
            for more, status in (("--eal", "--log-level=error"), DONE), (("--eal", "--iova-mode=none"), ENVIRONMENT):
                with subprocess.Popen([EMU, *WORDS, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      env={**os.environ, "XDG_RUNTIME_DIR": folder}) as run:
                    self.assertEqual(run.wait(timeout=600), status)
                    self.assertEqual([base for base in bases if (base / f"weft-{run.pid}").exists()], [])


if __name__ == "__main__":
    if "built without DPDK" in emu("--ports", "ring").stderr:
        print("this build has no DPDK: skipped")
        sys.exit(SKIPPED)
    unittest.main()
