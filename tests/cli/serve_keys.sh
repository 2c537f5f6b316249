# serve_keys.sh - attn-mt serve --api-key-file: a file that is not text is refused, at the start and by a
# reload; no key, or an empty one, never opens the server.
. tests/cli/tiny_model.inc
. scripts/serve.inc
tiny_model tiny --set train.epochs=1
model=$TMP/tiny/best.safetensors
keys=$TMP/keys
echo first >"$keys"
if ! serve_start -m "$model" --threads 1 --api-key-file "$keys"; then
    grep -q "built without libmicrohttpd" "$TMP/serve.log" && {
        echo "skipped: built without libmicrohttpd"
        exit 77
    }
    fail "the server does not start: $(cat "$TMP/serve.log")"
fi
trap 'kill "$server" 2>/dev/null' EXIT

# asks KEY STATUS: a request with the key, or without a key if KEY is "none"
asks() {
    key=", \"api_key\": \"$1\""
    [ "$1" != none ] || key=
    post_json "{\"q\": \"x\"$key}" >"$TMP/answer"
    head -n 1 "$TMP/answer" | grep -q "^HTTP/1.1 $2 " || fail "key '$1': no $2: $(cat "$TMP/answer")"
}
closed() {
    asks none 403
    asks "" 403
    asks " " 403
    asks "#" 403
}
closed
asks first 200

# refused CONTENT PART: start and reload refuse this file
refused() {
    printf "$1" >"$keys"
    expect 3 timeout 20 "$attn" serve -m "$model" --port 0 --api-key-file "$keys"
    says "'$keys'$2"
    : >"$TMP/serve.log"
    kill -HUP "$server"
    tries=100
    while ! grep -q "continues with the old model" "$TMP/serve.log"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "a reload took these keys: $1"
        sleep 0.1
    done
    grep -qF "'$keys'$2" "$TMP/serve.log" || fail "reload: $(cat "$TMP/serve.log")"
    closed
    asks first 200
    asks secret 403
}
refused 'secret\n\0' ', line 2: a NUL byte'
refused 'secret\n\0\n' ', line 2: a NUL byte'
refused 'secret\0rest\n' ', line 1: a NUL byte'
refused '\377\376s\0e\0c\0r\0e\0t\0\n\0' ' is UTF-16, not UTF-8'
refused 's\0e\0c\0r\0e\0t\0\n\0' ' is UTF-16, not UTF-8'
refused 'secret\n\377\n' ', line 2: not UTF-8'
refused '# nothing\n \n' ' has no key'
refused '' ' has no key'

# UTF-8 with a byte-order mark.
printf '\357\273\277secret\r\nother\r\n' >"$keys"
: >"$TMP/serve.log"
kill -HUP "$server"
while ! grep -q "loaded again" "$TMP/serve.log"; do sleep 0.1; done
closed
asks first 403
asks secret 200
asks other 200
serve_stop || fail "exit status"
