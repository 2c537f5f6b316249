#!/bin/sh
# shortlist.sh - attn-mt translate --shortlist: the same for any batch and number of threads, with prefixes
# and glossaries; models without shortlists, and invalid shortlists.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
tiny_model apart --set train.epochs=5 --set model.tie=none --set text.joint=false
tiny_model bare --set train.shortlist=0
cut -f 1 "$TMP/tiny.tsv" >"$TMP/lines"
model=$TMP/one/best.safetensors apart=$TMP/apart/best.safetensors bare=$TMP/bare/best.safetensors

# Shortlists do not change the weights, and do not depend on the number of threads.
tiny_model again --threads 2
same "a model of two threads" "$model" "$TMP/again/best.safetensors"
expect 0 "$attn" translate --model "$model" "$TMP/lines"
cp "$TMP/out" "$TMP/all"
expect 0 "$attn" translate --model "$bare" "$TMP/lines"
same "a model without lists" "$TMP/all" "$TMP/out"

expect 0 "$attn" inspect "$model"
grep -q 'shortlist  *[0-9,]* likely translations' "$TMP/out" || fail "inspect: $(head -n 9 "$TMP/out")"
expect 0 "$attn" inspect --json "$model"
grep -q '^"shortlist": [1-9][0-9]*,$' "$TMP/out" || fail "inspect --json does not count the lists"

# The memorized translations are in the shortlists.
for beam in 1 5; do
    expect 0 "$attn" translate --model "$model" --shortlist 20 --beam-size $beam "$TMP/lines"
    differ=$(cut -f 2 "$TMP/tiny.tsv" | diff - "$TMP/out" | grep -c '^>') || true
    [ "$differ" -le 6 ] || fail "beam $beam: $differ of 64 lines are not as they were learned"
done

# A translation and its score do not depend on other lines.
for options in "--beam-size 1" "--n-best=3" "--alternatives 2" "--precision int8" "--precision bf16" \
    "--confidence --quiet" "--model $model"; do
    for one in "$model" "$apart"; do
        [ "$one" = "$model" ] || [ "$options" != "--model $model" ] || continue
        # shellcheck disable=SC2086  # the options are words
        set -- "$attn" translate --model "$one" --json --shortlist 9 $options
        expect 0 "$@" --mini-batch 64 --threads 1 "$TMP/lines"
        cp "$TMP/out" "$TMP/expected"
        for batch in "--mini-batch 1" "--mini-batch 7 --threads 2" "--mini-batch 64 --threads 3"; do
            # shellcheck disable=SC2086
            expect 0 "$@" $batch "$TMP/lines"
            same "$options $batch" "$TMP/expected" "$TMP/out"
        done
    done
done

# `convert` and `average` keep the shortlists.
expect 0 "$attn" convert "$model" -o "$TMP/small"
expect 0 "$attn" translate --model "$TMP/small" --json --shortlist 9 "$TMP/lines"
cp "$TMP/out" "$TMP/expected"
expect 0 "$attn" translate --model "$model" --precision int8 --json --shortlist 9 "$TMP/lines"
same "a converted model" "$TMP/expected" "$TMP/out"
expect 0 "$attn" average "$model" "$TMP/one/last.safetensors" -o "$TMP/mean"
expect 0 "$attn" translate --model "$TMP/mean" --shortlist 9 "$TMP/lines"

# Constraints are met, even outside the shortlists.
for prefix in "nous" "tu es " "je ne sais pas"; do
    expect 0 "$attn" translate --model "$model" --shortlist 1 --prefix "$prefix" "$TMP/lines"
    [ "$(grep -c "^${prefix% }" "$TMP/out")" = 64 ] || fail "a translation does not begin with '$prefix'"
done
echo '{"text": "go .", "prefix": "je ", "constraints": ["chat", "perdu"]}' >"$TMP/asked"
expect 0 "$attn" translate --model "$model" --shortlist 1 --json-input "$TMP/asked"
grep -q '"translation": "je .*chat' "$TMP/out" && grep -q '"translation": "je .*perdu' "$TMP/out" ||
    fail "constraints: $(cat "$TMP/out")"
printf 'go\tchat\n' >"$TMP/terms.tsv"
expect 0 "$attn" translate --model "$model" --shortlist 1 --glossary "$TMP/terms.tsv" "$TMP/asked"
expect 0 "$attn" translate --model "$model" --shortlist 9 --alignment --tags --mbr chrf --beam-size 10 \
    "$TMP/lines"

# Models without shortlists.
old=tests/golden/models/0.2.0-recurrent.safetensors
for none in "$bare" $old; do
    expect 2 "$attn" translate --model "$none" --shortlist 9 "$TMP/lines"
    says "shortlist: '$none' has no list of likely translations of its tokens"
    says "hint: models are trained with one unless train.shortlist is 0"
done
expect 2 "$attn" translate --model "$model" --model "$bare" --shortlist 9 "$TMP/lines"
says "'$bare' has no list"
expect 2 "$attn" translate --model "$model" --shortlist 1001 "$TMP/lines"
says "--shortlist"

# Invalid shortlists in model files, which are read where they are used.
reseal=$BUILD/faults/reseal
while read -r tensor at number reason; do
    "$reseal" "$model" "$TMP/bad" set "$tensor" "$at" "$number"
    expect 0 "$attn" translate --model "$TMP/bad" "$TMP/lines"
    for command in "translate --shortlist 9" "inspect"; do
        # shellcheck disable=SC2086  # the command is words
        case $command in
        translate*) expect 3 "$attn" $command --model "$TMP/bad" "$TMP/lines" ;;
        inspect) expect 3 "$attn" $command "$TMP/bad" ;;
        esac
        says "cannot use '$TMP/bad' as a model: shortlist: "
        says "$reason"
    done
done <<'END'
shortlist.lengths 1 1001 list 1 has more than 1000 tokens
shortlist.lengths 1 900 tokens for lists of
shortlist.tokens 0 65535 number 0 is no target token from 4 to
shortlist.tokens 5 3 number 5 is no target token from 4 to
END
