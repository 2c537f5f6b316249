#!/bin/sh
# tags.sh - translate --tags: every translation has each tag once, in files, n-best lists and JSON.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
model=$TMP/one/best.safetensors
translate() { "$attn" translate -m "$model" "$@"; }

cat >"$TMP/text" <<'END'
<b>go .</b>
{name} hi ! <br/>
 <i></i> {0}

hi ! go <b class="x>y">.</b>
END
expect 0 translate --tags "$TMP/text"
[ "$(wc -l <"$TMP/out")" -eq 5 ] || fail "lines: $(cat "$TMP/out")"
[ "$(head -n 3 "$TMP/out")" = "<b>va !</b>
{name} salut ! <br/>
 <i></i> {0}" ] || fail "tags: $(cat "$TMP/out")"
for mark in '<b class="x>y">' '</b>'; do
    [ "$(sed -n 5p "$TMP/out" | grep -oF "$mark" | wc -l)" -eq 1 ] || fail "$mark: $(cat "$TMP/out")"
done

# Texts without markup are translated as without the option; tags do not change the words.
cut -f 1 "$TMP/tiny.tsv" >"$TMP/source"
translate "$TMP/source" >"$TMP/base"
translate --tags "$TMP/source" >"$TMP/out"
same "no markup" "$TMP/base" "$TMP/out"
sed 's|^\([^ ]*\) |<b>\1</b> |' "$TMP/source" >"$TMP/bold"
translate --tags "$TMP/bold" >"$TMP/out"
[ "$(grep -c '<b>.*</b>' "$TMP/out")" -eq "$(grep -c '<b>' "$TMP/bold")" ] || fail "bold: $(cat "$TMP/out")"
sed 's|</*b>||g; s/  */ /g; s/^ //; s/ $//' "$TMP/out" >"$TMP/words"
same "words" "$TMP/base" "$TMP/words"

# N-best lists, JSON, paragraphs, bad bytes.
echo '<b>go .</b>' >"$TMP/go"
expect 0 translate --tags -b 3 --n-best "$TMP/go"
[ "$(grep -c '<b>.*</b>' "$TMP/out")" -eq 3 ] || fail "n-best: $(cat "$TMP/out")"
expect 0 translate --tags --json "$TMP/go"
grep -qF '{"text": "<b>go .</b>", "translation": "<b>va !</b>"' "$TMP/out" || fail "JSON: $(cat "$TMP/out")"
echo ' <p>go .</p>  <p>hi !</p> ' >"$TMP/two"
expect 0 translate --tags --split "$TMP/two"
[ "$(cat "$TMP/out")" = ' <p>va !</p>  <p>salut !</p> ' ] || fail "paragraphs: $(cat "$TMP/out")"
# Block elements are sentences, even without white space between them. translate="no" is respected.
cat >"$TMP/html" <<'END'
<!DOCTYPE html><h1>go .</h1><P class="a">go . <i>hi !</i></P>
<ul><li>go .</li><li><b>hi !</b></li></ul>  <div>hi !<br/>go .</div> <!-- hi -->
<td>go .</td><td></td><td>{0}</td><td> hi !</td>
<style>go { hi: 1 }</style>go .<script>if (go<hi) "<p>hi !</p>"</script>
<p translate="no">go .</p>go .<br><b class="x notranslate">hi <b>hi</b></b> hi !
END
expect 0 translate --tags --split "$TMP/html"
cat >"$TMP/want" <<'END'
<!DOCTYPE html><h1>va !</h1><P class="a">va ! <i>salut !</i></P>
<ul><li>va !</li><li><b>salut !</b></li></ul>  <div>salut !<br/>va !</div> <!-- hi -->
<td>va !</td><td></td><td>{0}</td><td> salut !</td>
<style>go { hi: 1 }</style>va !<script>if (go<hi) "<p>hi !</p>"</script>
<p translate="no">go .</p>va !<br><b class="x notranslate">hi <b>hi</b></b> salut !
END
same "blocks" "$TMP/want" "$TMP/out"
expect 0 translate --tags "$TMP/html"
grep -o '<[^>]*>' "$TMP/html" >"$TMP/before"
grep -o '<[^>]*>' "$TMP/out" >"$TMP/after"
same "the order of blocks in a line" "$TMP/before" "$TMP/after"
grep -q "$(printf '\f')" "$TMP/out" && fail "form feeds: $(cat -v "$TMP/out")"
cat >"$TMP/json" <<'END'
{"text": "<pre>go .\n\n  hi !</pre>\n"}
{"text": "<p>go .</p><p>hi !</p>", "constraints": ["chat"]}
END
expect 3 translate --tags --split --json-input "$TMP/json"
grep -qF '"translation": "<pre>go .\n\n  hi !</pre>\n"' "$TMP/out" || fail "line ends: $(cat "$TMP/out")"
says 'line 2: "constraints" do not say which of its 2 sentences they are for'
printf '<b x="\377">go .</b>\n' >"$TMP/odd"
expect 0 translate --tags --json "$TMP/odd"
says "invalid UTF-8 or NUL bytes"
# Glossaries and prefixes ignore markup.
cat >"$TMP/marked" <<'END'
<b title="hi">go</b> .
<i>hi</i> <b>go</b> .
END
printf 'hi go\tperdu\nhi\tchat\n' >"$TMP/glossary"
expect 0 translate --tags --glossary "$TMP/glossary" --prefix '<b>je</b> ' "$TMP/marked"
[ "$(sed 's/<[^>]*>//g' "$TMP/out" | grep -c '^ *je ')" -eq 2 ] || fail "prefixes: $(cat "$TMP/out")"
[ "$(grep -o '<[^>]*>' "$TMP/out" | sort | tr -d '\n')" = '</b></b></i><b title="hi"><b><i>' ] ||
    fail "the prefix brings markup, or takes some: $(cat "$TMP/out")"
! grep -q chat "$TMP/out" || fail "a term in a tag, or hidden by a longer one: $(cat "$TMP/out")"
[ "$(grep -cw perdu "$TMP/out")" -eq 1 ] || fail "a term across tags: $(cat "$TMP/out")"
expect 0 translate --tags --prefix '日 日 日 ' "$TMP/marked" # what the model does not know keeps its place
sed 's/<[^>]*>//g' "$TMP/out" >"$TMP/bare"
[ "$(grep -c '^ *日 日 日' "$TMP/bare")" -eq 2 ] || fail "a prefix of <unk>s: $(cat "$TMP/out")"
grep -q '<unk>' "$TMP/out" && fail "a prefix of <unk>s: $(cat "$TMP/out")"
echo '{"text": "<b>go</b> .", "prefix": "<i>je</i> ", "constraints": ["perdu"]}' >"$TMP/json"
expect 0 translate --tags --split --json-input "$TMP/json"
grep -q '"constraints_met": \["perdu"\]' "$TMP/out" || fail "JSON: $(cat "$TMP/out")"
expect 2 translate --tag "$TMP/go"
says "did you mean '--tags'?"

# White space inside words, as before French question marks, does not shift tags.
sed 's/ !$/'"$(printf '\342\200\257')"'!/' "$TMP/tiny.tsv" >"$TMP/narrow.tsv"
tiny_model narrow --set data.train="$TMP/narrow.tsv"
expect 0 "$attn" translate -m "$TMP/narrow/best.safetensors" --tags --split "$TMP/two"
[ "$(cat "$TMP/out")" = "$(printf ' <p>va\342\200\257!</p>  <p>salut\342\200\257!</p> ')" ] ||
    fail "narrow spaces: $(cat "$TMP/out")"

# A model without attention puts marks at their share of the text.
tiny_model plain --set model.attention=none --set train.epochs=2
printf '<i>go .</i>\n%%s go <b>.</b> {0}\n' >"$TMP/marks"
expect 0 "$attn" translate -m "$TMP/plain/best.safetensors" --tags "$TMP/marks"
[ "$(grep -o '<[^>]*>\|%s\|{0}' "$TMP/out" | tr -d '\n')" = '<i></i>%s<b></b>{0}' ] ||
    fail "no attention: $(cat "$TMP/out")"
