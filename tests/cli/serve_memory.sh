# serve_memory.sh - memory of `attn-mt serve` with many large requests, and when idle again.
# not sanitized: sanitizers keep freed memory
# alone
. tests/cli/tiny_model.inc
. scripts/serve.inc
tiny_model tiny
model=$TMP/tiny/best.safetensors
if ! serve_start -m "$model" --threads 1; then
    grep -q "built without libmicrohttpd" "$TMP/serve.log" && {
        echo "skipped: built without libmicrohttpd"
        exit 77
    }
    fail "the server does not start: $(cat "$TMP/serve.log")"
fi
trap 'kill "$server" 2>/dev/null' EXIT
peak() { awk '/^VmHWM:/ { print $2 }' "/proc/$server/status"; }
[ -n "$(peak 2>/dev/null)" ] || {
    echo "skipped: the system does not say what a process takes"
    exit 77
}
begin=$(serve_rss)

# stays WHAT PEAK REST: the server used at most PEAK kB more than at its start, and soon uses at most REST kB
# more
stays() {
    [ "$(peak)" -le $((begin + $2)) ] || fail "$1: $begin kB before, $(peak) kB at most"
    for n in $(seq 300); do
        [ "$(serve_rss)" -le $((begin + $3)) ] && return
        sleep 0.1
    done
    fail "$1: $begin kB before, $(serve_rss) kB afterwards"
}

# request BODY-FILE: with its head
request() {
    printf 'POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    printf 'Content-Length: %d\r\n\r\n' "$(wc -c <"$1")"
    cat "$1"
}

# Bodies of many values during the translation of a long text.
{
    printf '{"q": "go .", "x": [0'
    yes ,0 | head -n 499000 | tr -d '\n'
    printf ']}'
} >"$TMP/values"
request "$TMP/values" >"$TMP/input"
post_json "{\"q\": \"$(printf '%020000d' 0 | tr 0 a)\"}" >"$TMP/long" &
while [ "$(metric batches_total)" -eq 0 ]; do sleep 0.02; done
"$client" "$port" hold 16 1 <"$TMP/input"
stays "many values" 150000 25000

# Large answers that no client reads.
printf '{"q": "%s", "attention": "subword"}' "$(printf '%0800d' 0 | sed 's/0/go . /g')" >"$TMP/attention"
request "$TMP/attention" >"$TMP/input"
"$client" "$port" hold 30 60 <"$TMP/input" &
hold=$!
answered() { get /metrics | awk '/^attn_mt_texts_total/ { print $2 }'; }
while [ "$(answered)" -lt 31 ]; do sleep 0.1; done
[ "$(peak)" -le $((begin + 250000)) ] || fail "answers: $begin kB before, $(peak) kB at most"
kill "$hold"
wait "$hold" || true
stays "answers" 250000 25000
[ "$(metric 'requests_total{status="503"}')" -gt 0 ] || fail "all answers were kept: $(get /metrics)"
post_json '{"q": "go ."}' >"$TMP/answer"
grep -q translatedText "$TMP/answer" || fail "the next one: $(cat "$TMP/answer")"
serve_stop || fail "exit status"
