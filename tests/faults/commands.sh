#!/bin/sh
# commands.sh - every command under the table of faults in tests/faults/faults.c, whose arguments it takes:
# `make faults` and `make torture` call it.
# not sanitized
# slow
set -u
cc=${CC:-cc}
folder=${TMP:-/tmp}
[ ! -w /dev/shm ] || folder=/dev/shm # in memory where possible: the calls are what is tested, not the disk
TMP=$(mktemp -d "$folder/attn-mt-faults.XXXXXX") || exit 1
trap 'rm -rf "$TMP"' EXIT
trap 'exit 130' INT TERM
faults=tests/faults
$cc -std=c11 -D_GNU_SOURCE -fPIC -shared -O1 -o "$TMP/shim.so" $faults/fault_shim.c -ldl 2>"$TMP/log" &&
    $cc -std=c11 -D_GNU_SOURCE -O1 -o "$TMP/faults" $faults/faults.c $faults/subject.c 2>"$TMP/log" || {
    echo "skip: the tests of faults need Linux and glibc: $(head -n 1 "$TMP/log")"
    exit 77
}
mkdir "$TMP/work"
cp tests/golden/models/0.1.0-recurrent.safetensors "$TMP/work/model.safetensors"
cp tests/golden/models/source.txt "$TMP/work"
{ head -n 24 data/chapter.tsv && head -n 24 data/handwritten.tsv; } >"$TMP/work/pairs.tsv"
for side in 1:en 2:fr; do cut -f ${side%:*} "$TMP/work/pairs.tsv" >"$TMP/work/valid.${side#*:}"; done
cat >"$TMP/work/config.json" <<'END'
{"data": {"train": ["pairs.tsv"], "valid": ["valid.{}"]},
 "text": {"bpe_merges": 20, "min_count": 1}, "model": {"embedding": 8, "hidden": 8},
 "train": {"max_updates": 4, "epochs": 0, "batch_size": 8, "valid_every": 2, "samples": 0, "warmup": 0}}
END
# The same pairs in other formats, and documents; three texts of each.
awk -F '\t' -v folder="$TMP/work/" 'NR > 3 { exit }
    NR == 1 {
        print "en,fr" >folder "pairs.csv"
        print "<tmx version=\"1.4\"><header srclang=\"en\"/><body>" >folder "pairs.tmx"
        xliff = "<xliff version=\"1.2\"><file source-language=\"en\" target-language=\"fr\"><body>"
        print xliff >folder "pairs.xlf"
        print xliff >folder "text.xlf"
        header = "Content-Type: text/plain; charset=UTF-8\\nLanguage: fr\\n"
        print "msgid \"\"\nmsgstr \"" header "\"\n" >folder "pairs.po"
        print "<!DOCTYPE html><html><body>" >folder "text.html"
    }
    {
        print "\"" $1 "\",\"" $2 "\"" >folder "pairs.csv"
        print "<tu><tuv xml:lang=\"en\"><seg>" $1 "</seg></tuv><tuv xml:lang=\"fr\"><seg>" $2 \
            "</seg></tuv></tu>" >folder "pairs.tmx"
        unit = "<trans-unit id=\"" NR "\"><source>" $1 "</source>"
        print unit "<target>" $2 "</target></trans-unit>" >folder "pairs.xlf"
        print unit "</trans-unit>" >folder "text.xlf"
        print "msgid \"" $1 "\"\nmsgstr \"" $2 "\"\n" >folder "pairs.po"
        print "msgid \"" $1 "\"\nmsgstr \"\"\n" >folder "text.po"
        print "{\"en\": \"" $1 "\", \"fr\": \"" $2 "\"}" >folder "pairs.jsonl"
        print "<p title=\"" $1 "\">" $1 "</p>" >folder "text.html"
        print NR "\n00:00:0" NR ",000 --> 00:00:0" NR ",900\n" $1 "\n" >folder "text.srt"
        print "* " $1 "\n" >folder "text.md"
    }
    END {
        print "</body></tmx>" >folder "pairs.tmx"
        print "</body></file></xliff>" >folder "pairs.xlf"
        print "</body></file></xliff>" >folder "text.xlf"
        print "</body></html>" >folder "text.html"
    }' "$TMP/work/pairs.tsv"
cd "$TMP/work" || exit 1
"$TMP/faults" "$@" "$ATTN_MT" "$TMP/shim.so" ${FAULTS:-}
