#!/bin/sh
# explorer.sh - the page of heatmap --format html: the file, and its behaviour in a browser.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
heatmap() { "$attn" heatmap -q --format html "$@"; }
model=$TMP/one/best.safetensors
printf '%s\n' "i'm home ." "he's calm ." 'go .' 'i lost .' >"$TMP/four"

# ---- the file ----

# check_page FILE: complete, no network requests, no script except its own
check_page() {
    [ "$(head -n 1 "$1")" = "<!DOCTYPE html>" ] && [ "$(tail -n 1 "$1")" = "</html>" ] ||
        fail "an incomplete page: $1"
    hash="'sha256-[A-Za-z0-9+/]\{43\}='"
    grep -q "default-src 'none'; style-src $hash; script-src $hash;" "$1" || fail "no policy: $1"
    [ "$(grep -o '<script' "$1" | wc -l)" -eq 2 ] || fail "scripts: $1"
    ! sed '/<script>/,$d' "$1" | grep -Eiq '<[^>]* on[a-z]+ *=' || fail "an event handler: $1"
    grep -q '<script type="text/plain" id="data">[A-Za-z0-9+/]*=*</script>$' "$1" ||
        fail "the data is not base64: $1"
}

expect 0 heatmap -m "$model" -o "$TMP/one" <"$TMP/four"
check_page "$TMP/one.html"
! grep -Eiq 'https?:|//[a-z]+\.|@import|url\(' "$TMP/one.html" || fail "an address in the page"
[ "$(grep -c '<figure' "$TMP/one.html")" -eq 4 ] || fail "pictures without script"
cat "$TMP/four" "$TMP/four" "$TMP/four" "$TMP/four" "$TMP/four" >"$TMP/twenty"
expect 0 heatmap -m "$model" <"$TMP/twenty"
[ "$(wc -c <"$TMP/out")" -lt 450000 ] || fail "20 sentences take $(wc -c <"$TMP/out") bytes"
# With many heads and long sentences, the page rounds weights to limit its size.
tiny_model many --set train.epochs=4 --set model.tie=none --set model.encoder.style=self_attention \
    --set model.attention=scaled_dot --set model.decoder.style=transformer --set model.heads=4 \
    --set model.decoder.layers=4 --set model.encoder.layers=4
for line in "i'm home ." "he's calm ." 'go .' 'i lost .'; do
    echo "$line i'm home . he's calm . go . i lost . $line"
done >"$TMP/longer"
cat "$TMP/longer" "$TMP/longer" "$TMP/longer" "$TMP/longer" "$TMP/longer" >"$TMP/twenty"
expect 0 heatmap -m "$TMP/many/best.safetensors" -o "$TMP/many" <"$TMP/twenty"
[ "$(wc -c <"$TMP/many.html")" -lt 450000 ] || fail "20 sentences take $(wc -c <"$TMP/many.html") bytes"
printf '\n' | expect 0 heatmap -m "$model"
check_page "$TMP/out"
expect 0 "$attn" heatmap -m "$model" -f html,csv -o "$TMP/both" "go ."
says "wrote $TMP/both.html"
[ -s "$TMP/both.csv" ] || fail "no CSV file"
expect 2 heatmap -m "$model" -m "$model" -m "$model" -m "$model" -m "$model" "go ."
says "at most 4 models, not 5"
expect 2 heatmap -m "$model" --layer 2 "go ."
says "no layer 2"
tiny_model without --set model.attention=none --set train.epochs=1
expect 2 heatmap -m "$model" -m "$TMP/without/best.safetensors" "go ."
says "no attention"

# ---- in a browser ----

browser=
for name in chromium chromium-browser google-chrome chrome; do
    if command -v "$name" >/dev/null; then browser=$name && break; fi
done
if [ -z "$browser" ]; then
    echo "skipped: no chromium"
    exit 77
fi

