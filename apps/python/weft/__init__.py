# SPDX-License-Identifier: Apache-2.0
"""weft from Python: runs scenarios with the program `weft`, and reads the results that it writes.

    import weft
    result = weft.run("incast", seed=3, **{"queue.ecn_low": "20kB"})
    result["goodput.total_bps"]              a figure, by its way in result.json (docs/result.md)
    result.table("messages")                 a frame of pandas where that is installed, else a list of dicts
    weft.read("out/incast")                  the same of a folder that --out or a study wrote

There are no compiled parts. The program is the one that the variable WEFT names, or the one of the installation that
this module is part of, or the first in PATH."""
import csv
import difflib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

try:
    import pandas
except ImportError:  # tables are lists of dicts then
    pandas = None

__all__ = ["Error", "Missing", "Result", "program", "read", "run"]
DONE, MISSED, NOT_VALID = 0, 1, 5  # exit statuses with a result
DOCUMENTS = ("result.json", "study.json", "step.json")


class Error(Exception):
    """weft refused, or a result is not as it was written. `status` is weft's exit status, `result` what there is of a run that
    is not valid, or None."""

    def __init__(self, message, status=None, result=None):
        super().__init__(message)
        self.status, self.result = status, result


class Missing(KeyError):
    """A figure that this run does not give; the text is the reason that the result states."""

    def __str__(self):
        return str(self.args[0])


def program():
    """The path of the program weft."""
    named = os.environ.get("WEFT")
    if named:
        return named
    beside = pathlib.Path(__file__).resolve().parents[4] / "bin" / "weft"  # of PREFIX/lib/python3/dist-packages/weft
    found = str(beside) if beside.is_file() else shutil.which("weft")
    if not found:
        raise Error("the program weft is not in PATH; the variable WEFT may name it")
    return found


def _text(value):
    """A value as a scenario has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, (dict, list, tuple)) else str(value)


def _words(keys):
    """Options of weft sim: a name with a dot, or `__` in its place, is a key of the scenario, and so is `preset`; any other one is
    an option."""
    for name, value in keys.items():
        name = name.replace("__", ".")
        if "." in name or name == "preset":
            yield from ("--set", f"{name}={_text(value)}")
            continue
        for each in value if isinstance(value, (list, tuple)) else [value]:
            option = "--" + name.replace("_", "-")
            if each is True:
                yield option
            elif each is not None and each is not False:
                yield from (option, _text(each))


def run(scenario, out=None, **keys):
    """Runs a scenario, by name or path, as `weft sim` does, and returns its Result.

    Keys of the scenario are set as queue__ecn_low="20kB" or **{"queue.ecn_low": "20kB"}, and preset="roce-dcqcn"; other names
    are options of weft sim,
    `_` for `-`: seed=3, seeds=5, fidelity="model", fault={"kind": "loss", "at": "all", "probability": "1%"}; several values
    are a list. `out` keeps the folder, which must be empty or new. An Error is raised where weft refuses, or where the run is
    not valid: what there is of it then is its `result`."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(out) if out is not None else pathlib.Path(name, "out")
        words = [program(), "sim", str(scenario), "--out", str(folder), *_words(keys)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        said = done.stderr.strip()
        has_result = any((folder / name).is_file() for name in DOCUMENTS) and done.returncode in (DONE, MISSED, NOT_VALID)
        result = read(folder) if has_result else None
        if result is not None:
            result.status, result.warnings = done.returncode, said.splitlines()
            result.folder = folder if out is not None else None
        if done.returncode not in (DONE, MISSED) or result is None:
            raise Error(said or f"weft ended with {done.returncode}", done.returncode, result)
        return result


def _check_manifest(folder):
    """Every file is as the run left it."""
    for row in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]:
        path = folder / row["name"]
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != row["sha256"]:
            raise Error(f"{path}: not as the run left it")


def read(folder):
    """The Result in a folder that weft wrote. Files that are not as the run left them are an Error."""
    folder = pathlib.Path(folder)
    name = next((name for name in DOCUMENTS if (folder / name).is_file()), None)
    if name is None:
        raise Error(f"{folder}: holds none of {', '.join(DOCUMENTS)}")
    if not (folder / "manifest.json").is_file():
        raise Error(f"{folder}: has no manifest.json")
    _check_manifest(folder)
    document = json.loads((folder / name).read_text(encoding="utf-8"))
    tables = {path.stem: _csv(path) for path in sorted(folder.glob("*.csv"))}
    return Result(document, tables, folder)


def _cell(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text != "" else None


def _csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        head = next(rows, [])
        return [dict(zip(head, map(_cell, row))) for row in rows]


def _frame(rows):
    return pandas.DataFrame(rows) if pandas is not None else rows


class Result:
    """What a run or a study came to.

    document      result.json, study.json or step.json as it is
    tables        names that table() takes
    status        0: done, 1: not as the scenario or a profile expects; None of a folder that was read
    warnings      what weft said of the run, a line each
    folder        where it lies, None of a run without `out`"""

    def __init__(self, document, tables, folder):
        self.document, self._csv, self.folder = document, tables, folder
        self.status, self.warnings = None, []

    def __getitem__(self, way):
        """A value by its way in the document: "goodput.total_bps", "messages.0.p99_ns". Missing says why there is none."""
        at = self.document
        for part in way.split("."):
            parent = at
            try:
                at = at[int(part)] if isinstance(at, list) else at[part]
            except (KeyError, IndexError, ValueError, TypeError):
                raise KeyError(self._unknown(way)) from None
            if at is None:
                reason = parent.get(part + "_reason") if isinstance(parent, dict) else None
                raise Missing(f"{way}: {reason or 'not of this run'}")
        return at

    def _unknown(self, way):
        """What to say of a way that leads nowhere: ways that are like it."""
        ways = list(self.figures())
        near = difflib.get_close_matches(way, ways, 3) or [one for one in ways if way.split(".")[-1] in one.split(".")[-1]][:3]
        return f"there is no {way}" + (f"; did you mean {', '.join(near)}?" if near else "")

    def get(self, way, default=None):
        """The same, with a default where there is no value."""
        try:
            return self[way]
        except KeyError:
            return default

    @property
    def tables(self):
        """Files in CSV, and lists of records in the document, by their way in it."""
        parts = {f"{name}.{part}": value for name, of in self.document.items() if isinstance(of, dict) for part, value in of.items()}
        lists = [name for name, value in {**self.document, **parts}.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
        return sorted({*self._csv, *lists})

    def table(self, name):
        """A table by its name: flows, cables, series, runs, study, messages, collectives, ...; or a list of records by its way
        in the document, as "links.busiest". A frame of pandas where that is installed, else a list of dicts."""
        if name in self._csv:
            return _frame(self._csv[name])
        rows = self.get(name)
        if not isinstance(rows, list):
            raise KeyError(f"{name}: not a table; there are {', '.join(self.tables)}")
        return _frame(rows)

    def figures(self):
        """All single numbers of the document by their way in it."""
        found = {}

        def walk(way, at):
            if isinstance(at, (dict, list)):
                for key, value in at.items() if isinstance(at, dict) else enumerate(at):
                    walk(f"{way}.{key}" if way else str(key), value)
            elif isinstance(at, (int, float)) and not isinstance(at, bool):
                found[way] = at

        walk("", self.document)
        return found

    @property
    def digest(self):
        """What names the run: the same scenario, seed and version give the same."""
        return self["run.digest"]

    def __repr__(self):
        name = self.get("scenario.name") or self.get("scenario") or "?"
        return f"<weft result of {name}, {self.get('run.end', 'a study')}, digest {self.get('run.digest', '-')}>"
