#!/bin/sh
# tune.sh - scripts/tune: trains a plan, keeps finished runs, resumes interrupted runs.
set -eu
. tests/cli/tiny_model.inc
export THREADS=1
table() { # PATTERN: a row of the last table
    grep -qE "^\| $1 \|$" "$TMP/out" || fail "no row '$1': $(cat "$TMP/out")"
}
scores() { # FILE: a table without its last column, the minutes of training
    sed 's/|[^|]*|$/|/' "$1"
}

tiny_model model --epochs 2 # for $TMP/tiny.json
cut -f 1 "$TMP/tiny.tsv" >"$TMP/tiny.en"
cut -f 2 "$TMP/tiny.tsv" >"$TMP/tiny.fr"
cat >"$TMP/plan" <<-END
	base       --config $TMP/tiny.json  # a comment
	base       --epochs 6
	source     $TMP/tiny.en
	reference  $TMP/tiny.fr
	bleu       --tokenize none --force
	seeds      1 2
	longer     --epochs 40
	translate  greedy --beam-size 1
END
# Invalid arguments stop the plan before training. Untrained folders can get other arguments.
for typo in 's/longer .*/longer --set model.dropout_outpt=0.4/' 's/greedy .*/greedy --beam-sise 1/'; do
    sed "$typo" "$TMP/plan" >"$TMP/other"
    expect 1 scripts/tune "$TMP/other" "$TMP/runs"
    says "$TMP/other: the arguments of '$(echo "$typo" | sed 's/s.\([a-z]*\) .*/\1/')' are refused"
    [ ! -e "$TMP/runs" ] || fail "trained all the same"
done
mkdir -p "$TMP/runs/longer-1"
echo "--set model.dropout_outpt=0.4" >"$TMP/runs/longer-1/arguments"
expect 0 scripts/tune --table "$TMP/plan" "$TMP/runs"
[ "$(wc -l <"$TMP/out")" -eq 2 ] || fail "a table of nothing: $(cat "$TMP/out")"
expect 0 scripts/tune --jobs 2 "$TMP/plan" "$TMP/runs"
scores "$TMP/out" >"$TMP/table"
! grep '^attn-mt: ' "$TMP/err" || fail "the table complains"
table 'base \| 2 \| [0-9.]+ \| [0-9.]+ \|  \|  \| [0-9.]+'
table 'longer \| 2 \| [0-9.]+ \| [0-9.]+ \| \+[0-9.]+ \| 0\.00[0-9] \| [0-9.]+'
table 'greedy \| 2 \| [0-9.]+ \| [0-9.]+ \| [+-][0-9.]+ \| [0-9.]+ \| -'
mean=$(for seed in 1 2; do
    "$attn" bleu "$TMP/tiny.fr" -i "$TMP/runs/base-$seed/translation" --tokenize none --force --width 4 -b
done | awk '{ sum += $1 } END { printf "%.2f", sum / NR }')
table "base \| 2 \| $mean .*"
for name in base longer; do
    cat "$TMP/runs/$name-1/translation" "$TMP/runs/$name-2/translation" >"$TMP/$name"
done
cat "$TMP/tiny.fr" "$TMP/tiny.fr" >"$TMP/twice.fr"
p=$("$attn" bleu "$TMP/twice.fr" -i "$TMP/base" "$TMP/longer" --paired-bs --tokenize none --force --quiet |
    sed -n 's/.*"p_value": \([0-9.]*\),.*/\1/p')
table "longer .* $(printf '%.3f' "$p") \| [0-9.]+"

# Finished runs stay; an interrupted run is resumed and ends with the same model.
cp "$TMP/runs/longer-2/best.safetensors" "$TMP/whole"
rm -r "$TMP/runs/longer-2"
status=0
"$attn" train --config "$TMP/tiny.json" --epochs 40 --seed 2 --threads 1 --run "$TMP/runs/longer-2" \
    --set train.max_minutes=0.0001 --quiet 2>"$TMP/err" || status=$?
