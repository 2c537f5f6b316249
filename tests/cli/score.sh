#!/bin/sh
# score.sh - attn-mt score: pairs, n-best lists, filtering, several models.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
model=$TMP/one/best.safetensors
score() { "$attn" score -m "$model" "$@"; }
cut -f 1 "$TMP/tiny.tsv" >"$TMP/source"
cut -f 2 "$TMP/tiny.tsv" >"$TMP/target"

# A pair has the same score as in the search.
"$attn" translate -m "$model" --json --word-scores -b 1 "$TMP/source" >"$TMP/own.json"
"$attn" translate -m "$model" -b 1 "$TMP/source" >"$TMP/own"
expect 0 score "$TMP/source" "$TMP/own"
says "scored 64 pairs in"
says "perplexity 1."
cp "$TMP/out" "$TMP/base"
sed 's/.*"score": \([^,]*\), "normalized_score": \([^,]*\),.*/\1\t\2/' "$TMP/own.json" >"$TMP/want"
same "scores of the search" "$TMP/want" "$TMP/base"
expect 0 score --quiet --per-token "$TMP/source" "$TMP/own"
[ ! -s "$TMP/err" ] || fail "--quiet is not quiet"
sed 's/.*"token_scores": \[\([^]]*\)\].*/\1/; s/,//g' "$TMP/own.json" >"$TMP/want"
cut -f 3 "$TMP/out" | cmp -s - "$TMP/want" || fail "scores of tokens"
expect 0 score --per-word "$TMP/source" "$TMP/own"
paste "$TMP/out" "$TMP/own" | awk -F '\t' '{ n = split($3, p, " "); s = 0; for (i = 1; i <= n; i++) s += p[i]
    if (n != split($4, w, " ") + 1 || s - $1 > 1e-4 || $1 - s > 1e-4) exit 1 }' || fail "scores of words"
expect 0 score --length-penalty 0 "$TMP/source" "$TMP/own"
awk '$1 != $2 { exit 1 }' "$TMP/out" || fail "--length-penalty 0"

# Files, pairs, standard input, compressed, any batch and threads: the same lines.
paste "$TMP/source" "$TMP/own" >"$TMP/pairs"
expect 0 score --mini-batch 1 --threads 2 "$TMP/pairs"
same "pairs in one file" "$TMP/base" "$TMP/out"
gzip -c "$TMP/own" >"$TMP/own.gz"
score -o "$TMP/out" "$TMP/source" "$TMP/own.gz" 2>"$TMP/err"
same "compressed, --output" "$TMP/base" "$TMP/out"
sed 's/$/\tmore/' "$TMP/pairs" | score >"$TMP/out" 2>"$TMP/err"
same "standard input, a third column" "$TMP/base" "$TMP/out"
printf 'go .\t\n\tva !\n\t\ngo .\tva \377!\ngo \377.\tva !\n' >"$TMP/odd"
expect 0 score "$TMP/odd"
says "3 pairs with an empty side"
says "2 lines have invalid UTF-8 or NUL bytes, the first is line 4"
[ "$(wc -l <"$TMP/out")" -eq 5 ] || fail "odd pairs change the number of lines"
sed -n 2p "$TMP/out" | grep -qx -e "$(printf -- '-inf\t-inf')" || fail "a translation of nothing"
sed -n 3p "$TMP/out" | grep -qx "$(printf '0\t0')" || fail "nothing of nothing"
printf '\343\200\200\t\302\240\n' | score >"$TMP/out" 2>"$TMP/err" # spaces of other widths
grep -qx "$(printf '0\t0')" "$TMP/out" || fail "a blank line of a blank line: $(cat "$TMP/out")"
: >"$TMP/out"
{
    head -n 3 "$TMP/pairs"
    for i in $(seq 100); do [ -s "$TMP/out" ] || sleep 0.1; done
    [ -s "$TMP/out" ] && tail -n +4 "$TMP/pairs"
} | score >"$TMP/out" 2>"$TMP/err"
same "pairs that come in turn" "$TMP/base" "$TMP/out"
expect 0 score /dev/null
[ ! -s "$TMP/out" ] || fail "scores of nothing"

