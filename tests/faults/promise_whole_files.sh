# promise_whole_files.sh - a file is replaced whole or not at all, whichever system call fails and whenever
# the program is killed.
# not sanitized
set -eu
cc=${CC:-cc}
# In memory where possible: the calls are what is tested, and thousands of true fsyncs take minutes.
if [ -w /dev/shm ]; then
    TMP=$(mktemp -d /dev/shm/attn-mt-faults.XXXXXX)
    export TMP
    trap 'rm -rf "$TMP"' EXIT
    trap 'exit 130' INT TERM
fi
faults=tests/faults
$cc -std=c11 -D_GNU_SOURCE -fPIC -shared -O1 -o "$TMP/shim.so" $faults/fault_shim.c -ldl 2>"$TMP/log" || {
    echo "skip: the shim needs glibc"
    exit 77
}
cp "$BUILD/faults/fault_target" "$TMP/target"
mkdir "$TMP/dir"

# The rules for one run. A failed sync of the folder is told although the new file is in place.
cat >"$TMP/check" <<'END'
same() { cmp -s "$TMP/dir/file" "$TMP/$1"; }
stray=$(find "$TMP/dir" -name '.*.tmp' | wc -l)
case $CALL:$HOW in
    *:kill | *:killafter)
        [ "$STATUS" -eq 137 ] || { echo "was not killed"; exit 1; }
        same old || same new || { echo "neither the old nor the new file"; exit 1; }
        [ "$stray" -le 1 ] || { echo "$stray temporary files"; exit 1; }
        "$TMP/target" $MODE "$TMP/dir/file" new || { echo "the next run fails"; exit 1; }
        same new || { echo "the next run does not mend it"; exit 1; }
        [ "$(find "$TMP/dir" -name '.*.tmp' | wc -l)" -eq 0 ] ||
            { echo "the next run leaves the rest"; exit 1; }
        exit 0 ;;
    *:EINTR | *:short | fsync:EINVAL | fsync:ENOTSUP | fsync:ENOSYS | fsync:EROFS)
        [ "$STATUS" -eq 0 ] || { echo "gave up"; exit 1; } ;;
esac
[ "$stray" -eq 0 ] || [ $CALL = unlink ] || { echo "a temporary file is left"; exit 1; }
if [ "$STATUS" -eq 0 ]; then
    same new || { echo "success without the new file"; exit 1; }
    [ ! -s "$OUTPUT" ] || { echo "success with a message"; exit 1; }
elif grep -q 'survives a power failure' "$OUTPUT"; then
    [ $CALL = fsync ] && same new || { echo "wrongly told that only the folder failed"; exit 1; }
else
    [ "$STATUS" -eq 1 ] || { echo "status $STATUS"; exit 1; }
    same old || { echo "failure, but the old file is gone"; exit 1; }
    [ "$(grep -v '^hint: ' "$OUTPUT" | wc -l)" -eq 1 ] || { echo "not one line"; exit 1; }
    case $HOW in
        ENOMEM) grep -q '^attn-mt: .*\(out of memory\|Cannot allocate memory\)' "$OUTPUT" ;;
        *) grep -q "^attn-mt: cannot [a-z]* '$TMP/dir/file': " "$OUTPUT" ;;
    esac || { echo "unclear message"; exit 1; }
fi
END

