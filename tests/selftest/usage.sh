# usage.sh - scripts report errors in their arguments and in their input.
set -eu
refused() { # EXIT CODE PATTERN COMMAND...
    code=$1 pattern=$2 status=0
    shift 2
    "$@" >"$TMP/out" 2>&1 </dev/null || status=$?
    if [ $status -ne "$code" ] || ! grep -qe "$pattern" "$TMP/out"; then
        echo "$*: exit code $status, and:"
        cat "$TMP/out"
        exit 1
    fi
}
refused 2 "COUNT is a number, not '-1'" scripts/make-large -1
cut -f 1 data/test.tsv >"$TMP/one"
refused 1 "without a TAB" scripts/score-pairs none.safetensors "$TMP/one"
gzip -c data/test.tsv | head -c 5000 >"$TMP/cut.gz"
refused 1 "unexpected end of file" scripts/score-pairs none.safetensors "$TMP/cut.gz"
refused 2 "--only all: check, training," scripts/compare-pytorch --only all program.py
refused 2 "rounds is a number, not 'two'" scripts/compare-pytorch --rounds two program.py
refused 1 "no program '$TMP/none': run make" env ATTN_MT="$TMP/none" scripts/make-man
refused 2 "scripts/demo .RUN." scripts/demo --fast
: >"$TMP/nothing"
if command -v python3 >/dev/null; then
    refused 1 "measure-public: no lines in '$TMP/nothing'" scripts/measure-public none "$TMP/nothing"
    refused 2 "required: model, text" scripts/measure-public
fi
