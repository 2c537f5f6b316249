#!/bin/sh
# translate.sh - precision, output formats, several models, errors, streams.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
model=$TMP/one/best.safetensors
translate() { "$attn" translate -m "$model" "$@"; }

# The model returns the sentences that it memorized, in order.
cut -f 1 "$TMP/tiny.tsv" >"$TMP/source"
cut -f 2 "$TMP/tiny.tsv" | head -n 4 >"$TMP/chapter"
translate "$TMP/source" >"$TMP/base"
head -n 4 "$TMP/base" >"$TMP/out"
same "the four sentences" "$TMP/chapter" "$TMP/out"
[ "$(wc -l <"$TMP/base")" -eq 64 ] || fail "64 lines in, others out"
translate -i "$TMP/source" -o "$TMP/out"
same "--input and --output" "$TMP/base" "$TMP/out"
gzip -c "$TMP/source" >"$TMP/source.gz"
translate "$TMP/source.gz" "$TMP/source" >"$TMP/out"
cat "$TMP/base" "$TMP/base" | cmp -s - "$TMP/out" || fail "two files, one compressed"
translate -b 1 "$TMP/source" >"$TMP/out"
[ "$(wc -l <"$TMP/out")" -eq 64 ] || fail "greedy: line count"

# Lower precision: the memorized translations stay, the scores change.
translate --word-scores "$TMP/source" >"$TMP/scores"
for precision in bf16 int8; do
    translate --precision $precision "$TMP/source" >"$TMP/out"
    head -n 4 "$TMP/out" | cmp -s - "$TMP/chapter" || fail "$precision: the four sentences"
    translate --precision $precision --word-scores "$TMP/source" | cmp -s - "$TMP/scores" &&
        fail "$precision: the same scores as with 32 bits"
done
expect 2 translate --precision int4 "$TMP/source"
says "'int4' is not float32, bf16 or int8"
tiny_model wide --set model.embedding=8 --set model.hidden=8 --set model.encoder.style=self_attention \
    --set model.decoder.style=transformer \
    --set model.attention=scaled_dot --set model.heads=1 --set model.feed_forward=40000 \
    --set train.max_updates=1
expect 3 "$attn" translate -m "$TMP/wide/best.safetensors" --precision int8 "$TMP/source"
says "40000 numbers, more than 8-bit arithmetic can"
says "hint: use --precision bf16"

# What needs no translation is copied, white space around a line stays, what the model cannot spell is put
# back, and text in capitals gives text in capitals.
{
    printf '\342\234\223\n \t12:30 \nhttps://example.org/a?b=c\n  go .\t\nGO .\n'
    printf 'g\302\255o .\342\200\213\n\342\226\201 go .\n\377 1\n'
} >"$TMP/copied"
{
    printf '\342\234\223\n \t12:30 \nhttps://example.org/a?b=c\n  va !\t\nVA !\n'
    printf 'va !\n\342\226\201 va !\n\357\277\275 1\n'
} >"$TMP/want"
translate "$TMP/copied" >"$TMP/out" 2>"$TMP/err"
same "copies" "$TMP/want" "$TMP/out"
translate --threads 2 --mini-batch 1 "$TMP/copied" >"$TMP/out" 2>"$TMP/err"
same "copies in batches of 1" "$TMP/want" "$TMP/out"
translate --tags "$TMP/copied" 2>"$TMP/err" | head -n 4 >"$TMP/out"
head -n 4 "$TMP/want" | cmp -s - "$TMP/out" || fail "copies with --tags: $(cat "$TMP/out")"
expect 0 translate --raw "$TMP/copied"
[ "$(sed -n 4p "$TMP/out")" = 'va !' ] || fail "--raw keeps white space: $(cat "$TMP/out")"
sed -n 3p "$TMP/out" | grep -q example && fail "--raw copies: $(cat "$TMP/out")"
[ "$(wc -l <"$TMP/out")" -eq 8 ] || fail "--raw: a line for a line"
expect 2 translate --raw --tags "$TMP/copied"
says "--tags takes markup out of it"
expect 2 translate --raw --accelerator auto "$TMP/copied"
echo 'go . hi ! 12:30! go .' >"$TMP/several"
expect 0 translate --split "$TMP/several"
[ "$(cat "$TMP/out")" = 'va ! salut ! 12:30! va !' ] || fail "a sentence without letters: $(cat "$TMP/out")"
expect 0 translate "$TMP/several"
says "1 line has several sentences; --split translates each"
expect 0 translate -q "$TMP/several"
[ ! -s "$TMP/err" ] || fail "--quiet is not quiet"
printf '12:30\tminuit\n' >"$TMP/times"
expect 0 translate --glossary "$TMP/times" "$TMP/copied"
sed -n 2p "$TMP/out" | grep -q minuit || fail "a term without letters: $(cat "$TMP/out")"

