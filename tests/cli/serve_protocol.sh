# serve_protocol.sh - attn-mt serve and ambiguous requests (RFC 9112): one answer, 400, and the connection is
# closed, so that the following bytes are not read as another request. Errors are JSON.
. tests/cli/tiny_model.inc
. scripts/serve.inc
tiny_model tiny --set train.epochs=1
if ! serve_start -m "$TMP/tiny/best.safetensors" --threads 1 --max-body 1000 --timeout 20; then
    grep -q "built without libmicrohttpd" "$TMP/serve.log" && {
        echo "skipped: built without libmicrohttpd"
        exit 77
    }
    fail "the server does not start: $(cat "$TMP/serve.log")"
fi
trap 'kill "$server" 2>/dev/null' EXIT
host='Host: localhost\r\n' close='Connection: close\r\n' coded='Transfer-Encoding: chunked\r\n'
health="GET /health HTTP/1.1\r\n${host}${close}\r\n"
post="POST /translate HTTP/1.1\r\n${host}Content-Type: application/x-www-form-urlencoded\r\n"

# Versions of libmicrohttpd since 1.0 refuse some of these requests themselves, with a page of HTML or by
# closing the connection.
strict=false
! pkg-config --atleast-version=1.0 libmicrohttpd 2>/dev/null || strict=true

# sent BYTES: prints the answer until the server closes the connection; unread bytes reset it
sent() {
    printf "$1" | timeout 10 "$client" "$port" send >"$TMP/answer" ||
        fail "the connection stays open: $1: $(cat "$TMP/answer")"
}

# answers DIGITS: the number of answers whose status begins with one of DIGITS. A page of libmicrohttpd does
# not end its last line, so the next answer can begin anywhere.
answers() { grep -a -o "HTTP/1\.1 [$1][0-9][0-9] " "$TMP/answer" | wc -l; }

# one WHAT STATUS PART BYTES: one answer, of JSON, that contains PART
one() {
    sent "$4"
    ! $strict || [ "$2" -ne 400 ] || [ -s "$TMP/answer" ] || return 0
    [ "$(answers 2-5)" -eq 1 ] || fail "$1: not one answer: $(cat "$TMP/answer")"
    if $strict && [ "$2" -ge 400 ] && grep -q '<html>' "$TMP/answer"; then
        grep -q '^HTTP/1.1 [45]' "$TMP/answer" && return
    fi
    grep -q "^HTTP/1.1 $2 " "$TMP/answer" || fail "$1: no $2: $(cat "$TMP/answer")"
    grep -q '^Content-Type: application/json' "$TMP/answer" || fail "$1: not JSON: $(cat "$TMP/answer")"
    grep -q '^X-Content-Type-Options: nosniff' "$TMP/answer" || fail "$1: no nosniff: $(cat "$TMP/answer")"
    grep -qF -e "$3" "$TMP/answer" || fail "$1: no '$3' in: $(cat "$TMP/answer")"
}

# ---- valid requests ----

one "a request" 200 '"ok"' "$health"
one "names in other letters" 200 '"ok"' \
    'GET /health HTTP/1.1\r\nhOST:localhost:80\r\nconnection: close\r\n\r\n'
one "blanks, and fields without a value" 200 '"ok"' \
    "GET /health HTTP/1.1\r\nX-A: \t b c\r\nX-E:\r\nX-F: \r\n${host}Cookie: a=b; c\r\n${close}\r\n"
one "a query" 200 '"ok"' "GET /health?a=%%20b&c HTTP/1.1\r\n${host}${close}\r\n"
one "HTTP/1.0 without Host" 200 '"ok"' 'GET /health HTTP/1.0\r\n\r\n'
one "IPv6" 200 '"ok"' 'GET /health HTTP/1.1\r\nHost: [::1]:5000\r\nConnection: close\r\n\r\n'
one "a body" 200 translatedText "${post}Content-Length: 3\r\n${close}\r\nq=a"
one "chunks" 200 translatedText "${post}Transfer-Encoding: Chunked\r\n\r\n2\r\nq=\r\n1\r\na\r\n0\r\n\r\n"
sent "GET /health HTTP/1.1\r\n$host\r\n$health"
[ "$(grep -c '^HTTP/1.1 200' "$TMP/answer")" -eq 2 ] || fail "two requests: $(cat "$TMP/answer")"

# ---- lengths that contradict each other: 6.1, 6.3 ----

one "two lengths" 400 "Content-Length twice" \
    "${post}Content-Length: 3\r\nContent-Length: 200\r\n\r\nq=a$health"
one "two lengths" 400 "Content-Length twice" \
    "${post}Content-Length: 200\r\nContent-Length: 3\r\n\r\nq=a$health"
one "the same length twice" 400 "Content-Length twice" \
    "${post}Content-Length: 3\r\ncontent-length: 3\r\n\r\nq=a$health"
chunk='3\r\nq=a\r\n0\r\n\r\n'
for fields in "Content-Length: 3\r\n$coded" "${coded}Content-Length: 3\r\n"; do
    one "length and chunks" 400 "Content-Length beside Transfer-Encoding" "$post$fields\r\n$chunk$health"
done
one "chunks of HTTP/1.0" 400 "Transfer-Encoding in HTTP/1.0" \
    "POST /translate HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n$chunk$health"
one "chunked twice" 400 "Transfer-Encoding twice" \
    "${post}${coded}${coded}\r\n$chunk$health"
for coding in gzip 'gzip, chunked' 'chunked, chunked' xchunked 'chunked;q=1' identity; do
    one "$coding" 501 "no Transfer-Encoding but chunked" \
        "${post}Transfer-Encoding: $coding\r\n\r\n$chunk$health"
