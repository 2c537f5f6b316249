# The include rule is checked: a clean tree passes, each kind of violation is found, at its line.
set -eu
mkdir -p "$TMP/src/base" "$TMP/src/text" "$TMP/src/num" "$TMP/src/models" "$TMP/src/cli"
touch "$TMP/src/base/a.h" "$TMP/src/text/t.h" "$TMP/src/num/n.h" "$TMP/src/models/m.h" "$TMP/src/cli/main.h"

check() { # NAME, EXPECTED PART OF THE MESSAGE ("" = none), FILE, LINE
    printf '/* x */\n%s\n' "$4" >"$TMP/src/$3"
    if scripts/check-levels "$TMP" >"$TMP/out" 2>&1; then found=no; else found=yes; fi
    rm "$TMP/src/$3"
    if [ -z "$2" ]; then
        [ $found = no ] || { echo "$1: false alarm: $(cat "$TMP/out")"; exit 1; }
    else
        [ $found = yes ] || { echo "$1: not found"; exit 1; }
        grep -qF "src/$3:2: " "$TMP/out" || { echo "$1: no file and line in: $(cat "$TMP/out")"; exit 1; }
        grep -qF "$2" "$TMP/out" || { echo "$1: wrong message: $(cat "$TMP/out")"; exit 1; }
    fi
}

check "own folder" "" text/x.c '#include "text/t.h"'
check "lower level" "" models/x.c '#include "num/n.h"'
check "top level" "" cli/x.c '#include "models/m.h"'
check "system header" "" num/x.c '#include <math.h>'
check "behind its door" "" base/unicode.c '#include <utf8proc.h>'
check "upwards" "num (level 1) includes models (level 3)" num/x.c '#include "models/m.h"'
check "upwards from base" "base (level 0) includes text (level 1)" base/x.h '#include "text/t.h"'
check "sideways" "text (level 1) includes num (level 1)" text/x.c '#include "num/n.h"'
check "odd spacing" "num (level 1) includes models (level 3)" num/x.c '  #  include   "models/m.h" // fine?'
check "no folder" "is not folder/file.h" text/x.c '#include "t.h"'
check "relative path" "is not folder/file.h" text/x.c '#include "../num/n.h"'
check "missing file" "does not exist" text/x.c '#include "text/nothing.h"'
check "unknown folder" "has no level" text/x.c '#include "extra/e.h"'
check "library past its door" "may be included only by" models/x.c '#include <cblas.h>'

mkdir "$TMP/src/extra"
echo '/* x */' >"$TMP/src/extra/x.c"
if scripts/check-levels "$TMP" 2>/dev/null; then echo "a folder without a level passed"; exit 1; fi
if scripts/check-levels "$TMP/src/base" 2>/dev/null; then echo "a tree without src passed"; exit 1; fi
