#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page of a report is made of, brought into the program.

  embed.py text OUT.c NAME=FILE...     C: const char page_NAME[], the file's text; an empty FILE: a pointer that is NULL
  embed.py charts FOLDER LOCKED        gets Apache ECharts, as LOCKED/package-lock.json pins it, into FOLDER; prints its
                                       path, or ends with 1 and the reason where npm cannot
"""
import pathlib
import shutil
import subprocess
import sys

LINE = 4000  # characters of a file in one line of C
SECONDS = 90


def literal(data):
    """Bytes as C string literals. Octal escapes have three digits, so that no digit behind them joins in."""
    plain = {byte: chr(byte) for byte in range(32, 127) if chr(byte) not in '"\\?'}
    plain[10] = "\\n"
    text = [plain.get(byte, f"\\{byte:03o}") for byte in data]
    return "\n".join('\t"' + "".join(text[at:at + LINE]) + '"' for at in range(0, len(text), LINE)) or '\t""'


def write_text(out, pairs):
    parts = ['#include <weft/page/page_assets.h>\n']
    for pair in pairs:
        name, _, path = pair.partition("=")
        if path:
            parts.append(f"static const char {name}_text[] =\n{literal(pathlib.Path(path).read_bytes())};\n")
        parts.append(f"const char *const page_{name} = {name + '_text' if path else '0'};\n")
    pathlib.Path(out).write_text("\n".join(parts), encoding="utf-8")


def get_charts(folder, locked):
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "node_modules" / "echarts" / "dist" / "echarts.min.js"
    mark = folder / "package-lock.json"
    wanted = (locked / "package-lock.json").read_bytes()
    if not (place.exists() and mark.exists() and mark.read_bytes() == wanted):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(locked / name, folder / name)
        words = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0 or not place.exists():
            mark.unlink(missing_ok=True)
            sys.exit("npm ci: " + (done.stderr.strip().splitlines() or ["no file"])[-1])
    if b"</script" in place.read_bytes():
        sys.exit("the file would end the page's script")
    print(place)


def main():
    if sys.argv[1:2] == ["text"]:
        write_text(sys.argv[2], sys.argv[3:])
    elif sys.argv[1:2] == ["charts"]:
        try:
            get_charts(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
        except (OSError, subprocess.TimeoutExpired) as error:
            sys.exit(f"npm: {error}")
    else:
        sys.exit(__doc__)


main()
