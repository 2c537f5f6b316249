#!/bin/sh
# split.sh - translate --split: one paragraph out per paragraph in; white space and line ends stay.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
model=$TMP/one/best.safetensors
translate() { "$attn" translate -m "$model" "$@"; }

printf '  go . hi !\thi !  \n\n \t\nhi !\n' >"$TMP/text"
expect 0 translate --split "$TMP/text"
printf '  va ! salut !\tsalut !  \n\n \t\nsalut !\n' >"$TMP/want"
same "paragraphs" "$TMP/want" "$TMP/out"
translate --split <"$TMP/text" >"$TMP/out"
same "paragraphs from a pipe" "$TMP/want" "$TMP/out"

# A file of single sentences is translated as without the option.
cut -f 1 "$TMP/tiny.tsv" | grep -v '[.!?].*[.!?]' >"$TMP/source"
translate "$TMP/source" >"$TMP/base"
translate --split --threads 2 "$TMP/source" >"$TMP/out"
same "single sentences" "$TMP/base" "$TMP/out"

# Line ends in JSON stay.
cat >"$TMP/json" <<'END'
{"text": "hi !\n\n  go .\n", "id": 3}
END
expect 0 translate --split --json-input --alignment "$TMP/json"
grep -qF '"id": 3, "translation": "salut !\n\n  va !\n"' "$TMP/out" || fail "JSON: $(cat "$TMP/out")"

# Separators of lines end a line without the option, too.
printf 'hi !\342\200\250go . hi !\vgo .\302\205\n' >"$TMP/lines"
printf 'salut !\342\200\250va ! salut !\vva !\302\205\n' >"$TMP/want"
expect 0 translate --split "$TMP/lines"
same "separators" "$TMP/want" "$TMP/out"
printf 'hi !\342\200\250go .\vhi !\n' >"$TMP/lines"
printf 'salut !\342\200\250va !\vsalut !\n' >"$TMP/want"
expect 0 translate "$TMP/lines"
same "separators without --split" "$TMP/want" "$TMP/out"

# N-best: the k-th item of each sentence. Long sentences are cut like long lines.
echo 'go . hi !' >"$TMP/two"
expect 0 translate --split -b 4 --n-best 2 "$TMP/two"
head -n 1 "$TMP/out" | grep -q '^0 ||| va ! salut ! ||| F0= -' || fail "n-best: $(cat "$TMP/out")"
[ "$(wc -l <"$TMP/out")" -eq 2 ] || fail "n-best: lines"
{ echo 'hi !' && yes 'go' | head -n 60 && echo '. hi !'; } | tr '\n' ' ' >"$TMP/long"
expect 0 translate --split --max-input-length 20 "$TMP/long"
says "a sentence of line 1 is longer than 20 tokens: translated in"
[ "$(wc -l <"$TMP/out")" -eq 1 ] || fail "a long sentence changes the number of lines"
grep -q '^salut ! .* salut ! $' "$TMP/out" || fail "a long sentence: $(cat "$TMP/out")"
expect 0 translate --split --max-input-length 20 --max-length-crop "$TMP/long"
says "a sentence of line 1 is longer than 20 tokens: cropped"
grep -q '^salut ! .* salut ! $' "$TMP/out" || fail "a cropped sentence: $(cat "$TMP/out")"
# A prefix applies to the first sentence, a glossary to each sentence.
printf ' go . hi !\n\nhi !\n' >"$TMP/guided"
expect 0 translate --split --prefix 'je ' "$TMP/guided"
[ "$(grep -c '^ *je ' "$TMP/out")" -eq 2 ] || fail "prefixes: $(cat "$TMP/out")"
[ "$(head -n 1 "$TMP/out" | grep -o 'je ' | wc -l)" -eq 1 ] || fail "every sentence has the prefix"
head -n 1 "$TMP/out" | grep -q '^ je .* salut !$' || fail "the second sentence: $(cat "$TMP/out")"
printf 'je \n\nva ' >"$TMP/prefixes"
expect 0 translate --split --prefix-file "$TMP/prefixes" "$TMP/guided"
[ "$(cut -c 1-3 "$TMP/out")" = " je

va " ] || fail "--prefix-file: $(cat "$TMP/out")"
printf 'hi\tchat\nhi !\tperdu\n' >"$TMP/glossary"
echo 'hi ! go . hi go ! hi ?' >"$TMP/hi"
expect 0 translate --split --json --glossary "$TMP/glossary" "$TMP/hi"
grep -qF '"constraints_met": ["perdu", "chat"], "constraints_unmet": []' "$TMP/out" ||
    fail "coverage: $(cat "$TMP/out")"
expect 0 translate --split --glossary "$TMP/glossary" "$TMP/hi"
[ "$(grep -ow 'chat' "$TMP/out" | wc -l)" -eq 2 ] || fail "a term of two sentences: $(cat "$TMP/out")"
[ "$(grep -ow 'perdu' "$TMP/out" | wc -l)" -eq 1 ] || fail "a longer term of one sentence: $(cat "$TMP/out")"
cat >"$TMP/json" <<'END'
{"text": "go . hi !", "prefix": "je "}
{"text": "hi !", "constraints": ["chat"]}
{"text": "go . hi !", "constraints": ["chat"]}
END
expect 3 translate --split --json-input "$TMP/json"
says 'line 3: "constraints" do not say which of its 2 sentences they are for'
head -n 1 "$TMP/out" | grep -q '"translation": "je .* salut !"' || fail "a prefix: $(cat "$TMP/out")"
sed -n 2p "$TMP/out" | grep -q '"constraints_met": \["chat"\]' || fail "one sentence: $(cat "$TMP/out")"
sed -n 3p "$TMP/out" | grep -q '^{"error": "' || fail "two sentences: $(cat "$TMP/out")"
expect 2 translate --splitt "$TMP/text"
says "did you mean '--split'?"

# Chinese has no spaces between sentences, so its translations get none; other white space stays.
cat >"$TMP/zh.tsv" <<'END'
go .	快走。
hi !	你好！
run !	快跑！
who ?	谁？
he said : " hi ! "	他说：“你好！”
stop !	停下！
wait !	等等！
I see .	我明白。
END
tiny_model zh --set "data.train=$TMP/zh.tsv" --set "data.valid=$TMP/zh.tsv" --languages en-zh
model=$TMP/zh/best.safetensors
printf '%s\n' 'go .' 'hi !' 'who ?' 'he said : " hi ! "' 'stop !' >"$TMP/sentences"
translate "$TMP/sentences" >"$TMP/alone"
[ "$(grep -cE '(。|！|？)(”)?$' "$TMP/alone")" -eq 5 ] || fail "sentences of Chinese: $(cat "$TMP/alone")"
tr '\n' ' ' <"$TMP/sentences" >"$TMP/text"
printf '\nhi !  hi !\tstop !\n' >>"$TMP/text"
tr -d '\n' <"$TMP/alone" >"$TMP/want"
awk 'NR == 2 { hi = $0 } END { print " \n" hi "  " hi "\t" $0 }' "$TMP/alone" >>"$TMP/want"
translate --split "$TMP/text" >"$TMP/out"
same "paragraphs of Chinese" "$TMP/want" "$TMP/out"
