# commands.sh - documents: each command of a code block is run by a test, and each script of scripts/ that a
# page names is in a test, or tests/unrun.txt has it with the reason.
# not sanitized
set -eu
. tests/selftest/documents.inc
# check TOP: a folder with documents and tests/unrun.txt
check() {
    python_check "$1" <<'END'
import os, re, sys
from documents import documents

# The commands that a test runs, as that test finds them.
RUN = {
    # tests/cli/readme.sh
    "README.md": r"(echo .* \| )?build/attn-mt ",
    "docs/use.md": r"(echo .* \| )?build/attn-mt ",
    "docs/files.md": r"attn-mt ",
    "docs/tutorial.md": r"(echo|cp|cut|build/attn-mt) ",
    "docs/your-data.md": r".",
    "docs/chapters.md": r".",
    # tests/cli/pages.sh, tests/cli/python.sh; those with mpirun tests/cli/promise_ranks.sh
    "docs/by-hand.md": r"attn-mt ",
    "docs/serving.md": r"attn-mt serve|curl |ATTN_MT_MODELS=",
    "docs/public-models.md": r"(echo .* \| )?attn-mt ",
    "docs/machines.md": r"mkdir parts && split -n l/8|ls parts|cat parts|parallel |mpirun -n 2 ",
    "docs/compared.md": r"mpirun -n 2 ",
}
PROGRAM = (r"    ([A-Z_]+=\S+ )?(\.ci/run|(build[\w-]*/|scripts/|examples/|tests/)\w\S*|attn-mt|mpirun|make|"
           r"pip|python3?|curl|wget|echo|printf|cut|cp|mv|rm|ls|cat|mkdir|head|tail|sed|awk|gzip|sbatch|"
           r"job=\S*|parallel|systemctl|docker|git|subword-nmt|sudo|apt-get|cd|export)\s")

top = sys.argv[1]
unrun = {}
for line in open(os.path.join(top, "tests", "unrun.txt"), encoding="utf-8"):
    if line.startswith("    "):
        page, _, start = line.strip().partition(": ")
        unrun[page, start] = 0
bad = commands = 0
scripts = set()
for path in documents(top):
    page = os.path.relpath(path, top)
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        scripts.update(re.findall(r"`(scripts/[a-z][\w.-]*\w)", line))
        if not re.match(PROGRAM, line + " "):
            continue
        commands += 1
        command = line.strip()
        reasons = [key for key in unrun if key[0] == page and command.startswith(key[1])]
        for key in reasons:
            unrun[key] += 1
        if not reasons and not (page in RUN and re.match(RUN[page], command)):
            print(f"{page}:{number}: no test runs: {command}")
            bad = 1
# The others look at every script: its help, its usage errors, what it leaves.
OTHERS = ("help.sh", "usage.sh", "left.sh", "commands.sh")
tests = ""
for folder, _, names in os.walk(os.path.join(top, "tests")):
    tests += "".join(open(os.path.join(folder, name), encoding="utf-8").read() for name in names
                     if name.endswith((".sh", ".inc")) and name not in OTHERS)
for script in sorted(s for s in scripts if os.path.exists(os.path.join(top, s))):
    if ("scripts", script) in unrun:
        unrun["scripts", script] += 1
    elif not re.search(re.escape(script) + r"\b(?!-)", tests):
        print(f"{script}: a page names it, and no test")
        bad = 1
for (page, start), count in unrun.items():
    if not count:
        print(f"tests/unrun.txt: no page has this: {page}: {start}")
        bad = 1
print(f"{commands} commands, {sum(unrun.values())} of them not run by a test")
sys.exit(bad or commands == 0)
END
}
check . || exit 1

# The check finds each of them.
mkdir -p "$TMP/top/tests"
bad_page() { # EXPECTED UNRUN COMMAND
    printf '# Why\n    %s\n' "$2" >"$TMP/top/tests/unrun.txt"
    printf '# A page\n\n    %s\n' "$3" >"$TMP/top/page.md"
    finds "$1"
}
bad_page 'no test runs: make all' 'page.md: make none' 'make all'
bad_page 'no page has this: page.md: make none' 'page.md: make none' 'ls'
