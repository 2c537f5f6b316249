# serve_service.sh - examples/attn-mt.service: the system calls of the server are allowed, and systemd rates
# the service as safe.
# not sanitized
. tests/cli/tiny_model.inc
. scripts/serve.inc
command -v systemd-analyze >/dev/null && command -v strace >/dev/null || {
    echo "skipped: no systemd-analyze or strace"
    exit 77
}
unit=examples/attn-mt.service

systemd-analyze security --offline=true --threshold=15 "$unit" >"$TMP/out" 2>&1 || {
    grep -q 'Unknown\|unrecognized' "$TMP/out" && echo "skipped: systemd-analyze has no --offline" && exit 77
    fail "exposure over 1.5: $(tail -n 1 "$TMP/out")"
}

# calls SET: names of the system calls in the set
calls() {
    systemd-analyze syscall-filter "$1" | sed -n 's/^ *//; /^#/d; /^$/d; p' | while read -r name; do
        case $name in "$1") ;; @*) calls "$name" ;; *) echo "$name" ;; esac
    done
}
calls @system-service | sort -u >"$TMP/service"
{ calls @privileged && calls @resources; } | sort -u >"$TMP/denied"
comm -23 "$TMP/service" "$TMP/denied" >"$TMP/allowed"
[ "$(wc -l <"$TMP/allowed")" -gt 100 ] || fail "allowed: $(cat "$TMP/allowed")"

tiny_model tiny --set train.epochs=1
cat >"$TMP/traced" <<END
#!/bin/sh
exec strace -f -qq -o "$TMP/trace" "$attn" "\$@"
END
chmod +x "$TMP/traced"
strace -o "$TMP/trace" true 2>/dev/null || {
    echo "skipped: strace is not allowed here"
    exit 77
}
attn=$TMP/traced
mkdir "$TMP/models"
cp "$TMP/tiny/best.safetensors" "$TMP/models/tiny.safetensors"
export ATTN_MT_MODELS="$TMP/models" XDG_DATA_DIRS="$TMP/none"
if ! serve_start --threads 2; then
    grep -q "built without libmicrohttpd" "$TMP/serve.log" && {
        echo "skipped: built without libmicrohttpd"
        exit 77
    }
    fail "no server: $(cat "$TMP/serve.log")"
fi
post_json '{"q": ["go .", "hi ."]}' | grep -q translatedText || fail "no translation"
file='Content-Disposition: form-data; name=file; filename=a.txt'
form=$(printf -- '--x\r\n%s\r\n\r\ngo .\r\n--x--' "$file")
post 'multipart/form-data; boundary=x' "$form" /translate_file |
    grep -q translatedFileUrl || fail "no file"
traced=$(sed -n '1s/ .*//p' "$TMP/trace")
kill -HUP "$traced"
while ! grep -q "loaded again" "$TMP/serve.log"; do sleep 0.1; done
kill "$traced"
wait "$server" || fail "exit status"
sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' "$TMP/trace" | grep -v '^execve$' | sort -u >"$TMP/used"
grep -qx listen "$TMP/used" || fail "no trace: $(cat "$TMP/used")"
comm -23 "$TMP/used" "$TMP/allowed" >"$TMP/refused"
[ ! -s "$TMP/refused" ] || fail "the service may not call: $(cat "$TMP/refused")"
