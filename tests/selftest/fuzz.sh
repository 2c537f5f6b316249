# fuzz.sh - every fuzz target runs on its corpus and on fixed mutations of it.
set -eu
changes=${TEST_FAST:+50}
changes=${changes:-300}

for source in tests/fuzz/fuzz_*.c; do
    target=$(basename "$source" .c)
    [ "$target" != fuzz_main ] || continue
    corpus=tests/fuzz/corpus/$target
    files=$(find "$corpus" -type f | wc -l)
    "$BUILD/replay/$target" -mutate="$changes" "$corpus"/* >"$TMP/out" 2>&1 || {
        echo "$target: exit code $?"
        tail -n 5 "$TMP/out"
        exit 1
    }
    grep -q "^$((files * (changes + 1))) inputs\$" "$TMP/out" ||
        { echo "$target: $(tail -n 1 "$TMP/out")"; exit 1; }
done
