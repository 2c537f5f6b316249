#!/bin/sh
# files.sh MODEL FOLDER - a little job with files: translates page.html and catalogue.po into FOLDER, and
# checks the results.
#
# The catalogue keeps the translation that it has. What the model is less sure of than 0.6 is marked as fuzzy.
set -eu
model=${1:?the file of a model} folder=${2:?where the results go}
here=$(dirname "$0")
attn=${ATTN_MT:-attn-mt}

mkdir -p "$folder"
"$attn" translate --model "$model" "$here/page.html" --output "$folder/page.html"
"$attn" translate --model "$model" --confident 0.6 "$here/catalogue.po" --output "$folder/catalogue.po"

# msgfmt of gettext knows the rules of catalogues.
if command -v msgfmt >/dev/null; then
    msgfmt --check --output-file=/dev/null "$folder/catalogue.po"
fi
grep -n fuzzy "$folder/catalogue.po" || echo "no translation needs a review"