# JSON.
expect 0 score --json --per-token --per-word "$TMP/odd"
grep -qx '{"source": "", "target": "va !", "score": null, .*}' "$TMP/out" || fail "JSON: $(cat "$TMP/out")"
grep -q '"words": \["va", ".*"\], "word_scores": \[' "$TMP/out" || fail "JSON: $(cat "$TMP/out")"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <"$TMP/out" || fail "not JSON"
fi

# --keep-above drops pairs with low scores and does not change the other lines.
{ cat "$TMP/tiny.tsv" && printf 'go .\tje suis chez moi .\nhi !\t\n\tsalut !\n'; } >"$TMP/noisy.tsv"
expect 0 score --keep-above -2 "$TMP/noisy.tsv"
says "pairs: normalized score above -2"
grep -q "^go \.	je suis" "$TMP/out" && fail "a wrong pair was kept"
grep -qxF -e "$(head -n 1 "$TMP/tiny.tsv")" "$TMP/out" || fail "a right pair was dropped"
grep -c '' "$TMP/out" >"$TMP/count"
cp "$TMP/out" "$TMP/kept"
{ echo "no pair" && cat "$TMP/noisy.tsv" && echo; } >"$TMP/noisier.tsv"
expect 0 score --keep-above -2 "$TMP/noisier.tsv"
says "skipped 2 lines without a TAB, the first is line 1"
same "lines that are no pairs" "$TMP/kept" "$TMP/out"
cut -f 1 "$TMP/noisy.tsv" >"$TMP/a"
cut -f 2 "$TMP/noisy.tsv" >"$TMP/b"
cut -f 1,2 "$TMP/out" >"$TMP/want"
# A first line that names the languages is not a pair: it selects the columns and stays in the output.
{ printf 'en\tfr\n' && cat "$TMP/noisy.tsv"; } >"$TMP/named.tsv"
score --keep-above -2 "$TMP/noisy.tsv" >"$TMP/wanted" 2>/dev/null
expect 0 score --keep-above -2 "$TMP/named.tsv"
{ printf 'en\tfr\n' && cat "$TMP/wanted"; } | cmp -s - "$TMP/out" || fail "a header: $(cat "$TMP/out")"
printf 'id\ten\tfr\n7\tgo .\tva !\n' >"$TMP/three.tsv"
expect 0 score "$TMP/three.tsv"
printf 'go .\tva !\n' | score 2>/dev/null | sed '1 i log_p\tnormalized' >"$TMP/wanted"
same "columns that a header names" "$TMP/wanted" "$TMP/out"
printf '1276\tGo.\tVa !\n1277\tHi.\tSalut !\n' >"$TMP/ids"
expect 3 score "$TMP/ids"
says "ids', line 1: the first of more than two columns is a number"
printf '1276\t1276\tA year.\n' >"$TMP/years"
expect 0 score "$TMP/years"
printf 'fr\ten\nva !\tgo .\n' >"$TMP/swapped.tsv"
expect 0 score "$TMP/swapped.tsv"
same "languages in the other order" "$TMP/wanted" "$TMP/out"
# The columns of the model's languages are read in any order; other languages give a warning.
while read -r names; do
    for name in $names; do
        case $name in en) text='go .' ;; fr) text='va !' ;; *) text=7 ;; esac
        printf '%s\n' "$name" >>"$TMP/names" && printf '%s\n' "$text" >>"$TMP/texts"
    done
    { paste -s "$TMP/names" && paste -s "$TMP/texts"; } >"$TMP/wide.tsv"
    rm "$TMP/names" "$TMP/texts"
    expect 0 score "$TMP/wide.tsv"
    same "columns $names" "$TMP/wanted" "$TMP/out"
    says "as '$TMP/wide.tsv' says"
    ! grep -q 'these pairs are' "$TMP/err" || fail "columns $names: $(cat "$TMP/err")"
