# serve.sh - attn-mt serve: LibreTranslate's interface, the same translations as `translate`, the answer to
# every exceeded limit, reload and stop without lost requests.
# alone
. tests/cli/tiny_model.inc
. scripts/serve.inc
tiny_model tiny
model=$TMP/tiny/best.safetensors
cut -f 1 "$TMP/tiny.tsv" | head -n 40 >"$TMP/text"
if ! serve_start -m "$model" --languages en-fr --threads 2; then
    grep -q "built without libmicrohttpd" "$TMP/serve.log" && {
        echo "skipped: built without libmicrohttpd"
        exit 77
    }
    fail "the server does not start: $(cat "$TMP/serve.log")"
fi
trap 'kill "$server" 2>/dev/null' EXIT

# Only the first thread takes signals: a handler on another one would race with the server's loop.
for thread in /proc/"$server"/task/*/; do
    [ -e "$thread/status" ] || break # not Linux
    [ "$(basename "$thread")" != "$server" ] || continue
    # SIGTERM is bit 14, in the fourth digit from the right
    grep -q '^SigBlk:.*[4-7c-f]...$' "$thread/status" || fail "takes SIGTERM: $(cat "$thread/comm")"
done
"$attn" translate -m "$model" --split -q "$TMP/text" >"$TMP/translated" || fail "translate"

form=application/x-www-form-urlencoded

# The same translations, from one client and from several.
for clients in 1 6; do
    "$client" "$port" load $clients 0 "$TMP/text" "$TMP/translated" >"$TMP/out" 2>&1
    grep -q '^40 requests, 0 wrong' "$TMP/out" || fail "$clients clients: $(cat "$TMP/out")"
done

# A port that is taken.
expect 1 "$attn" serve -m "$model" --port "$port"
says "--port 0 takes any port that is free"

# LibreTranslate's interface.
first=$(head -n 1 "$TMP/text") french=$(head -n 1 "$TMP/translated")
gives "a text" 200 "{\"translatedText\": \"$french\"}" \
    post_json "{\"q\": \"$first\", \"source\": \"en\", \"target\": \"fr\"}"
gives "a form" 200 "{\"translatedText\": \"$french\"}" \
    post $form "q=$(echo "$first" | tr ' ' +)&source=EN&target=fr"
query="/translate?q=$(echo "$first" | tr ' ' +)&source=en&target=fr"
gives "a query without a body" 200 "{\"translatedText\": \"$french\"}" post '' '' "$query"
gives "a query with a mistake" 400 "'alternatives' is not a number" post '' '' "$query&alternatives=x"
gives "neither a query nor a body" 400 "the Content-Type is neither" post '' '' /translate
gives "a list" 200 "{\"translatedText\": [\"$french\", \"\", \"$french\"]}" \
    post_json "{\"q\": [\"$first\", \"\", \"$first\"]}"
boundary=$(printf -- '--xyz\r\nContent-Disposition: form-data; name=')
part() { printf '%s"%s"\r\n\r\n%s\r\n' "$boundary" "$1" "$2"; }
gives "a multipart form" 200 "{\"translatedText\": \"$french\"}" \
    post 'multipart/form-data; boundary=xyz' "$(part q "$first" && part target fr && echo --xyz--)"
# packed ENCODING: a request whose body is a gzip file, in FILE
packed() {
    printf 'POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Encoding: %s\r\n' "$1"
    printf 'Content-Type: application/json\r\nContent-Length: %d\r\n\r\n' "$(wc -c <"$TMP/packed")"
    cat "$TMP/packed"
}
send_packed() { packed "$1" | "$client" "$port" send; }
printf '{"q": "%s"}' "$first" | gzip >"$TMP/packed"
gives "a packed body" 200 "\"$french\"" send_packed gzip
gives "an unknown encoding" 415 'Accept-Encoding: gzip' send_packed br
head -c 2000000 /dev/zero | gzip >"$TMP/packed"
gives "a packed body that is too large" 413 'larger than 1000000 bytes' send_packed gzip
echo 'nothing' >"$TMP/packed"
gives "a body that is not packed" 400 'not in the format of gzip' send_packed gzip
# ask JSON: a request, on a connection that stays open
ask() {
    printf 'POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    printf 'Content-Length: %d\r\n\r\n%s' "$(printf '%s' "$1" | wc -c)" "$1"
}
last() { ask "$1" | "$client" "$port" last; }
gives "a client that will send no more" 200 "\"$french\"" last "{\"q\": \"$first\"}"
gives "an empty list" 200 '{"translatedText": []}' post_json '{"q": []}'
gives "auto of nothing" 200 '"detectedLanguage": []' post_json '{"q": [], "source": "auto"}'
gives "paragraphs" 200 "\"$french\\n\\n$french\"" post_json "{\"q\": \"$first\\n\\n$first\"}"
gives "alternatives" 200 "{\"translatedText\": \"$french\", \"alternatives\": [\"" \
    post_json "{\"q\": \"$first\", \"alternatives\": 2}"
if echo go | "$attn" detect >/dev/null 2>&1; then
    gives "auto" 200 '"detectedLanguage": {"confidence": 9' \
        post_json '{"q": "Where did you put the keys of the house?", "source": "auto"}'
    gives "auto" 200 '"detectedLanguage": {"confidence": 0, "language": "en"}' \
        post_json '{"q": "12", "source": "auto"}'
    gives "detection" 200 '[{"confidence": 9' \
        post $form 'q=Où as-tu mis les clés de la maison ?' /detect
    gives "detection" 200 ', "language": "fr"}, {' post $form 'q=Où as-tu mis les clés de la maison ?' /detect
    gives "detection of nothing" 200 '[]' post $form 'q=12' /detect
    gives "detection" 400 "'q' is not one text" post $form 'q=a&q=b' /detect
else
    gives "auto" 200 '"detectedLanguage": {"language": "en"}' post_json '{"q": "x", "source": "auto"}'
    gives "detection" 404 'does not detect languages' post $form 'q=a' /detect
fi
gives "html" 200 '<b>' post_json "{\"q\": \"<b>$first</b>\", \"format\": \"html\"}"
wrapped=$(echo "$first" | sed 's/ /\\n/')
blocks() { printf '"<p>%s</p><pre>%s\\n\\n%s</pre>\\n<style>a\\nb</style>"' "$1" "$2" "$2"; }
gives "blocks and line ends" 200 "$(blocks "$french" "$first")" \
    post_json "{\"q\": $(blocks "$wrapped" "$first"), \"format\": \"html\"}"
page() { printf '"<html lang=%s><img alt=\\"%s\\">"' "$1" "$2"; }
gives "attributes" 200 "$(page fr "$french")" post_json "{\"q\": $(page en "$first"), \"format\": \"html\"}"
gives "attention" 200 ', "attention": {"source": ["' post_json "{\"q\": \"$first\", \"attention\": \"word\"}"
gives "accelerator" 200 '"translatedText": "_' post_json "{\"q\": \"_12\", \"accelerator\": \"auto\"}"
gives "accelerator" 400 "'accelerator' is not none, &, _ or auto" \
    post_json "{\"q\": \"_12\", \"accelerator\": \"%\"}"
gives "null" 200 "$french" post_json "{\"q\": \"$first\", \"api_key\": null}"
listed='[{"code": "en", "name": "English", "targets": ["fr"]}, {"code": "fr"'
gives "languages" 200 "$listed" get /languages
gives "settings" 200 '"charLimit": 20000, ' get /frontend/settings
gives "settings" 200 '"source": {"code": "en", "name": "English", "targets": ["fr"]}' get /frontend/settings
gives "suggestions" 404 'does not collect suggestions' post $form 'q=a&s=b' /suggest
gives "health" 200 '{"status": "ok"}' get /health
gives "metrics" 200 '# TYPE attn_mt_requests_total counter' get /metrics
gives "seconds" 200 'attn_mt_request_seconds{quantile="0.99"} ' get /metrics
gives "the page" 200 "Content-Security-Policy: default-src 'none'" get /
grep -qE ' on[a-z]+=|<script>|http' src/serve/page/* && fail "the page has inline scripts, or an address"
gives "its script" 200 "'use strict'" get /page.js
gives "its style" 200 "prefers-color-scheme" get /page.css

# Bad requests.
gives "no JSON" 400 '{"error": "not JSON: line 1' post_json '{"q": '
gives "no object" 400 'not a JSON object' post_json '[1]'
gives "no text" 400 "'q', the text, is missing" post_json '{}'
gives "no text in a list" 400 "more than texts" post_json '{"q": ["a", 1]}'
gives "a number" 400 "neither a text nor a list" post_json '{"q": 1}'
gives "bytes that are no text" 400 'not JSON' post_json "$(printf '{"q": "\377"}')"
gives "depth" 400 'nested too deeply' post_json "{\"q\": $(printf '%0100d' 0 | tr 0 '[')"
gives "language" 400 "source language 'de' is not supported" post_json '{"q": "x", "source": "de"}'
gives "language" 400 "target language 'en' is not supported" post_json '{"q": "x", "target": "en"}'
gives "a message" 400 "language '?????"'\\\"'"'" post_json '{"q": "x", "source": "\u00e9\u65e5\\\""}'
gives "format" 400 "'format' is neither" post_json '{"q": "x", "format": "pdf"}'
gives "alternatives" 400 "'alternatives' is not a whole number from 0 to 10" \
    post_json '{"q": "x", "alternatives": 11}'
gives "alternatives" 400 "'alternatives' is not a whole number from 0 to 10" \
    post_json '{"q": "x", "alternatives": 1e300}'
gives "alternatives" 400 "'alternatives' is not a whole number from 0 to 10" \
    post_json '{"q": "x", "alternatives": 2.5}'
gives "alternatives" 400 "'alternatives' is not a number" post $form 'q=x&alternatives=many'
gives "form" 400 'not URL-encoded' post $form 'q=%zz'
gives "form" 400 'not URL-encoded' post $form 'q=a%00b'
gives "type" 400 'Content-Type is neither' post text/plain 'q=x'
gives "an unknown member" 200 '"translatedText"' post_json '{"q": "x", "more": {"q": 1}}'
gives "an unknown field" 200 '"translatedText"' post $form 'q=x&more=1'
gives "many values" 400 'too many values' post_json "{\"q\": [$(printf '%02000d' 0 | sed 's/0/0,/g')0]}"
gives "path" 404 'not found' get /etc/passwd
gives "method" 405 'Allow: POST' get /translate
gives "method" 405 'Allow: GET' post $form q=x /health
printf 'NONSENSE\r\n\r\n' | "$client" "$port" send >"$TMP/answer" # whatever it says, it goes on

# Each answer goes to its request: many requests on one connection, some invalid.
"$client" "$port" load 3 0 "$TMP/text" "$TMP/translated" >"$TMP/out" || fail "then: $(cat "$TMP/out")"

# Reload under load: no request is lost. After an unreadable model the old one stays.
"$client" "$port" load 4 3 "$TMP/text" "$TMP/translated" >"$TMP/load" 2>&1 &
load=$!
for n in 1 2 3; do
    kill -HUP "$server"
    while [ "$(metric reloads_total)" -lt $n ]; do sleep 0.1; done
done
wait "$load" || fail "requests were lost in a reload: $(cat "$TMP/load")"
mv "$model" "$model.away"
kill -HUP "$server"
while ! grep -q "continues with the old models" "$TMP/serve.log"; do sleep 0.1; done
grep -q "cannot open '$model'" "$TMP/serve.log" || fail "reload: $(cat "$TMP/serve.log")"
gives "the old model" 200 "$french" post_json "{\"q\": \"$first\"}"
mv "$model.away" "$model"

# SIGTERM: running requests are answered.
many=$(printf '%0500d' 0 | sed 's/0/"go .", /g; s/, $//')
before=$(metric batches_total)
post_json "{\"q\": [$many]}" >"$TMP/late" &
late=$!
while [ "$(metric batches_total)" -eq "$before" ]; do sleep 0.05; done
serve_stop || fail "exit status after SIGTERM"
wait $late
head -n 1 "$TMP/late" | grep -q "200 OK" || fail "an answer was lost at the end: $(cat "$TMP/late")"
! get /health >"$TMP/answer" || fail "it is still there"

# Requests of closed connections are dropped. Meanwhile the queue is full for requests of the same size;
# larger requests are always refused.
# A text takes a thread of this server more than 10 ms, so the first request has its place in the queue for
# seconds.
serve_start -m "$model" --threads 1 --mini-batch 1 --beam-size 1000 --max-waiting 5000 ||
    fail "no server: $(cat "$TMP/serve.log")"
gives "more than may wait" 400 '501 texts of 2001 characters are more than --max-waiting allows' \
    post_json "{\"q\": [$many, \"a\"]}"
ask "{\"q\": [$many]}" >"$TMP/ask"
"$client" "$port" send <"$TMP/ask" >"$TMP/closed" &
gone=$!
while [ "$(metric waiting_texts)" -eq 0 ] && kill -0 $gone 2>/dev/null; do :; done
gives "waiting" 503 'too much text is waiting' post_json "{\"q\": [$many]}"
grep -q 'Retry-After: ' "$TMP/answer" || fail "when to come back: $(cat "$TMP/answer")"
kill $gone
wait $gone || true
gives "the next one" 200 translatedText post_json '{"q": "go ."}'
[ "$(metric 'requests_total{status="499"}')" = 1 ] || fail "499: $(get /metrics)"
[ "$(metric texts_total)" -lt 501 ] && [ "$(metric waiting_texts)" -eq 0 ] || fail "texts: $(get /metrics)"
serve_stop || fail "exit status"

# Small limits.
printf '\357\273\277secret\n# keys\n  other  \n' >"$TMP/keys"
serve_start -m "$model" --languages pt-BR:zh_Hans --threads 1 --api-key-file "$TMP/keys" --max-body 400 \
    --max-characters 50 --max-texts 3 --max-waiting 110 --max-alternatives 0 ||
    fail "no server: $(cat "$TMP/serve.log")"
key='"api_key": "secret"'
options() {
    printf 'OPTIONS /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' |
        "$client" "$port" send
}
gives "a page of another origin" 405 'method not allowed' options
! grep -q 'Access-Control' "$TMP/answer" || fail "other origins are allowed"
gives "a region" 200 '{"code": "pt-BR", "name": "Portuguese (BR)", "targets": ["zh_Hans"]}' get /languages
gives "a script" 200 '{"code": "zh_Hans", "name": "Chinese (Hans)", "targets": []}' get /languages
gives "no key" 403 'API key' post_json '{"q": "x"}'
gives "a wrong key" 403 'API key' post_json '{"q": "x", "api_key": "secre"}'
gives "a wrong key" 403 'API key' post_json '{"q": "x", "api_key": "secretsecret"}'
gives "a key" 200 'translatedText' post_json "{\"q\": \"x\", $key}"
gives "another key" 200 'translatedText' post $form "q=x&api_key=other"
gives "characters" 400 '51 characters are more than 50' post_json "{\"q\": \"$(printf '%051d' 0)\", $key}"
gives "texts" 400 '4 texts are more than 3' post_json "{\"q\": [\"a\", \"b\", \"c\", \"d\"], $key}"
gives "alternatives" 400 'is not a whole number from 0 to 0' \
    post_json "{\"q\": \"a\", \"alternatives\": 1, $key}"
gives "body" 413 'larger than 400 bytes' post_json "{\"q\": \"$(printf '%0500d' 0)\"}"
chunked() {
    printf 'POST /translate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
    printf 'Transfer-Encoding: chunked\r\n\r\n'
    for n in 1 2 3; do printf '100\r\n%0256d\r\n' 0; done
    printf '0\r\n\r\n'
}
send_chunked() { chunked | "$client" "$port" send; }
gives "a body in chunks" 413 'larger than 400 bytes' send_chunked
long_head() {
    printf 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: %050000d\r\n\r\n' 0 | "$client" "$port" send
}
gives "head" 431 '' long_head
# SIGHUP reloads keys and models together.
echo '# none' >"$TMP/keys"
kill -HUP "$server"
while ! grep -q "continues with the old models" "$TMP/serve.log"; do sleep 0.1; done
grep -q "'$TMP/keys' has no key" "$TMP/serve.log" || fail "reload: $(cat "$TMP/serve.log")"
[ "$(metric reloads_total)" -eq 0 ] || fail "models were loaded without the keys"
gives "a key of before" 200 'translatedText' post_json "{\"q\": \"x\", $key}"
echo third >"$TMP/keys"
kill -HUP "$server"
while ! grep -q "loaded again" "$TMP/serve.log"; do sleep 0.1; done
gives "a key of before" 403 'API key' post_json "{\"q\": \"x\", $key}"
gives "a new key" 200 'translatedText' post_json '{"q": "x", "api_key": "third"}'
serve_stop || fail "exit status"

# Slow clients get an error and are disconnected: the limit is two connections.
serve_start -m "$model" --threads 1 --timeout 0.5 --max-connections 2 || fail "$(cat "$TMP/serve.log")"
half='POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nq=ha'
mkfifo "$TMP/fifo.1" "$TMP/fifo.2"
for n in 1 2; do
    "$client" "$port" send <"$TMP/fifo.$n" >"$TMP/held.$n" &
    eval "held$n=$!"
done
exec 8>"$TMP/fifo.1" 9>"$TMP/fifo.2"
printf "$half" >&8
printf 'POST /trans' >&9
"$client" "$port" connect 3 >"$TMP/out" || fail "others did not get through: $(cat "$TMP/out")"
exec 8>&- 9>&-
wait "$held1" "$held2"
for n in 1 2; do
    gives "a slow client" 408 'too slow' cat "$TMP/held.$n"
    length=$(sed -n 's/^Content-Length: \([0-9]*\).*/\1/p' "$TMP/held.$n")
    [ "$length" -eq "$(sed '1,/^.$/d' "$TMP/held.$n" | wc -c)" ] ||
        fail "not $length bytes: $(cat "$TMP/held.$n")"
