#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What README and docs point to is there: links with their headings, and paths in backquotes that begin with a folder of this
tree. NAME in a path stands for what the reader is to choose. Each page of docs is listed in the README.md of its folder or of
docs. Files in C that comments name are there, too.

  links.py ROOT
"""
import functools
import pathlib
import re
import sys

LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
COMMENT = re.compile(r"//(.*)")
SOURCE = re.compile(r"(?<![\w/.*<-])[A-Za-z_][\w/-]*\.[ch]\b")
OF_OTHERS = {"cmocka.h", "errno.h", "mrc_ctl.h"}
PATH = re.compile(r"`((?:apps|docs|include|lib|tests|\.ci)/[\w./-]+)`")


@functools.cache
def headings(page):
    """What a link to a heading of the page has behind #."""
    lines = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S).split("\n")
    texts = [re.sub(r"\]\([^)]*\)", "", line.lstrip("#").strip().lower()) for line in lines if re.match("#+ ", line)]
    return {re.sub(r"[^\w -]", "", text).replace(" ", "-") for text in texts}


def broken(root, page):
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        targets = [(page.parent / target if target else page, target, heading) for target, heading in LINK.findall(line)]
        targets += [(root / target, target, "") for target in PATH.findall(line) if "NAME" not in target]
        for path, target, heading in targets:
            if not path.exists():
                yield f"{page.relative_to(root)}:{number}: {target} is not there"
            elif heading and path.suffix == ".md" and heading not in headings(path):
                yield f"{page.relative_to(root)}:{number}: {target} has no heading #{heading}"


def unlisted(root, pages):
    docs = root / "docs"
    for page in pages:
        lists = [docs / "README.md", page.parent / "README.md"]
        listed = {(at.parent / target).resolve() for at in lists if at.exists() for target, _ in LINK.findall(at.read_text(encoding="utf-8"))}
        if docs in page.parents and page.name != "README.md" and page not in listed:
            yield f"{page.relative_to(root)}: no README.md lists it"


def gone(root):
    """Names of files in comments; the folder before a name is left aside."""
    files = [path for folder in ("apps", "include", "lib", "tests") for path in (root / folder).rglob("*.[ch]")]
    there = {path.name for path in files} | OF_OTHERS
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            for name in SOURCE.findall("".join(COMMENT.findall(line))):
                if pathlib.Path(name).name not in there:
                    yield f"{path.relative_to(root)}:{number}: {name} is not there"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])
    found = [text for page in pages for text in broken(root, page)] + list(unlisted(root, pages)) + list(gone(root))
    print("\n".join(found + [f"{len(pages)} pages, {len(found)} broken"]))
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
