#!/bin/sh
# progress.sh - progress on a terminal, in a log, and switched off.
set -eu
. tests/cli/tiny_model.inc
tiny_model one --set train.epochs=1 --threads 5
grep -q 'a batch is cut into about 4 parts, so no more threads than that' "$TMP/out" &&
    fail "--quiet is not quiet"
rm -r "$TMP/one"
"$attn" train --config "$TMP/tiny.json" --run "$TMP/one" --threads 5 --set train.epochs=1 >"$TMP/out" 2>&1
[ "$(grep -c 'a batch is cut into about 4 parts' "$TMP/out")" -eq 1 ] ||
    fail "threads without work: $(cat "$TMP/out")"
grep -q 'training loss: mean since the last validation' "$TMP/one/curve.svg" || fail "no word on the losses"
model=$TMP/one/best.safetensors
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cut -f 1 "$TMP/tiny.tsv"; done >"$TMP/source"
is_quiet() { # COMMAND...: it prints no messages
    expect 0 "$@"
    [ ! -s "$TMP/err" ] || fail "not quiet: $*: $(cat "$TMP/err")"
}
piped() { # FILE COMMAND PATTERN: a line of its progress
    status=0
    cat "$1" | "$2" 2>"$TMP/err" || status=$?
    [ $status -eq 0 ] || fail "$2 from a pipe: $status"
    grep -Eq "$3" "$TMP/err" || fail "no progress of $2 from a pipe: $(cat "$TMP/err")"
}
translate() { "$attn" translate -m "$model" --maxi-batch 4 -o "$TMP/to" "$@"; }

# In a log: lines with the share of all files and the time left, at the requested interval.
export ATTN_MT_PROGRESS=1e-9
expect 0 translate "$TMP/source" "$TMP/source"
grep -Eq '^[0-9,]+ lines  [0-9]+%  ETA [0-9hms.]+  [0-9.]+ lines/s$' "$TMP/err" ||
    fail "no progress: $(cat "$TMP/err")"
shares_rise() {
    sed -n 's/.* \([0-9]*\)%.*/\1/p' "$TMP/err" >"$TMP/shares"
    sort -n -c "$TMP/shares" || fail "shares go back: $(cat "$TMP/shares")"
}
shares_rise
[ "$(head -n 1 "$TMP/shares")" -lt 40 ] && [ "$(tail -n 1 "$TMP/shares")" -ge 95 ] ||
    fail "shares: $(cat "$TMP/shares")"
[ "$(tail -n 1 "$TMP/shares")" -le 100 ] || fail "more than all: $(cat "$TMP/shares")"
cp "$TMP/to" "$TMP/all"
gzip -c "$TMP/source" >"$TMP/source.gz"
expect 0 "$attn" train --config "$TMP/tiny.json" --run "$TMP/two" --set train.epochs=1
grep -Eq '^validating +[0-9]+%  ETA ' "$TMP/err" || fail "no progress of a validation: $(cat "$TMP/err")"
expect 0 translate "$TMP/source.gz"
grep -q '% ' "$TMP/err" || fail "compressed: $(cat "$TMP/err")"
piped "$TMP/source" translate '^[0-9,]+ lines  [0-9.]+ lines/s$'
is_quiet translate --quiet "$TMP/source"
score() { "$attn" score -m "$model" -o "$TMP/to" "$@"; }
expect 0 score "$TMP/tiny.tsv"
scored='^64 pairs  100%  ETA [0-9hms.]+  [0-9.]+ pairs/s$'
grep -Eq "$scored" "$TMP/err" || fail "no progress of score: $(cat "$TMP/err")"
score <"$TMP/tiny.tsv" 2>"$TMP/err" || fail "score of standard input"
grep -Eq "$scored" "$TMP/err" || fail "no progress of standard input: $(cat "$TMP/err")"
piped "$TMP/tiny.tsv" score '^64 pairs  [0-9.]+ pairs/s$'
is_quiet score --quiet "$TMP/tiny.tsv"
# Small batches for long pairs.
awk 'BEGIN { for (x = "3456789"; length(x) < 1800000;) x = x x
    for (i = 0; i < 50; i++) print "go .\tva !\t" x }' >"$TMP/large.tsv"