done
serve_stop || fail "exit status"

# Slow clients do not delay the stop of a server.
serve_start -m "$model" --threads 1 --timeout 3600 || fail "$(cat "$TMP/serve.log")"
"$client" "$port" send <"$TMP/fifo.1" >"$TMP/held.1" &
held1=$!
exec 8>"$TMP/fifo.1"
printf "$half" >&8
while [ "$(metric connections)" -lt 2 ]; do sleep 0.05; done
serve_stop || fail "exit status"
exec 8>&-
wait "$held1"
gives "half a request when the server stops" 408 'too slow' cat "$TMP/held.1"

# Terms and a translation memory; SIGHUP reads them again, and wrong ones leave the old ones.
printf 'go\tcours\n' >"$TMP/terms"
printf 'Quite another text.\tTout autre chose.\n' >"$TMP/pairs.tsv"
serve_start -m "$model" --threads 1 --glossary "$TMP/terms" --memory "$TMP/pairs.tsv" ||
    fail "no server: $(cat "$TMP/serve.log")"
gives "a term" 200 'cours' post_json '{"q": "go ."}'
gives "a text of the memory" 200 '{"translatedText": "Tout autre chose."}' \
    post_json '{"q": "Quite another text."}'
gives "a sentence of the memory" 200 " Tout autre chose.\"" \
    post_json "{\"q\": \"$first Quite another text.\"}"
