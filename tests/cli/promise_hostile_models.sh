#!/bin/sh
# promise_hostile_models.sh - hostile model files with valid checksums: endless searches, numbers that
# overflow, escape sequences for the terminal. Also missing checksums and damaged metadata.
set -eu
. tests/cli/tiny_model.inc

model=tests/golden/models/0.1.0-recurrent.safetensors
reseal=$BUILD/faults/reseal
echo 'go .' >"$TMP/line"

# ---- scores that are not finite: an error that names the model -------------------------------------------

"$reseal" $model "$TMP/wild" scale 1e38
for options in "" "--beam-size 1" --n-best=3 --json --word-scores "--threads 2"; do
    # shellcheck disable=SC2086  # the options are words
    expect 3 "$attn" translate --model "$TMP/wild" $options "$TMP/line"
    says "the scores of '$TMP/wild' are not finite"
    says "hint: "
    [ ! -s "$TMP/out" ] || fail "translate $options prints something"
done
expect 3 "$attn" translate --model $model --model "$TMP/wild" "$TMP/line" # one of two models
says "the scores of '$TMP/wild' are not finite"
expect 3 "$attn" heatmap --model "$TMP/wild" 'go .'
says "the scores of '$TMP/wild' are not finite"
expect 3 "$attn" heatmap --model "$TMP/wild" --target 'va !' 'go .'
says "the scores of '$TMP/wild' are not finite"
expect 3 "$attn" score --model $model --model "$TMP/wild" "$TMP/line" "$TMP/line"
says "the scores of '$TMP/wild' are not finite"
expect 3 "$attn" score --model "$TMP/wild" "$TMP/line" "$TMP/line"
says "the scores of '$TMP/wild' are not finite"
[ ! -s "$TMP/out" ] || fail "score prints something"
expect 0 "$attn" translate --model "$TMP/wild" /dev/null

# ---- written models can be read, for any weights --------------------------------------------------------

for number in 3.4028235e38 3.4e38 1e-45; do
    "$reseal" $model "$TMP/great" set embedding 5 $number
    for precision in int8 bf16; do
        expect 0 "$attn" convert --precision $precision "$TMP/great" -o "$TMP/small"
        expect 0 "$attn" inspect "$TMP/small"
    done
done
"$reseal" $model "$TMP/great" set embedding 5 3.4028235e38
expect 0 "$attn" average "$TMP/great" "$TMP/great" -o "$TMP/mean"
expect 0 "$attn" inspect "$TMP/mean"

# ---- a model that never ends and asks for the widest search ----------------------------------------------

"$reseal" $model "$TMP/1" set output.bias 3 -1e9
"$reseal" "$TMP/1" "$TMP/2" text config '"beam_size": 5' '"beam_size": 1000'
"$reseal" "$TMP/2" "$TMP/1" text config '"max_length_factor": 2' '"max_length_factor": 1000'
"$reseal" "$TMP/1" "$TMP/greedy" text config '"max_length_extra": 10' '"max_length_extra": 100000'
# (It would loop, which ends a translation early.)
expect 0 timeout 300 "$attn" translate --json --no-repeat-ngram 2 --model "$TMP/greedy" "$TMP/line"
says "decode.beam_size = 1000 is above the limit for model files: 20 is used"
says "decode.max_length_factor = 1000 is above the limit for model files: 20 is used"
says "decode.max_length_extra = 100000 is above the limit for model files: 200 is used"
tokens=$(sed 's/.*"tokens": \[//; s/\].*//' "$TMP/out" | tr -cd ',' | wc -c)
[ "$tokens" -eq 239 ] || fail "$tokens commas between the tokens of a translation of 20 * 2 + 200"
expect 0 timeout 300 "$attn" translate -b 20 --model "$TMP/greedy" "$TMP/line"
! grep -q 'decode.beam_size' "$TMP/err" || fail "a beam that the user gave is called the model's"
says "decode.max_length_extra = 100000 is above the limit"
expect 0 timeout 300 "$attn" heatmap --beam-size 2 --model "$TMP/greedy" --format csv 'go .'
! grep -q 'decode.beam_size' "$TMP/err" || fail "the user's own beam is called the model's"
expect 0 "$attn" translate -b 1 --no-repeat-ngram 2 --max-length-extra 300 --json -m "$TMP/greedy" "$TMP/line"
tokens=$(sed 's/.*"tokens": \[//; s/\].*//' "$TMP/out" | tr -cd ',' | wc -c)
[ "$tokens" -eq 339 ] || fail "the user may not ask for more: $tokens"

