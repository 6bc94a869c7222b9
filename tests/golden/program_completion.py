#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft completion: what bash and zsh offer behind a command line, by the script that weft prints. Every option of every program's
help is offered, and nothing else."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
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

    def test_keys(self):
        keys = weft("sim", "--list-keys").stdout.splitlines()
        self.assertEqual(offered("sim", "incast", "--set", ""), [line.split()[0] + "=" for line in keys])
        self.assertEqual(offered("tune", "incast", "--knob", "cc.target_d"), ["cc.target_delay="])
        self.assertEqual(offered("sim", "--sweep", "queue.ecn_l"), ["queue.ecn_low=", "queue.ecn_last_hop="])
        self.assertIn("layers=", offered("plan", "custom", "--set", "l"))
        self.assertEqual(offered("sim", "--set", "traffic.trace", "=", ""), [])  # a file
        self.assertEqual(offered("sim", "--set", "fabric.switching", "="), ["store_and_forward", "cut_through"])
        self.assertEqual(offered("sim", "incast", "--set", "fabric.switching", "=", "c"), ["cut_through"])

    def test_verbs_and_what_they_take(self):
        self.assertEqual(offered("pcap", ""), "analyze capture diff anonymize gen replay send".split())
        self.assertEqual(offered("tune", "re"), ["resume", "report"])
        self.assertEqual(offered("tune", "two-r"), ["two-racks"])
        self.assertEqual(offered("tune", "show", ""), [])  # a file
        self.assertEqual(offered("pcap", "gen", "two-r"), ["two-racks"])
        self.assertEqual(offered("pcap", "analyze", ""), [])
        self.assertEqual(offered("verdict", "out", "--profile", "flap"), ["flap-soak"])
        self.assertEqual(offered("sim", "incast", "--fault", ""), [])
        self.assertEqual(offered("coll", "all_reduce", "--scenario", "two-r"), ["two-racks"])

    def test_jobs_and_collectives(self):
        self.assertEqual(offered("plan", "llama-3.1-8"), ["llama-3.1-8b-fsdp-h100"])
        self.assertEqual(set(offered("coll", "")), set(weft("coll", "none").stderr.strip().partition("there are: ")[2].split(", ")))

    def test_scenarios(self):
        listed = weft("sim", "--list").stdout.splitlines()
        names = [line.split()[0] for line in listed if not line.startswith(" ")]
        self.assertTrue(all(len(line) <= 80 for line in listed))
        self.assertEqual(offered("sim", ""), names)
        self.assertEqual(offered("emu", "two-r"), ["two-racks"])
        self.assertEqual(offered("mllog", ""), [])

    def test_another_shell_is_refused(self):
        for words in ((), ("fish",), ("bash", "zsh")):
            run = weft("completion", *words)
            self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (2, "", 1))


def typed(keys, until):
    """What a terminal with zsh shows after keys, until a text appears."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(PATH=f"{os.path.dirname(WEFT)}:{os.environ['PATH']}", TERM="dumb", PS1="> ", WORDCHARS="")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    shown, deadline, waiting = "", time.monotonic() + 60, [
        ("> ", 'unsetopt zle_bracketed_paste; . <(weft completion zsh); print "rea""dy"\n'), ("ready", keys)]
    try:
        while until not in shown and time.monotonic() < deadline:
            if waiting and waiting[0][0] in shown:
                os.write(terminal, waiting.pop(0)[1].encode())
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return shown


@unittest.skipUnless(shutil.which("zsh"), "zsh is not here")
class Zsh(unittest.TestCase):
    def offered(self, *words):
        """What _weft hands to zsh's builtins behind the last of the words."""
        call = 'compdef() {}; compadd() { print -l -- ${@[${@[(i)--]}+1,-1]}; }; _describe() { print -l -- ${(P)2}; }; _files() {}; ' \
               '. <("$WEFT" completion zsh); weft() { "$WEFT" "$@"; }; words=("$@"); CURRENT=$#; _weft'
        run = subprocess.run(["zsh", "-f", "-c", call, "zsh", "weft", *words], capture_output=True, text=True, timeout=600, check=True)
        self.assertEqual(run.stderr, "")
        return [line for line in run.stdout.split("\n") if line]

    def test_it_offers_what_bash_does(self):
        self.assertEqual([line.partition(":")[0] for line in self.offered("")], offered(""))
        commands = offered("")
        for command in commands:
            self.assertEqual(self.offered(command, "--"), offered(command, "--"), command)
        for words in (("sim", "incast", "--fidelity", ""), ("coll", "all_reduce", "-c", ""), ("sim", ""), ("mllog", ""), ("tune", ""), ("pcap", ""),
                      ("tune", "show", ""), ("pcap", "gen", ""), ("verdict", "o", "--profile", ""), ("plan", ""), ("coll", ""), ("sim", "--out", "")):
            self.assertEqual(self.offered(*words), offered(*words), words)

    def test_in_a_terminal(self):
        self.assertIn("weft validate-fabric", typed("weft validate-f\t", "weft validate-fabric"))
        self.assertIn("--sweep", typed("weft sim incast --sw\t", "--sweep"))
        self.assertIn("--set fabric.nic_delay=", typed("weft sim incast --set fabric.nic_d\t", "fabric.nic_delay="))
        self.assertIn("fabric.switching=cut_through", typed("weft sim incast --set fabric.switching=c\t", "=cut_through"))
        self.assertIn("search for better settings", typed("weft \t\t", "search for better settings"))


if __name__ == "__main__":
    unittest.main()