printf 'hi\tcours\n' >"$TMP/terms"
kill -HUP "$server"
while ! grep -q "loaded again" "$TMP/serve.log"; do sleep 0.1; done
gives "a term of before" 200 '"va !"' post_json '{"q": "go ."}'
gives "a new term" 200 'cours' post_json '{"q": "hi ."}'
echo nonsense >"$TMP/terms"
kill -HUP "$server"
while ! grep -q "continues with the old models" "$TMP/serve.log"; do sleep 0.1; done
gives "the term stays" 200 'cours' post_json '{"q": "hi ."}'
serve_stop || fail "exit status"

# Usage errors.
expect 2 env ATTN_MT_MODELS="$TMP/none" XDG_DATA_DIRS="$TMP/none" "$attn" serve
says "no model given"
expect 1 "$attn" serve -m /nowhere
expect 2 "$attn" serve -m "$model" --languages english
says "does not name two languages"
expect 2 "$attn" serve -m "$model" --languages pt-BR-en
says "does not name two languages"
expect 2 "$attn" serve -m "$model" --languages 'en-"'
says "as in en-fr"
expect 2 "$attn" serve -m "$model" more
for origin in example.org https:// 'https://a b' https://example.org/; do
    expect 2 "$attn" serve -m "$model" --allow-origin "$origin"
    says "--allow-origin '$origin' is not the origin of a page"
