#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes --help, the man page and the table of options of a program from its one help.txt, and the list of commands from
all of them.

  help.py text OUT help.txt ALL...                 C: const char help_text[]
  help.py options OUT help.txt                     C: PROGRAM_OPTIONS(type), rows of <weft/run/command_line.h>
  help.py man --version V OUT help.txt ALL...      man page
  help.py commands OUT ALL...                      C: struct command commands[]
  help.py completion OUT ALL...                    C: const char completion_bash[], completion_zsh[]
  help.py shell bash|zsh OUT ALL...                the same as a file of that shell

help.txt is the text that --help prints, at most 80 columns wide:

  # a line that starts with '#' at the top of the file (the SPDX line) is left out
  NAME                          a section: capitals at the start of a line. The first is NAME.
      weft-sim - what it does   everything in a section is indented by four spaces
  OPTIONS                       usual ones: NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES EXIT STATUS
      --out DIR                 a term: one line, with its text below it, indented by eight
          = text out            a rule: no text, but what the program does with the option; see below
          Write the result there.
      0    done                 a table: a line with two spaces inside; printed as it stands
  @COMMANDS@                    alone on an indented line: the list of all commands (weft only)

SYNOPSIS and EXAMPLES are printed as they stand; elsewhere a paragraph ends at an empty line.

Each option has one rule, below its term (of several in one term as many rules, in their order). FIELD is one of the
struct that the program reads its options into:

  flag FIELD                    bool
  text FIELD [a|b|c]            const char *; where words follow, one of them
  index FIELD a|b|c [FIRST]     enum: the place of the word, counted from FIRST, or 0
  count FIELD LOW..HIGH         uint32_t or uint64_t
  real FIELD LOW..HIGH          double
  size FIELD LOW..HIGH          uint64_t, bytes: 4096, 4K
  time FIELD                    int64_t FIELD_ns, or double FIELD_s: 50us, 10min
  list FIELD COUNT [MOST]       const char *FIELD[] and uint32_t COUNT: may be given many times
  take FUNCTION                 option_take_fn: what no kind above can read
  force                         files_force()
  none WHY                      it has no effect, for this reason

