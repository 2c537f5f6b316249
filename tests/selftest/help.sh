# help.sh - every script prints its help with --help, and does nothing else.
set -eu
top=$PWD
files() { find "$top" \( -name .git -o -path "$top/runs" \) -prune -o -print | sort; }
files >"$TMP/before"
mkdir "$TMP/here"
cd "$TMP/here"
for script in "$top"/scripts/*; do
    [ -f "$script" ] || continue
    language=$(sed -n '1s|^#!.*[ /]||p' "$script")
    [ -n "$language" ] || continue # a file to source
    command -v "$language" >/dev/null || continue
    for option in --help -h; do
        status=0
        BUILD=$TMP/here/build "$language" "$script" $option >"$TMP/out" 2>"$TMP/err" </dev/null || status=$?
        if [ $status -ne 0 ] || [ -s "$TMP/err" ] || [ "$(wc -w <"$TMP/out")" -lt 9 ]; then
            echo "$script $option: exit code $status, and:"
            cat "$TMP/out" "$TMP/err"
            exit 1
        fi
    done
done
files | diff "$TMP/before" -
rmdir "$TMP/here"
