#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of result.json, study.json and book.json, made from the lists of fields in docs/result.md and, as far as they
are in it, from the table of figures, figures.def.

  schemas.py ROOT FOLDER    writes KIND.schema.json of each into FOLDER, and schema_texts.c, all of them as text in the program,
                            without their descriptions
  schemas.py ROOT --write   writes the rows of the table into the list of docs/result.md: each where its field stands, a new one
                            behind the one before it in its section
  schemas.py ROOT --check   says which rows differ there; exit 1 when any does

The first list is held against what the program writes by a unit test (report_json), the schemas against whole results by a golden
test (program_schema). A field that is not in the list is refused; `null` may have its reason beside it.
"""
import json
import pathlib
import re
import sys

ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \|(.*)\|$")
SIMPLE = {"integer": "integer", "time": "integer", "number": "number", "text": "string", "word": "string", "flag": "boolean"}
KINDS = {"COUNT": "integer", "BYTES": "integer", "PS": "time", "FLAG": "flag", "WORD": "word", "TEXT": "text or null"} # of units of figures.def; others are numbers
# Objects and lists that a result has only where it had something to say; docs/result.md says when.
SOMETIMES = {"jobs", "program", "buffer", "pfc", "bypass.recovery", "pace", "ports", "capture", "fidelity", "wall", "expect", "mrc_ctl", "gpu", "fast_forward", "taken", "warnings", "scenario.path", "scenario.spray"}
FIGURES = "digest hops culprit goodput_per_nic_bps busbw_bps fct_p50_s fct_p99_s marked_share trimmed_share retransmitted_share queue_bytes_max measures "
FIGURES += "collective jct_ratio overlap_fraction samples variation"
# Of the other files: heading of its list, file and word that its version is defined by, what it has sometimes.
OTHERS = {
    "study": ("Many runs", "lib/study/study_write.c", "STUDY_SCHEMA", {"figures[].points[].from_first", "points[].warnings", "left_out"}),
    "book": ("A book", "apps/validate-fabric/page_json.c", "BOOK_SCHEMA", {"cases[].folder", *("cases[]." + name for name in FIGURES.split())}),
}
ALWAYS = set("schema weft command run scenario network faults plan headline goodput collectives messages flows racks congestion drops cables planes "
             "transport switches conservation series bypass flow_evs links delays collective_times culprits speed inputs".split())


def arguments(text):
    """Those of a macro's call, cut at its commas, texts without their quotes."""
    parts = re.findall(r'(?:"(?:[^"\\\\]|\\\\.)*"|\([^()]*(?:\([^()]*\)[^()]*)*\)|[^",()])+', text)
    return [part.strip().removeprefix('"').removesuffix('"').replace('\\"', '"') for part in parts]


def table(root):
    """The text of figures.def, with the rows of the counters that it includes as rows of their section."""
    def rows_of(match):
        file = next(path for path in (root / "include" / match[2], root / "include" / "installed" / match[2]) if path.is_file())
        return re.sub(r"^COUNTER\((\w+), (\w+),\s*", rf'FIGURE("{match[1]}", "\1", \2, ALWAYS, , ', file.read_text(encoding="utf-8"), flags=re.M)
    return re.sub(r'FIGURE_OF\(\w+##name, "(\w+)".*\n#include <([\w/.]+)>', rows_of, (root / "lib" / "result" / "figures.def").read_text(encoding="utf-8"))


def figures(root):
    """{path: (type, meaning)} of the table of figures, in its order."""
    text, ret = table(root), {}
    for call in re.findall(r"^FIGURE\((.*?)\)$", text, re.MULTILINE | re.DOTALL):
        section, key, unit, needs, _, meaning, *_ = arguments(call)
        if section:
            ret[f"{section}.{key}"] = (KINDS.get(unit, "number") + ("" if needs == "ALWAYS" else " or null"), meaning)
    latency = [arguments(call) for call in re.findall(r"^LATENCY\((.*?)\)$", text, re.MULTILINE | re.DOTALL)]
    for section, of, _, _, counts in map(arguments, re.findall(r"^LATENCIES\((.*?)\)$", text, re.MULTILINE | re.DOTALL)):
        for key, kind, _, meaning, *_ in latency:
            may_be_none = kind != "COUNT" and of == "MAY_BE_SAMPLE"
            if kind != "ERROR" or section == "messages[]":
                ret[f"{section}.{key}"] = ("integer or null" if may_be_none else "integer", counts if key == "count" else meaning)
    return ret