# Many short chunks do not each get the extra tokens.
"$reseal" "$TMP/greedy" "$TMP/short" text config '"max_input_length": 200' '"max_input_length": 1'
expect 0 timeout 300 "$attn" translate --model "$TMP/short" "$TMP/line"
says "decode.max_length_extra = 100000 is above the limit for model files: 20 is used"

# ---- missing checksums -----------------------------------------------------------------------------------

LC_ALL=C sed 's/"header_sha256"/"header_sha25x"/
    s/"payload_sha256"/"payload_sha25x"/' $model >"$TMP/stripped"
[ "$(wc -c <"$TMP/stripped")" -eq "$(wc -c <$model)" ] || fail "sed changes the length"
expect 3 "$attn" inspect "$TMP/stripped"
says "its checksums are missing"

# ---- invalid JSON as provenance --------------------------------------------------------------------------

for change in '{ broken' '{} 1'; do
    "$reseal" $model "$TMP/1" text provenance '{' "$change"
    expect 3 "$attn" inspect "$TMP/1"
    says "'$TMP/1': metadata 'provenance'"
    expect 3 "$attn" inspect --json "$TMP/1"
    says "'$TMP/1': metadata 'provenance'"
    [ ! -s "$TMP/out" ] || fail "inspect --json prints something"
done
expect 0 "$attn" translate --model "$TMP/1" "$TMP/line"

# ---- escape sequences in a vocabulary and a name ---------------------------------------------------------

"$reseal" $model "$TMP/escape" text source '"▁va"' '"▁\u001b]0;\u009b31m"'
expect 0 "$attn" translate --quiet --model "$TMP/escape" "$TMP/line"
grep -q "$(printf '\033')" "$TMP/out" || fail "the token is not in the output, so nothing is shown"
if has_terminals; then
    printf 'go .\t\033]0;\302\23331m !\n' >"$TMP/pair"
    for command in "translate --quiet --model $TMP/escape $TMP/line" "inspect --vocab $TMP/escape" \
        "score --keep-above -1000 --model $TMP/escape $TMP/pair" "heatmap -f csv -m $TMP/escape 'go .'"; do
        script -qec "'$attn' $command" /dev/null </dev/null >"$TMP/out" || fail "$command on a terminal"
        grep -q ']0;' "$TMP/out" || fail "$command: no such token on the terminal"
        ! LC_ALL=C grep -q "$(printf '\033]\|\302\233')" "$TMP/out" || fail "$command commands the terminal"
    done
fi
# Reports never contain control characters, not even in files; JSON has them as \u00XX.
esc=$(printf '\033') hidden=$(printf '\302\233\342\200\256\342\201\246')
hostile="$esc]\\|$(printf '\302\233')\\|$(printf '\342\200\256')\\|$(printf '\342\201\246')"
name=$TMP/x$esc]0\;pwn$(printf '\007')$hidden
printf 'go .\tva !\n' >"$name.tsv"
cp "$TMP/line" "$name.txt"
"$reseal" $model "$name" text provenance '{' '{"trick": "\u001b]0;\u009b\u202e\u2066", '
# silent COMMAND...: neither output has a character that a terminal obeys
silent() {
    expect 0 "$attn" "$@"
    [ -s "$TMP/out" ] || fail "$1 prints nothing"
    ! cat "$TMP/out" "$TMP/err" | LC_ALL=C grep -q "$hostile" || fail "$* commands the terminal"
}
silent inspect "$name.tsv" --languages en-fr
silent inspect --json "$name.tsv" --languages en-fr
silent inspect "$name"
silent inspect --json "$name"
expect 1 "$attn" bleu "$name.none" -i "$name.txt"
says "cannot open"
! LC_ALL=C grep -q "$hostile" "$TMP/err" || fail "the message of a missing file commands the terminal"
silent bleu "$name.txt" -i "$name.txt" "$TMP/line" --force --format text
silent bleu "$name.txt" -i "$name.txt" "$TMP/line" --force --format json
silent train "$name.tsv" --dump-config --set "data.valid=$name.tsv" --languages en-fr

name=$(printf '%s/a\nattn-mt: all is well' "$TMP")
expect 1 "$attn" inspect "$name"
! grep -q '^attn-mt: all is well' "$TMP/err" || fail "a name with a line feed forges a line of the log"
if has_terminals; then
    export attn model name
    script -qec '"$attn" average "$model" "$model" -o "$name"' /dev/null </dev/null >"$TMP/out"
    printf "wrote '%s/a\\n  attn-mt: all is well', the mean of 2 models\\n" "$TMP" >"$TMP/expected"
    tr -d '\r' <"$TMP/out" | grep -F -A 1 "wrote '" >"$TMP/lines"
    same "a name with a line feed on a terminal" "$TMP/expected" "$TMP/lines"
fi