done
one "after the last chunk" 200 translatedText "${post}${coded}\r\n$chunk$health"
$strict || one "a trailer that begins with NUL" 200 translatedText \
    "${post}${coded}\r\n3\r\nq=a\r\n0\r\n\0\r\n$health"

# ---- names and lines: 2.2, 5.1, 5.2 ----

for name in 'Content-Length ' 'Content-Length\t' ' Content-Length' '' 'Content Length' 'Content-Length\r'; do
    one "the name '$name'" 400 '{"error": "' "${post}$name: 200\r\n\r\n$health"
done
one "a field over two lines" 400 "spans several lines" \
    "${post}Transfer-Encoding:\r\n chunked\r\nContent-Length: 3\r\n\r\n$chunk$health"
one "a length over two lines" 400 "spans several lines" \
    "${post}Content-Length: 3\r\n 00\r\n\r\nq=a$health"
one "a first line that continues" 400 '{"error": "' "GET /health HTTP/1.1\r\n Host: x\r\n$host\r\n$health"
one "NUL in a value" 400 "NUL character" "GET /health HTTP/1.1\r\n${host}X-A: a\0b\r\nX-C: d\r\n\r\n$health"
one "NUL at the end of a value" 400 "NUL character" "GET /health HTTP/1.1\r\n${host}X-A: a\0\r\n\r\n$health"
one "a line of NUL" 400 "NUL character" "GET /health HTTP/1.1\r\n$host\0\r\nX-A: b\r\n\r\n$health"
one "a bare CR" 400 "control character" "GET /health HTTP/1.1\r\n${host}X-A: a\\rX-B: c\r\n\r\n$health"
one "a control character" 400 "control character" "GET /health HTTP/1.1\r\n${host}X-A: \001\r\n\r\n$health"
one "lines that end in LF" 400 "CR LF" "GET /health HTTP/1.1\\nHost: localhost\\n\\n$health"

# ---- Host: 3.2 ----

one "no Host" 400 "Host is missing" "GET /health HTTP/1.1\r\nX-A: b\r\n\r\n$health"
one "no field at all" 400 "Host is missing" "GET /health HTTP/1.1\r\n\r\n$health"
one "two Hosts" 400 "Host twice" "GET /health HTTP/1.1\r\n${host}host: localhost\r\n\r\n$health"
one "two hosts in one" 400 "Host is malformed" "GET /health HTTP/1.1\r\nHost: a, b\r\n\r\n$health"

# ---- addresses ----

for path in '/health%%00/x' '/health%%00' '/%%00' '/health?x=%%00' '/health\0/x' '/health x' '/health\t' \
    '/\001'; do
    one "the path $path" 400 'in the address' "GET $path HTTP/1.1\r\n$host\r\n$health"
done

# ---- Expect ----

expect='Expect: 100-continue\r\n'
one "leave to send too much" 413 "the body is too large" "${post}${expect}Content-Length: 1001\r\n\r\n"
! grep -q '100 Continue' "$TMP/answer" || fail "100 Continue before the error: $(cat "$TMP/answer")"
one "leave to send too much" 413 "the body is too large" \
    "${post}${expect}Content-Length: 18446744073709551615\r\n\r\n"
one "leave to send" 200 translatedText "${post}${expect}Content-Length: 3\r\n${close}\r\nq=a"
# The newer versions leave this out if the body is there already.
$strict || grep -q '^HTTP/1.1 100 Continue' "$TMP/answer" || fail "no leave: $(cat "$TMP/answer")"
one "another expectation" 417 "no Expect but 100-continue" \
    "${post}Expect: more\r\nContent-Length: 3\r\n\r\nq=a"
one "too much without asking" 413 "larger than 1000 bytes" \
    "${post}Content-Length: 1001\r\n${close}\r\n$(printf '%01001d' 0)"

# ---- successful answers have their content type ----

for path in / /page.js /page.css /metrics /languages; do
    sent "GET $path HTTP/1.1\r\n${host}${close}\r\n"
    grep -q '^X-Content-Type-Options: nosniff' "$TMP/answer" ||
        fail "$path: no nosniff: $(head "$TMP/answer")"
done

# ---- libmicrohttpd's own pages: correct status, closed connection, following bytes are not read ----

# own WHAT STATUS BYTES
own() {
    sent "$3"
    grep -q "^HTTP/1.1 $2 " "$TMP/answer" || fail "$1: no $2: $(cat "$TMP/answer")"
    [ "$(answers 2)" -eq 0 ] || fail "$1: a second answer: $(cat "$TMP/answer")"
}
own "a field without a colon" 400 "GET /health HTTP/1.1\r\nHost\r\n\r\n$health"
for length in '3, 3' +3 -3 0x3 3a ''; do
    own "the length '$length'" 400 "${post}Content-Length: $length\r\n\r\nq=a$health"
done
own "a length that no number holds" 413 "${post}Content-Length: 18446744073709551616\r\n\r\n$health"
own "HTTP/2" 505 "GET /health HTTP/2.0\r\n$host\r\n$health"
own "a chunk without a size" 400 "${post}${coded}\r\nx\r\n$health"
own "a chunk that is longer than it says" 400 \
    "${post}${coded}\r\n1\r\nq=a\r\n0\r\n\r\n$health"

# The metrics count all answers, and the server still works.
$strict || [ "$(metric 'requests_total{status="400"}')" -gt 30 ] || fail "metrics: $(get /metrics)"
$strict || [ "$(metric 'requests_total{status="501"}')" -eq 6 ] || fail "metrics: $(get /metrics)"
serve_stop || fail "exit status"