Behind it may stand, with `;` before each: `needs --a or --b` (of which one must be given; `--a WORD`: with that value),
`not --a, --b` (beside these it has no effect), `not others` (beside it no other option has one), `has FIELD` (a bool: it was given), `many`, `alone`, and `of VERB, VERB`
(it belongs to these verbs; the others refuse it). A rule goes on in a line that begins with `= ;` or `= |`. A rule that begins
with an option (`= -t none ...`) is of one that has no term.
"""
import io
import re
import sys

AS_IT_STANDS = ("SYNOPSIS", "EXAMPLES")
RULE = re.compile(r" {4,8}= (.*)")


def fail(path, number, what):
    sys.exit(f"{path}:{number}: {what}")


def read(path):
    """The text of a help file without its comment lines and rules."""
    return "".join(line + "\n" for line in read_all(path)[:-1].split("\n") if not RULE.fullmatch(line))


def read_all(path):
    """The text of a help file without its comment lines."""
    lines = open(path, encoding="utf-8").read().split("\n")
    skipped = 0
    while lines and lines[0].startswith("#"):
        lines.pop(0)
        skipped += 1
    if not lines or lines[0] != "NAME":
        fail(path, skipped + 1, "the first section must be NAME")
    section = before = ""
    for number, line in enumerate(lines, skipped + 1):
        if len(line) > 80 or line != line.rstrip() or "\t" in line:
            fail(path, number, "at most 80 columns, no tabs, no space at the end")
        if line and not line.startswith("    ") and not re.fullmatch(r"[A-Z][A-Z ]+", line):
            fail(path, number, "neither a section in capitals nor indented by four")
        section = line if line and not line.startswith(" ") else section
        if section == "EXIT STATUS" and before == "" and line.startswith("    "):
            fail(path, number, "an empty line in the table of exit statuses")
        before = line
    return "\n".join(lines).rstrip("\n") + "\n"


def name_of(path):
    """(program, summary) of the NAME section."""
    found = re.match(r"NAME\n    (\S+) - (.+)\n", read(path))
    if not found:
        fail(path, 2, "NAME wants `    program - summary`")
    return found.group(1), found.group(2)


def commands_of(paths):
    names = [name_of(path) for path in paths]
    return [(name[len("weft-"):], summary) for name, summary in names if name.startswith("weft-")]


def whole_text(path, everyone):
    commands = commands_of(everyone)
    width = max([len(name) for name, _ in commands] + [4])
    table = "\n".join(f"    {name:<{width}}  {summary}" for name, summary in commands)
    return read(path).replace("    @COMMANDS@", table)


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?") + '"'


def write_text(out, text):
    body = "\n".join("\t" + c_string(line + "\n").replace("\n", "\\n") for line in text[:-1].split("\n"))
    out.write(f'// Made by help.py.\n#include "help.h"\n\nconst char help_text[] =\n{body};\n')


def write_commands(out, commands):
    out.write('// Made by help.py.\n#include "weft/command.h"\n\nconst struct command commands[] = {\n')
    for name, summary in commands:
        out.write(f"\t{{{c_string(name)}, {c_string(summary)}}},\n")
    out.write("\t{0, 0},\n};\n")


# ---------------------------------------------------------------- options

def options_of_term(line):
    """[(name, letter, value)] of `-b, --minbytes SIZE; -e, --maxbytes SIZE`."""
    found, letter = [], ""
    for part in re.split(r"[,;] (?=-)", line.strip()):
        name, _, value = part.partition(" ")
        if name.startswith("--"):
            if name[2:] not in [one[0] for one in found]:
                found.append((name[2:], letter, value))
            letter = ""
        else:
            letter = name[1:]
    return [one for one in found if one[0] not in ("help", "version")]


def verbs_of(rule):
    """What a rule belongs to; [] = to all verbs."""
    found = [clause.strip()[3:].split(", ") for clause in rule.split(";") if clause.strip().startswith("of ")]
    return found[0] if found else []


def rules_of(path):
    """[(name, letter, value, rule)], in the order of the text."""
    rows, term, section = [], [], ""
    for number, line in enumerate(open(path, encoding="utf-8").read().split("\n"), 1):
        rule = RULE.fullmatch(line)
        section = line if re.fullmatch(r"[A-Z][A-Z ]+", line) else section
        if rule and rule[1].startswith(("; ", "|")):
            rows[-1] = (*rows[-1][:3], rows[-1][3] + rule[1])
        elif rule and rule[1].startswith("-"):
            name, text = rule[1].split(" ", 1)
            rows.append((name[2:], "", "VALUE", text) if name.startswith("--") else ("", name[1:], "VALUE", text))
        elif rule and not term:
            fail(path, number, "a rule below no option, or one too many")
        elif rule:
            rows.append((*term.pop(0), rule[1]))
        elif section == "OPTIONS" and re.match(r"    -\S", line):
            term += [one for one in options_of_term(line) if one[0] not in [other[0] for other in term]]
        else:
            missing = [one[0] for one in term if one[0] not in [row[0] for row in rows]]
            if missing and rows:
                fail(path, number, f"--{missing[0]} has no rule")
            term = []
    return rows


def option_list(text):
    """`pcap|depth=sample` of `--pcap or --fidelity sample`."""
    return "|".join(one.strip().removeprefix("--").replace(" ", "=") for one in re.split(r" or |, ", text))


def field_of(kind, field, rest, given):
    """What a row says of its kind, as C."""
    where = f".at = OPTION_AT(type, {field}, %s)"
    types = {"flag": "bool", "text": "const char *", "real": "double"}
    if kind in types:
        made = [where % types[kind]]
    elif kind == "time":
        is_ns = field.endswith("_ns")
        return ["OPTION_TIME_NS" if is_ns else "OPTION_TIME_S", where % ("int64_t" if is_ns else "double")]
    elif kind == "list":
        made = [f".at = OPTION_AT(type, {field}[0], const char *)", f".max = {rest[1] if len(rest) > 1 else f'OPTION_LENGTH(type, {field})'}",
                f".second = OPTION_AT(type, {rest[0]}, uint32_t)", ".is_many = true"]
    else:
        made = [f".at = offsetof(type, {field}), .bytes = OPTION_BYTES(type, {field})"]
    if kind in ("count", "real", "size"):
        low, high = rest[0].split("..")
        ends = (".low", ".high") if kind == "real" else (".min", ".max")
        made += [f"{ends[0]} = {low}", f"{ends[1]} = {high}"]
    if kind in ("text", "index") and rest:
        made.append(f".words = {c_string(rest[0])}")
    if kind == "index" and len(rest) > 1:
        made.append(f".min = {rest[1]}")
    return ["OPTION_" + kind.upper(), *made]


def row_of(path, name, letter, value, rule, verb):
    """A row of the table, as C; of another verb than `verb` one that is refused."""
    head, *clauses = [rule] if rule.startswith("none ") else [part.strip() for part in rule.split(";")]
    kind, *rest = head.split()
    made = [f".name = {c_string(name)}"]
    made += [f".letter = '{letter}'"] if letter else []
    made += [f".value = {c_string(value)}"] if value else []
    if verb and verbs_of(rule) and verb not in verbs_of(rule):
        kind, head, clauses = "none", "none it goes with " + " and ".join(verbs_of(rule)), []
    if kind == "none":
        made.append(f".kind = OPTION_NONE, .words = {c_string(head[5:])}")
    elif kind == "take":
        made.append(f".kind = OPTION_TAKE, .take = {rest[0]}")
    elif kind == "force":
        made.append(".kind = OPTION_FORCE")
    elif kind in ("flag", "text", "index", "count", "real", "size", "time", "list") and rest:
        what, *fields = field_of(kind, rest[0], rest[1:], name)
        made += [f".kind = {what}", *fields]
    else:
        fail(path, 1, f"--{name}: no rule: {rule}")
    needs = [option_list(clause[6:]) for clause in clauses if clause.startswith("needs ")]
    made += [f".needs = {c_string(';'.join(needs))}"] if needs else []
    excludes = [option_list(clause[4:]) for clause in clauses if clause.startswith("not ") and clause != "not others"]
    made += [f".excludes = {c_string('|'.join(excludes))}"] if excludes else []
    for clause in clauses:
        word, _, rest_of = clause.partition(" ")
        if clause == "not others":
            made.append(".is_sole = true")
        elif word == "has":
            made.append(f".has_flag = true, .flag = OPTION_AT(type, {rest_of}, bool)")
        elif word in ("many", "alone"):
            made.append(f".is_{word} = true")
        elif word not in ("needs", "not", "of"):
            fail(path, 1, f"--{name}: no clause of a rule: {clause}")
    return "{" + ", ".join(made) + "}"


def check_names(path, rows):
    """What a rule names are options."""
    names = {row[0] for row in rows}
    for name, _, _, rule in rows:
        for clause in rule.split(";")[1:] if not rule.startswith("none ") else []:
            for word in re.findall(r"--([a-z-]+)", clause):
                if word not in names:
                    fail(path, 1, f"--{name}: its rule names --{word}, which is not an option")


def write_options(out, path):
    """A macro for the program, or for each of its verbs."""
    rows = rules_of(path)
    check_names(path, rows)
    program = name_of(path)[0].removeprefix("weft-").replace("-", "_").upper()
    verbs = sorted({verb for row in rows for verb in verbs_of(row[3])})
    out.write(f"// Made by help.py.\n#pragma once\n#include <weft/run/command_line.h>\n")
    for verb in verbs or [""]:
        own = [row for row in rows if not verb or not verbs_of(row[3]) or verb in verbs_of(row[3])]
        own_names = {row[0] for row in own}
        rest = [row for row in rows if row not in own and (row[0] not in own_names or not row[0])]
        made = [row_of(path, *row, verb) for row in own + rest]
        name = "_".join(filter(None, (program, verb.upper().replace("-", "_"), "OPTIONS")))
        out.write(f"#define {name}(type) \\\n\t" + ", \\\n\t".join(made) + "\n")


# ---------------------------------------------------------------- completion

# What a key may be, from the end of its line in `weft sim --list-keys`.
WORDS = """\
_weft_words() {
    weft sim --list-keys 2>/dev/null | awk -v key="$1" '$1 == key && sub(/.* \\[/, "") && sub(/\\]$/, "")'
}"""
COMPLETION = """\
# Completion of weft's commands, options and their values. Of bash: . <(weft completion bash)
_weft_names() {
    weft "$@" 2>/dev/null | cut -d ' ' -f 1
}
@WORDS@
_weft() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= behind=
    local command=${COMP_WORDS[1]} verb=${COMP_WORDS[2]}
    if [ "$current" = "=" ] || [ "$before" = "=" ]; then
        [ "$current" = "=" ] && current= || before=${COMP_WORDS[COMP_CWORD-2]}
        words=$(_weft_words "$before")
    elif [ "$COMP_CWORD" -eq 1 ]; then
        words="@COMMANDS@"
    else
        case "$command $before" in
