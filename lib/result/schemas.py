#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schemas of docs as text in the program, without their descriptions: schemas.py OUT.c KIND=FILE..."""
import json
import pathlib
import sys


def bare(schema):
    if isinstance(schema, list):
        return [bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    names = {name: {key: bare(value) for key, value in schema["properties"].items()} for name in schema if name == "properties"}
    return {name: bare(value) for name, value in schema.items() if name not in ("description", "title", "$schema", "$id", "properties")} | names


def literal(text):
    parts = (text[at:at + 3000] for at in range(0, len(text), 3000))  # cut before quoting: no escape is cut in two
    return "\n".join('\t"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"' for part in parts)


parts = ['#include <weft/result/schema.h>\n']
for pair in sys.argv[2:]:
    kind, _, path = pair.partition("=")
    text = json.dumps(bare(json.loads(pathlib.Path(path).read_text(encoding="utf-8"))), separators=(",", ":"))
    parts.append(f"const char schema_{kind}[] =\n{literal(text)};\n")
pathlib.Path(sys.argv[1]).write_text("\n".join(parts), encoding="utf-8")
