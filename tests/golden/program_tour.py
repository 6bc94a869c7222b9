#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/tour.md as it stands: files that it gives are written, its commands run in their order in one folder, each ends as it says
(`# ends with N`, else 0), and prints the lines below it. The library and the module are those of an installation of this build."""
import os
import pathlib
import re
import shutil
import subprocess

from weft import SOURCE, WEFT, blocks, check, check_parts, skip

PAGE = SOURCE / "docs" / "tour.md"
COMMAND = re.compile(r"    (weft|grep|promtool|cc|\./two-endpoints|python3|apps/packaging/deb)( |$)")
TASKS = 14


def commands(text):
    """Yields [command, lines below it]: all are indented by four."""
    found = []
    for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines():
        if COMMAND.match(line):
            found.append((line.strip(), []))
        elif line.startswith("    ") and found:
            found[-1][1].append(" ".join(line.split()))
    return found


def installation(folder):
    """An environment with weft, its library and its module from a root of their own; None where there is no meson."""
    if not shutil.which("meson") or not shutil.which("pkg-config"):
        return None
    build = pathlib.Path(WEFT).resolve().parent.parent
    root = folder / "root"
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root], check=True, stdout=subprocess.DEVNULL)
    usr = next(path.parent.parent for path in root.rglob("bin/weft"))
    pc = next(usr.glob("lib*/**/weft.pc"))
    kept = {name: value for name, value in os.environ.items() if name not in ("WEFT", "WEFT_SOURCE", "PYTHONPATH", "LD_LIBRARY_PATH")}
    return {**kept, "PATH": f"{usr}/bin:/usr/bin:{os.environ['PATH']}", "PYTHONPATH": str(usr / "lib/python3/dist-packages"),
            "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(root), "LD_LIBRARY_PATH": str(pc.parent.parent)}


def left_out(command):
    """Why a command cannot run here, or None."""
    if command == "apps/packaging/deb":
        return "tests/soak/deb.py runs it"
    tool = command.split()[0]
    if tool in ("cc", "./two-endpoints") and os.environ.get("WEFT_SANITIZE"):
        return "a library with sanitisers wants their flags: tests/unit/adapter/adapter_install.sh has them"
    if not tool.startswith("./") and tool != "weft" and not shutil.which(tool):
        return f"there is no {tool}"
    return None


def check_command(command, lines, folder, env):
    reason = left_out(command)
    if reason is not None:
        print(f"left out: {command}: {reason}")
        return
    ends = re.search(r"  # ends with (\d)$", command)
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=600, check=False)
    wanted = int(ends[1]) if ends else 0
    if not check(done.returncode == wanted, f"{command}: {done.returncode}"):
        print(done.stdout[-1500:] + done.stderr[-1500:])
    printed, at = " ".join(done.stdout.split()), 0
    for line in lines:
        found = printed.find(line, at)
        check(found >= 0, f"  prints: {line}")
        at = max(at, found) + len(line)


def main(room):
    text = PAGE.read_text(encoding="utf-8")
    tasks = re.findall(r"^## (\d+)\. ", text, re.MULTILINE)
    check(tasks == [str(number) for number in range(1, TASKS + 1)], f"{len(tasks)} tasks")
    folder = room / "tour"
    folder.mkdir()
    env = installation(room)
    if env is None:
        skip("meson and pkg-config put the library and the module into a root of their own; one of them is not here")
    shutil.copy(SOURCE / "docs/howto/two-endpoints.c", folder)
    for path, content in blocks(text):
        (folder / path).write_text(content, encoding="utf-8")
    told = commands(text)
    check(len(told) >= TASKS, f"{len(told)} commands")
    for command, lines in told:
        check_command(command, lines, folder, env)
    check((folder / "my.svg").read_text(encoding="utf-8").startswith("<"), "the drawing is there")
    check((folder / "out/cables/report.html").stat().st_size > 10000, "so is the page")


check_parts(main)
