# The file checker finds each fault that it promises to find, and nothing in a clean tree.
set -eu
mkdir -p "$TMP/src/base" "$TMP/src/text"
good='/* a.h - x */\n#ifndef BASE_A_H\n#define BASE_A_H\n\n#endif\n'

check() { # NAME, EXPECTED PART OF THE MESSAGE ("" = none), FILE, CONTENT
    printf "$4" >"$TMP/src/$3"
    if scripts/check-files "$TMP" >"$TMP/out" 2>&1; then found=no; else found=yes; fi
    rm "$TMP/src/$3"
    if [ -z "$2" ]; then
        [ $found = no ] || { echo "$1: false alarm: $(cat "$TMP/out")"; exit 1; }
    else
        [ $found = yes ] || { echo "$1: not found"; exit 1; }
        grep -qF "$2" "$TMP/out" || { echo "$1: wrong message: $(cat "$TMP/out")"; exit 1; }
    fi
}

check "good header" "" base/a.h "$good"
check "good source" "" base/a.c '/* a.c - x. */\nint a;\n'
check "no opening comment" 'must start with "/* a.c - "' base/a.c 'int a;\n'
check "another name" 'must start with "/* a.c - "' base/a.c '/* b.c - x */\nint a;\n'
check "no guard" "no include guard" base/a.h '/* a.h - x */\nint a;\n'
check "guard of another folder" "guard must be BASE_A_H" base/a.h \
    '/* a.h - x */\n#ifndef TEXT_A_H\n#define BASE_A_H\n#endif\n'
check "guard not defined" "#define BASE_A_H must follow" base/a.h \
    '/* a.h - x */\n#ifndef BASE_A_H\n#define BASE_B_H\n#endif\n'
check "guard not closed at the end" "must end with #endif" base/a.h \
    '/* a.h - x */\n#ifndef BASE_A_H\n#define BASE_A_H\n#endif\nint a;\n'
check "tab" "a.c:2: tab" base/a.c '/* a.c - x */\n\tint a;\n'
check "trailing blank" "a.c:2: blank" base/a.c '/* a.c - x */\nint a; \n'
check "carriage return" "a.c:2: blank" base/a.c '/* a.c - x */\nint a;\r\n'
check "no final newline" "no newline at the end" base/a.c '/* a.c - x */\nint a;'
printf '/* a.c - x */\nint a;\n' >"$TMP/src/text/a.c"
check "name used twice" "a.c: file name is not unique" base/a.c '/* a.c - x */\nint a;\n'

rm "$TMP/src/text/a.c"
line=$(printf '%0110d' 0)
mkdir "$TMP/tests" "$TMP/scripts"
check "110 columns" "" base/a.c "/* a.c - x */\n$line\n"
check "110 columns in more bytes" "" base/a.c "/* a.c - x */\n\303\251${line#?}\n"
check "111 columns" "src/base/a.c:2: longer than 110 columns" base/a.c "/* a.c - x */\n${line}1\n"
check "in a script without a name's end" "tests/run:2: longer" ../tests/run "#!/bin/sh\n# $line\n"
check "in a script with one" "tests/a.sh:1: longer" ../tests/a.sh "# $line\n"
check "in the Makefile" "Makefile:1: longer" ../Makefile "# $line\n"
check "not in prose and data" "" ../scripts/README.md "# $line\n"
