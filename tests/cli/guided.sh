#!/bin/sh
# guided.sh - prefixes, glossaries, constraints, alternatives.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
model=$TMP/one/best.safetensors
translate() { "$attn" translate -m "$model" "$@"; }
printf 'go .\nhi !\n\ni lost .\n' >"$TMP/source"
translate "$TMP/source" >"$TMP/base"

# A prefix that is one long word takes seconds, not minutes.
{ yes je | head -n 75000 | tr -d '\n' && echo; } >"$TMP/word"
head -n 1 "$TMP/source" >"$TMP/first"
expect 0 timeout 120 "$attn" translate -m "$model" --quiet --prefix-file "$TMP/word" "$TMP/first"
[ "$(wc -c <"$TMP/out")" -ge 150000 ] || fail "the prefix is cut"

# A prefix for all lines, line by line, in JSON; with greedy and beam search, n-best.
for beam in 1 5; do
    expect 0 translate -b $beam --prefix 'je suis ' "$TMP/source"
    [ "$(grep -c '^je suis' "$TMP/out")" -eq 3 ] || fail "--prefix, beam $beam: $(cat "$TMP/out")"
    grep -q '^je suis ..*' "$TMP/out" || fail "the search stopped at the prefix: $(cat "$TMP/out")"
    sed -n 3p "$TMP/out" | grep -qx '' || fail "a blank line stays blank"
done
expect 0 translate --n-best=3 -b 3 --prefix 'je ' "$TMP/source"
[ "$(grep -c '^[013] ||| je' "$TMP/out")" -eq 9 ] || fail "--prefix, n-best: $(cat "$TMP/out")"
expect 0 translate --prefix 'je 日 ' "$TMP/source"
says "line 1: the model does not know all of the prefix 'je 日 ': it reads <unk> instead"
[ "$(grep -c 'of the prefix' "$TMP/err")" -eq 1 ] || fail "reported more than once: $(cat "$TMP/err")"
[ "$(grep -c '^je 日' "$TMP/out")" -eq 3 ] || fail "a prefix is printed as it was given: $(cat "$TMP/out")"
grep -q unk "$TMP/out" && fail "<unk> for what was given: $(cat "$TMP/out")"
expect 0 translate --prefix 'je 日 ' --json --confidence --quiet "$TMP/source"
grep -q '"word": "日"' "$TMP/out" || fail "its words: $(cat "$TMP/out")"
expect 0 translate --prefix 'v' "$TMP/source"
[ "$(grep -c '^v' "$TMP/out")" -eq 3 ] || fail "a word to complete: $(cat "$TMP/out")"
[ "$(head -n 1 "$TMP/out")" = "va !" ] || fail "'v' is completed: $(cat "$TMP/out")"
printf '\nje \n\nva ' >"$TMP/prefixes"
expect 0 translate --prefix-file "$TMP/prefixes" "$TMP/source"
[ "$(sed -n 1p "$TMP/out")" = "$(sed -n 1p "$TMP/base")" ] || fail "an empty prefix changes a line"
sed -n 2p "$TMP/out" | grep -q '^je' || fail "--prefix-file: $(cat "$TMP/out")"
sed -n 4p "$TMP/out" | grep -q '^va' || fail "--prefix-file: $(cat "$TMP/out")"
expect 0 translate -m "$model" --prefix 'je ' "$TMP/source"
[ "$(grep -c '^je' "$TMP/out")" -eq 3 ] || fail "--prefix, ensemble"
{ yes 'go . hi !' | head -n 30 | tr '\n' ' ' && echo; } >"$TMP/long"
expect 0 translate --quiet --max-input-length 20 --prefix 'je ' "$TMP/long"
[ "$(grep -o 'je ' "$TMP/out" | wc -l)" -eq 1 ] || fail "the prefix is for the first piece: $(cat "$TMP/out")"
cat >"$TMP/json" <<'END'
{"text": "go .", "prefix": "je "}
{"text": "go ."}
{"text": "go .", "constraints": ["perdu", "suis"]}
{"text": "go .", "constraints": []}
{"text": "go .", "constraints": [" mon \t chat "]}
END
expect 0 translate --json-input "$TMP/json"
grep -q '^{"text": "go .", "prefix": "je ", "translation": "je' "$TMP/out" ||
    fail "prefix in JSON: $(cat "$TMP/out")"
