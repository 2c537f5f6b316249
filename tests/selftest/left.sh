# left.sh - scripts leave no temporary files after an error or a signal.
set -eu
TMPDIR=$TMP/temporary
export TMPDIR
mkdir "$TMPDIR"
printf 'go .\tva !\n' >"$TMP/pairs"
nothing_left() { # WHAT
    [ -z "$(ls "$TMPDIR")" ] || { echo "$1 left $(ls "$TMPDIR")" && exit 1; }
}

for script in bench-serve soak-serve; do
    ! scripts/$script "$TMP/none" "$TMP/pairs" 2>"$TMP/err" || { echo "$script needs no model" && exit 1; }
    grep -q "cannot open '$TMP/none'" "$TMP/err" || { cat "$TMP/err" && exit 1; }
    nothing_left $script
done
! scripts/score-pairs "$TMP/none" "$TMP/pairs" 2>"$TMP/err" || exit 1
nothing_left score-pairs

# A program that reports its start and runs for a while.
printf '#!/bin/sh\ntouch "%s"\nexec sleep 1\n' "$TMP/runs" >"$TMP/slow"
chmod +x "$TMP/slow"
ATTN_MT=$TMP/slow scripts/score-pairs model "$TMP/pairs" >"$TMP/out" 2>&1 &
while [ ! -e "$TMP/runs" ]; do sleep 0.1; done
kill $!
status=0
wait $! || status=$?
[ $status -eq 130 ] || { echo "a signal ends score-pairs with $status" && exit 1; }
nothing_left "score-pairs and a signal"
