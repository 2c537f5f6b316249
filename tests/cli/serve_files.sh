# serve_files.sh - attn-mt serve and documents: POST /translate_file gives what `translate` gives for each
# format, and refuses what is no document, too large, or without a key.
# alone
. tests/cli/tiny_model.inc
. scripts/serve.inc
tiny_model tiny
model=$TMP/tiny/best.safetensors
echo right >"$TMP/keys"
if ! serve_start -m "$model" --languages en-fr --threads 2 --api-key-file "$TMP/keys" --max-body 10000 \
    --max-characters 3000; then
    grep -q "built without libmicrohttpd" "$TMP/serve.log" && {
        echo "skipped: built without libmicrohttpd"
        exit 77
    }
    fail "the server does not start: $(cat "$TMP/serve.log")"
fi
trap 'kill "$server" 2>/dev/null' EXIT

# upload FILE [NAME=VALUE...]: POST /translate_file with the key, the languages and these fields
host=localhost head=
upload() {
    file=$1
    shift
    {
        for field in api_key=right source=en target=fr "$@"; do
            printf -- '--xyz\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' \
                "${field%%=*}" "${field#*=}"
        done
        if [ -n "$file" ]; then
            printf -- '--xyz\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n' "$file"
            printf 'Content-Type: application/octet-stream\r\n\r\n'
            cat "$file"
            printf '\r\n'
        fi
        printf -- '--xyz--\r\n'
    } >"$TMP/form"
    {
        printf 'POST /translate_file HTTP/1.1\r\nHost: %s\r\n%bConnection: close\r\n' "$host" "$head"
        printf 'Content-Type: multipart/form-data; boundary=xyz\r\n'
        printf 'Content-Length: %d\r\n\r\n' "$(wc -c <"$TMP/form")"
        cat "$TMP/form"
    } | "$client" "$port" send
}

# fetched: gets the file of $TMP/answer; its head is in $TMP/head, its content in $TMP/file
fetched() {
    path=$(sed -n 's|.*"translatedFileUrl": "https\{0,1\}://[^/]*\(/[^"]*\)".*|\1|p' "$TMP/answer")
    get "$path" >"$TMP/got"
    tr -d '\r' <"$TMP/got" | sed '/^$/q' >"$TMP/head"
    length=$(sed -n 's/^Content-Length: //p' "$TMP/head")
    tail -c "${length:-0}" "$TMP/got" >"$TMP/file"
}

# same_as_translate FILE: the server and the command make the same file of it
same_as_translate() {
    expect 0 "$attn" translate -q -m "$model" "$1"
    gives "$1" 200 '{"translatedFileUrl": "http://localhost/download_file/' upload "$1"
    fetched
    grep -q '^HTTP/1.1 200 ' "$TMP/head" || fail "$1: $(cat "$TMP/got")"
    grep -q '^Content-Type: application/octet-stream' "$TMP/head" || fail "$1: type: $(cat "$TMP/head")"
    ! cmp -s "$1" "$TMP/file" || fail "$1: not translated"
    same "$1" "$TMP/out" "$TMP/file"
}
cat >"$TMP/a page.HTML" <<'END'
<!DOCTYPE html>
<html><head><title>go .</title><script>"go ."</script></head>
<body><p title="hi !">go
.</p> <p>hi ! Go .</p> <pre>go .</pre><img alt='hi !'></body></html>
END
cp "$TMP/a page.HTML" "$TMP/page" # without an ending: by its content
printf '1\n00:00:01,000 --> 00:00:02,000\ngo .\n' >"$TMP/film.srt"
printf 'WEBVTT\n\n00:01.000 --> 00:02.000\n<b>go .</b>\n' >"$TMP/film.vtt"
printf '# go .\n\nhi !\n\n* go .\n' >"$TMP/read.me.md"
cat >"$TMP/new.xlf" <<'END'
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="fr">
<file id="f"><unit id="u"><segment><source>go .</source></segment></unit></file></xliff>
END
for file in "$TMP/a page.HTML" "$TMP/page" examples/catalogue.po "$TMP/film.srt" "$TMP/film.vtt" \
    "$TMP/new.xlf"; do
    same_as_translate "$file"
done
grep -q '<target>va !</target>' "$TMP/file" || fail "XLIFF: $(cat "$TMP/file")"
# Without signs that tell the format by its content the command needs --format.
printf 'go .\nhi !\n' >"$TMP/lines.txt"
for file in markdown:read.me.md text:lines.txt; do
    expect 0 "$attn" translate -q -m "$model" --format "${file%%:*}" "$TMP/${file#*:}"
    gives "$file" 200 translatedFileUrl upload "$TMP/${file#*:}"
    fetched
    same "$file" "$TMP/out" "$TMP/file"
