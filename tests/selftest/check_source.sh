# check_source.sh - check-source reports each kind of violation with its line, and nothing in a clean tree.
set -eu
mkdir -p "$TMP/tests" "$TMP/scripts" "$TMP/python" "$TMP/src/base" "$TMP/src/text" "$TMP/src/kern" \
    "$TMP/src/models" "$TMP/src/cli"
for header in text/t kern/n models/m; do
    guard=$(echo "$header" | tr '/a-z' '_A-Z')_H
    printf '/* %s.h - x */\n#ifndef %s\n#define %s\n\n#endif\n' "${header#*/}" "$guard" "$guard" \
        >"$TMP/src/$header.h"
done
good='/* a.h - x */\n#ifndef BASE_A_H\n#define BASE_A_H\n\n#endif\n'

check() { # NAME, EXPECTED PART OF THE MESSAGE ("" = none), FILE, CONTENT
    printf "$4" >"$TMP/src/$3"
    if scripts/check-source "$TMP" >"$TMP/out" 2>&1; then found=no; else found=yes; fi
    rm "$TMP/src/$3"
    if [ -z "$2" ]; then
        [ $found = no ] || { echo "$1: false alarm: $(cat "$TMP/out")"; exit 1; }
    else
        [ $found = yes ] || { echo "$1: not found"; exit 1; }
        grep -qF "$2" "$TMP/out" || { echo "$1: wrong message: $(cat "$TMP/out")"; exit 1; }
    fi
}
include() { # NAME, EXPECTED PART OF THE MESSAGE, FILE, LINE
    check "$1" "$2" "$3" "/* ${3#*/} - x */\n$4\n"
    [ -z "$2" ] || grep -qF "src/$3:2: " "$TMP/out" || { echo "$1: no line in: $(cat "$TMP/out")"; exit 1; }
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
check "110 columns" "" base/a.c "/* a.c - x */\n$line\n"
check "110 columns in more bytes" "" base/a.c "/* a.c - x */\n\303\251${line#?}\n"
check "111 columns" "src/base/a.c:2: longer than 110 columns" base/a.c "/* a.c - x */\n${line}1\n"
check "in a script without a name's end" "tests/run:2: longer" ../tests/run "#!/bin/sh\n# $line\n"
check "in a script with one" "tests/a.sh:1: longer" ../tests/a.sh "# $line\n"
check "in the Makefile" "Makefile:1: longer" ../Makefile "# $line\n"
check "in Python of the package" "python/a.py:1: longer" ../python/a.py "# $line\n"
check "not in prose and data" "" ../scripts/README.md "# $line\n"

include "own folder" "" text/x.c '#include "text/t.h"'
include "lower level" "" models/x.c '#include "kern/n.h"'
include "top level" "" cli/x.c '#include "models/m.h"'
include "system header" "" kern/x.c '#include <math.h>'
include "behind its door" "" base/unicode.c '#include <utf8proc.h>'
include "upwards" "kern (level 2) includes models (level 6)" kern/x.c '#include "models/m.h"'
include "upwards from base" "base (level 0) includes text (level 2)" base/x.h '#include "text/t.h"'
include "sideways" "text (level 2) includes kern (level 2)" text/x.c '#include "kern/n.h"'
include "odd spacing" "kern (level 2) includes models (level 6)" kern/x.c \
    '  #  include   "models/m.h" // fine?'
include "no folder" "is not folder/file.h" text/x.c '#include "t.h"'
include "relative path" "is not folder/file.h" text/x.c '#include "../kern/n.h"'
include "missing file" "does not exist" text/x.c '#include "text/nothing.h"'
include "unknown folder" "has no level" text/x.c '#include "extra/e.h"'
include "library past its door" "may be included only by" models/x.c '#include <cblas.h>'

mkdir "$TMP/src/extra"
echo '/* x.c - x */' >"$TMP/src/extra/x.c"
if scripts/check-source "$TMP" 2>/dev/null; then echo "a folder without a level passed"; exit 1; fi
if scripts/check-source "$TMP/src/base" 2>/dev/null; then echo "a tree without src passed"; exit 1; fi
