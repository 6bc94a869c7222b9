# SPDX-License-Identifier: Apache-2.0
"""Checks of an installation below a root of its own, whether `meson install` put it there or a package was unpacked: that it runs
there, with nothing of the source tree, and that every part is in its place."""
import gzip
import json
import os
import pathlib
import shlex
import shutil
import subprocess

from weft import SCENARIOS, SOURCE, check

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else shutil.which("python3")  # Debian's, where there is one
HOWTO = SOURCE / "docs" / "howto" / "use-the-endpoint.md"
EXAMPLE = SOURCE / "docs" / "howto" / "two-endpoints.c"
# What the module promises, once with pandas where that is here, once as if it were not.
MODULE = """
import sys
if sys.argv[2] == "without":
    sys.modules["pandas"] = None
import weft
assert weft.__file__.startswith(sys.argv[1]), weft.__file__
assert weft.program().startswith(sys.argv[1]), weft.program()
result = weft.run("two-racks", out=sys.argv[3], seed=3, watch__links=True, **{"traffic.bytes": "4MiB"})
assert (result.status, result["run.end"], str(result["scenario.seed"])) == (0, "done", "3"), result.document["scenario"]
again = weft.read(sys.argv[3])
assert again.digest == result.digest == weft.run("two-racks", seed=3, watch__links=True, traffic__bytes="4MiB").digest
cables, busiest = again.table("cables"), again.table("links.busiest")
assert {"cables", "messages", "links.busiest"} <= set(again.tables)
if sys.argv[2] == "with":
    assert cables.packets.sum() > 1000 and busiest.data_bytes.max() > 0
else:
    assert sum(row["packets"] for row in cables) > 1000 and busiest[0]["data_bytes"] > 0
assert again.figures()["goodput.total_bps"] == again["goodput.total_bps"] > 1e9
try:
    again["racks.0"]
    sys.exit("a figure that there is not has a value")
except weft.Missing as missing:
    assert "watch.racks is false" in str(missing), missing
study = weft.run("two-racks", seeds=2, traffic__bytes="1MiB")
assert len(study.table("runs")) == 2
assert weft.run("azure-gb200-llama405b", fidelity="model").tables
assert weft.run("two-racks", preset="roce-dcqcn", traffic__bytes="1MiB")["scenario.cc"] == "dcqcn"
for wrong, says in ((lambda: result["goodput.totl_bps"], "goodput.total_bps"), (lambda: result.table("mesages"), "there are")):
    try:
        wrong()
        sys.exit("a figure that there is not has a value")
    except KeyError as error:
        assert says in str(error), error
for bad in (dict(queue__byte="1kB"), dict(no_such_option=1)):
    try:
        weft.run("two-racks", **bad)
        sys.exit("weft.run took " + str(bad))
    except weft.Error as error:
        assert error.status == 2 and error.result is None, error
try:
    weft.run("two-racks", limits__time="10us")
    sys.exit("a run that hit its limit passed as a result")
except weft.Error as error:
    assert error.status == 5 and error.result["run.partial"], error
with open(sys.argv[3] + "/cables.csv", "a") as file:
    file.write("x")
try:
    weft.read(sys.argv[3])
    sys.exit("a file that was changed was read")
except weft.Error as error:
    assert "cables.csv" in str(error), error
"""


def call(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=300, **more)