[ -f "$TMP/runs/longer-2/last.state.safetensors" ] || fail "no interrupted run: $status, $(cat "$TMP/err")"
expect 0 scripts/tune "$TMP/plan" "$TMP/runs"
scores "$TMP/out" >"$TMP/again"
same "the table of a run that went on" "$TMP/table" "$TMP/again"
[ "$(grep -c '^tune: ' "$TMP/err")" -eq 1 ] || fail "trained again: $(cat "$TMP/err")"

sed 's/longer .*/longer --epochs 3/' "$TMP/plan" >"$TMP/other"
expect 1 scripts/tune "$TMP/other" "$TMP/runs"
says "longer-1 was made with other arguments"
sed 's/greedy .*/greedy --beam-size 2/' "$TMP/plan" >"$TMP/other"
expect 1 scripts/tune --table "$TMP/other" "$TMP/runs"
says "greedy-1 was made with other arguments"
sed 's/^bleu .*/bleu --tokenize none --bogus/' "$TMP/plan" >"$TMP/other" # no scores, no table
expect 2 scripts/tune --table "$TMP/other" "$TMP/runs"
[ "$(wc -l <"$TMP/out")" -eq 2 ] || fail "a table without scores: $(cat "$TMP/out")"

# Another source is translated again without training. Another search with the same result has no difference.
head -n 9 "$TMP/tiny.en" >"$TMP/nine.en"
head -n 9 "$TMP/tiny.fr" >"$TMP/nine.fr"
sed "s/tiny.en/nine.en/; s/tiny.fr/nine.fr/; /^longer/d" "$TMP/plan" >"$TMP/other"
echo "translate same --mini-batch 1" >>"$TMP/other"
expect 1 scripts/tune "$TMP/other" "$TMP/runs"
says "base-1 has translated another source"
rm "$TMP"/runs/*/translation
expect 0 scripts/tune "$TMP/other" "$TMP/runs"
table 'same \| 2 \| [0-9.]+ \| [0-9.]+ \| \+0\.00 \| 1\.000 \| -'
[ "$(wc -l <"$TMP/runs/greedy-2/translation")" -eq 9 ] || fail "another source was not translated"

sed 's/^seeds.*/seeds 1 2 1/' "$TMP/plan" >"$TMP/other"
expect 1 scripts/tune "$TMP/other" "$TMP/runs"
says "'seed 1' is there twice"
sed "s/tiny.en/nine.en/; s/tiny.fr/nine.fr/; s/\$/$(printf '\r')/" "$TMP/plan" >"$TMP/other" # of Windows
expect 0 scripts/tune --table "$TMP/other" "$TMP/runs"
table 'base \| 2 \| .*'
sed '/^seeds/d' "$TMP/plan" >"$TMP/other"
expect 1 scripts/tune "$TMP/other" "$TMP/runs"
says "no line 'seeds ...'"
sed 's/^longer/base/; s/greedy/a-b/' "$TMP/plan" >"$TMP/other"
expect 1 scripts/tune "$TMP/other" "$TMP/runs"
says "'a-b' is no name"
expect 1 scripts/tune --jobs 0 "$TMP/plan"
says "--jobs wants a number"
expect 2 scripts/tune --jobs
says "--jobs wants a value"
expect 1 scripts/tune "$TMP/nothing"
says "no plan"

# attn-mt accepts the arguments of all lines of the plans in configs/.
pairs="--set data.train=data/train.tsv --set data.valid=data/valid.tsv"
for plan in configs/*.plan; do
    base=$(sed -n 's/#.*//; s/^base *//p' "$plan")
    sed 's/#.*//' "$plan" >"$TMP/lines"
    while read -r name arguments; do
        case $name in '' | source | reference | bleu | seeds) continue ;; esac
        case $name in
        base) set -- train $base ;;
        translate) set -- translate ${arguments#* } ;;
        *) set -- train $base $arguments ;;
        esac
        case $1 in train) set -- "$@" $pairs --dump-config ;; *) set -- "$@" --help ;; esac
        "$attn" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null || fail "$plan: $name: $(cat "$TMP/err")"
    done <"$TMP/lines"
done
