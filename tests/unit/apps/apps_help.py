#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""help.py: one text becomes --help, a man page and a line in the list of commands; a malformed text is refused."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from weft import SOURCE

HELP = pathlib.Path(SOURCE, "apps", "help.py")
TEXT = r"""# SPDX-License-Identifier: Apache-2.0
NAME
    weft-one - does "one" thing

SYNOPSIS
    weft one [options]

DESCRIPTION
    .first of
    two lines

    @COMMANDS@

OPTIONS
    --out DIR
        Write \there.
    --list        what there is
"""


class Help(unittest.TestCase):
    def make(self, verb, text=TEXT, more=()):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "help.txt"), pathlib.Path(folder, "out")
            source.write_text(text, encoding="utf-8")
            sources = [source] if verb == "commands" else [source, source]
            done = subprocess.run([sys.executable, HELP, verb, *more, target, *sources], capture_output=True, text=True)
            return done.returncode, target.read_text(encoding="utf-8") + done.stderr

    def test_help_is_the_text_as_it_stands(self):
        status, made = self.make("text")
        self.assertEqual(status, 0)
        self.assertIn(r'"    weft-one - does \"one\" thing\n"', made)
        self.assertIn(r'"        Write \\there.\n"', made)
        self.assertNotIn("SPDX", made)

    def test_the_list_of_commands_comes_from_the_names(self):
        self.assertIn(r'{"one", "does \"one\" thing"}', self.make("commands")[1])
        self.assertIn('"    one   does', self.make("text")[1])

    def test_the_man_page_has_terms_and_tables(self):
        made = self.make("man", more=("--version", "9.9"))[1]
        self.assertIn('.TH WEFT-ONE 1 "" "weft 9.9"', made)
        self.assertIn('.SH "NAME"\nweft\\-one \\- does', made)
        self.assertIn(".TP\n.B \\-\\-out DIR\nWrite \\ethere.\n", made)
        self.assertIn(".nf\n\\-\\-list        what there is\n.fi", made)

    def test_a_dot_at_the_start_of_a_line_stays_text(self):
        self.assertIn("\n\\&.first of\n", self.make("man", more=("--version", "1"))[1])

    def test_a_malformed_text_is_refused_with_its_line(self):
        for text, line in (("SYNOPSIS\n", 1), ("NAME\n    a - b\nlower\n", 3), ("NAME\n    a - " + "b" * 80 + "\n", 2),
                           ("NAME\n    a - b\n\nEXIT STATUS\n    0    done\n\n    2    bad input\n", 7)):
            status, made = self.make("text", text)
            self.assertEqual(status, 1)
            self.assertIn(f"help.txt:{line}: ", made)


if __name__ == "__main__":
    unittest.main()