def line(path, kind, meaning):
    return f"| `{path}` | {kind} | {meaning}{' ' if meaning else ''}|"


def listed(root):
    """docs/result.md with the rows of the table in it."""
    lines, before = (root / "docs" / "result.md").read_text(encoding="utf-8").split("\n"), {}
    for path, row in figures(root).items():
        section = path.rpartition(".")[0]
        at = next((i for i, each in enumerate(lines) if each.startswith(f"| `{path}` |")), None)
        if at is None and section not in before:
            sys.exit(f"docs/result.md has no list of {section} that {path} could stand in: write its first row there")
        if at is None:
            at = lines.index(before[section]) + 1
            lines.insert(at, "")
        lines[at] = before[section] = line(path, *row)
    return "\n".join(lines)


def rows(root, heading="Fields of result.json"):
    """(path, type, meaning) of each field, in the order of the document."""
    part = listed(root).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [tuple(map(str.strip, match.groups())) for match in map(ROW.match, part.split("\n")) if match]


def hold(root, is_write):
    """Holds the list against the table."""
    file, made = root / "docs" / "result.md", listed(root)
    if is_write:
        file.write_text(made, encoding="utf-8")
    wrong = [each for each in made.split("\n") if each not in set(file.read_text(encoding="utf-8").split("\n"))]
    for each in wrong:
        print(f"docs/result.md has not the row of figures.def: {each}: python3 lib/result/schemas.py . --write")
    print(f"{len(figures(root))} figures")
    return 1 if wrong else 0


def version(root, file="lib/result/json.c", word="RESULT_SCHEMA"):
    return int(re.search(rf"#define {word} (\d+)", (root / file).read_text()).group(1))


def leaf(kind, meaning):
    words = kind.strip().split(" or ")
    types = [SIMPLE[word.removeprefix("signed ")] for word in words if word != "null"] + (["null"] if "null" in words else [])
    least = {"minimum": 0} if {"integer", "number"} & set(types) and not kind.startswith("signed") else {}
    return {"type": types if len(types) > 1 else types[0], **least, "description": re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", meaning).replace("`", "")}


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
    if kind == "map": # names are those of keys or figures
        node["properties"][last] = {"type": "object", "description": meaning, "additionalProperties": {"type": ["string", "number", "null"]}}
    elif kind.startswith("object"):
        make_object(below(node, last), "null" in kind)["description"] = meaning
    else:
        below(node, last).update(leaf(kind, meaning))
    if "null" in kind and not last.endswith("[]"):
        node["properties"][last + "_reason"] = {"type": "string", "description": "Why there is none."}


def close(node, sometimes, always=None, path=""):
    """Whatever is not listed is refused; what is, has to be there, but for reasons and what is there sometimes."""
    if "items" in node:
        close(node["items"], sometimes, always, path + "[]" if always is None else path)
    if "properties" not in node:
        return
    names = {name: f"{path}.{name}".lstrip(".") for name in node["properties"]}
    node["required"] = [name for name, way in names.items() if not name.endswith("_reason") and way not in sometimes
                        and (path != "" or always is None or name in always)]
    node["additionalProperties"] = False
    for name, way in names.items():
        close(node["properties"][name], sometimes, always, way)


def make(root, kind="result"):
    heading, file, word, sometimes = OTHERS.get(kind, ("Fields of result.json", "lib/result/json.c", "RESULT_SCHEMA", SOMETIMES))
    number = version(root, file, word)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:weft:{kind}:{number}",
              "title": f"{kind}.json of weft, version {number} of its fields",
              "description": "Times are picoseconds (_ps) or nanoseconds (_ns), rates bits per second (_bps), unless the name says bytes.",
              "type": "object", "properties": {}}
    for row in rows(root, heading):
        add(schema, *row)
    close(schema, sometimes, ALWAYS if kind == "result" else None)
    schema["properties"]["schema"]["const"] = number
    return schema


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


def main():
    if sys.argv[2] in ("--check", "--write"):
        return hold(pathlib.Path(sys.argv[1]), sys.argv[2] == "--write")
    root, folder, parts = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), ['#include <weft/result/schema.h>\n']
    for kind in ("result", *OTHERS):
        schema = make(root, kind)
        (folder / f"{kind}.schema.json").write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        parts.append(f"const char schema_{kind}[] =\n{literal(json.dumps(bare(schema), separators=(',', ':')))};\n")
    (folder / "schema_texts.c").write_text("\n".join(parts), encoding="utf-8")
    return 0


sys.exit(main())
