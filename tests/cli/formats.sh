#!/bin/sh
# formats.sh - pairs from every format of file: trained from, inspected and scored alike; others are refused.
set -eu
. tests/cli/tiny_model.inc

# The same pairs in all formats. Some need what only an escape, a quote or an entity can write.
{
    printf 'en\tde\tescaped\n'
    head -n 60 tests/cli/german_numbers.tsv
    printf '%s\t%s\n' 'Say "five", and <b>six</b> &amp; seven; eight.' \
        'Sag "fünf", und <b>sechs</b> &amp; sieben; acht.' \
        'one\ntwo' 'eins\nzwei' 'C:\\new\tline' 'C:\\neu\tZeile'
} >"$TMP/escaped"
cat >"$TMP/formats.awk" <<'END'
function text(cell) {
    gsub(/\\\\/, "\001", cell); gsub(/\\n/, "\n", cell); gsub(/\\t/, "\t", cell); gsub("\001", "\\", cell)
    return cell
}
function xml(cell) { gsub(/&/, "\\&amp;", cell); gsub(/</, "\\&lt;", cell); return cell }
function csv(cell) { gsub(/"/, "\"\"", cell); return "\"" cell "\"" }
function json(cell) {
    gsub(/["\\]/, "\\\\&", cell) # versions of mawk differ in other replacements with backslashes
    gsub(/\n/, "\\n", cell); gsub(/\t/, "\\t", cell)
    return "\"" cell "\""
}
BEGIN {
    FS = "\t"
    print "id,German,English\r" >folder "/csv"
    print "eng_Latn;deu_Latn" >folder "/semicolons"
    print "en\tde" >folder "/sheet"
    print "<?xml version='1.0'?><!DOCTYPE tmx SYSTEM 'tmx14.dtd'>" >folder "/tmx"
    print "<tmx version='1.4'><header srclang='en'/><body>" >folder "/tmx"
    print "<xliff version='1.2'><file source-language='en-US' target-language='de'><body>" >folder "/xliff"
    print "<xliff version='2.0' srcLang='eng' trgLang='deu'><file id='1'><unit id='1'>" >folder "/xliff2"
    print "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"" >folder "/po"
    print "\"Content-Type: text/plain; charset=UTF-8\\n\"\n" >folder "/po"
    print "#, fuzzy\nmsgid \"no\"\nmsgstr \"falsch\"\n\nmsgid \"none\"\nmsgstr \"\"\n" >folder "/po"
}
NR > 1 {
    en = text($1); de = text($2)
    print NR "," csv(de) "," csv(en) "\r" >folder "/csv"
    print csv(en) ";" csv(de) >folder "/semicolons"
    print csv(en) "\t" csv(de) >folder "/sheet"
    print "{\"id\": 1, \"de\": " json(de) ", \"en\": " json(en) "}" >folder "/json"
    print "{\"translation\": {\"en\": " json(en) ", \"de\": " json(de) "}}" >folder "/json_inside"
    de_variant = "<tuv xml:lang='de-AT'><seg>" xml(de) "</seg></tuv>"
    print "<tu>" de_variant "<tuv xml:lang='en'><seg>" xml(en) "</seg></tuv></tu>" >folder "/tmx"
    sides = "<source>" xml(en) "</source><target>" xml(de) "</target>"
    print "<trans-unit id='" NR "'>" sides "</trans-unit>" >folder "/xliff"
    print "<segment>" sides "</segment>" >folder "/xliff2"
    print "msgctxt \"" NR "\"\nmsgid " json(en) "\nmsgstr " json(de) "\n" >folder "/po"
}
END {
    print "</body></tmx>" >folder "/tmx"
    print "</body></file></xliff>" >folder "/xliff"
    print "</unit></file></xliff>" >folder "/xliff2"
}
END
mkdir "$TMP/formats"
awk -v folder="$TMP/formats" -f "$TMP/formats.awk" "$TMP/escaped"
mv "$TMP/escaped" "$TMP/formats"
gzip -c "$TMP/formats/tmx" >"$TMP/formats/tmx.gz"
if command -v iconv >/dev/null; then iconv -f UTF-8 -t UTF-16 "$TMP/formats/tmx" >"$TMP/formats/tmx16"; fi

# ldd shows what the program was built with.
available() { # FORMAT
    case $1 in
        tmx* | xliff*) grep -q -e -DATTN_MT_XML "$BUILD/flags" ;;
        po) grep -q -e -DATTN_MT_PO "$BUILD/flags" ;;
    esac
}