total=0
sweep() { # CALL HOW LEAST
    line=$($faults/run-faults "$TMP/shim.so" "$1" "$2" \
        "rm -f $TMP/dir/.*.tmp; cp '$TMP/old' '$TMP/dir/file'" \
        "'$TMP/target' $MODE '$TMP/dir/file' new" ". '$TMP/check'")
    count=${line##* }
    [ "$count" -ge "$3" ] || { echo "$MODE $line: fewer injections than $3"; exit 1; }
    total=$((total + count))
}

for MODE in text tensors; do
    export MODE
    "$TMP/target" $MODE "$TMP/old" old
    "$TMP/target" $MODE "$TMP/new" new
    ! cmp -s "$TMP/old" "$TMP/new"
    for how in ENOSPC EDQUOT EIO EFBIG EINTR short zero; do sweep write $how 2; done
    # The last four: a file system that has nothing to sync.
    for how in EIO ENOSPC EDQUOT EINTR EINVAL ENOTSUP ENOSYS EROFS; do sweep fsync $how 2; done
    for how in EIO ENOSPC EINTR; do sweep close $how 2; done
    for how in EIO ENOSPC EACCES EINTR; do sweep rename $how 1; done
    for how in EMFILE ENOSPC EROFS EACCES EINTR; do sweep open $how 2; done
    sweep flock ENOLCK 1
    sweep fchmod EPERM 1
    sweep access EACCES 1
    sweep alloc ENOMEM 5
    for call in open write fsync close rename flock fchmod; do
        sweep $call kill 1
        sweep $call killafter 1
    done
done

# Every call failing from the first on; and every name of a temporary file taken, behind the folder's own.
for MODE in text tensors; do
    for fault in write:1+:ENOSPC fsync:1+:EIO rename:1+:EIO open:1+:EMFILE open:2+:EEXIST alloc:1+:ENOMEM; do
        "$TMP/target" $MODE "$TMP/old" old
        cp "$TMP/old" "$TMP/dir/file"
        status=0
        env FAULT=$fault LD_PRELOAD="$TMP/shim.so" "$TMP/target" $MODE "$TMP/dir/file" new \
            >"$TMP/log" 2>&1 || status=$?
        [ $status -eq 1 ] && cmp "$TMP/old" "$TMP/dir/file" ||
            { echo "$MODE $fault: status $status"; exit 1; }
        total=$((total + 1))
    done
done

# What is no file has no temporary one: its close counts.
for how in EIO ENOSPC EINTR; do
    status=0
    env FAULT=close:1:$how LD_PRELOAD="$TMP/shim.so" "$TMP/target" text /dev/null new \
        >"$TMP/log" 2>&1 || status=$?
    case $how:$status in
        EINTR:0) ;;
        E*:1) grep -q "^attn-mt: cannot write '/dev/null': " "$TMP/log" ;;
        *) false ;;
    esac || { echo "/dev/null, close $how: status $status"; exit 1; }
    total=$((total + 1))
done

# Reading: what can be repeated is, the rest is told with the path.
cat >"$TMP/check-read" <<'END'
case $HOW in
    zero) # the end of the file where there is more
        [ "$STATUS" -eq 3 ] && grep -q "^attn-mt: '$FILE': the file became shorter" "$OUTPUT" ;;
    EINTR | short) [ "$STATUS" -eq 0 ] && cmp -s "$OUTPUT" "$TMP/expected" ;;
    ENOMEM) # printf does without its buffer
        if [ "$STATUS" -eq 0 ]; then
            cmp -s "$OUTPUT" "$TMP/expected"
        else
            [ "$STATUS" -eq 1 ] && [ "$(wc -l <"$OUTPUT")" -eq 1 ] && grep -q '^attn-mt: .*memory' "$OUTPUT"
        fi ;;
    *) [ "$STATUS" -eq 1 ] && [ "$(wc -l <"$OUTPUT")" -eq 1 ] &&
        grep -q "^attn-mt: cannot [a-z]* '$FILE': " "$OUTPUT" ;;
esac
END
"$TMP/target" text "$TMP/lines" word
gzip -kf "$TMP/lines"
"$TMP/target" tensors "$TMP/tensors" word
for job in "load tensors" "lines lines" "lines lines.gz" "pack lines"; do
    set -- $job
    FILE=$TMP/$2
    export FILE
    "$TMP/target" "$1" "$FILE" >"$TMP/expected"
    [ -s "$TMP/expected" ]
    zero=
    [ "$1" != load ] || zero=read:zero
    for fault in read:EIO read:EINTR read:short $zero open:EMFILE open:EINTR alloc:ENOMEM; do
        line=$($faults/run-faults "$TMP/shim.so" "${fault%:*}" "${fault#*:}" true \
            "'$TMP/target' $1 '$FILE'" ". '$TMP/check-read'")
        [ "${line##* }" -ge 1 ] || { echo "$job $line: no injection"; exit 1; }
        total=$((total + ${line##* }))
    done
done
echo "$total faults"