# Accelerators come back once, into the word that stands for theirs; text that looks like one stays text.
printf '&go .\n_hi !\nh&i !\n&1\n' >"$TMP/menu"
printf '&va !\n_salut !\nsal&ut !\n&1\n' >"$TMP/want"
expect 0 translate --accelerator auto "$TMP/menu"
sed 's/[&_]//' "$TMP/out" >"$TMP/plain"
sed 's/[&_]//' "$TMP/want" | cmp -s - "$TMP/plain" || fail "accelerators: $(cat "$TMP/out")"
[ "$(grep -c '^[^&_]*[&_][^&_]*$' "$TMP/out")" -eq 4 ] || fail "an accelerator for each: $(cat "$TMP/out")"
[ "$(sed -n '1p;4p' "$TMP/out" | tr '\n' ' ')" = '&va ! &1 ' ] || fail "accelerators: $(cat "$TMP/out")"
expect 0 translate --accelerator '&' --json "$TMP/menu"
sed -n 1p "$TMP/out" | grep -qF '"translation": "&va !"' || fail "accelerators: $(cat "$TMP/out")"
expect 2 translate --accelerator '%' "$TMP/menu"
says "'%' is not none, &, _ or auto"

# A model that learned to translate symbols does.
{
    cat "$TMP/tiny.tsv"
    for i in 1 2 3 4 5 6 7 8 9 10; do printf '%s + 1\tplus un\n' "$i"; done
} >"$TMP/symbols.tsv"
tiny_model symbols --set "data.train=$TMP/symbols.tsv" --set "data.valid=$TMP/symbols.tsv"
echo '3 + 1' >"$TMP/plus"
expect 0 "$attn" translate -m "$TMP/symbols/best.safetensors" "$TMP/plus"
[ "$(cat "$TMP/out")" = 'plus un' ] || fail "a model that learned symbols: $(cat "$TMP/out")"
expect 0 "$attn" average "$TMP/symbols/best.safetensors" "$TMP/symbols/last.safetensors" -o "$TMP/mean"
expect 0 "$attn" translate -m "$TMP/mean" "$TMP/plus"
[ "$(cat "$TMP/out")" = 'plus un' ] || fail "the mean of models that learned symbols: $(cat "$TMP/out")"

# Formats.
echo 'go .' >"$TMP/go"
printf 'go .\n\n \t \n\302\240\342\200\257\nhi !' >"$TMP/blank"
expect 0 translate -b 4 --n-best "$TMP/go"
[ "$(wc -l <"$TMP/out")" -eq 4 ] || fail "--n-best is as wide as the beam"
head -n 1 "$TMP/out" | grep -Eqx '0 \|\|\| va ! \|\|\| F0= -[0-9.e-]+ \|\|\| -[0-9.e-]+' ||
    fail "n-best: $(cat "$TMP/out")"
awk '{ if (NR > 1 && $NF > last) exit 1; last = $NF }' "$TMP/out" || fail "n-best is not sorted"
expect 0 translate -b 4 --n-best 2 "$TMP/blank"
[ "$(grep -c '^4 ||| ' "$TMP/out")" -eq 2 ] || fail "--n-best 2"
grep -qx '1 |||  ||| F0= 0 ||| 0' "$TMP/out" || fail "n-best of an empty line"
expect 2 translate -b 2 --n-best=3 "$TMP/go"
says "needs a beam of at least that size"

