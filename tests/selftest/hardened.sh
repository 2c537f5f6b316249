#!/bin/sh
# hardened.sh - the program is position-independent, its relocations are read-only, and functions with arrays
# check their stack.
# not sanitized
set -u
command -v readelf >/dev/null || {
    echo "skip: readelf is not installed"
    exit 77
}
readelf -hldsW "$ATTN_MT" >"$TMP/elf" 2>/dev/null || {
    echo "skip: no ELF system"
    exit 77
}
bad=0
for part in 'Type: *DYN' GNU_RELRO 'BIND_NOW\|FLAGS.* NOW' __stack_chk_fail; do
    grep -q "$part" "$TMP/elf" || { echo "no '$part'"; bad=1; }
done
grep -q 'GNU_STACK.*RWE' "$TMP/elf" && echo "the stack is executable" && bad=1
exit $bad
