# library.sh - libattn_mt exports only its own names; the examples translate as the program, with the shared
# and the static library and from Python; the library prints nothing.
# not sanitized: the examples are not
# alone
. tests/cli/tiny_model.inc
shared=$BUILD/libattn_mt.so.1
[ -e "$shared" ] || {
    echo "skipped: libattn_mt is not built here"
    exit 77
}
command -v "${CC:-cc}" >/dev/null || {
    echo "skipped: no compiler"
    exit 77
}

# Names: those of the header, all with a version, in both libraries.
grep -o '\battn_mt_[a-z_]*(' src/library/attn_mt.h | tr -d '(' | sort -u >"$TMP/header"
sed -n 's/^ *\(attn_mt_[a-z_]*\);$/\1/p' src/library/attn_mt.map | sort >"$TMP/map"
same "the header and the map of versions name the same functions" "$TMP/header" "$TMP/map"
nm -D --defined-only --with-symbol-versions "$shared" | awk '$2 != "A" { print $3 }' | sort >"$TMP/shown"
awk '/^ATTN_MT_/ { node = $1 } /^ *attn_mt_.*;$/ { sub(/;/, ""); print $1 "@@" node }' \
    src/library/attn_mt.map | sort >"$TMP/versioned"
same "the shared library shows its functions and nothing else" "$TMP/versioned" "$TMP/shown"
nm -g --defined-only "$BUILD/libattn_mt.a" | awk 'NF == 3 { print $3 }' | sort >"$TMP/shown"
same "the static library shows its functions and nothing else" "$TMP/header" "$TMP/shown"

tiny_model tiny
model=$TMP/tiny/best.safetensors
cut -f 1 data/chapter.tsv >"$TMP/text"
"$attn" translate -m "$model" --json "$TMP/text" >"$TMP/json" || fail "translate"
sed 's/.*"translation": "\([^"]*\)", "score": \([^,]*\),.*/\1	\2/' "$TMP/json" >"$TMP/expected"
# WHAT FILE: the translations and their scores, to four decimals and the
# rounding of JSON.
as_expected() {
    paste "$TMP/expected" "$2" >"$TMP/beside"
    awk -F '\t' 'NF != 4 || $1 != $3 || ($2 - $4) ^ 2 > 0.00006 ^ 2' "$TMP/beside" >"$TMP/wrong"
    [ ! -s "$TMP/wrong" ] || fail "$1, but for: $(cat "$TMP/wrong")"
}

compile() { # NAME FLAG...
    program=$TMP/$1
    shift
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -Isrc/library examples/translate.c \
        -o "$program" "$@"
}
run_example() { # PROGRAM...
    "$@" "$model" <"$TMP/text" >"$TMP/out" 2>"$TMP/err" || fail "$1 failed: $(cat "$TMP/err")"
    [ ! -s "$TMP/err" ] || fail "$1 printed: $(cat "$TMP/err")"
    grep -v '^  ' "$TMP/out" >"$TMP/translations"
    as_expected "$1 translates as the program does" "$TMP/translations"
    grep -q '^  .* <- .* [01]\.[0-9][0-9]$' "$TMP/out" || fail "$1 shows no attention"
}
compile shared "$shared" -Wl,-rpath,"$BUILD" || fail "the example does not compile"
run_example "$TMP/shared"
expect 1 "$TMP/shared" /nowhere
says "cannot open '/nowhere'"
expect 1 env ATTN_MT_SIMD=avx "$TMP/shared" "$model"
says "ATTN_MT_SIMD: 'avx' is not base, avx2"

# A program that was linked with the first version of the library, here with its functions as stubs.
sed -n '/^ATTN_MT_1 {/,/^}/p' src/library/attn_mt.map >"$TMP/first.map"
sed -n 's/^ *\(attn_mt_[a-z_]*\);$/void \1(void) {}/p' "$TMP/first.map" >"$TMP/first.c"
mkdir "$TMP/first"
"${CC:-cc}" -w -shared -fPIC -Wl,-soname,libattn_mt.so.1 -Wl,--version-script="$TMP/first.map" \
    "$TMP/first.c" -o "$TMP/first/libattn_mt.so.1" || fail "the first version does not link"
compile linked_before "$TMP/first/libattn_mt.so.1" || fail "the example does not link with the first version"
LD_LIBRARY_PATH=$BUILD run_example "$TMP/linked_before"

# Glossary, translation memory and confidence.
head -n 1 data/chapter.tsv >"$TMP/memory.tsv"
printf 'lost\tperdu\n' >"$TMP/terms.tsv"
"${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -Isrc/library examples/guide.c -o "$TMP/guide" \
    "$shared" -Wl,-rpath,"$BUILD" || fail "examples/guide.c does not compile"
