#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft completion: what bash offers behind a command line, by the script that weft prints. Every option of every program's
help is offered, and nothing else."""
import os
import re
import subprocess
import unittest

WEFT = os.environ["WEFT"]


def weft(*words):
    return subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=600)


def offered(*words):
    """The answers to TAB behind the last of the words."""
    call = '. <("$WEFT" completion bash); weft() { "$WEFT" "$@"; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; ' \
           'printf "%s\\n" "${COMPREPLY[@]}"'
    run = subprocess.run(["bash", "-c", call, "bash", "weft", *words], capture_output=True, text=True, timeout=600, check=True)
    assert run.stderr == "", run.stderr
    return [line for line in run.stdout.split("\n") if line]


class Completion(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(offered("to"), ["top", "topology"])
        self.assertIn("completion", offered(""))
        self.assertIn("sim", offered("help", "s"))

    def test_options_are_those_of_the_help(self):
        listed = weft("--help").stdout.partition("\nCOMMANDS\n")[2].partition("\nOPTIONS\n")[0]
        for program in re.findall(r"^    (\S+) ", listed, re.M):
            section = weft("help", program).stdout.partition("\nOPTIONS\n")[2].partition("\nEXIT STATUS\n")[0]
            names = {name for line in re.findall(r"^    (-.*)$", section, re.M) for name in re.findall(r"--[a-z][a-z0-9-]*", line)}
            self.assertEqual(set(offered(program, "--")), names, program)

    def test_values(self):
        self.assertEqual(offered("sim", "incast", "--fidelity", ""), ["model", "sample", "full", "all"])
        self.assertEqual(offered("gpu", "--load", "s"), ["spin"])
        self.assertEqual(offered("coll", "all_reduce", "-c", ""), ["0", "1"])

    def test_scenarios(self):
        names = [line.split()[0] for line in weft("sim", "--list").stdout.splitlines()]
        self.assertEqual(offered("sim", ""), names)
        self.assertEqual(offered("emu", "two-r"), ["two-racks"])
        self.assertEqual(offered("mllog", ""), [])

    def test_another_shell_is_refused(self):
        self.assertIn("bashcompinit", weft("completion", "zsh").stdout)
        for words in ((), ("fish",), ("bash", "zsh")):
            run = weft("completion", *words)
            self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (2, "", 1))


if __name__ == "__main__":
    unittest.main()