@VALUES@
        *) case "$current" in
            -*) case "$command" in
@OPTIONS@
                esac ;;
            *) case "$((COMP_CWORD - 1)) $command $verb" in
@ARGUMENTS@
                *" help "*) words="@COMMANDS@" ;;
                esac ;;
            esac ;;
        esac
    fi
    [ -z "$behind" ] || compopt -o nospace 2>/dev/null
    COMPREPLY=($(compgen -S "$behind" -W "$words" -- "$current"))
}
complete -o default -F _weft weft
"""


COMPLETION_ZSH = """\
#compdef weft
# Completion of weft's commands, options and their values. Of zsh: . <(weft completion zsh), or this file as _weft in $fpath
_weft_names() {
    compadd -- ${(f)"$(weft "$@" 2>/dev/null | cut -d ' ' -f 1)"}
}
@WORDS@
_weft_keys() {
    if [[ $PREFIX == *=* ]]; then
        local -a found=($(_weft_words "${PREFIX%%=*}"))
        compset -P '*='
        (( $#found )) && compadd -- $found || _files
    else
        compadd -q -S = -- ${(f)"$(weft "$@" 2>/dev/null | cut -d ' ' -f 1)"}
    fi
}
_weft() {
    local command=${words[2]} verb=${words[3]} before=${words[CURRENT-1]} current=${words[CURRENT]}
    local -a commands
    commands=(
@SUMMARIES@
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case "$command $before" in
@VALUES@
    esac
    if [[ $current == -* ]]; then
        case $command in
@OPTIONS@
        esac
        return
    fi
    case "$((CURRENT - 2)) $command $verb" in
@ARGUMENTS@
    *" help "*) _describe command commands; return ;;
    esac
    _files
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
    _weft "$@"
else
    (( $+functions[compdef] )) || { autoload -U compinit && compinit }
    compdef _weft weft
fi
"""
# What prints the names that may stand for such a word of the help; a file may, too.
LISTS = {"SCENARIO": "sim --list", "FABRIC": "sim --list", "PROFILE": "verdict --list", "JOB": "plan --list"}


def lists_of(path, name, place):
    """What may stand for a word of the help in capitals: (words, arguments of a weft that prints more)."""
    if place.startswith("KEY"):
        return "", f"{name if 'list-keys' in [row[0] for row in rules_of(path)] else 'sim'} --list-keys"
    told = re.search(rf"\n    {place} is ([a-z0-9_]+(?:,? (?:or )?[a-z0-9_]+)+)\.\n", re.sub(r"(?<=\S)\n    (?=\S)", " ", read(path))) if place else None
    return re.sub(r",| or\b", "", told[1]) if told else "", LISTS.get(place, "")


def values_of(path, name):
    """[(options, words, list, whether keys)] of the options that take a value."""
    found = {}
    for long_name, letter, value, rule in rules_of(path):
        kind, _, *words = rule.split(";")[0].split() + [""]
        either = words[0] if kind in ("text", "index") and words and "|" in words[0] else ""
        place = re.split(r"[^A-Z]", value)[0]
        what = (either.replace("|", " "), "", False) if either else (*lists_of(path, name, place), place == "KEY")
        if value and kind != "none":
            names = found.setdefault(what, [])
            names += [f'"{name} --{long_name}"'] if long_name else []
            names += [f'"{name} -{letter}"'] if letter else []
    return [(" | ".join(names), *what) for what, names in found.items()]


def arguments_of(path, name):
    """[(pattern of place, command and verb, words, list)] of arguments, as the synopsis has them; the narrowest first."""
    verbs, rows, others = [], [], ("", "")
    for line in re.findall(rf"^    weft {name} (.*)$", read(path).partition("SYNOPSIS\n")[2].partition("\n\n")[0], re.M):
        first, *rest = re.split(r" \[?-| \[options", line)[0].split()
        own = first.strip("[]").split("|") if re.fullmatch(r"\[?[a-z|]+\]?", first) else []
        places = [re.split(r"[^A-Z]", one.strip("[]"))[0] for one in (rest if own else [first, *rest])]
        what = next((found for found in (lists_of(path, name, place) for place in places) if any(found)), ("", ""))
        verbs += [verb for verb in own if verb not in verbs]
        rows += [(f'*" {name} {verb}"', *what) for verb in own if verb not in [row[0].split()[-1][:-1] for row in rows]]
        others = what if (not own or first.startswith("[")) and any(what) else others
    here = [(f'"1 {name} "*', " ".join([*verbs, others[0]]).strip(), others[1])] if verbs else []
    return here + rows + ([(f'*" {name} "*', *others)] if any(others) else [])


def of_bash(words, command, is_keys=False):
    said = " ".join(filter(None, (words, f"$(_weft_names {command})" if command else "")))
    return (f'words="{said}"' if said else "") + (" behind==" if is_keys else "")


def of_zsh(words, command, is_keys=False):
    said = [f"compadd -- {words}"] if words else []
    said += [f"_weft_{'keys' if is_keys else 'names'} {command}"] if command else []
    return "; ".join(said)


def completions(paths):
    """{bash, zsh: a script}: commands, their options, verbs and arguments, and what each of those may be."""
    options, values, arguments = [], [], []
    commands = commands_of(paths)
    names = [name for name, _ in commands]
    for path in paths:
        name = name_of(path)[0].removeprefix("weft-")
        rows = rules_of(path) if name in names else []
        options.append((name, " ".join(sorted({"--" + row[0] for row in rows if row[0]} | {"--help", "--version"}))))
        if name in names:
            values += values_of(path, name)
            arguments += arguments_of(path, name)
    ends = {True: " return", False: " _files; return"} # whether a word has to be one of those
    made = {
        "bash": COMPLETION.replace("@WORDS@", WORDS).replace("@COMMANDS@", " ".join(names + ["help", "completion"]))
        .replace("@VALUES@", "\n".join(f"        {either}) {of_bash(*what)} ;;" for either, *what in values))
        .replace("@ARGUMENTS@", "\n".join(f"                {place}) {of_bash(*what)} ;;" for place, *what in arguments))
        .replace("@OPTIONS@", "\n".join(f'                {name}) words="{words}" ;;' for name, words in options)),
        "zsh": COMPLETION_ZSH.replace("@WORDS@", WORDS).replace("@SUMMARIES@", "\n".join("        '" + f"{name}:{text}".replace("'", "'\\''") + "'" for name, text in
                                      commands + [("help", "what a command does"), ("completion", "completion of a shell")]))
        .replace("@VALUES@", "\n".join(f"    {either}) {of_zsh(*what)};{ends[bool(what[0]) or what[2]]} ;;".replace(") ;", ")") for either, *what in values))
        .replace("@ARGUMENTS@", "\n".join(f"    {place}) {of_zsh(*what)} ;;" for place, *what in arguments))
        .replace("@OPTIONS@", "\n".join(f"        {name}) compadd -- {words} ;;" for name, words in options)),
    }
    return made


def write_completion(out, paths):
    out.write('// Made by help.py.\n#include "weft/command.h"\n')
    for shell, text in completions(paths).items():
        body = "\n".join("\t" + c_string(line + "\n").replace("\n", "\\n") for line in text[:-1].split("\n"))
        out.write(f"\nconst char completion_{shell}[] =\n{body};\n")


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def verbatim(out, lines):
    out.write(".PP\n.nf\n" + "".join(roff(line) + "\n" for line in lines) + ".fi\n")


def paragraph(out, lines):
    """One paragraph of a section, its lines still indented."""
    lines = [line[4:] for line in lines]
    while lines:
        if re.search(r"\S  +\S", lines[0]):
            count = next((i for i, line in enumerate(lines) if not re.search(r"\S  +\S|^ ", line)), len(lines))
            verbatim(out, lines[:count])
        elif len(lines) > 1 and lines[1].startswith("    ") and not lines[0].startswith(" "):
            count = next((i for i, line in enumerate(lines) if i and not line.startswith("    ")), len(lines))
            out.write(".TP\n.B " + roff(lines[0]) + "\n")
            out.write("".join(roff(line.strip()) + "\n" for line in lines[1:count]))
        else:
            count = next((i for i, line in enumerate(lines) if i and lines[i][:1] != " "
                          and i + 1 < len(lines) and lines[i + 1].startswith("    ")), len(lines))
            out.write(".PP\n" + "".join(roff(line.strip()) + "\n" for line in lines[:count]))
        lines = lines[count:]


def write_man(target, text, name, version):
    out = io.StringIO()
    out.write(f'.TH {name.upper()} 1 "" "weft {version}" "weft"\n')
    for section in re.split(r"\n(?=[A-Z])", text):
        title, _, body = section.partition("\n")
        out.write(f'.SH "{title}"\n')
        lines = body.strip("\n").split("\n")
        if title in AS_IT_STANDS:
            verbatim(out, [line[4:] for line in lines])
        else:
            for part in re.split(r"\n\n+", "\n".join(lines)):
                paragraph(out, part.split("\n"))
    target.write(re.sub(r'(\.SH .*\n)\.PP\n', r"\1", out.getvalue()))  # whatis(1) reads the line behind NAME


if __name__ == "__main__":
    arguments = sys.argv[1:]
    kind = arguments.pop(0)
    version = shell = ""
    if kind == "shell":
        shell = arguments.pop(0)
    if arguments[0] == "--version":
        version = arguments[1]
        arguments = arguments[2:]
    with open(arguments[0], "w", encoding="utf-8") as target:
        if kind == "commands":
            write_commands(target, commands_of(arguments[1:]))
        elif kind == "shell":
            target.write(completions(arguments[1:])[shell])
        elif kind == "completion":
            write_completion(target, arguments[1:])
        elif kind == "options":
            write_options(target, arguments[1])
        elif kind == "text":
            write_text(target, whole_text(arguments[1], arguments[2:]))
        else:
            write_man(target, whole_text(arguments[1], arguments[2:]), name_of(arguments[1])[0], version)
