#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes --help and the man page of a program from its one help.txt, and the list of commands from all of them.

  help.py text OUT help.txt ALL...                 C: const char help_text[]
  help.py man --version V OUT help.txt ALL...      man page
  help.py commands OUT ALL...                      C: struct command commands[]

help.txt is the text that --help prints, at most 80 columns wide:

  # a line that starts with '#' at the top of the file (the SPDX line) is left out
  NAME                          a section: capitals at the start of a line. The first is NAME.
      weft-sim - what it does   everything in a section is indented by four spaces
  OPTIONS                       usual ones: NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES EXIT STATUS
      --out DIR                 a term: one line, with its text below it, indented by eight
          Write the result there.
      0    done                 a table: a line with two spaces inside; printed as it stands
  @COMMANDS@                    alone on an indented line: the list of all commands (weft only)

SYNOPSIS and EXAMPLES are printed as they stand; elsewhere a paragraph ends at an empty line.
"""
import io
import re
import sys

AS_IT_STANDS = ("SYNOPSIS", "EXAMPLES")


def fail(path, number, what):
    sys.exit(f"{path}:{number}: {what}")


def read(path):
    """The text of a help file without its comment lines."""
    lines = open(path, encoding="utf-8").read().split("\n")
    skipped = 0
    while lines and lines[0].startswith("#"):
        lines.pop(0)
        skipped += 1
    if not lines or lines[0] != "NAME":
        fail(path, skipped + 1, "the first section must be NAME")
    section = before = ""
    for number, line in enumerate(lines, skipped + 1):
        if len(line) > 80 or line != line.rstrip() or "\t" in line:
            fail(path, number, "at most 80 columns, no tabs, no space at the end")
        if line and not line.startswith("    ") and not re.fullmatch(r"[A-Z][A-Z ]+", line):
            fail(path, number, "neither a section in capitals nor indented by four")
        section = line if line and not line.startswith(" ") else section
        if section == "EXIT STATUS" and before == "" and line.startswith("    "):
            fail(path, number, "an empty line in the table of exit statuses")
        before = line
    return "\n".join(lines).rstrip("\n") + "\n"


def name_of(path):
    """(program, summary) of the NAME section."""
    found = re.match(r"NAME\n    (\S+) - (.+)\n", read(path))
    if not found:
        fail(path, 2, "NAME wants `    program - summary`")
    return found.group(1), found.group(2)


def commands_of(paths):
    names = [name_of(path) for path in paths]
    return [(name[len("weft-"):], summary) for name, summary in names if name.startswith("weft-")]


def whole_text(path, everyone):
    commands = commands_of(everyone)
    width = max([len(name) for name, _ in commands] + [4])
    table = "\n".join(f"    {name:<{width}}  {summary}" for name, summary in commands)
    return read(path).replace("    @COMMANDS@", table)


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?") + '"'


def write_text(out, text):
    body = "\n".join("\t" + c_string(line + "\n").replace("\n", "\\n") for line in text[:-1].split("\n"))
    out.write(f'// Made by help.py.\n#include "help.h"\n\nconst char help_text[] =\n{body};\n')


def write_commands(out, commands):
    out.write('// Made by help.py.\n#include "weft/command.h"\n\nconst struct command commands[] = {\n')
    for name, summary in commands:
        out.write(f"\t{{{c_string(name)}, {c_string(summary)}}},\n")
    out.write("\t{0, 0},\n};\n")


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def verbatim(out, lines):
    out.write(".PP\n.nf\n" + "".join(roff(line) + "\n" for line in lines) + ".fi\n")


def paragraph(out, lines):
    """One paragraph of a section, its lines still indented."""
    lines = [line[4:] for line in lines]
    while lines:
        if re.search(r"\S  +\S", lines[0]):
            count = next((i for i, line in enumerate(lines) if not re.search(r"\S  +\S|^ ", line)), len(lines))
            verbatim(out, lines[:count])
        elif len(lines) > 1 and lines[1].startswith("    ") and not lines[0].startswith(" "):
            count = next((i for i, line in enumerate(lines) if i and not line.startswith("    ")), len(lines))
            out.write(".TP\n.B " + roff(lines[0]) + "\n")
            out.write("".join(roff(line.strip()) + "\n" for line in lines[1:count]))
        else:
            count = next((i for i, line in enumerate(lines) if i and lines[i][:1] != " "
                          and i + 1 < len(lines) and lines[i + 1].startswith("    ")), len(lines))
            out.write(".PP\n" + "".join(roff(line.strip()) + "\n" for line in lines[:count]))
        lines = lines[count:]


def write_man(target, text, name, version):
    out = io.StringIO()
    out.write(f'.TH {name.upper()} 1 "" "weft {version}" "weft"\n')
    for section in re.split(r"\n(?=[A-Z])", text):
        title, _, body = section.partition("\n")
        out.write(f'.SH "{title}"\n')
        lines = body.strip("\n").split("\n")
        if title in AS_IT_STANDS:
            verbatim(out, [line[4:] for line in lines])
        else:
            for part in re.split(r"\n\n+", "\n".join(lines)):
                paragraph(out, part.split("\n"))
    target.write(re.sub(r'(\.SH .*\n)\.PP\n', r"\1", out.getvalue()))  # whatis(1) reads the line behind NAME


if __name__ == "__main__":
    arguments = sys.argv[1:]
    kind = arguments.pop(0)
    version = ""
    if arguments[0] == "--version":
        version = arguments[1]
        arguments = arguments[2:]
    with open(arguments[0], "w", encoding="utf-8") as target:
        if kind == "commands":
            write_commands(target, commands_of(arguments[1:]))
        elif kind == "text":
            write_text(target, whole_text(arguments[1], arguments[2:]))
        else:
            write_man(target, whole_text(arguments[1], arguments[2:]), name_of(arguments[1])[0], version)