sed -n 2p "$TMP/out" | grep -q '"translation": "va !"' || fail "without a prefix"
sed -n 3p "$TMP/out" | grep -q '"constraints_met": \["perdu", "suis"\], "constraints_unmet": \[\]' ||
    fail "constraints in JSON: $(cat "$TMP/out")"
sed -n 5p "$TMP/out" | grep -q '"constraints_met": \[" mon \\t chat "\], "constraints_unmet": \[\]' ||
    fail "white space in constraints: $(cat "$TMP/out")"
[ "$(grep -c constraints_met "$TMP/out")" -eq 2 ] || fail "coverage where nothing was asked for"
echo '{"text": " ", "constraints": ["va", "mon chat", "va"]}' >"$TMP/json"
expect 0 translate --json-input "$TMP/json"
grep -q '"constraints_met": \[\], "constraints_unmet": \["va", "mon chat"\]' "$TMP/out" ||
    fail "constraints of a blank line: $(cat "$TMP/out")"
says "line 1: 'mon chat' is not in the translation"
grep -q 'does not know all of it' "$TMP/err" && fail "mon chat: $(cat "$TMP/err")"

# A glossary: longer terms first, whole words only, the same in any batch.
printf 'go\tperdu\nhi\tmon chat\nlost .\tperdu\nlost\tgagn\303\251\n\n' >"$TMP/glossary"
expect 0 translate --glossary "$TMP/glossary" "$TMP/source"
cp "$TMP/out" "$TMP/terms"
for n in 1 4; do
    sed -n ${n}p "$TMP/out" | grep -qw perdu || fail "glossary, line $n: $(cat "$TMP/out")"
done
sed -n 2p "$TMP/out" | grep -qw 'mon chat' || fail "a term of two words: $(cat "$TMP/out")"
sed -n 4p "$TMP/out" | grep -q gagn && fail "a term within a longer one counts"
printf 'hi\tgagn\303\251\ngo\tva\nhi\tsalut\n' >"$TMP/more"
expect 0 translate --glossary "$TMP/glossary" --glossary "$TMP/more" "$TMP/source"
says "3 lines with another target for a source that came before, such as 'go'"
same "what the first of two glossaries says counts" "$TMP/terms" "$TMP/out"
for batch in 1 2; do
    translate --glossary "$TMP/glossary" --mini-batch $batch --threads 2 "$TMP/source" >"$TMP/out"
    same "glossary in batches of $batch" "$TMP/terms" "$TMP/out"
done
echo '{"text": "go . lost .", "constraints": ["perdu"]}' >"$TMP/goo"
expect 0 translate --json-input --glossary "$TMP/glossary" "$TMP/goo"
grep -q '"constraints_met": \["perdu"\], "constraints_unmet": \[\]' "$TMP/out" ||
    fail "asked for twice: $(cat "$TMP/out")"
echo 'goo .' >"$TMP/goo"
expect 0 translate --json --glossary "$TMP/glossary" "$TMP/goo"
grep -q constraints "$TMP/out" && fail "a part of a word is no term"
expect 0 translate -b 1 --glossary "$TMP/glossary" "$TMP/source"
says "lines with constraints use --beam-size 5"
grep -qw perdu "$TMP/out" || fail "glossary with a beam of 1"
printf 'go\t\346\227\245\n' >"$TMP/unknown"
expect 0 translate --json --glossary "$TMP/unknown" "$TMP/source"
says "line 1: '日' is not in the translation: the model does not know all of it"
head -n 1 "$TMP/out" | grep -q '"constraints_met": \[\], "constraints_unmet": \["日"\]' ||
    fail "unmet: $(cat "$TMP/out")"