"$TMP/guide" "$model" "$TMP/terms.tsv" "$TMP/memory.tsv" <"$TMP/text" >"$TMP/out" 2>"$TMP/err" ||
    fail "examples/guide.c: $(cat "$TMP/err")"
[ ! -s "$TMP/err" ] || fail "examples/guide.c printed: $(cat "$TMP/err")"
"$attn" translate -m "$model" --glossary "$TMP/terms.tsv" --memory "$TMP/memory.tsv" "$TMP/text" \
    >"$TMP/expected_text" || fail "translate with a glossary and a memory"
cut -f 2 "$TMP/out" >"$TMP/translations"
same "examples/guide.c translates as the program does" "$TMP/expected_text" "$TMP/translations"
cut -f 1 "$TMP/out" | head -n 1 | grep -qx memory || fail "no translation of the memory: $(cat "$TMP/out")"
cut -f 1 "$TMP/out" | tail -n 1 | grep -qx '[01]\.[0-9][0-9]' || fail "no confidence: $(cat "$TMP/out")"
(cd "$TMP/tiny" && ATTN_MT_MODELS=$PWD "$TMP/guide" best ../terms.tsv ../memory.tsv) <"$TMP/text" \
    >"$TMP/named" 2>"$TMP/err" || fail "a model by its name: $(cat "$TMP/err")"
same "a model by its name" "$TMP/out" "$TMP/named"

if command -v pkg-config >/dev/null; then
    compile static "$BUILD/libattn_mt.a" \
        $(make -s --no-print-directory link-libs) -pthread ||
        fail "the static example does not compile"
    run_example "$TMP/static"
fi

# A program with a locale that writes decimal commas.
cat >"$TMP/comma" <<-END
	comment_char %
	LC_NUMERIC
	decimal_point ","
	thousands_sep ""
	grouping -1
	END LC_NUMERIC
END
if localedef --force --inputfile="$TMP/comma" "$TMP/comma_XX" >"$TMP/log" 2>&1 || [ -d "$TMP/comma_XX" ]; then
    cat >"$TMP/host.c" <<-END
	#include <locale.h>
	#include <string.h>
	#include "attn_mt.h"
	int main(int argc, char **argv) {
	    attn_mt_model *model;
	    const char *path = argv[argc - 1];
	    if (!setlocale(LC_NUMERIC, "comma_XX") || strcmp(localeconv()->decimal_point, ",") != 0) return 77;
	    if (attn_mt_open(&model, &path, 1, ATTN_MT_FLOAT32, NULL) != ATTN_MT_OK) return 1;
	    attn_mt_close(model);
	    return strcmp(localeconv()->decimal_point, ",") != 0;
	}
END
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -Isrc/library "$TMP/host.c" -o "$TMP/host" "$shared" \
        -Wl,-rpath,"$BUILD" || fail "the host does not compile"
    status=0
    LOCPATH=$TMP "$TMP/host" "$model" || status=$?
    case $status in
    0) ;;
    77) echo "no locale with commas: not tried" ;;
    *) fail "a locale with commas: exit status $status" ;;
    esac
else
    echo "no localedef: a locale with commas is not tried"
fi

# A C++ program can include the header.
if command -v c++ >/dev/null; then
    echo '#include "attn_mt.h"' | c++ -Isrc/library -Wall -Werror -x c++ -fsyntax-only - || fail "C++"
fi

if command -v python3 >/dev/null && python3 -c 'import ctypes' 2>/dev/null; then
    python3 examples/translate.py "$model" "$shared" <"$TMP/text" >"$TMP/out" 2>"$TMP/err" ||
        fail "Python: $(cat "$TMP/err")"
    as_expected "Python translates as the program does" "$TMP/out"
    python3 examples/translate.py /nowhere "$shared" 2>&1 </dev/null | grep -q "cannot open '/nowhere'" ||
        fail "no message in Python"
    option() { # NAME VALUE: sets the option; prints the error
        python3 -B -c "import sys; sys.path.insert(0, 'examples'); from translate import Model
Model('$model', '$shared').translate(['go .'], $1=$2)" 2>&1 | tail -n 1
    }
    option shortlist -1 | grep -q "shortlist is -1" || fail "Python's shortlist does not arrive"
    option beam 3 | grep -q "no attribute 'beam'" || fail "Python takes an option that is none"
else
    echo "no python3: its example is not tried"
fi
