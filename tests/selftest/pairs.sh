# make-pairs knows German numbers; it and what works with pairs say what is wrong with the command line.
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
scripts/make-pairs german 20000 >"$TMP/german"
for words in 1=eins 71=einundsiebzig 101=einhunderteins 1001=eintausendeins; do
    grep -q "^${words%=*}	${words#*=}\$" "$TMP/german" || { echo "no $words" && exit 1; }
done
grep -q "01[0-9][0-9][0-9]	[^	]*hunderteintausend" "$TMP/german" || { echo "no 101,000" && exit 1; }
! grep einstausend "$TMP/german" || exit 1

refused 2 "COUNT is a number, not 'abc'" scripts/make-pairs german abc
refused 2 "COUNT is a number, not '-1'" scripts/make-large -1
refused 2 "no kind 'klingon'" scripts/compare-sizes --work "$TMP/sizes" --kinds klingon
refused 2 "sizes wants a value" scripts/compare-sizes --sizes
cut -f 1 "$TMP/german" >"$TMP/one"
refused 1 "without a TAB" scripts/score-pairs none.safetensors "$TMP/one"
gzip -c "$TMP/german" | head -c 5000 >"$TMP/cut.gz"
refused 1 "unexpected end of file" scripts/score-pairs none.safetensors "$TMP/cut.gz"
refused 2 "--only all: check, training," scripts/compare-pytorch --only all program.py
refused 2 "rounds is a number, not 'two'" scripts/compare-pytorch --rounds two program.py
refused 2 "list goes with no other argument" scripts/compare-attention --list gru
mkdir -p "$TMP/data/multi30k/tok"
refused 1 "no variant 'klingon': lstm conditional" scripts/compare-models "$TMP/data" klingon
refused 1 "no program '$TMP/none': run make" env ATTN_MT="$TMP/none" scripts/make-man
refused 2 "scripts/demo .RUN." scripts/demo --fast
[ ! -e "$TMP/sizes" ]
