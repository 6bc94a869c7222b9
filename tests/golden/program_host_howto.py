#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The how-to pages of weft host. Each option that they give it stands in its --help. The commands of the laptop's page are run as they
stand there, in namespaces of the test's own names, which its last lines remove; those of Slurm's page run on this machine with the
variables that srun sets. Without DPDK there is no weft host, without root no namespace: skipped."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from program_host import HAS_DPDK
from program_howto import blocks
import weft
from weft import has_namespaces

WEFT, SOURCE = pathlib.Path(os.environ["WEFT"]), pathlib.Path(os.environ["WEFT_SOURCE"])
PAGES = ["host-on-a-laptop", "host-on-connectx", "host-on-bluefield", "host-under-slurm"]
ENVIRONMENT = {**os.environ, "PATH": f"{WEFT.parent}:{os.environ['PATH']}"}


def page(name):
    return (SOURCE / "docs/howto" / f"{name}.md").read_text(encoding="utf-8")


@unittest.skipUnless(HAS_DPDK, "built without DPDK")
class Pages(unittest.TestCase):
    def test_options_are_those_of_the_program(self):
        known = weft.run("host", "--help", check=True).stdout
        for name in PAGES:
            calls = re.findall(r"weft host ([^\n`]*)", page(name))
            self.assertGreater(len(calls), 1, name)
            for option in re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", " ".join(calls)):
                self.assertRegex(known, rf"(?m)^    (-\w, )?{option}\b|^    --\w+ \w+, {option}\b", f"{name}: {option}")

    @unittest.skipUnless(HAS_DPDK and has_namespaces(), "needs DPDK, root and veth")
    def test_the_laptops_commands_run(self):
        names = {f"weft-{end}": f"weft-{end}-{os.getpid()}" for end in "ab"}
        commands = re.findall(r"^    (\S.*)$", page("host-on-a-laptop"), re.M)
        script = "set -e\n" + "\n".join(commands)
        for name, own in names.items():
            script = re.sub(rf"\b{name}\b", own, script)
        script = re.sub(r"(?m)^(.*--listen .*) &$", r"\1 & last=$!", script)
        script = re.sub(r"(?m)^(.*--to .*)$", r"\1\nwait $last", script)
        with tempfile.TemporaryDirectory() as folder:
            try:
                run = subprocess.run(["bash", "-c", script], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)
            finally:
                for own in names.values():
                    subprocess.run(["ip", "netns", "del", own], capture_output=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.count("every byte compared, 0 wrong"), 4, run.stdout)
        self.assertIn("port va0", run.stdout)

    def test_slurms_scenario_runs_with_what_srun_sets(self):
        text = page("host-under-slurm")
        self.assertIn("srun -N 1 -n 4 weft host ring.yaml\n", text)
        with tempfile.TemporaryDirectory() as folder:
            for name, content in blocks(text):
                pathlib.Path(folder, name).write_text(content, encoding="utf-8")
            ranks = [weft.start("host", "ring.yaml", "--timeout", "60", cwd=folder, env={**ENVIRONMENT, "SLURM_PROCID": str(rank),
                                                                                          "SLURM_NTASKS": "4", "SLURM_JOB_ID": str(os.getpid())})
                     for rank in range(4)]
            try:
                ended = [(*rank.communicate(timeout=200), rank.returncode) for rank in ranks]
            finally:
                for rank in ranks:
                    rank.kill()
        self.assertEqual([status for _, _, status in ended], [0] * 4, ended)
        self.assertIn("every byte compared, 0 wrong", ended[0][0])


if __name__ == "__main__":
    unittest.main()
