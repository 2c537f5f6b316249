#!/bin/sh
# translate_files.sh - translate with documents: the format by content or --format, what each format keeps,
# which files and options are refused, the example, and the converters of docs/files.md that are installed.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
model=$TMP/one/best.safetensors
translate() { "$attn" translate -m "$model" "$@"; }

# HTML, by its content, also compressed; from standard input with --format.
cat >"$TMP/page" <<'END'
<!DOCTYPE html>
<html><head><title>go .</title><script>"go ."</script></head>
<body><p title="hi !">go
.</p> <pre>go .</pre><img alt='hi !'></body></html>
END
cat >"$TMP/want" <<'END'
<!DOCTYPE html>
<html lang="fr"><head><title>va !</title><script>"go ."</script></head>
<body><p title="salut !">va !</p> <pre>go .</pre><img alt='salut !'></body></html>
END
expect 0 translate "$TMP/page" -o "$TMP/page.fr"
says 'translated 4 texts of an HTML page'
same "HTML" "$TMP/want" "$TMP/page.fr"
gzip -c "$TMP/page" >"$TMP/page.gz"
expect 0 translate -q "$TMP/page.gz"
same "gzip" "$TMP/want" "$TMP/out"
expect 0 translate --format html <"$TMP/page"
same "standard input" "$TMP/want" "$TMP/out"
expect 0 translate --format lines "$TMP/page"
[ "$(wc -l <"$TMP/out")" -eq 4 ] || fail "lines: $(cat "$TMP/out")"

# PO: fills what is empty, keeps the rest; a second time there is nothing to do. msgfmt finds no fault.
expect 0 translate examples/catalogue.po -o "$TMP/fr.po"
says 'translated 3 texts of a PO file; 1 had a translation'
! grep -q 'is for translations' "$TMP/err" || fail "the language: $(cat "$TMP/err")"
sed 's/^"Language: fr/"Language: de/' examples/catalogue.po >"$TMP/de.po"
expect 0 translate "$TMP/de.po"
says "the translations in '$TMP/de.po' are in 'de', but the model writes 'fr'"
grep -qxF 'msgstr "va !\n"' "$TMP/fr.po" || fail "PO: $(cat "$TMP/fr.po")"
grep -qxF 'msgstr "bonjour !"' "$TMP/fr.po" || fail "PO: $(cat "$TMP/fr.po")"
grep -qxF '#, fuzzy, c-format' "$TMP/fr.po" || fail "PO: $(cat "$TMP/fr.po")"
expect 0 translate "$TMP/fr.po"
same "PO again" "$TMP/fr.po" "$TMP/out"
expect 0 translate --fuzzy --confident 0 "$TMP/fr.po"
! grep -q fuzzy "$TMP/out" || fail "confident: $(cat "$TMP/out")"
[ "$(grep -c '^# attn-mt: confidence ' "$TMP/out")" -eq 2 ] || fail "scores: $(cat "$TMP/out")"
if command -v msgfmt >/dev/null; then
    msgfmt -c -o "$TMP/mo" "$TMP/out" || fail "msgfmt"
    msgfmt -c -o "$TMP/mo" "$TMP/fr.po" || fail "msgfmt"
fi

# XLIFF of both versions is well-formed afterwards.
cat >"$TMP/old.xlf" <<'END'
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en"
 datatype="plaintext"><body>
<trans-unit id="1"><source><g id="1">go .</g></source></trans-unit></body></file></xliff>
END
cat >"$TMP/new.xlf" <<'END'
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="fr">
<file id="f"><unit id="1">
<segment id="s"><source><pc id="1">go .</pc></source></segment></unit></file></xliff>
END
for file in old new; do
    expect 0 translate "$TMP/$file.xlf" -o "$TMP/$file.fr.xlf"
    grep -q '<target.*>va !<' "$TMP/$file.fr.xlf" || fail "$file: $(cat "$TMP/$file.fr.xlf")"
    ! command -v xmllint >/dev/null || xmllint --noout "$TMP/$file.fr.xlf" || fail "$file is not XML"
    expect 0 translate "$TMP/$file.fr.xlf"
    same "$file again" "$TMP/$file.fr.xlf" "$TMP/out"
done

# Subtitles; Markdown and paragraphs with --format.
printf '1\n00:00:01,000 --> 00:00:02,000\ngo .\n' >"$TMP/film"
expect 0 translate -q "$TMP/film"
[ "$(cat "$TMP/out")" = "$(sed 's/go \./va !/' "$TMP/film")" ] || fail "SubRip: $(cat "$TMP/out")"
printf '# go .\n\n    go .\n' >"$TMP/read"
expect 0 translate -q --format markdown "$TMP/read"
[ "$(cat "$TMP/out")" = "$(sed '1s/go \./va !/' "$TMP/read")" ] || fail "Markdown: $(cat "$TMP/out")"
printf '* go .\n\n* hi\n  ! hi !\n' >"$TMP/text"
expect 0 translate -q --format text "$TMP/text"
[ "$(cat "$TMP/out")" = "* va !

* salut ! salut !" ] || fail "text: $(cat "$TMP/out")"

# By the name, if the content does not show the format: a part of a page, a damaged catalogue.
printf '<p>go\n.</p>\n<pre>go .</pre>\n' >"$TMP/part.html"
expect 0 translate -q "$TMP/part.html"
[ "$(cat "$TMP/out")" = "<p>va !</p>
<pre>go .</pre>" ] || fail "a part of a page: $(cat "$TMP/out")"
printf 'go .\n' >"$TMP/broken.po"
expect 3 translate "$TMP/broken.po"
says "broken.po', line 1:"
printf 'go .\n' >"$TMP/lines.txt"
expect 0 translate -q "$TMP/lines.txt"
[ "$(cat "$TMP/out")" = "va !" ] || fail "lines: $(cat "$TMP/out")"

# Refused: options of lines, several documents, options of catalogues, damaged files, files of other programs.
expect 2 translate --json "$TMP/page"
says "option '--json' is for lines of text, and the input is an HTML page"
says 'hint: --format lines'
expect 2 translate "$TMP/page" "$TMP/page"
says 'a document must be the only input, but there are 2 inputs'
expect 2 translate --confident 0.5 "$TMP/text"
says "option '--confident' is for PO and XLIFF"
printf 'msgid "a\n' >"$TMP/bad.po"
expect 3 translate --format po "$TMP/bad.po" -o "$TMP/never"
says "bad.po', line 1: a string of a PO file does not end on its line"
[ ! -e "$TMP/never" ] || fail "a damaged file has a translation"
printf 'PK\3\4 word/document.xml' >"$TMP/x.docx"
expect 3 translate "$TMP/x.docx"
says "is a DOCX file, which attn-mt cannot translate"
says 'hint: convert it with pandoc'
printf '<?xml version="1.0"?>\n<resources></resources>\n' >"$TMP/strings.xml"
expect 3 translate "$TMP/strings.xml"
says 'json2po'

# The example.
ATTN_MT=$attn examples/files.sh "$model" "$TMP/example" >"$TMP/out" 2>&1 ||
    fail "examples/files.sh: $(cat "$TMP/out")"
grep -q '<button title="va !">va !</button> <span translate="no">go .</span>' \
    "$TMP/example/page.html" || fail "example: $(cat "$TMP/example/page.html")"