evil='</script><script>hit=1</script><img src=x onerror="hit=2"><b id=evil onclick=hit=3>&lt;"'"'"
{
    printf 'go %s .\n' "$evil"
    printf '<!--<script>\n]]></title></style></textarea>\n'
    printf '<svg onload=hit=4><math><mtext></p><img src=x onerror=hit=5>\n'
    # shellcheck disable=SC2016 # nothing is to be expanded
    printf 'javascript:hit=6 ${hit=7} `${hit=8}` %%3Cscript%%3E &#60;script&#62;\n'
    printf '__proto__ constructor toString \\u003cscript\\u003e \\"; hit=9; //\n'
    printf 'go \377\376 \001\002 \342\200\250 \342\200\256 \357\277\277 <a href=javascript:hit=10>\n'
} >"$TMP/evil"
expect 0 heatmap -m "$model" --target-file "$TMP/evil" -o "$TMP/hostile" <"$TMP/evil"
check_page "$TMP/hostile.html"
sed 's|<body>|<body><p id="evil"></p><script>hit=1</script><img src="x" onerror="hit=2">|' "$TMP/one.html" \
    >"$TMP/tampered.html"
# Models so small that the page contains all components.
small="--set train.epochs=4 --set model.hidden=4 --set model.tie=none"
for score in additive dot scaled_dot general cosine bare_cosine distance location concat sum; do
    # shellcheck disable=SC2086 # words
    tiny_model "$score" $small --set model.attention=$score
    expect 0 heatmap -m "$TMP/$score/best.safetensors" -o "$TMP/$score" "i'm home ."
done
# shellcheck disable=SC2086 # words
tiny_model transformer $small --set model.encoder.style=self_attention --set model.attention=scaled_dot \
    --set model.decoder.style=transformer --set model.decoder.layers=2 --set model.encoder.layers=2 \
    --set model.heads=2
expect 0 heatmap -m "$TMP/transformer/best.safetensors" -o "$TMP/transformer" "i'm home ."
# shellcheck disable=SC2086 # words
tiny_model mixed $small --set model.encoder.style=self_attention --set model.encoder.layers=2 \
    --set model.heads=2
expect 0 heatmap -m "$TMP/mixed/best.safetensors" -o "$TMP/mixed" "i'm home ."
# The right-to-left decoder alone finds most of its translations.
tiny_model ways --set model.decoder.bidirectional=true --set train.epochs=4
expect 0 heatmap -m "$TMP/ways/best.safetensors" -b 3 -o "$TMP/ways" <"$TMP/four"
expect 0 heatmap -m "$model" -m "$TMP/dot/best.safetensors" -o "$TMP/two" "i'm home ."
expect 0 heatmap -m "$model" -t "elle est calme ." -o "$TMP/given" "he's calm ."

cp tests/cli/explorer.html "$TMP/test.html"
# Virtual time: timers fire at once, and the browser runs until it is idle.
"$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --disable-web-security \
    --user-data-dir="$TMP/browser" --virtual-time-budget=600000 --dump-dom "file://$TMP/test.html" \
    >"$TMP/dom" 2>"$TMP/err" || fail "$browser: $(tail -n 3 "$TMP/err")"
sed -n '/<pre/,/<\/pre>/p' "$TMP/dom" |
    sed 's/.*<pre[^>]*>//; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >"$TMP/report"
! grep -q '^WRONG' "$TMP/report" || fail "$(grep '^WRONG' "$TMP/report")"
grep -q '^finished' "$TMP/report" || fail "the browser stopped: $(tail -n 3 "$TMP/report")"
[ "$(grep -c '^ok' "$TMP/report")" -ge 50 ] || fail "checks: $(grep -c '^ok' "$TMP/report")"

# The weights of the page are those of --format csv.
for kind in cell subcell selfcell; do
    case $kind in
    cell) options="-m $model --level word" ;;
    subcell) options="-m $model" ;;
    selfcell) options="-m $TMP/transformer/best.safetensors --self-attention --layer 2 --head 2" ;;
    esac
    # shellcheck disable=SC2086 # words
    expect 0 "$attn" heatmap -f csv $options "i'm home ."
    awk -F , 'NR > 1 { for (i = 2; i <= NF; i++) print $i }' "$TMP/out" >"$TMP/expected"
    sed -n "s/^$kind .*: //p" "$TMP/report" | paste "$TMP/expected" - |
        awk '{ d = $1 - $2; if (NF != 2 || d > 0.0016 || d < -0.0016) bad = 1 }
            END { exit bad || NR < 4 }' ||
        fail "weights of the page, $kind: $(paste "$TMP/expected" "$TMP/report" | head)"
done
