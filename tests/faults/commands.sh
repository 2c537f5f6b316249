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
cd "$TMP/work" || exit 1
"$TMP/faults" "$@" "$ATTN_MT" "$TMP/shim.so" ${FAULTS:-}