done

# Names: the file's with the language, without what a shell, a header or a path could take for something else.
gives "a name" 200 '_page_fr.HTML"}' upload "$TMP/a page.HTML"
fetched
grep -qxF 'Content-Disposition: attachment; filename="a_page_fr.HTML"' "$TMP/head" ||
    fail "the name: $(cat "$TMP/head")"
echo "$path" | grep -qE '^/download_file/[0-9a-f]{32}\.a_page_fr\.HTML$' || fail "the path: $path"
first=$path
gives "another name" 200 translatedFileUrl upload "$TMP/a page.HTML"
fetched
[ "$first" != "$path" ] || fail "two files have one name"
gives "the first again" 200 'lang="fr"' get "$first"
# Where the client found the server.
host=translate.example.org head='X-Forwarded-Proto: https\r\n'
gives "behind a proxy" 200 '"https://translate.example.org/download_file/' upload "$TMP/lines.txt"
host='[::1]:5000' head=
gives "an IPv6 address" 200 '"http://[::1]:5000/download_file/' upload "$TMP/lines.txt"
host=localhost

# A file without texts comes back as it is.
: >"$TMP/empty.txt"
gives "an empty file" 200 translatedFileUrl upload "$TMP/empty.txt"
fetched
[ ! -s "$TMP/file" ] && grep -q '^HTTP/1.1 200 ' "$TMP/head" || fail "an empty file: $(cat "$TMP/got")"

# What is refused.
gives "no key" 403 'API key' upload "$TMP/lines.txt" api_key=wrong
gives "no file" 400 "'file', of a multipart form, is missing" upload ""
gives "another form" 400 "'file', of a multipart form, is missing" \
    post application/x-www-form-urlencoded 'file=go&api_key=right' /translate_file
gives "a language" 400 "target language 'de' is not supported; it is 'fr' here" \
    upload "$TMP/lines.txt" target=de
printf 'x,y\n' >"$TMP/table.csv"
gives "a format" 400 "'table.csv' has an unsupported format; supported are .html .htm" upload "$TMP/table.csv"
printf 'PK\003\004word/' >"$TMP/letter.docx"
gives "a foreign format" 400 "convert it with pandoc, there and back" upload "$TMP/letter.docx"
printf '\377\376' >"$TMP/latin.txt"
gives "an encoding" 400 "'latin.txt', line 1: not UTF-8; convert it" upload "$TMP/latin.txt"
printf '<xliff version="1.2"><file><body><trans-unit id="1"><source>go' >"$TMP/cut.xlf"
gives "a damaged file" 400 "'cut.xlf', line 1" upload "$TMP/cut.xlf"
yes 'go .' | head -n 800 >"$TMP/long.txt"
gives "too many characters" 400 "characters are more than 3000" upload "$TMP/long.txt"
yes 'go .' | head -n 3000 >"$TMP/long.txt"
gives "too many bytes" 413 "larger than 10000 bytes" upload "$TMP/long.txt"
gives "another method" 405 'Allow: POST' get /translate_file
gives "another method" 405 'Allow: GET' post text/plain '' "$first"
for name in '' 00000000000000000000000000000000.a_page_fr.HTML ../keys "${first#/download_file/}x"; do
    gives "a name that is none" 404 "no such file, or its time is over" get "/download_file/$name"
done

# Results need no more than --max-body allows for all bodies: the oldest leave.
tr '\n' ' ' <"$TMP/lines.txt" >"$TMP/big.txt"
head -c 9000 /dev/zero | tr '\0' ' ' >>"$TMP/big.txt"
for n in $(seq 80); do
    upload "$TMP/big.txt" >"$TMP/answer" || fail "file $n"
done
fetched
grep -q '^HTTP/1.1 200 ' "$TMP/head" || fail "the newest: $(cat "$TMP/got")"
bytes=$(metric files_bytes)
[ "$bytes" -le 640000 ] && [ "$bytes" -ge 600000 ] || fail "$bytes bytes of files"
gives "the oldest" 404 "its time is over" get "$first"

gives "settings" 200 '"filesTranslation": true, "supportedFilesFormat": [".html", ".htm", ".xhtml", ".po", ' \
    get /frontend/settings
serve_stop || fail "the server stops with an error"
