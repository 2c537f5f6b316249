#!/bin/sh
# converters.sh - the commands of docs/files.md for formats of other programs, there and back, if their
# programs are installed.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
root=$(pwd)
model=$TMP/one/best.safetensors
mkdir "$TMP/files"
cd "$TMP/files"

# The files that the page names. Each has the text "go .".
cat >app.ts <<'END'
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr">
<context><name>Main</name>
<message><source>go .</source><translation type="unfinished"></translation></message>
</context>
</TS>
END
printf 'first=go .\nsecond=hi !\n' >messages.properties
printf '{\n "a": "go .",\n "b": "hi !"\n}\n' >en.json
printf 'a: "go ."\nb: "hi !"\n' >en.yaml
cat >Resources.resx <<'END'
<?xml version="1.0" encoding="utf-8"?>
<root>
  <data name="go" xml:space="preserve"><value>go .</value></data>
</root>
END
if command -v pandoc >/dev/null; then
    for format in docx odt epub; do
        printf -- '---\ntitle: x\n---\n\n# go .\n\nhi !\n' | pandoc -f markdown -o "in.$format" 2>log
    done
fi

# convert FORMAT THERE BACK: one row of the page
skipped=
convert() {
    for program in "${2%% *}" "${3%% *}"; do
        command -v "$program" >/dev/null || {
            skipped="$skipped $program"
            return 0
        }
    done
    if ! $2 >log 2>&1; then
        grep -q ModuleNotFoundError log || fail "$2: $(cat log)"
        skipped="$skipped a module for ${2%% *}"
        return 0
    fi
    case $2 in
    pandoc*) expect 0 "$attn" translate -m "$model" -q in.html -o out.html ;;
    *) expect 0 "$attn" translate -m "$model" -q --confident 0 en.po -o de.po ;;
    esac
    $3 >log 2>&1 || fail "$3: $(cat log)"
    result=${3##* }
    case $3 in
    pandoc*) pandoc -t plain "$result" >text 2>log ;;
    *) cp "$result" text ;;
    esac
    grep -q 'va !' text || fail "$1: $(cat text)"
    rm -f en.po de.po in.html out.html
}
sed -nE 's/^\| ([^`|]*) \| `([^`]*)` \| `([^`]*)` \|.*$/\1|\2|\3/p' "$root/docs/files.md" >rows
[ "$(wc -l <rows)" -ge 8 ] || fail "docs/files.md shows only $(wc -l <rows) converters"
while IFS='|' read -r format there back <&3; do
    convert "$format" "$there" "$back"
done 3<rows
[ -z "$skipped" ] || echo "skipped: not installed:$skipped"
