#!/bin/sh
# map.sh - every file, function and table that src/README.md names exists, its levels are those that are
# checked, and every test that tests/README.md names exists.
set -u
map=src/README.md
bad=0
say() {
    echo "$map: $*"
    bad=1
}

# Files: `folder/name.c`, below src/ or from the top.
for file in $(grep -o '`[a-z0-9_]*/[a-zA-Z0-9_./-]*`' "$map" | tr -d '`' | sort -u); do
    [ -e "src/$file" ] || [ -e "$file" ] || say "no file '$file'"
done

for file in $(grep -o '`tests/[a-z0-9_]*[a-zA-Z0-9_./-]*`' tests/README.md | tr -d '`' | sort -u); do
    case $file in *[A-Z][A-Z]*) continue ;; esac # a pattern
    [ -e "$file" ] || say "tests/README.md: no file '$file'"
done

# Every script and file of cases has a row; COMMAND.sh stands for those of the commands.
commands=$(sed -n 's/^| .*`tests\/cli\/COMMAND.sh`: //p' tests/README.md)
for file in tests/cli/*.sh tests/selftest/*.sh tests/faults/*.sh tests/cases/*.case; do
    name=${file##*/}
    grep -q "[/\`]$name\`" tests/README.md || case $commands in
    *"\`${name%.sh}\`"*) ;;
    *) say "tests/README.md has no row for '$file'" ;;
    esac
done

# Rows of the two walks: | `file` | `function` `function` | what |. A function is defined in the row's file.
rows=$(grep -c '^| `[a-z]*/[a-z0-9_]*\.[ch]` | `' "$map")
[ "$rows" -ge 20 ] || say "only $rows rows of walks"
grep '^| `[a-z]*/[a-z0-9_]*\.[ch]` | `' "$map" >"$TMP/rows"
while IFS='|' read -r _ file functions _; do
    file=src/$(echo "$file" | tr -d '` ')
    for name in $(echo "$functions" | tr -d '`'); do
        grep -qE "^[A-Za-z].*[ *]$name\(" "$file" || say "$file does not define '$name'"
    done
done <"$TMP/rows"

# Outside of tables: "`file` (`function`, `function`)".
tr '\n' ' ' <"$map" | grep -oE '`[a-z]+/[a-z0-9_]+\.c` \(`[a-z0-9_`, ]*`\)' >"$TMP/said"
[ -s "$TMP/said" ] || say "no functions are named in the text"
while read -r file functions; do
    file=src/$(echo "$file" | tr -d '`')
    for name in $(echo "$functions" | tr -d '`(),' | tr '\n' ' '); do
        grep -qE "^[A-Za-z].*[ *]$name\(" "$file" || say "$file does not define '$name'"
    done
done <"$TMP/said"

# Every other name with an underscore, without <...>, exists in the source.
for name in $(grep -o '`[A-Za-z]*_[A-Za-z0-9_]*`' "$map" | tr -d '`' | sort -u); do
    grep -rqw "$name" src || say "nothing is called '$name'"
done

# The table of levels names every folder, with the level that scripts/check-source checks, and has one purpose
# for each: no comma.
sed -nE 's/^\| ([0-9]+) \| `([a-z]+)\/` \|.*/\2:\1/p' "$map" | sort >"$TMP/levels"
sed -n '/levels = /,/split(/p' scripts/check-source | grep -oE '[a-z]+:[0-9]+' | sort >"$TMP/checked"
cmp -s "$TMP/levels" "$TMP/checked" || say "the levels are not those of scripts/check-source:
$(diff "$TMP/levels" "$TMP/checked")"
sed -nE 's/^\| [0-9]+ \| `([a-z]+)\/` \| .*,.*/\1/p' "$map" >"$TMP/commas"
[ ! -s "$TMP/commas" ] || say "the purpose of '$(tr '\n' ' ' <"$TMP/commas")' has a comma"
exit $bad
