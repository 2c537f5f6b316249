# run.sh - the test runner counts tests that fail, crash, stop early, are missing or take too long.
set -eu
top=$TMP/top
mkdir -p "$top/tests/unit/base" "$top/tests/cli" "$top/build/tests/unit/base"
cp tests/run "$top/tests/run"

program() { # NAME, BODY OF A SHELL SCRIPT IN PLACE OF A TEST PROGRAM
    printf 'int main(void)\n' >"$top/tests/unit/base/$1.c"
    printf '#!/bin/sh\n%s\n' "$2" >"$top/build/tests/unit/base/$1"
    chmod +x "$top/build/tests/unit/base/$1"
}
expect() { # WHAT, LAST LINE, EXIT CODE, [ARGUMENT...]
    what=$1 line=$2 code=$3
    shift 3
    status=0
    env -u BUILD -u ATTN_MT TEST_TIMEOUT=1 sh "$top/tests/run" "$@" >"$TMP/out" 2>&1 || status=$?
    [ "$(tail -n 1 "$TMP/out")" = "$line" ] && [ $status -eq "$code" ] || {
        echo "$what: expected '$line' and exit code $code, got exit code $status and:"
        cat "$TMP/out"
        exit 1
    }
    rm -f "$top"/tests/unit/base/* "$top"/build/tests/unit/base/* "$top"/tests/cli/*
}

expect "nothing to run" "0 passed, 1 failed" 1
program good 'echo 1..2; echo ok 1 - a; echo ok 2 - b'
expect "two cases" "2 passed, 0 failed" 0
program bad 'echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 1'
expect "one of two fails" "1 passed, 1 failed" 1
program lying 'echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 0'
expect "failure with exit code 0" "1 passed, 1 failed" 1
program crash 'echo 1..3; echo ok 1 - a; kill -SEGV $$'
expect "crash" "1 passed, 1 failed" 1
program early 'echo 1..3; echo ok 1 - a; exit 0'
expect "fewer cases than planned" "1 passed, 1 failed" 1
program leak 'echo 1..1; echo ok 1 - a; exit 23'
expect "all cases pass, exit code does not" "1 passed, 1 failed" 1
program empty 'echo 1..0'
expect "a program without cases" "0 passed, 1 failed" 1
program skips 'echo 1..2; echo ok 1 - a; echo "ok 2 # SKIP b"'
expect "a skipped case" "1 passed, 0 failed, 1 skipped" 0
program skips 'echo 1..2; echo ok 1 - a; echo "not ok 2 # SKIP b"' # the format of older cmocka
expect "a skipped case, other spelling" "1 passed, 0 failed, 1 skipped" 0
program skips 'echo 1..1; echo "ok 1 # SKIP b"'
expect "every case skipped" "0 passed, 1 failed, 1 skipped" 1
program plain 'exit 0'
expect "no TAP, exit code 0" "1 passed, 0 failed" 0
program plain 'exit 3'
expect "no TAP, exit code 3" "0 passed, 1 failed" 1
program unbuilt ''
rm "$top/build/tests/unit/base/unbuilt"
expect "not built" "0 passed, 1 failed" 1
program old 'echo 1..1; echo ok 1 - a'
touch -t 200001010000 "$top/build/tests/unit/base/old"
expect "older than its source" "0 passed, 1 failed" 1
printf 'int helper;\n' >"$top/tests/unit/base/helper.c"
program good 'echo 1..1; echo ok 1 - a'
expect "a file without main is no test" "1 passed, 0 failed" 0
echo 'exit 0' >"$top/tests/cli/a.sh"
echo 'echo "skipped: no data"; exit 77' >"$top/tests/cli/b.sh"
echo 'exit 1' >"$top/tests/cli/c.sh"
expect "scripts" "1 passed, 1 failed, 1 skipped" 1
if command -v timeout >/dev/null; then
    echo 'sleep 20' >"$top/tests/cli/a.sh"
    expect "endless script" "0 passed, 1 failed" 1
fi
printf '# slow\nexit 1\n' >"$top/tests/cli/a.sh"
echo 'exit 0' >"$top/tests/cli/b.sh"
expect "fast leaves out slow scripts" "1 passed, 0 failed" 0 --fast
echo 'exit 1' >"$top/tests/cli/a.sh"
echo 'exit 0' >"$top/tests/cli/b.sh"
expect "by name" "1 passed, 0 failed" 0 cli/b
echo 'exit 0' >"$top/tests/cli/a.sh"
expect "a name that matches nothing" "0 passed, 1 failed" 1 nothing
if command -v timeout >/dev/null; then
    echo 'kill -KILL $(cut -d " " -f 4 /proc/$PPID/stat 2>/dev/null || ps -o ppid= -p $PPID)' \
        >"$top/tests/cli/a.sh"
    echo 'exit 0' >"$top/tests/cli/b.sh"
    TEST_JOBS=1 expect "a runner that is killed" "0 passed, 2 failed" 1
fi
meet() { printf 'touch "$ATTN_MT.%s"\nuntil [ -e "$ATTN_MT.%s" ]; do sleep 0.1; done\n' "$1" "$2"; }
meet a b >"$top/tests/cli/a.sh"
meet b a >"$top/tests/cli/b.sh"
TEST_JOBS=2 expect "two scripts at a time" "2 passed, 0 failed" 0
rm "$top"/build/attn-mt.*
for name in a b; do
    printf '# alone\nmkdir "$ATTN_MT.lock" && sleep 0.2 && rmdir "$ATTN_MT.lock"\n' >"$top/tests/cli/$name.sh"
done
TEST_JOBS=2 expect "scripts that run alone" "2 passed, 0 failed" 0
expect "unknown option" "usage: tests/run [--fast] [--sanitized] [NAME]..." 2 --bogus