# Alternatives: a list for each token and </s>; with a prefix, with a beam, in chunks, for blank lines.
expect 0 translate --json --alternatives 3 "$TMP/source"
p='"probability": 0\.[0-9]+\}'
head -n 1 "$TMP/out" |
    grep -Eq '"alternatives": \[\[\{"token": "▁va", '"$p, \{.*"'\{"token": "</s>", '"$p.*\]\]\}\$" ||
    fail "alternatives: $(head -n 1 "$TMP/out")"
[ "$(head -n 1 "$TMP/out" | grep -o '"probability"' | wc -l)" -eq 9 ] || fail "3 of each of 3 positions"
sed -n 3p "$TMP/out" | grep -q '"alternatives": \[\]}$' || fail "alternatives of a blank line"
sed 's/, "alternatives".*/}/' "$TMP/out" >"$TMP/want"
translate --json "$TMP/source" >"$TMP/out"
same "alternatives change a translation" "$TMP/want" "$TMP/out"
expect 0 translate --quiet --json --alternatives 2 --max-input-length 20 --prefix 'je ' -b 2 --n-best \
    "$TMP/long"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
for line in sys.stdin:
    x = json.loads(line)
    assert len(x["alternatives"]) == len(x["tokens"]) + 1, line' <"$TMP/out" || fail "alternatives in chunks"
fi
expect 2 translate --alternatives 3 "$TMP/source"
says "hint: add --json"

# Errors.
expect 2 translate --prefix a --prefix-file "$TMP/prefixes" "$TMP/source"
says "--prefix and --prefix-file exclude each other"
head -n 2 "$TMP/source" >"$TMP/two"
expect 3 translate --prefix-file "$TMP/two" "$TMP/source"
says "'$TMP/two' has 2 lines, the input has more"
head -n 1 "$TMP/source" >"$TMP/single"
expect 3 translate --prefix-file "$TMP/single" "$TMP/source"
says "'$TMP/single' has 1 line, the input has more"
expect 3 translate --prefix-file "$TMP/source" "$TMP/two"
says "'$TMP/source' has more lines than the input"
printf 'je \nje \n' | gzip -c >"$TMP/whole.gz"
head -c $(($(wc -c <"$TMP/whole.gz") - 4)) "$TMP/whole.gz" >"$TMP/cut.gz"
for input in two source; do # the damage is detected after the last line, or in the third
    expect 3 translate --prefix-file "$TMP/cut.gz" "$TMP/$input"
    says "'$TMP/cut.gz': the gzip data is cut off"
done
# A translation memory: an identical line is taken, a similar one is shown.
printf 'go .\tvite !\nhi there !\tsalut vous !\n' >"$TMP/memory.tsv"
printf ' go  .\nhi theres !\ni lost .\n' >"$TMP/asked"
translate "$TMP/asked" >"$TMP/base"
expect 0 translate --memory "$TMP/memory.tsv" "$TMP/asked"
[ "$(head -n 1 "$TMP/out")" = ' vite !' ] || fail "memory: $(cat "$TMP/out")"
sed 1d "$TMP/base" >"$TMP/others"
sed 1d "$TMP/out" | cmp -s - "$TMP/others" || fail "lines that are not in the memory: $(cat "$TMP/out")"
expect 0 translate --memory "$TMP/memory.tsv" --json "$TMP/asked"
sed -n 1p "$TMP/out" | grep -q '"match": 1, "match_source": "go .", "match_translation": "vite !"' ||
    fail "identical: $(cat "$TMP/out")"
sed -n 2p "$TMP/out" | grep -q '"match": 0.909091, "match_source": "hi there !", ' ||
    fail "similar: $(cat "$TMP/out")"
