#!/bin/sh
# links.sh - documents: every relative link leads to a file, every #anchor to a heading, and every page of
# docs/ is in its index and ends with where to go next.
# not sanitized
set -eu
. tests/selftest/documents.inc
# check TOP
check() {
    python_check "$1" <<'END'
import os, re, sys
from documents import documents

top = sys.argv[1]
pages = {path: re.sub(r"^    [^\n]*$", "", open(path, encoding="utf-8").read(), flags=re.M)
         for path in documents(top)}

def anchors(text):
    """The anchors that GitHub gives to headings."""
    seen = {}
    for title in re.findall(r"^#+ +(.*)$", text, re.M):
        title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
        anchor = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        count = seen[anchor] = seen.get(anchor, -1) + 1
        yield anchor if count == 0 else f"{anchor}-{count}"

bad = 0
for path, text in sorted(pages.items()):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(target):
            print(f"{path}: {link}: no such file")
        elif anchor and anchor not in anchors(pages.get(target, "")):
            print(f"{path}: {link}: no such heading")
        else:
            continue
        bad = 1
index = os.path.normpath(os.path.join(top, "docs", "README.md"))
for path in pages:
    if os.path.dirname(path) == os.path.dirname(index) and path != index:
        if f"]({os.path.basename(path)})" not in pages[index]:
            print(f"{path} is not in docs/README.md")
            bad = 1
        if "where to go next" not in pages[path][-1000:].lower():
            print(f"{path} does not end with where to go next")
            bad = 1
sys.exit(bad)
END
}
check . || exit 1

# The check finds each of them.
mkdir -p "$TMP/top/docs"
bad_page() { # EXPECTED TEXT
    printf '# Index\n\n[page](page.md)\n' >"$TMP/top/docs/README.md"
    printf '# A page\n\n%s\n' "$2" >"$TMP/top/docs/page.md"
    finds "$1"
}
bad_page 'gone.md: no such file' '[x](gone.md) Where to go next'
bad_page '#b: no such heading' '[x](#b) Where to go next'
bad_page 'does not end with' '[x](#a-page)'
