# man.sh - the man page is up to date with --help, and mandoc has no complaints.
set -eu
scripts/make-man >"$TMP/page"
if ! cmp -s "$TMP/page" docs/attn-mt.1; then
    diff "$TMP/page" docs/attn-mt.1 | head -n 20
    echo "docs/attn-mt.1 is out of date: run 'make man'"
    exit 1
fi
[ "$(grep -c '^\.It Fl' docs/attn-mt.1)" -gt 100 ] || { echo "options are missing from the page"; exit 1; }
if command -v mandoc >/dev/null; then mandoc -T lint -W warning docs/attn-mt.1; fi