sed -n 1p "$TMP/out" | grep -q '"from_memory": true' || fail "from the memory: $(cat "$TMP/out")"
[ "$(grep -c '"from_memory": false' "$TMP/out")" -eq 2 ] || fail "not from the memory: $(cat "$TMP/out")"
sed -n 3p "$TMP/out" | grep -q '"match' && fail "no match: $(cat "$TMP/out")"
expect 0 translate --memory "$TMP/memory.tsv" --memory-threshold 0.95 --json "$TMP/asked"
[ "$(grep -c '"match"' "$TMP/out")" -eq 1 ] || fail "threshold: $(cat "$TMP/out")"
expect 0 translate --memory "$TMP/memory.tsv" --prefix 'je ' "$TMP/asked"
grep -qv '^ *je ' "$TMP/out" && fail "a prefix comes before the memory: $(cat "$TMP/out")"
printf 'go %%s\tva %%d\nhi %%s\tsalut %%s\n' >"$TMP/formats.tsv"
printf 'hi %%s\ngo %%s\n' >"$TMP/asked"
expect 0 translate --memory "$TMP/formats.tsv" --tags "$TMP/asked"
[ "$(head -n 1 "$TMP/out")" = 'salut %s' ] || fail "memory, placeholders: $(cat "$TMP/out")"
sed -n 2p "$TMP/out" | grep -q '%s' || fail "memory, other placeholders: $(cat "$TMP/out")"
# Sentences of a line.
printf 'hi %%s\tsalut %%s\nOK!\tBon !\n' >"$TMP/sentences.tsv"
printf ' OK!  Go .\nhi {x}\nOK! OK!\n' >"$TMP/asked"
echo 'Go .' >"$TMP/rest"
translate "$TMP/rest" >"$TMP/rest.out"
expect 0 translate --memory "$TMP/sentences.tsv" --split --tags "$TMP/asked"
printf ' Bon !  %s\nsalut {x}\nBon ! Bon !\n' "$(cat "$TMP/rest.out")" | cmp -s - "$TMP/out" ||
    fail "sentences of the memory: $(cat "$TMP/out")"
# Entries of a catalogue say that they come from there; tags around a text of HTML stay.
printf 'msgid "hi %%d"\nmsgstr ""\n\nmsgid "go ."\nmsgstr ""\n' >"$TMP/a.po"
expect 0 translate --memory "$TMP/sentences.tsv" "$TMP/a.po"
[ "$(grep -c '^# attn-mt: confidence 1.00, from the translation memory$' "$TMP/out")" -eq 1 ] &&
    grep -q '^msgstr "salut %d"$' "$TMP/out" || fail "memory of a catalogue: $(cat "$TMP/out")"
echo '<p><b>OK!</b></p><p>hi <i>{x}</i></p>' >"$TMP/a.html"
expect 0 translate --memory "$TMP/sentences.tsv" --format html "$TMP/a.html"
grep -q '<p><b>Bon !</b></p>' "$TMP/out" || fail "memory of a page: $(cat "$TMP/out")"
expect 1 translate --memory "$TMP/none" "$TMP/source"
says "none"
expect 1 translate --glossary "$TMP/none" "$TMP/source"
says "none"
expect 3 translate --glossary "$TMP/source" "$TMP/source"
says "glossary '$TMP/source', line 1: not SOURCE TAB TARGET"
expect 3 translate --glossary /dev/null "$TMP/source"
says "has no terms"
cat >"$TMP/json" <<'END'
{"text": "go .", "prefix": 5}
{"text": "go .", "constraints": "va"}
{"text": "go .", "constraints": ["va", 1]}
{"text": "go .", "constraints": [" "]}
END
expect 3 translate --json-input "$TMP/json"
says '"prefix" is not a string'
says '"constraints" is not a list'
says 'a constraint is blank, or not a string'
[ "$(grep -c '^{"error": "' "$TMP/out")" -eq 4 ] || fail "errors in JSON"
# Errors in lines do not replace the error that ends the reading.
gzip -c "$TMP/json" | head -c -4 >"$TMP/json.gz"
expect 3 translate --json-input "$TMP/json.gz"
[ "$(tail -n 1 "$TMP/err")" = "attn-mt: '$TMP/json.gz': the gzip data is cut off" ] || fail "the last error"
