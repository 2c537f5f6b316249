# pictures.sh - scripts/make-pictures: draws both pictures, with a small model.
# not sanitized
. tests/cli/tiny_model.inc
for browser in chromium chromium-browser google-chrome ''; do
    [ -z "$browser" ] || ! command -v "$browser" >/dev/null || break
done
[ -n "$browser" ] || {
    echo "skipped: no Chromium"
    exit 77
}
tiny_model tiny
mkdir "$TMP/docs"
expect 0 env HOME="$TMP" CHROMIUM=$browser scripts/make-pictures "$TMP/tiny" "$TMP/docs"
# A PNG begins with its type, and has width and height at byte 16.
[ "$(od -An -tx1 -j 1 -N 3 "$TMP/docs/explorer.png" | tr -d ' ')" = 504e47 ] || fail "no PNG"
[ "$(od -An -tx1 -j 16 -N 8 "$TMP/docs/explorer.png" | tr -d ' ')" = 00000528000003f2 ] || fail "another size"
[ "$(wc -c <"$TMP/docs/explorer.png")" -gt 60000 ] || fail "explorer.png is almost empty"
grep -q '</svg>' "$TMP/docs/attention.svg" && grep -q grandmother "$TMP/docs/attention.svg" ||
    fail "attention.svg: $(head -n 5 "$TMP/docs/attention.svg")"

expect 1 scripts/make-pictures "$TMP/nothing" "$TMP/docs"
says "$TMP/nothing/best.safetensors"