done <<'END'
en note fr
note fr en
en de fr
en id fr
END
sed '1s/fr/de/' "$TMP/wide.tsv" >"$TMP/german.tsv"
expect 0 score "$TMP/german.tsv"
same "other languages" "$TMP/wanted" "$TMP/out"
says "translates from en to fr, but these pairs are from en to de"
expect 0 score --quiet "$TMP/german.tsv"
[ ! -s "$TMP/err" ] || fail "--quiet: $(cat "$TMP/err")"
printf 'Who is it?\tQui est-ce ?\ten\tfr\n' >"$TMP/no_names.tsv"
expect 0 score "$TMP/no_names.tsv"
[ "$(wc -l <"$TMP/out")" -eq 1 ] || fail "a pair became a header: $(cat "$TMP/out")"
# Only a filter drops pairs that are too long.
long=$(printf '%040d' 0 | sed 's/0/go . /g')
printf '%s\tva !\ngo .\t%s\ngo .\tva !\n' "$long" "$long" >"$TMP/long.tsv"
expect 0 score --keep-above -1000 --max-length 30 "$TMP/long.tsv"
says "dropped 2 pairs with more than 30 tokens on a side"
[ "$(cat "$TMP/out")" = "$(printf 'go .\tva !')" ] || fail "long pairs: $(cat "$TMP/out")"
expect 2 score --max-length 30 "$TMP/long.tsv"
says "option '--max-length' does nothing without '--keep-above'"
expect 2 score --n-best-feature LM "$TMP/long.tsv"
says "does nothing without '--n-best'"
expect 0 score "$TMP/long.tsv"
[ "$(wc -l <"$TMP/out")" -eq 3 ] || fail "long pairs have no scores"

expect 0 score --keep-above=-2 "$TMP/a" "$TMP/b"
same "filtering two files" "$TMP/want" "$TMP/out"

# n-best lists get one more feature. For the best items it is the score of the search; other items can consist
# of other subwords than their text is split into.
head -n 4 "$TMP/source" >"$TMP/four"
"$attn" translate -m "$model" -b 3 --n-best "$TMP/four" >"$TMP/nbest"
expect 0 score --n-best "$TMP/nbest" "$TMP/four"
[ "$(wc -l <"$TMP/out")" -eq "$(wc -l <"$TMP/nbest")" ] || fail "lines of the n-best list"
awk '!seen[$1]++ {
    for (i = 1; i < NF; i++) { if ($i == "F0=") f = $(i + 1); if ($i == "Score=") s = $(i + 1) }
    if (f != s) exit 1 }' "$TMP/out" || fail "n-best: $(cat "$TMP/out")"
sed 's/ Score= [^ ]*//' "$TMP/out" | cmp -s - "$TMP/nbest" || fail "the list has changed"
printf '0 ||| va !\n3 ||| salut ! ||| F0= -1 M= 2 ||| -1\n' >"$TMP/list"
expect 0 score --n-best "$TMP/list" --n-best-feature LM "$TMP/four"
grep -Eqx '0 \|\|\| va ! \|\|\| LM= -[0-9.e-]+' "$TMP/out" || fail "no features: $(cat "$TMP/out")"
grep -Eqx '3 \|\|\| salut ! \|\|\| F0= -1 M= 2 LM= -[0-9.e-]+ \|\|\| -1' "$TMP/out" ||
    fail "features: $(cat "$TMP/out")"

# An ensemble.
expect 0 score -m "$model" "$TMP/source" "$TMP/own"
awk 'NR == FNR { a[FNR] = $1; next } { d = a[FNR] - $1; if (d > 1e-3 || d < -1e-3) exit 1 }' \
    "$TMP/base" "$TMP/out" || fail "a model and itself"
tiny_model other --set text.bpe_merges=50 --set train.epochs=1
expect 2 score -m "$TMP/other/best.safetensors" "$TMP/source" "$TMP/own"
says "share one target vocabulary"