done
expect 1 "$attn" serve -m "$model" --api-key-file /nowhere
expect 1 "$attn" serve -m "$model" --address nowhere.invalid --port 0
expect 1 "$attn" serve -m "$model" --address 192.0.2.1 --port 0 # an address of examples in documents
says "0.0.0.0 listens on all of its addresses"
! grep -q -e '--port 0' "$TMP/err" || fail "another port does not help: $(cat "$TMP/err")"

# --shortlist, as in translate; an error for a model without shortlists.
"$attn" translate -m "$model" --split --shortlist 2 -q "$TMP/text" >"$TMP/short" || fail "shortlist"
serve_start -m "$model" --threads 2 --shortlist 2 --allow-origin https://example.org ||
    fail "no server: $(cat "$TMP/serve.log")"
gives "a page of that origin" 204 'Access-Control-Allow-Origin: https://example.org' options
gives "a page of that origin" 200 'Access-Control-Allow-Origin: https://example.org' get /health
"$client" "$port" load 2 0 "$TMP/text" "$TMP/short" >"$TMP/out" || fail "--shortlist: $(cat "$TMP/out")"
gives "the model's languages" 200 "$listed" get /languages
gives "auto with the model's languages" 200 '"language": "en"}' \
    post_json '{"q": "x", "source": "auto"}'
