# serve_soak.sh - two rounds of scripts/soak-serve: no answer is lost, memory does not grow.
# not sanitized: sanitizers keep freed memory
# alone
. tests/cli/tiny_model.inc
tiny_model tiny
cut -f 1 "$TMP/tiny.tsv" >"$TMP/text"
"$attn" serve -m "$TMP/tiny/best.safetensors" --address nowhere.invalid 2>"$TMP/err"
if grep -q "built without" "$TMP/err"; then
    echo "skipped: built without libmicrohttpd"
    exit 77
fi
scripts/soak-serve --seconds 3 --connections 500 "$TMP/tiny/best.safetensors" "$TMP/text" || fail "soak"