expect 0 score "$TMP/large.tsv"
[ "$(grep -c ' pairs/s$' "$TMP/err")" -gt 1 ] || fail "large pairs at a time: $(cat "$TMP/err")"
rm "$TMP/large.tsv"
page() { "$attn" heatmap -m "$model" -f html -o "$TMP/page" "$@" <"$TMP/tiny.tsv"; }
expect 0 page
grep -Eq '^exploring +100%  ETA ' "$TMP/err" || fail "no progress of a page: $(cat "$TMP/err")"
is_quiet page --quiet
unset ATTN_MT_PROGRESS
expect 0 translate "$TMP/source" # over in less than a minute
! grep -q 'ETA' "$TMP/err" || fail "too talkative: $(cat "$TMP/err")"
expect 0 env ATTN_MT_PROGRESS=often "$attn" translate -m "$model" "$TMP/source"
[ "$(grep -c 'ATTN_MT_PROGRESS=often is not a number of seconds: ignored' "$TMP/err")" -eq 1 ] ||
    fail "a mistyped number: $(cat "$TMP/err")"

# On a terminal: one line, rewritten; heatmaps in its colours.
has_terminals || exit 0
export model attn TMP ATTN_MT_PROGRESS=1e-9
cat "$TMP/source" "$TMP/source" "$TMP/source" >"$TMP/more"
script -qec '"$attn" translate -m "$model" -b 50 -o "$TMP/to" "$TMP/more" </dev/null' /dev/null \
    </dev/null >"$TMP/screen" 2>&1 || fail "on a terminal: $(cat "$TMP/screen")"
grep -Eq "$(printf '\r')[0-9,]+ lines  [0-9]+%  ETA" "$TMP/screen" ||
    fail "nothing on the terminal: $(cat "$TMP/screen")"
into_log='"$attn" score -m "$model" "$TMP/tiny.tsv" 2>"$TMP/log"' # while results fill the terminal
script -qec "$into_log" /dev/null </dev/null >"$TMP/screen" 2>&1 || fail "into a log: $(cat "$TMP/log")"
grep -Eq "$scored" "$TMP/log" || fail "no progress in a log: $(cat "$TMP/log")"
# A narrow terminal: no line is wider, no text is lost; the progress of a validation is also rewritten.
ln -s "$attn" "$TMP/attn-mt"
narrow='stty cols 60 && cd "$TMP" && ./attn-mt train tiny.tsv --run narrow --epochs 1'
script -qec "$narrow" /dev/null </dev/null >"$TMP/screen" 2>&1 || fail "narrow: $(cat "$TMP/screen")"
tr '\r' '\n' <"$TMP/screen" | sed "s/$(printf '\033')\[K//g" >"$TMP/lines"
awk 'length > 60 { print; bad = 1 } END { exit bad }' "$TMP/lines" || fail "wider than 60 columns"
grep -q '^         data.valid=FILE names others$' "$TMP/lines" || fail "narrow: $(cat "$TMP/lines")"
grep -q '^validating' "$TMP/lines" || fail "no sign of a validation: $(cat "$TMP/lines")"
dumb='"$attn" train --config "$TMP/tiny.json" --run "$TMP/dumb" --set train.epochs=1'
TERM=dumb script -qec "$dumb" /dev/null </dev/null >"$TMP/screen" 2>&1 ||
    fail "dumb: $(cat "$TMP/screen")"
! grep -q "$(printf '\033')" "$TMP/screen" || fail "escape sequences on a dumb terminal"
in_colour() {
    env -u NO_COLOR -u COLORTERM "$@" script -qec '"$attn" heatmap -m "$model" "go ."' /dev/null \
        </dev/null >"$TMP/screen" 2>&1
}
in_colour TERM=xterm COLORTERM=truecolor && grep -q '48;2;' "$TMP/screen" ||
    fail "24 bits: $(cat "$TMP/screen")"
for plain in TERM=dumb TERM=xterm-256color 'COLORTERM=truecolor NO_COLOR=1'; do
    in_colour TERM=xterm $plain || fail "$plain: $(cat "$TMP/screen")"
    ! grep -q "$(printf '\033')" "$TMP/screen" || fail "$plain is not heeded"
done
# Commands that wait for typed input print a message.
asks() { # WHAT COMMAND
    timeout 20 script -qec "$2" /dev/null </dev/null >"$TMP/screen" 2>&1 || :
    grep -qF "$1" "$TMP/screen" || fail "$2: $(cat "$TMP/screen")"
}
asks "enter one sentence per line; Ctrl-D ends the input" '"$attn" translate -m "$model"'
asks "enter one JSON object per line; Ctrl-D ends the input" '"$attn" translate -m "$model" --json-input'
asks "enter one translation per line; Ctrl-D ends the input; -i FILE reads a file" \
    '"$attn" bleu "$TMP/source"'
