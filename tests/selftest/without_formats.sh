# without_formats.sh - without libxml2, libgettextpo and libexttextcat all is built, and what needs them is
# refused.
# not sanitized: the program would have to be linked as it was
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
make -n BUILD="$TMP/none" XML=no PO=no DETECT=no all >"$TMP/log" 2>&1 || fail "make: $(cat "$TMP/log")"
! grep -q -e '-lxml2\|-lgettextpo\|-lexttextcat' "$TMP/log" || fail "it is linked all the same"
make -n BUILD="$TMP/none" XML=missing PO=missing DETECT=missing all >"$TMP/log" 2>&1
grep -q "note: without libxml2 TMX and XLIFF" "$TMP/log" || fail "make does not say so"
grep -q "note: without libgettextpo PO" "$TMP/log" || fail "make does not say so"
grep -q "note: without libexttextcat no language" "$TMP/log" || fail "make does not say so"

# The three doors as they are then, and all else as it is here.
# shellcheck disable=SC2046  # words
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Isrc -Wall -Wextra -Werror src/io/xml.c src/io/po.c src/text/detect.c \
    "$BUILD/obj/cli/main.o" "$BUILD/libattn-mt.a" -o "$TMP/attn-mt" \
    $(make -s --no-print-directory link-libs XML=no PO=no DETECT=no) -pthread ||
    fail "it cannot be linked without these libraries"

refused() { # FILE TEXT
    status=0
    "$TMP/attn-mt" inspect "$TMP/$1" >"$TMP/out" 2>&1 || status=$?
    [ $status -eq 2 ] || fail "exit status $status: $(cat "$TMP/out")"
    grep -q "$2" "$TMP/out" || fail "it says $(cat "$TMP/out")"
}
echo '<tmx version="1.4"/>' >"$TMP/tmx"
refused tmx "is XML, and this program was built without libxml2"
refused tmx "Debian: libxml2-dev"
printf 'msgid "a"\nmsgstr "b"\n' >"$TMP/po"
refused po "is a PO file, and this program was built without libgettextpo"
refused po "Debian: libgettextpo-dev"
printf 'en,de\n"a",b\n' >"$TMP/csv"
"$TMP/attn-mt" inspect "$TMP/csv" >/dev/null 2>&1 || fail "CSV needs neither"
status=0
echo "go ." | "$TMP/attn-mt" detect >"$TMP/out" 2>&1 || status=$?
[ $status -eq 2 ] && grep -q "built without libexttextcat" "$TMP/out" || fail "detect: $(cat "$TMP/out")"
