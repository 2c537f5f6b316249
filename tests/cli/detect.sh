#!/bin/sh
# detect.sh - attn-mt detect: languages, confidences, JSON, what is refused.
set -eu
. tests/cli/tiny_model.inc
if ! echo "Where is it?" | "$attn" detect >"$TMP/out" 2>"$TMP/err"; then
    says "built without libexttextcat"
    echo "skipped: built without libexttextcat"
    exit 0
fi
cat >"$TMP/lines" <<'END'
Where did you put the keys of the house? We have been waiting for an hour.
Wo hast du die Schlüssel des Hauses hingelegt? Wir warten seit einer Stunde.
Où as-tu mis les clés de la maison ? Nous attendons depuis une heure.
Где ты оставил ключи от дома? Мы ждём уже целый час.
我们在家里等了一个小时。
私たちは家で一時間待っていました。
END
expect 0 "$attn" detect "$TMP/lines"
[ "$(cut -f 1 "$TMP/out" | tr '\n' ' ')" = "en de fr ru zh ja " ] || fail "languages: $(cat "$TMP/out")"
awk -F'\t' '$2 < 0.9 || $2 > 1 { exit 1 }' "$TMP/out" || fail "confidence of long texts: $(cat "$TMP/out")"
[ ! -s "$TMP/err" ] || fail "a warning: $(cat "$TMP/err")"
cp "$TMP/out" "$TMP/all"
expect 0 "$attn" detect <"$TMP/lines"
same "standard input" "$TMP/all" "$TMP/out"

# Only the languages that are named; in any spelling; a text in another one has a low confidence.
expect 0 "$attn" detect --languages eng_Latn,German "$TMP/lines"
[ "$(head -n 2 "$TMP/out" | cut -f 1 | tr '\n' ' ')" = "eng_Latn German " ] ||
    fail "names: $(cat "$TMP/out")"
sed -n 4p "$TMP/out" | awk -F'\t' '$2 > 0.3 { exit 1 }' || fail "Russian is $(sed -n 4p "$TMP/out")"

# Nothing to see, and hardly anything.
printf '\n12:30\nxyz\n\377\376\n' >"$TMP/short"
expect 0 "$attn" detect "$TMP/short"
[ "$(wc -l <"$TMP/out")" -eq 4 ] || fail "lines: $(cat "$TMP/out")"
[ "$(head -n 2 "$TMP/out")" = "$(printf 'und\t0.00\nund\t0.00')" ] || fail "no letters: $(cat "$TMP/out")"
expect 0 "$attn" detect --json --n-best 2 --languages en,de,fr "$TMP/lines"
head -n 1 "$TMP/out" | grep -q '^\[{"language": "en", "confidence": [0-9.]*}' ||
    fail "JSON: $(cat "$TMP/out")"
head -n 1 "$TMP/out" | sed 's/.*: \([0-9.]*\)}, .*/\1/' | awk '$1 > 1 { exit 1 }' ||
    fail "JSON has probabilities: $(cat "$TMP/out")"
echo xyz | expect 0 "$attn" detect
says "too short to tell"
{ cat "$TMP/lines" && echo xyz; } >"$TMP/more"
expect 0 "$attn" detect "$TMP/more"
says "1 lines of 7, the first is line 7, are too short to tell"

expect 2 "$attn" detect --languages en,xx "$TMP/lines"
says "the language 'xx' cannot be detected"
expect 2 "$attn" detect --languages en,Portugese "$TMP/lines"
says "did you mean 'portuguese'?"
expect 2 "$attn" detect "$TMP/lines" "$TMP/lines"
expect 1 "$attn" detect "$TMP/nothing"
