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

    def test_rules_become_rows_and_are_no_text(self):
        text = TEXT.replace("    --list        what there is\n", "").replace(
            "    --out DIR\n", "    -o, --out DIR; --seed N\n        = text out; needs --as one or --seed\n        = ; not --as\n"
            "        = count seed 1..9; has has_seed\n") + "    --as WORD\n        = index as one|two 1\n        Which.\n"
        self.assertNotIn("= ", self.make("text", text)[1].split("help_text")[1].replace("= \n", ""))
        made = self.make("options", text)[1]
        self.assertIn("#define ONE_OPTIONS(type)", made)
        self.assertIn('{.name = "out", .letter = \'o\', .value = "DIR", .kind = OPTION_TEXT, .at = OPTION_AT(type, out, const char *), '
                      '.needs = "as=one|seed", .excludes = "as"}', made)
        self.assertIn('.min = 1, .max = 9, .has_flag = true, .flag = OPTION_AT(type, has_seed, bool)}', made)
        self.assertIn('.kind = OPTION_INDEX, .at = offsetof(type, as), .bytes = OPTION_BYTES(type, as), .words = "one|two", .min = 1}', made)

    def test_of_verbs_each_has_a_table_and_refuses_what_is_of_others(self):
        text = TEXT.replace("        Write", "        = text out; of make\n        Write").replace(
            "    --list        what there is\n", "    --list\n        = flag lists; of show\n        List.\n")
        made = self.make("options", text)[1].split("#define ")
        self.assertTrue(made[1].startswith("ONE_MAKE_OPTIONS") and made[2].startswith("ONE_SHOW_OPTIONS"))
        self.assertIn('.name = "list", .kind = OPTION_NONE, .words = "it goes with show"', made[1])

    def test_a_wrong_rule_is_refused(self):
        for rule, why in (("bogus out", "no rule"), ("text out; needs --none", "is not an option"), ("text out; bogus", "no clause"),
                          ("text out\n        = text out", "one too many")):
            status, made = self.make("options", TEXT.replace("        Write", f"        = {rule}\n        Write").replace(
                "    --list        what there is\n", ""))
            self.assertEqual(status, 1, rule)
            self.assertIn(why, made)

    def test_a_malformed_text_is_refused_with_its_line(self):
        for text, line in (("SYNOPSIS\n", 1), ("NAME\n    a - b\nlower\n", 3), ("NAME\n    a - " + "b" * 80 + "\n", 2),
                           ("NAME\n    a - b\n\nEXIT STATUS\n    0    done\n\n    2    bad input\n", 7)):
            status, made = self.make("text", text)
            self.assertEqual(status, 1)
            self.assertIn(f"help.txt:{line}: ", made)


if __name__ == "__main__":
    unittest.main()
