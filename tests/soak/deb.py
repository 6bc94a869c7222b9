#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""apps/packaging/deb makes Debian packages of what is committed; unpacked into a root of their own they run there. Two minutes."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import installed
from weft import SOURCE, check, skip

PACKAGES = {"weft", "libweft0.1", "libweft-dev", "python3-weft", "weft-doc"}


def main():
    for tool in ("dpkg-buildpackage", "dh", "dh_python3", "meson", "git"):
        if not shutil.which(tool):
            skip(f"{tool} is not here: dpkg-dev, debhelper, dh-python, meson and git build the package")
    with tempfile.TemporaryDirectory() as name:
        out, root = pathlib.Path(name, "out"), pathlib.Path(name, "root")
        done = subprocess.run([SOURCE / "apps/packaging/deb", out], capture_output=True, text=True, check=False)
        if not check(done.returncode == 0, f"apps/packaging/deb: {done.stderr[-2000:]}"):
            sys.exit(1)
        found = {path.name.partition("_")[0]: path for path in out.glob("*.deb") if "dbgsym" not in path.name}
        check(set(found) == PACKAGES, f"packages: {', '.join(sorted(found))}")
        for path in found.values():
            subprocess.run(["dpkg", "-x", path, root], check=True)
        depends = subprocess.run(["dpkg-deb", "-f", found["weft"], "Depends"], capture_output=True, text=True, check=True).stdout
        check("librte" not in depends and "libopenmpi" not in depends and "libc6" in depends, "DPDK and Open MPI are not among what weft depends on")
        log = (out / "deb.log").read_text(encoding="utf-8")
        warnings = [line for line in log.splitlines() if "warning:" in line and not line.startswith("gpg")]
        check(not warnings, f"no tool warns {warnings[:3]}")
        installed.check_all(root / "usr", name)
    sys.exit(1 if check.failed else 0)


main()