def bare(usr, **more):
    """An environment without the build, in which the installation is found first."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "LSAN_OPTIONS", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": f"{usr}/bin:/usr/bin:/bin", **more}


def check_programs(usr, room):
    done = call("weft", "sim", "two-racks", "--json", env=bare(usr), cwd=room)
    told = json.loads(done.stdout) if done.returncode == 0 else {}
    check(told.get("run", {}).get("end") == "done", f"weft sim two-racks runs from {usr}: {done.stderr.strip()}")
    place = told.get("scenario", {}).get("file", "")
    check(os.path.realpath(place).startswith(os.path.realpath(usr)), f"its scenario is the installed one: {place}")
    listed = call("weft", "sim", "--list", env=bare(usr), cwd=room).stdout
    names = [line.split()[0] for line in listed.splitlines() if line[:1].strip()]
    check(sorted(names) == sorted(path.stem for path in SCENARIOS.glob("*.yaml")), f"all {len(names)} scenarios are installed")
    for words, part in ((["verdict", "--list"], "incast"), (["plan", "--list"], "llama-small"), (["tune", "--help"], "weft tune")):
        done = call("weft", *words, env=bare(usr), cwd=room)
        check(done.returncode == 0 and part in done.stdout, f"weft {' '.join(words)}: {done.stderr.strip()}")


def check_files(usr):
    folders = sorted(path.parent.name for path in (SOURCE / "apps").glob("*/help.txt"))
    pages = {path.name.partition(".")[0] for path in (usr / "share/man/man1").iterdir()}
    check(pages == {"weft" if name == "weft" else "weft-" + name for name in folders}, f"{len(pages)} man pages")
    page = next((usr / "share/man/man1").glob("weft-sim.1*"))
    text = gzip.decompress(page.read_bytes()) if page.suffix == ".gz" else page.read_bytes()
    check(text.startswith(b".TH WEFT-SIM 1"), "the man page of weft sim is one")
    for shell, places in (("bash", ["bash-completion/completions/weft"]), ("zsh", ["zsh/vendor-completions/_weft", "zsh/site-functions/_weft"])):
        found = [usr / "share" / place for place in places if (usr / "share" / place).is_file()]
        told = call("weft", "completion", shell, env=bare(usr)).stdout
        check(len(found) == 1 and found[0].read_text() == told, f"completion of {shell} is that of weft completion {shell}")
    for place in ("wireshark/weft_mrc.lua", "models/llama-small.yaml", "profiles/incast.yaml", "spaces/evs.yaml", "result.schema.json",
                  "grafana/weft.json"):
        check((usr / "share/weft" / place).is_file(), f"share/weft/{place}")


def check_library(usr, room):
    """The example of docs/howto, with flags of pkg-config alone, against the shared library and against the static one."""
    if not shutil.which("pkg-config"):
        print("left out: pkg-config is not here")
        return
    pc = next(usr.glob("lib*/**/weft.pc"))
    root = str(usr).removesuffix("/local").removesuffix("/usr")
    flags = call("pkg-config", "--cflags", "--libs", "weft", env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": root})
    compiler, words = shlex.split(os.environ.get("WEFT_CC", "cc")), shlex.split(flags.stdout)
    smallest = pathlib.Path(room, "smallest.c")
    smallest.write_text(HOWTO.read_text(encoding="utf-8").partition("```c\n")[2].partition("```\n")[0], encoding="utf-8")
    made = call(*compiler, "-Wall", "-Wextra", "-Werror", smallest, "-o", smallest.with_suffix(""), *words)
    ran = call(smallest.with_suffix(""), env={"LD_LIBRARY_PATH": str(pc.parent.parent)}) if made.returncode == 0 else made
    check(ran.returncode == 0 and ran.stdout.startswith("a NIC in "), f"the smallest program of the how-to: {ran.stderr.strip()}")
    for kind, more in (("shared", []), ("static", ["-Wl,-Bstatic", "-lweft", "-Wl,-Bdynamic"])):
        used = [word for word in words if not (more and word == "-lweft")]
        program = pathlib.Path(room, kind)
        made = call(*compiler, EXAMPLE, "-o", program, *[word for word in used if word.startswith(("-I", "-L"))], *more,
                    *[word for word in used if not word.startswith(("-I", "-L"))])
        ran = call(program, env={"LD_LIBRARY_PATH": str(pc.parent.parent)}) if made.returncode == 0 else made
        check(ran.returncode == 0 and "10 of 10, in order; bytes all the same" in ran.stdout, f"a program with the {kind} library: {ran.stderr.strip()}")
        needed = call("readelf", "-d", program).stdout
        check(("libweft.so" in needed) == (kind == "shared"), f"it is linked with the {kind} one")


def check_module(usr, room):
    module = usr / "lib/python3/dist-packages"
    has_pandas = call(PYTHON, "-c", "import pandas").returncode == 0
    if not has_pandas:
        print("left out: pandas is not here (python3-pandas)")
    for mode in ["without"] + ["with"] * has_pandas:
        out = pathlib.Path(room, "module-" + mode)
        done = call(PYTHON, "-B", "-c", MODULE, usr, mode, out, env=bare(usr, PYTHONPATH=str(module)), cwd=room)
        check(done.returncode == 0, f"the module of Python, {mode} pandas: {(done.stderr or done.stdout).strip()[-600:]}")


def check_all(usr, room):
    """`usr`: the prefix below the root; `room`: a folder for what is made."""
    usr = pathlib.Path(usr)
    check_programs(usr, room)
    check_files(usr)
    check_library(usr, room)
    check_module(usr, room)
