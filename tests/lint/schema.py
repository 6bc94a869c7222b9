#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/result.schema.json, the JSON Schema of result.json, is what the list of fields in docs/result.md makes.

  schema.py ROOT            says what differs; exit 1 when anything does
  schema.py ROOT --write    writes it

The list is held against what the program writes by a unit test (report_json), the schema against whole results by a golden
test (program_schema). A field that is not in the list is refused; `null` may have its reason beside it.
"""
import json
import pathlib
import re
import sys

ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \|(.*)\|$")
SIMPLE = {"integer": "integer", "time": "integer", "number": "number", "text": "string", "word": "string", "flag": "boolean"}
# Objects and lists that a result has only where it had something to say; docs/result.md says when.
SOMETIMES = {"jobs", "program", "buffer", "pfc", "series", "bypass", "bypass.recovery", "pace", "ports", "capture", "expect", "mrc_ctl", "gpu", "skip"}
ALWAYS = set("schema weft command run scenario network faults plan goodput collectives messages flows racks congestion drops cables planes "
             "transport switches conservation links delays collective_times culprits speed inputs".split())


def rows(root):
    """(path, type, meaning) of each field, in the order of the document."""
    text = (root / "docs" / "result.md").read_text(encoding="utf-8")
    part = text.partition("\n## Fields of result.json\n")[2].partition("\n## ")[0]
    return [tuple(map(str.strip, match.groups())) for match in map(ROW.match, part.split("\n")) if match]


def version(root):
    return int(re.search(r"#define RESULT_SCHEMA (\d+)", (root / "lib" / "report" / "json.c").read_text()).group(1))


def leaf(kind, meaning):
    words = kind.strip().split(" or ")
    types = [SIMPLE[word] for word in words if word != "null"] + (["null"] if "null" in words else [])
    return {"type": types if len(types) > 1 else types[0], "description": re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", meaning).replace("`", "")}


def below(node, part):
    """The schema of one step of a path in that of an object: `name`, or `name[]`, the elements of a list."""
    name = part.removesuffix("[]")
    child = node["properties"].setdefault(name, {})
    if part.endswith("[]"):
        child.setdefault("type", "array")
        child = child.setdefault("items", {})
    return child


def make_object(node, has_null=False):
    node.setdefault("type", ["object", "null"] if has_null else "object")
    node.setdefault("properties", {})
    return node


def add(schema, path, kind, meaning):
    node = schema
    *way, last = path.split(".")
    for part in way:
        node = make_object(below(node, part))
    if kind.startswith("object"):
        make_object(below(node, last), "null" in kind)["description"] = meaning
    else:
        below(node, last).update(leaf(kind, meaning))
    if "null" in kind and not last.endswith("[]"):
        node["properties"][last + "_reason"] = {"type": "string", "description": "Why there is none."}


def close(node, path=""):
    """Whatever is not listed is refused; what is, has to be there, but for reasons and what SOMETIMES has."""
    if "items" in node:
        close(node["items"], path)
    if "properties" not in node:
        return
    names = {name: f"{path}.{name}".lstrip(".") for name in node["properties"]}
    node["required"] = [name for name, way in names.items() if not name.endswith("_reason") and way not in SOMETIMES
                        and (path != "" or name in ALWAYS)]
    node["additionalProperties"] = False
    for name, way in names.items():
        close(node["properties"][name], way)


def make(root):
    number = version(root)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:weft:result:{number}",
              "title": f"result.json of weft, version {number} of its fields",
              "description": "Times are picoseconds (_ps) or nanoseconds (_ns), rates bits per second (_bps), unless the name says bytes.",
              "type": "object", "properties": {}}
    for row in rows(root):
        add(schema, *row)
    close(schema)
    schema["properties"]["schema"]["const"] = number
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main():
    root = pathlib.Path(sys.argv[1])
    file, text = root / "docs" / "result.schema.json", make(root)
    if "--write" in sys.argv:
        file.write_text(text, encoding="utf-8")
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        print("docs/result.schema.json is not what docs/result.md lists: python3 tests/lint/schema.py . --write")
        return 1
    print(f"{len(rows(root))} fields")
    return 0


sys.exit(main())