gives "another source" 400 "source language 'de' is not supported; it is 'en' here" \
    post_json '{"q": "x", "source": "de", "target": "fr"}'
gives "another target" 400 "target language 'it' is not supported; it is 'fr' here" \
    post_json '{"q": "x", "source": "en", "target": "it"}'
gives "other spellings" 200 "translatedText" post_json '{"q": "x", "source": "en_US", "target": "fra_Latn"}'
serve_stop || fail "exit status"
tiny_model bare --set train.shortlist=0 --set train.epochs=1 --set data.source='<"' --set data.columns='<",fr'
expect 2 "$attn" serve -m "$TMP/bare/best.safetensors" --port 0 --shortlist 2
says "'$TMP/bare/best.safetensors' has no list of likely translations"
serve_start -m "$TMP/bare/best.safetensors" || fail "no server: $(cat "$TMP/serve.log")"
gives "a language that is no code" 200 '[{"code": "source", ' get /languages
gives "auto of no code" 200 '"language": "source"' post_json '{"q": "x", "source": "auto"}'
serve_stop || fail "exit status"

# A translation that is probably wrong is marked, each text of a list on its own.
tiny_model cut --set train.epochs=20 --set decode.max_length_factor=0 --set decode.max_length_extra=1
serve_start -m "$TMP/cut/best.safetensors" || fail "no server: $(cat "$TMP/serve.log")"
gives "problems" 200 '"problems": [["length_limit"], []]' post_json '{"q": ["go .", ""]}'
serve_stop || fail "exit status"