expect 0 translate --alignment "$TMP/go"
grep -Eqx 'va ! \|\|\| [01]-[01] [01]-[01]' "$TMP/out" || fail "hard alignment: $(cat "$TMP/out")"
expect 0 translate --alignment soft --alignment-level subword "$TMP/go"
awk -F ' [|][|][|] ' '{ n = split($2, rows, " "); if (n != 3) exit 1
    for (i = 1; i <= n; i++) { m = split(rows[i], w, ","); s = 0; for (j = 1; j <= m; j++) s += w[j]
        if (m < 3 || s < 0.999 || s > 1.001) exit 1 } }' "$TMP/out" ||
            fail "soft alignment: $(cat "$TMP/out")"
expect 0 translate --alignment=1e-30 "$TMP/go"
grep -qx 'va ! ||| 0-0 0-1 1-0 1-1' "$TMP/out" || fail "threshold: $(cat "$TMP/out")"
expect 2 translate --alignment=hrad "$TMP/go"
says "'hrad' is not none, hard, soft"
expect 0 translate --word-scores "$TMP/go"
grep -Eqx 'va ! \|\|\| WordScores=( -[0-9.e-]+){3}' "$TMP/out" || fail "word scores: $(cat "$TMP/out")"

expect 0 translate --json --alignment --word-scores --n-best 2 "$TMP/blank"
[ "$(grep -c '^{"text": ".*"translation": ".*"score": .*"tokens": \[.*\].*}$' "$TMP/out")" -eq 5 ] ||
    fail "JSON: $(cat "$TMP/out")"
grep -q '"translation": "va !".*"alignment": \[\[[01], 0\], \[[01], 1\]\]' "$TMP/out" ||
    fail "JSON: $(cat "$TMP/out")"
cat >"$TMP/json" <<'END'
{"id": 12345678901234567890, "text": "go \u002e", "more": {"a": [1, "}\",{"], "text": 5}, "score": 7}
no
{"text": ["go"]}
{"text": ""}
["text"]
END
expect 3 translate --json-input "$TMP/json"
says 'line 2 is not a JSON object with a "text"'
says '3 lines were rejected: invalid JSON'
[ "$(wc -l <"$TMP/out")" -eq 5 ] || fail "lines of JSON"
kept='{"id": 12345678901234567890, "text": "go \u002e", "more": {"a": [1, "}\",{"], "text": 5}'
head -n 1 "$TMP/out" | grep -qF "$kept, \"translation\": \"va !\", \"score\": -" ||
    fail "fields passed on: $(head -n 1 "$TMP/out")"