small="--set model.hidden=8 --set model.embedding=8 --set train.samples=0 --set train.max_updates=2"
small="$small --threads 1"
for path in "$TMP/formats/escaped" "$TMP/formats"/[!e]*; do
    format=${path##*/}
    available "$format" || continue
    # Model files are compared, and they name the files that they were trained on.
    mkdir "$TMP/$format.run"
    cp "$path" "$TMP/pairs"
    # shellcheck disable=SC2086  # words
    expect 0 "$attn" train "$TMP/pairs" --languages en-de --run "$TMP/$format.run" $small
    says "as '$TMP/pairs' says"
    cmp "$TMP/escaped.run/best.safetensors" "$TMP/$format.run/best.safetensors" ||
        fail "$format: another model"
    model="$TMP/escaped.run/best.safetensors"
    expect 0 "$attn" score --model "$model" "$path"
    cp "$TMP/out" "$TMP/scores"
    [ "$format" != escaped ] || cp "$TMP/scores" "$TMP/escaped.scores"
    same "scores of $format" "$TMP/escaped.scores" "$TMP/scores"
    # What a filter writes is read again with the same texts.
    expect 0 "$attn" score --model "$model" --keep-above -1000 "$path"
    cp "$TMP/out" "$TMP/filtered"
    head -n 1 "$TMP/filtered" | grep -q '	escaped$' || fail "$format: no escapes"
    expect 0 "$attn" score --model "$model" "$TMP/filtered"
    same "filtered $format" "$TMP/escaped.scores" "$TMP/out"
    expect 0 "$attn" train "$path" --languages en-de --dump-pairs --set data.held_out=0 \
        --set data.valid="$path"
    same "pairs of $format" "$TMP/formats/escaped" "$TMP/out"
    expect 0 "$attn" inspect "$path"
    grep -Eq '^  pairs +63$' "$TMP/out" || fail "inspect $format: $(cat "$TMP/out")"
done
if available po; then
    expect 0 "$attn" inspect "$TMP/formats/po"
    grep -q "left out 1 unit without a text in both languages ($TMP/formats/po)" "$TMP/out" ||
        fail "untranslated: $(cat "$TMP/out")"
    grep -q "left out 1 fuzzy or obsolete unit ($TMP/formats/po)" "$TMP/out" || fail "fuzzy"
    expect 0 "$attn" inspect "$TMP/formats/po" --languages fr-de # whose source the file does not name
    expect 3 "$attn" inspect "$TMP/formats/po" --languages en-fr
    says "'$TMP/formats/po' has no pair of en and fr: its languages are de"
    # The header names the encoding.
    {
        printf 'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=ISO-8859-1\\n"\n\n'
        printf 'msgid "five"\nmsgstr "f\374nf"\n'
    } >"$TMP/latin.po"
    expect 0 "$attn" inspect "$TMP/latin.po" --clean "$TMP/latin.tsv"
    printf 'en\tde\tescaped\nfive\tf\303\274nf\n' >"$TMP/want"
    same "a catalogue in Latin-1" "$TMP/want" "$TMP/latin.tsv"
    sed 's/8859-1/8859-99/' "$TMP/latin.po" >"$TMP/unknown.po"
    expect 3 "$attn" inspect "$TMP/unknown.po"
    says "is in an unknown encoding, 'ISO-8859-99'"
fi

# Several files of several kinds, and two plain files.
cut -f 1 tests/cli/german_numbers.tsv >"$TMP/plain.en"
cut -f 2 tests/cli/german_numbers.tsv >"$TMP/plain.de"
# shellcheck disable=SC2086  # words
expect 0 "$attn" train "$TMP/formats/csv" "$TMP/formats/json" "$TMP/formats/escaped" "$TMP/plain.{}" \
    --languages en-de --run "$TMP/mixed" $small
pairs=$((3 * 63 + $(grep -c '' "$TMP/plain.en")))
awk -v pairs=$pairs '/^data/ { exit $2 + $8 != pairs; }' "$TMP/err" || fail "not $pairs: $(cat "$TMP/err")"

# ---- refused -----------------------------------------------------------------------------------------------

refused() { # NAME TEXT
    expect 3 "$attn" train "$TMP/$1" --languages en-de --run "$TMP/none"
    says "$2"
    expect 3 "$attn" inspect "$TMP/$1"
    says "$2"
    expect 3 "$attn" score --model "$TMP/escaped.run/best.safetensors" "$TMP/$1"
    [ ! -e "$TMP/none/best.safetensors" ] || fail "$1: a model"
}
printf '<!DOCTYPE html>\n<p>Go!\n' >"$TMP/web"
refused web "'$TMP/web' is a web page (HTML), not a file of sentence pairs"
says 'pandoc'
printf 'PK\003\004xl/workbook' >"$TMP/excel"
refused excel "is an Excel file"
says 'hint: save the sheet as CSV (UTF-8)'
printf '%%PDF-1.4\n' >"$TMP/pdf"
refused pdf "is a PDF file"
printf 'SQLite format 3\000' >"$TMP/sqlite"
refused sqlite "is an SQLite database"
printf '<?xml version="1.0"?><TS version="2.1"></TS>' >"$TMP/qt"
refused qt "is a file of Qt Linguist"
says 'ts2po'
{ head -n 13 tests/cli/german_numbers.tsv && seq 20; } >"$TMP/few"
refused few "only 13 of the 33 lines of '$TMP/few' have a TAB between two languages"
if available po; then
    printf 'msgid "a"\nmsgstr "b"\n\nmsgid "c"\n' >"$TMP/damaged"
    refused damaged "'$TMP/damaged', line 4: damaged PO file: missing 'msgstr' section"
fi
