# serve_page.sh - the page of attn-mt serve in Chromium: it translates the text in the fragment of its address
# and draws the attention; menus and swap by the keyboard (serve_page.py). Text is data.
# not sanitized
. tests/cli/tiny_model.inc
. scripts/serve.inc
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: no Chromium"
    exit 77
}
tiny_model tiny
if ! serve_start -m "$TMP/tiny/best.safetensors" --languages en-fr --threads 1; then
    grep -q "built without" "$TMP/serve.log" || fail "$(cat "$TMP/serve.log")"
    echo "skipped: built without libmicrohttpd"
    exit 77
fi
trap 'kill "$server" 2>/dev/null' EXIT
show() {
    HOME=$TMP "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$TMP/browser" --virtual-time-budget=10000 --dump-dom \
        "http://127.0.0.1:$port/#$1" 2>/dev/null
}
show 'go%20.' >"$TMP/dom" || {
    echo "skipped: the browser does not work here"
    exit 77
}
french=$(echo "go ." | "$attn" translate -q -m "$TMP/tiny/best.safetensors")
for part in "aria-label=\"Translation\" lang=\"fr\">$french</p>" 'aria-label="Text" lang="en"></textarea>' \
    '<th scope="col" lang="en">go</th>' '<th scope="row" lang="fr">' 'background-color: rgba' \
    '<option value="en">English</option></select>' '<option value="fr">French</option></select>'; do
    grep -qF -e "$part" "$TMP/dom" || fail "no '$part' in: $(cat "$TMP/dom")"
done

# A per cent sign that encodes nothing stays.
show '50%%20%2:%ff' >"$TMP/dom"
grep -qF '<option value="fr">French' "$TMP/dom" || fail "a per cent sign: $(cat "$TMP/dom")"
! grep -q 'id="attention"></div>' "$TMP/dom" || fail "a text with a per cent sign: $(cat "$TMP/dom")"

# Text that looks like markup or a script is shown and does not run.
show '%3Cimg/src=x/onerror=document.title=1%3E%3Cscript%3Edocument.title=2%3C/script%3E' >"$TMP/dom"
grep -qF '<title>attn-mt</title>' "$TMP/dom" || fail "a text ran: $(cat "$TMP/dom")"
! grep -qiE '<img|<script>' "$TMP/dom" || fail "a text became markup: $(cat "$TMP/dom")"
grep -qF '&lt;' "$TMP/dom" || fail "the text is not shown: $(cat "$TMP/dom")"

# Long text is translated without a table.
long=$(printf 'go%%20.%%20%.0s' $(seq 201))
show "$long" >"$TMP/dom"
grep -qF "<p>No attention: the text has more than 1,000 characters.</p>" "$TMP/dom" ||
    fail "$(cat "$TMP/dom")"
grep -qF ">${french%% *}" "$TMP/dom" || fail "long text is not translated: $(cat "$TMP/dom")"
! grep -q '<table' "$TMP/dom" || fail "the weights of long text are drawn"
serve_stop || fail "exit status"

# A model without attention also translates.
tiny_model plain --set model.attention=none --set train.epochs=2
serve_start -m "$TMP/plain/best.safetensors" --threads 1 || fail "$(cat "$TMP/serve.log")"
show 'go%20.' >"$TMP/dom"
grep -qF 'role="status"></p>' "$TMP/dom" || fail "no attention: $(cat "$TMP/dom")"
post_json '{"q": "go .", "attention": "word"}' >"$TMP/answer"
grep -q '^HTTP/1.1 400 ' "$TMP/answer" && grep -qF '{"error": "the model has no attention' "$TMP/answer" ||
    fail "weights of a model without attention: $(cat "$TMP/answer")"
post_json '{"q": "<b>go .</b>", "format": "html"}' >"$TMP/answer"
grep -q '^HTTP/1.1 200 ' "$TMP/answer" && grep -qF '<b>' "$TMP/answer" || fail "HTML: $(cat "$TMP/answer")"
grep -qF '<p>No attention: the model has none.</p>' "$TMP/dom" || fail "no attention: $(cat "$TMP/dom")"
serve_stop || fail "exit status"

# The page shows errors of the server.
serve_start -m "$TMP/tiny/best.safetensors" --threads 1 --max-characters 5 || fail "$(cat "$TMP/serve.log")"
show 'go%20home%20.' >"$TMP/dom"
grep -qF 'role="status">9 characters are more than 5</p>' "$TMP/dom" || fail "$(cat "$TMP/dom")"
serve_stop || fail "exit status"

# Several languages, by the keyboard alone; wide and narrow, light and dark.
mkdir "$TMP/models"
tiny_model back --set data.source=fr --set data.target=en --set data.columns=en,fr
cp "$TMP/tiny/best.safetensors" "$TMP/models/there.safetensors"
cp "$TMP/back/best.safetensors" "$TMP/models/back.safetensors"
export ATTN_MT_MODELS="$TMP/models" XDG_DATA_DIRS="$TMP/none"
expect 0 "$attn" models add "$TMP/tiny/best.safetensors" --name german --languages en-de
serve_start --threads 1 || fail "$(cat "$TMP/serve.log")"
"${PYTHON:-python3}" tests/cli/serve_page.py "$browser" "$TMP/driven" "http://127.0.0.1:$port/" \
    ${SCREENSHOTS:+"$SCREENSHOTS"} >"$TMP/out" 2>&1 || fail "the page: $(cat "$TMP/out")"
serve_stop || fail "exit status"