[ "$(grep -c '^{"error": "' "$TMP/out")" -eq 3 ] || fail "errors in JSON"
expect 3 translate --quiet --json-input "$TMP/json"
[ "$(wc -l <"$TMP/err")" -eq 1 ] || fail "--quiet warns: $(cat "$TMP/err")"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <"$TMP/out" || fail "not JSON"
fi

# An ensemble needs one target vocabulary.
tiny_model two --set train.seed=2 --set train.epochs=20 --set decode.beam_size=3
tiny_model other --set text.bpe_merges=50 --set train.epochs=1
# The model file gives the defaults of the search options.
for beam in 3 2; do
    expect 0 "$attn" translate -m "$TMP/two/best.safetensors" --n-best \
        $([ $beam = 3 ] || echo "-b $beam") "$TMP/go"
    [ "$(wc -l <"$TMP/out")" -eq $beam ] || fail "a beam of $beam: $(cat "$TMP/out")"
done
expect 0 "$attn" translate -m "$model" -m "$TMP/two/best.safetensors" "$TMP/source"
[ "$(wc -l <"$TMP/out")" -eq 64 ] || fail "ensemble: line count"
expect 0 "$attn" translate -m "$model" -m "$model" "$TMP/source"
same "a model and itself" "$TMP/base" "$TMP/out"
expect 2 "$attn" translate -m "$model" -m "$TMP/other/best.safetensors" "$TMP/source"
says "share one target vocabulary"

# Errors.
(cd "$TMP" && expect 2 "$attn" translate source)
says "no model given"
expect 1 "$attn" translate -m "$TMP/none.safetensors" "$TMP/source"
says "none.safetensors"
expect 3 "$attn" translate -m "$TMP/source" "$TMP/source"
expect 1 translate "$TMP/source" "$TMP/none"
says "cannot open '$TMP/none'"
says "text is read from standard input"
[ ! -s "$TMP/out" ] || fail "work began before the missing file was seen"
expect 2 translate --mbr-scale 0.5 "$TMP/source"
says "option '--mbr-scale' does nothing without '--mbr'"
expect 2 translate --alignment-level subword "$TMP/source"
says "does nothing without '--alignment'"
for twice in "-r -" "--prefix-file -" "--glossary -" "- -" "-r - $TMP/source --glossary -"; do
    # shellcheck disable=SC2086  # words
    expect 2 translate $twice </dev/null
    says "standard input cannot be read twice"
done
expect 2 translate -o '' "$TMP/source"
says "the name of a file to write is empty"
echo kept >"$TMP/old"
expect 1 translate -o "$TMP/old" "$TMP"
[ "$(cat "$TMP/old")" = kept ] || fail "a failed run replaced the output"
[ -z "$(find "$TMP" -name '.*.tmp')" ] || fail "temporary files left"
status=0
if [ -e /dev/full ]; then
    translate "$TMP/source" >/dev/full 2>"$TMP/err" || status=$?
    [ $status -eq 1 ] || fail "status $status on a full disk"
    says "No space left"
fi
status=0
translate "$TMP/source" >&- 2>"$TMP/err" || status=$?
[ $status -eq 1 ] || fail "status $status with standard output closed"
status=0
translate <&- >"$TMP/out" 2>"$TMP/err" || status=$?
[ $status -eq 1 ] || fail "status $status with standard input closed"
translate "$TMP/source" 2>&- >"$TMP/out" || fail "needs standard error"
same "with standard error closed" "$TMP/base" "$TMP/out"

# If the reader closes the pipe, translation ends without a message.
{ i=0 && while [ $i -lt 200 ]; do cat "$TMP/source" && i=$((i + 1)); done; } >"$TMP/many"
translate --maxi-batch 1 "$TMP/many" 2>"$TMP/err" | head -n 1 >"$TMP/out"
[ ! -s "$TMP/err" ] || fail "a broken pipe is reported: $(cat "$TMP/err")"
[ "$(cat "$TMP/out")" = "va !" ] || fail "| head -n 1"

# A slow writer gets each translation at once.
mkfifo "$TMP/in" "$TMP/answers"
translate <"$TMP/in" >"$TMP/answers" &
exec 3>"$TMP/in" 4<"$TMP/answers"
for _ in 1 2 3; do
    echo 'go .' >&3
    read -r answer <&4
    [ "$answer" = "va !" ] || fail "slow input: '$answer'"
done
exec 3>&-
wait

# Translations that are probably wrong are counted, with their first lines, and marked in JSON.
printf 'go .\n\nhi !\n' >"$TMP/three"
expect 0 translate --max-length-factor 0 --max-length-extra 1 "$TMP/three"
says "2 translations end at the length limit (lines 1, 3)"
expect 0 translate --quiet --json --max-length-factor 0 --max-length-extra 1 "$TMP/three"
[ ! -s "$TMP/err" ] || fail "--quiet: $(cat "$TMP/err")"
[ "$(grep -c '"problems": \["length_limit"\]' "$TMP/out")" -eq 2 ] || fail "problems: $(cat "$TMP/out")"
expect 0 translate --json "$TMP/three"
! grep -q problems "$TMP/out" || fail "good translations have problems: $(cat "$TMP/out")"
expect 0 translate --json --prefix 'je je je je je je ' "$TMP/three"
says "2 translations repeat a phrase (lines 1, 3)"
[ "$(grep -c '"problems": \["repetition"\]' "$TMP/out")" -eq 2 ] || fail "problems: $(cat "$TMP/out")"
