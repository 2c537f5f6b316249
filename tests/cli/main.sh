#!/bin/sh
# main.sh - commands, help, version, exit codes.
set -eu
. tests/cli/tiny_model.inc

expect 2 "$attn"
says "no command given"
expect 2 "$attn" xyzzy
says "attn-mt --help lists the commands"
expect 2 "$attn" --beam-size 5 translate
says "comes before the command"

# Text and options fit into 80 columns, and into those of the terminal; examples are not wrapped.
narrow() { # COMMAND [COLUMNS]
    ! awk -v most="${2:-80}" '/^Examples:/ { exit } length > most' "$TMP/out" | grep . ||
        fail "--help is too wide: $*"
}

expect 0 "$attn" --help
narrow attn-mt
expect 0 env COLUMNS=60 "$attn" --help
narrow attn-mt 60
expect 0 "$attn" --help
for command in train translate score bleu heatmap serve inspect average convert demo completion; do
    grep -q "^  $command  *[a-z]" "$TMP/out" || fail "--help does not list $command"
    expect 0 "$attn" "$command" --help
    grep -q "^Usage: attn-mt $command" "$TMP/out" || fail "$command --help has no usage line"
    [ ! -s "$TMP/err" ] || fail "$command --help writes to standard error"
    narrow "$command"
    cp "$TMP/out" "$TMP/help"
    expect 0 env COLUMNS=60 "$attn" "$command" --help all
    narrow "$command" 60
    expect 0 "$attn" help "$command"
    same "help $command" "$TMP/help" "$TMP/out"
    expect 2 "$attn" "$command" --no-such-option
    says "unknown option '--no-such-option'"
    [ ! -s "$TMP/out" ] || fail "$command writes to standard output when it fails"
    expect 0 "$attn" --help
done
expect 0 "$attn" help
cp "$TMP/out" "$TMP/help"
for word in help version; do
    expect 0 "$attn" help $word
    same "help $word" "$TMP/help" "$TMP/out"
done

# The short help fits on a screen and names the full help, which has all of its options.
for command in train translate score heatmap serve bleu; do
    expect 0 "$attn" $command --help
    [ "$(wc -l <"$TMP/out")" -le 45 ] || fail "$command --help has $(wc -l <"$TMP/out") lines"
    [ "$(tail -n 1 "$TMP/out")" = "attn-mt $command --help all lists every option" ] ||
        fail "$command: no hint"
    grep -o '^ *\(-., \)\{0,1\}--[a-z-]*' "$TMP/out" >"$TMP/short"
    expect 0 "$attn" help $command all
    grep -o '^ *\(-., \)\{0,1\}--[a-z-]*' "$TMP/out" >"$TMP/long"
    [ "$(wc -l <"$TMP/long")" -gt "$(wc -l <"$TMP/short")" ] || fail "$command: all is no more"
    ! grep -vxFf "$TMP/long" "$TMP/short" || fail "$command: only in the short help"
    narrow "$command"
done

# Each option has one flag, and each flag one option.
for command in train translate score heatmap serve bleu; do
    expect 0 "$attn" $command --help all
    sed -n 's/^ \{2,6\}\(-., \)\{0,1\}--\(\[no-\]\)\{0,1\}\([a-z0-9-]*\).*/\3/p' "$TMP/out" >"$TMP/flags"
    [ "$(wc -l <"$TMP/flags")" -gt 10 ] || fail "$command: few options: $(cat "$TMP/flags")"
    [ -z "$(sort "$TMP/flags" | uniq -d)" ] || fail "$command, twice: $(sort "$TMP/flags" | uniq -d)"
done
expect 0 "$attn" train --encoder-layers 2 --decoder-layers 3 --no-joint --tie target --dump-config=minimal
tr -d ' \n' <"$TMP/out" | grep -q '"encoder":{"layers":2},"decoder":{"layers":3}' ||
    fail "layers: $(cat "$TMP/out")"

version=$(sed -n 's/^#define ATTN_MT_VERSION "\(.*\)"/\1/p' src/base/version.h)
expect 0 "$attn" --version
[ "$(head -n 1 "$TMP/out")" = "attn-mt $version" ] || fail "--version: $(head -n 1 "$TMP/out")"
for word in compiler blas kernel simd; do
    grep -q "^$word  *[A-Za-z]" "$TMP/out" || fail "--version does not show $word"
done

expect 0 env ATTN_MT_SIMD=BASE "$attn" --version
grep -q '^simd  *base$' "$TMP/out" || fail "simd: $(cat "$TMP/out")"
expect 2 env ATTN_MT_SIMD=avx "$attn" --version
says "ATTN_MT_SIMD: 'avx' is not base, avx2"
says "hint: this processor can run "

# Output errors are detected.
if [ -e /dev/full ]; then
    for arguments in --help --version "translate --help"; do
        status=0
        "$attn" $arguments >/dev/full 2>"$TMP/err" || status=$?
        [ $status -eq 1 ] || fail "$arguments: status $status on a full disk"
        says "No space left"
    done
fi
status=0
"$attn" --help >&- 2>"$TMP/err" || status=$?
[ $status -eq 1 ] || fail "status $status with standard output closed"
"$attn" --help 2>&- >"$TMP/out" || fail "needs standard error to print help"
