#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages that show what is printed: files that a page gives are written, its commands are run in their order, and each line that
stands below a command is in what that command prints, in the order of the page."""
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from weft import SOURCE, WEFT, blocks

PAGES = ["README.md", "docs/howto/find-the-bad-link.md", "docs/howto/write-a-job-file.md"]


def commands(text):
    """Yields [command, lines below it]: all are indented by four."""
    found = []
    for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines():
        if line.startswith("    weft "):
            found.append((line.strip(), []))
        elif line.startswith("    ") and found:
            found[-1][1].append(" ".join(line.split()))
    return found


class Howto(unittest.TestCase):
    def test_pages_show_what_is_printed(self):
        for page in PAGES:
            text = (SOURCE / page).read_text(encoding="utf-8")
            with tempfile.TemporaryDirectory() as folder:
                for name, content in blocks(text):
                    pathlib.Path(folder, name).write_text(content, encoding="utf-8")
                told = commands(text)
                self.assertGreater(sum(len(lines) for _, lines in told), 5)
                for command, lines in told:
                    self.check(page, command, lines, folder)

    def check(self, page, command, lines, folder):
        words = [WEFT, *shlex.split(command)[1:]]
        run = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(run.returncode, 0, (page, command, run.stderr))
        printed, at = " ".join(run.stdout.split()), 0
        for line in lines:
            at = printed.find(line, at)
            self.assertGreaterEqual(at, 0, f"{page}: {command} does not print: {line}")
            at += len(line)


if __name__ == "__main__":
    unittest.main()