# Errors.
(cd "$TMP" && expect 2 "$attn" score source own)
says "no model given"
expect 3 score "$TMP/source"
says "'$TMP/source', line 1: no TAB in it"
: >"$TMP/none.txt"
gzip -c "$TMP/pairs" | head -c 200 >"$TMP/cut.gz"
for files in "$TMP/cut.gz" "$TMP/cut.gz $TMP/target" "$TMP/source $TMP/cut.gz" "$TMP/none.txt $TMP/cut.gz" \
    "--n-best=$TMP/nbest $TMP/cut.gz"; do
    # shellcheck disable=SC2086  # words
    expect 3 score $files
    says "'$TMP/cut.gz': the gzip data is cut off"
done
expect 3 score "$TMP/source" "$TMP/four"
says "'$TMP/source' has 64 lines but '$TMP/four' has 4"
expect 3 score "$TMP/four" "$TMP/source"
says "'$TMP/four' has 4 lines but '$TMP/source' has 64"
printf 'go\t.\n' >"$TMP/odd"
printf 'va\t\0!\n' >"$TMP/odd2"
expect 0 score --keep-above -1000 "$TMP/odd" "$TMP/odd2" # what is kept has one TAB
says "1 line has invalid UTF-8 or NUL bytes, the first is line 1"
[ "$(tr -cd '\t' <"$TMP/out" | wc -c)" -eq 1 ] || fail "a TAB in a side: $(cat "$TMP/out")"
{ yes aaaaaaa | head -n 300000 | tr '\n' ' ' && printf '\tva !\n'; } >"$TMP/odd"
expect 3 score "$TMP/odd"
says "a line of more than 2 MB"
for files in "$TMP/source $TMP/none" "$TMP/none $TMP/source" "--n-best=$TMP/nbest $TMP/none"; do
    # shellcheck disable=SC2086  # words
    expect 1 score $files
    says "none"
done
expect 2 score "$TMP/source" "$TMP/own" "$TMP/own"
says "too many files: expected a source and a target"
expect 2 score - -
says "standard input cannot be read twice"
expect 2 score --n-best "$TMP/nbest"
says "needs the source"
expect 2 score --keep-above -2 --per-token "$TMP/noisy.tsv"
says "--keep-above prints pairs as they are, without scores"
expect 2 score --n-best "$TMP/nbest" --keep-above 1 "$TMP/four"
says "filters pairs, not n-best lists"
expect 2 score --n-best "$TMP/nbest" --per-word "$TMP/four"
says "--n-best prints the list with one more score"
expect 0 score --n-best "$TMP/nbest" --per-word --json "$TMP/four"
expect 3 score --n-best "$TMP/source" "$TMP/four"
says "not 'NUMBER ||| TEXT ||| ...'"
for line in ' ||| va !' '1234567890 ||| va !' '0x1 ||| va !' '/ ||| va !' '0'; do
    echo "$line" >"$TMP/odd"
    expect 3 score --n-best "$TMP/odd" "$TMP/four"
    says "not 'NUMBER ||| TEXT ||| ...'"
done
head -n 1 "$TMP/four" >"$TMP/single"
echo '1 ||| va !' >"$TMP/odd"
expect 3 score --n-best "$TMP/odd" "$TMP/single"
says "number 1, but the source has 1 line"
printf '4 ||| va !\n' >"$TMP/list"
expect 3 score --n-best "$TMP/list" "$TMP/four"
says "'$TMP/list', line 1: number 4, but the source has 4 lines"
expect 2 score --keep-above x "$TMP/pairs"
for name in '' ' ' 'a b' 'LM ' 'a|||b'; do
    expect 2 score --n-best "$TMP/nbest" --n-best-feature "$name" "$TMP/four"
    says "'$name' is not a feature name"
done
echo kept >"$TMP/old"
expect 3 score -o "$TMP/old" "$TMP/source"
[ "$(cat "$TMP/old")" = kept ] || fail "a failed run replaced the output"
