# python.sh - the package in python/: its tests, structs as in attn_mt.h, translations as the program's; an
# sdist, a wheel made of it, and a fresh venv with the wheel, which takes the library that is already built.
# not sanitized: Python would load a sanitized library
# alone
. tests/cli/tiny_model.inc
python=${PYTHON:-python3}
export ATTN_MT_LIBRARY="$BUILD/libattn_mt.so.1" PYTHONDONTWRITEBYTECODE=1
[ -e "$ATTN_MT_LIBRARY" ] || {
    echo "skipped: libattn_mt is not built here"
    exit 77
}
"$python" -c 'import ctypes, sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || {
    echo "skipped: no Python 3.8 or later"
    exit 77
}
tiny_model tiny
export ATTN_MT_TEST_MODEL="$TMP/tiny/best.safetensors"
cut -f 1 data/chapter.tsv >"$TMP/text"
"$attn" translate -m "$ATTN_MT_TEST_MODEL" "$TMP/text" >"$TMP/expected" || fail "translate"
run_tests() { # PYTHON: the tests, and the program's translations
    "$1" python/tests/test_attn_mt.py -q >"$TMP/log" 2>&1 || fail "$1: $(cat "$TMP/log")"
    "$1" -c 'import attn_mt, os, sys
lines = sys.stdin.read().splitlines()
print(*attn_mt.Translator(os.environ["ATTN_MT_TEST_MODEL"]).translate(lines), sep="\n")' \
        <"$TMP/text" >"$TMP/out" || fail "$1 does not translate"
    same "$1 translates as the program does" "$TMP/expected" "$TMP/out"
}
(PYTHONPATH=python && export PYTHONPATH && run_tests "$python") || fail "the package in python/"
PYTHONPATH=python ATTN_MT_TEST_MODEL= "$python" python/tests/test_attn_mt.py -q >"$TMP/log" 2>&1 ||
    fail "with the model of docs/by-hand.md: $(cat "$TMP/log")"

# Sizes and offsets of the structs, by the compiler and by ctypes.
cat >"$TMP/layout.py" <<'END'
from attn_mt import _library

print('#include <stddef.h>\n#include <stdio.h>\n#include "attn_mt.h"\nint main(void) {')
with open("ctypes", "w") as out:
    for name, struct in vars(_library).items():
        if isinstance(struct, type) and issubclass(struct, _library.ctypes.Structure):
            c = "attn_mt_" + struct.__name__
            print(name, _library.ctypes.sizeof(struct), file=out)
            print(f'printf("{name} %zu\\n", sizeof({c}));')
            for field, *_ in struct._fields_:
                print(name, field, getattr(struct, field).offset, file=out)
                print(f'printf("{name} {field} %zu\\n", offsetof({c}, {field}));')
print("return 0; }")
END
(PYTHONPATH=$PWD/python && export PYTHONPATH && cd "$TMP" && "$python" layout.py >layout.c) ||
    fail "the layout of the structs"
if command -v "${CC:-cc}" >/dev/null; then
    "${CC:-cc}" -Isrc/library "$TMP/layout.c" -o "$TMP/layout" || fail "the layout does not compile"
    "$TMP/layout" >"$TMP/compiler"
    [ -s "$TMP/compiler" ] || fail "no layout"
    same "the structs of _library.py are those of attn_mt.h" "$TMP/compiler" "$TMP/ctypes"
fi

lines=$(cat python/*.py python/*/*.py | grep -c .)
[ "$lines" -le 500 ] || fail "python/ has $lines lines of Python without the blank ones, over 500"

# An sdist of a copy of the tree, a wheel of the sdist alone, and a venv with nothing but the wheel.
"$python" -c 'import setuptools, wheel.bdist_wheel, venv, ensurepip' 2>/dev/null || {
    echo "no setuptools, wheel and venv: no wheel is built"
    exit 0
}
mkdir -p "$TMP/tree/python" "$TMP/dist"
cp -R Makefile LICENSE src scripts "$TMP/tree"
for name in LICENSE README.md pyproject.toml setup.py attn_mt tests; do
    cp -RP "python/$name" "$TMP/tree/python"
done
(cd "$TMP/tree/python" && "$python" setup.py -q sdist -d "$TMP/dist") >"$TMP/log" 2>&1 ||
    fail "sdist: $(cat "$TMP/log")"
(cd "$TMP/dist" && tar -xzf ./*.tar.gz && rm ./*.tar.gz) || fail "no sdist"
sdist=$(echo "$TMP"/dist/attn*)
same "the sdist has the licence" "$sdist/LICENSE" LICENSE
make -C "$sdist/source" -n BUILD="$TMP/new" "$TMP/new/libattn_mt.so.1" >"$TMP/log" 2>&1 ||
    fail "the sdist does not build the library: $(tail -n 5 "$TMP/log")"
"$python" -m pip -q wheel --no-build-isolation --no-deps --no-index -w "$TMP/wheel" "$sdist" \
    >"$TMP/log" 2>&1 || fail "wheel: $(cat "$TMP/log")"
ls "$TMP"/wheel/attn_mt-*-py3-none-*.whl >/dev/null || fail "the wheel is not for every Python 3"
"$python" -m venv "$TMP/venv" && "$TMP/venv/bin/python" -m pip -q install --no-index "$TMP"/wheel/*.whl \
    >"$TMP/log" 2>&1 || fail "pip install: $(cat "$TMP/log")"
unset ATTN_MT_LIBRARY
run_tests "$TMP/venv/bin/python"
ls "$TMP"/venv/lib/python*/site-packages/attn_mt/py.typed >/dev/null || fail "no py.typed"
