# serve_fair.sh - attn-mt serve with large requests: short texts do not wait for long texts, long texts are
# not starved, and requests of closed connections are dropped.
# alone
. tests/cli/tiny_model.inc
. scripts/serve.inc
tiny_model tiny
model=$TMP/tiny/best.safetensors
cut -f 1 "$TMP/tiny.tsv" | head -n 40 >"$TMP/text"
if ! serve_start -m "$model" --threads 1; then
    grep -q "built without libmicrohttpd" "$TMP/serve.log" && {
        echo "skipped: built without libmicrohttpd"
        exit 77
    }
    fail "the server does not start: $(cat "$TMP/serve.log")"
fi
trap 'kill "$server" 2>/dev/null' EXIT
"$attn" translate -m "$model" --split -q "$TMP/text" >"$TMP/translated" || fail "translate"
form='POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n'

# Clients send a request of 100 texts, many more requests after it, and disconnect. Most of their texts are
# never translated.
texts=$(printf '%0100d' 0 | sed 's/0/\&q=i+know+what+he+is+calling+about+./g')
{
    printf "$form"'Content-Length: %d\r\n\r\n%s' ${#texts} "$texts"
    for n in $(seq 500); do printf 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'; done
} >"$TMP/gone"
"$client" "$port" leave 40 <"$TMP/gone"
post_json '{"q": "go ."}' >"$TMP/answer"
grep -q translatedText "$TMP/answer" || fail "the next one: $(cat "$TMP/answer")"
[ "$(metric texts_total)" -lt 1000 ] && [ "$(metric waiting_texts)" -eq 0 ] || fail "texts: $(get /metrics)"
[ "$(metric 'requests_total{status="499"}')" -ge 30 ] || fail "499: $(get /metrics)"

# Long requests are not starved by short ones. The word is long, so short requests could always overtake it.
word=$(printf '%02000d' 0 | tr 0 a)
"$client" "$port" load 8 4 "$TMP/text" "$TMP/translated" >"$TMP/load" 2>&1 &
load=$!
post_json "{\"q\": [\"$word\", \"$word\"]}" >"$TMP/answer"
grep -q translatedText "$TMP/answer" || fail "a long one: $(cat "$TMP/answer")"
kill -0 "$load" 2>/dev/null || fail "a long text waited until no short one came"
wait "$load" || fail "answers: $(cat "$TMP/load")"
serve_stop || fail "exit status"

# Short texts do not wait for long texts: 40 short texts are answered in the time of about one long text. In
# order of arrival each would wait for six.
for threads in 1 2; do
    serve_start -m "$model" --threads $threads || fail "$(cat "$TMP/serve.log")"
    "$client" "$port" beside 6 20000 40 >"$TMP/out" || fail "short texts: $(cat "$TMP/out")"
    long=$(sed -n 's/.* \([0-9]*\) long.*/\1/p' "$TMP/out")
    [ "$long" -le 20 ] || fail "with $threads threads: $(cat "$TMP/out")"
    serve_stop || fail "exit status"
done

# The queue is limited in characters: if it is too full for a large request, it still accepts a small one.
# The beam makes the first one last until the third arrives.
serve_start -m "$model" --threads 1 --max-waiting 42000 --beam-size 20 || fail "$(cat "$TMP/serve.log")"
word=$(printf '%020000d' 0 | tr 0 a)
for n in 1 2; do
    post_json "{\"q\": \"$word\"}" >"$TMP/long.$n" &
    while [ "$(metric batches_total)" -eq 0 ]; do sleep 0.02; done
done
while [ "$(metric waiting_characters)" -eq 0 ]; do sleep 0.02; done
post_json "{\"q\": \"$word\"}" >"$TMP/answer"
grep -q 'too much text is waiting' "$TMP/answer" || fail "a third: $(cat "$TMP/answer")"
post_json '{"q": "go ."}' >"$TMP/answer"
grep -q translatedText "$TMP/answer" || fail "a short one: $(cat "$TMP/answer")"
[ ! -s "$TMP/long.2" ] || fail "it came last: $(get /metrics)" # the second long text is not answered yet
kill -9 "$server"
wait 2>/dev/null || true
