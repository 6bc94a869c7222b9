#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An installation in a root of its own is whole: programs with their scenarios, man pages, completion, the library for C, shared and
static, and the module of Python. And every file of it is in one Debian package, which tests/soak/deb.py builds."""
import fnmatch
import pathlib
import re
import shutil
import subprocess
import sys

import installed
from weft import SOURCE, WEFT, check, check_parts, skip


def check_packages(root, prefix):
    """Each installed file is in exactly one package: by the lists that dh_install reads."""
    usr = root / prefix.lstrip("/")
    files = ["usr/" + path.relative_to(usr).as_posix() for path in usr.rglob("*") if not path.is_dir()]
    files = [name.replace("zsh/site-functions", "zsh/vendor-completions") for name in files]  # debian/rules moves it
    lists = {path.stem: [line.split()[0] for line in path.read_text().splitlines() if not line.startswith("#")]
             for path in (SOURCE / "apps/packaging/debian").glob("*.install")}
    wrong = []
    for name in files:
        homes = [package for package, patterns in lists.items() for one in patterns
                 if fnmatch.fnmatch(name, one) or name.startswith(one + "/")]
        if len(homes) != 1:
            wrong.append(f"{name}: {homes or 'in no package'}")
    check(len(files) > 100 and not wrong, f"each of {len(files)} files is in one package {wrong[:5]}")


def check_container():
    """The Containerfile cannot be built where there is no registry of images: it is read. Instructions are those there are, what the
    packages are built with is installed, and what is copied from the first stage is made there."""
    text = (SOURCE / "apps/packaging/Containerfile").read_text(encoding="utf-8")
    steps = [line.split(None, 1) for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    check({step[0] for step in steps} <= {"FROM", "RUN", "COPY", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}, "instructions of the Containerfile")
    control = (SOURCE / "apps/packaging/debian/control").read_text(encoding="utf-8")
    needed = [re.sub(r"[ -]*compat|\(.*", "", name).strip() for name in re.search(r"Build-Depends: (.*)", control)[1].split(", ")]
    missing = [name for name in needed if not re.search(rf"\s{re.escape(name)}\s", steps[1][1] + " ")]
    check(len(needed) > 10 and not missing, f"it installs what the packages are built with {missing}")
    packages = re.findall(r"Package: (\S+)", control)
    copied = re.findall(r"/packages/(\S+)_\*\.deb", " ".join(step[1] for step in steps if step[0] == "COPY"))
    check(copied and set(copied) <= set(packages), f"it takes packages that there are: {', '.join(copied)}")


def main(folder):
    if not shutil.which("meson"):
        skip("meson is not here")
    build = pathlib.Path(WEFT).resolve().parent.parent
    check_container()
    root = folder / "root"
    done = subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root], capture_output=True, text=True, check=False)
    if not check(done.returncode == 0, f"meson install {done.stderr[-500:]}"):
        sys.exit(1)
    prefix = next(path for path in ("/usr/local", "/usr") if (root / path.lstrip("/") / "bin/weft").is_file())
    check_packages(root, prefix)
    installed.check_all(root / prefix.lstrip("/"), folder)


check_parts(main)
