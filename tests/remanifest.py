# SPDX-License-Identifier: Apache-2.0
"""Makes the manifest of a result folder anew, as docs/result.md has it, for tests that change a result on purpose: what they
spoil must be found by other means than its digest."""
import hashlib
import json
import pathlib


def make(folder):
    folder = pathlib.Path(folder)
    files = [{"name": path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
             for path, data in ((path, path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink())
             if path.name not in ("manifest.json", "report.html", "metrics.txt", "result.csv") and not path.name.startswith(".")]
    (folder / "manifest.json").write_text(json.dumps({"kind": "manifest", "schema": 1, "weft": "test", "files": files, "inputs": []}))
    return folder


def put(folder, name, result):
    """A folder of its own with one file, `result` as JSON or text, and its manifest."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(result if isinstance(result, str) else json.dumps(result))
    return make(folder)
