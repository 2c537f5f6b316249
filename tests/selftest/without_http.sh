# without_http.sh - without libmicrohttpd everything except `attn-mt serve` is built, and serve names the
# package. not sanitized: the program would need the same link options
# alone
set -eu
fail() {
    echo "failed: $*"
    exit 1
}
command -v "${CC:-cc}" >/dev/null && command -v pkg-config >/dev/null || {
    echo "skipped: no compiler or no pkg-config"
    exit 77
}
make -n BUILD="$TMP/none" SERVE=no all >"$TMP/log" 2>&1 || fail "make: $(cat "$TMP/log")"
! grep -q 'serve/http\.[co]\|microhttpd' "$TMP/log" || fail "it is built all the same"
make -n BUILD="$TMP/none" SERVE=missing all >"$TMP/log" 2>&1
grep -q "note: without libmicrohttpd" "$TMP/log" || fail "make does not say so"

# The command as it is then, and all else as it is here: nothing else needs the library.
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Isrc -Wall -Wextra -Werror src/cli/cmd_serve.c "$BUILD/obj/cli/main.o" \
    "$BUILD/libattn-mt.a" -o "$TMP/attn-mt" $(make -s --no-print-directory link-libs SERVE=no) \
    -pthread || fail "it cannot be linked without libmicrohttpd"
"$TMP/attn-mt" serve --help all | grep -q -e --max-body || fail "no help"
status=0
"$TMP/attn-mt" serve -m some.safetensors >"$TMP/out" 2>&1 || status=$?
[ $status -eq 2 ] || fail "exit status $status"
grep -q "built without libmicrohttpd" "$TMP/out" || fail "it says $(cat "$TMP/out")"
