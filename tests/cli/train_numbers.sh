#!/bin/sh
# train_numbers.sh - train.jsonl of a training with learning rate 0: losses, norms and rates follow from the
# configuration.
set -eu
. tests/cli/tiny_model.inc

tail -n 12 data/valid.tsv >"$TMP/pairs.tsv"
cat >"$TMP/still.json" <<END
{ // one update an epoch, of all pairs, which are also those of the validation
  "data": {"train": ["$TMP/pairs.tsv"], "valid": ["$TMP/pairs.tsv"]},
  "text": {"bpe_merges": 50, "min_count": 1},
  "model": {"embedding": 16, "hidden": 16, "dropout_embedding": 0, "dropout_layers": 0, "dropout_encoder": 0,
            "dropout_output": 0},
  "train": {"epochs": 4, "batch_size": 12, "valid_every": 1, "learning_rate": 0, "schedule": "constant",
            "warmup": 0, "label_smoothing": 0, "clip": 0, "samples": 0}
}
END

# still RUN ARGUMENT...
still() {
    run=$1
    shift
    expect 0 "$attn" train --config "$TMP/still.json" --run "$TMP/$run" --threads 1 "$@"
}

# alike WHAT FACTORS FILE: the numbers of FILE are its first number times FACTORS, except for rounding
alike() {
    what=$1 factors=$2
    awk -v factors="$factors" 'BEGIN { count = split(factors, factor, " ") }
        NR == 1 { first = $1 }
        { apart = $1 / (factor[NR] * first) - 1 }
        apart > 1e-5 || apart < -1e-5 { wrong = 1 }
        END { exit wrong || NR != count }' "$3" || fail "$what: $(tr '\n' ' ' <"$3")"
}

# The training loss since the last validation equals the validation loss.
still plain
{
    column plain train_loss
    column plain valid_loss
} >"$TMP/losses"
alike "losses" "1 1 1 1 1 1 1 1" "$TMP/losses"
column plain gradient_norm >"$TMP/norms"
alike "norms" "1 1 1 1" "$TMP/norms"

# Other masks in each update.
still dropout --set model.dropout_embedding=0.3
[ "$(column dropout train_loss | cut -c 1-6 | sort -u | wc -l)" -eq 4 ] ||
    fail "dropout: $(column dropout train_loss)"

# The gradient of accumulated batches equals that of one large batch; the last update of an epoch can be
# smaller.
still whole --max-updates 1
still parts --max-updates 1 --set train.batch_size=5 --set train.accumulate=3
for key in train_loss gradient_norm; do
    {
        column whole $key
        column parts $key
    } >"$TMP/both"
    alike "accumulated $key" "1 1" "$TMP/both"
done
still left --set train.batch_size=5 --set train.accumulate=2 --epochs 2
[ "$(column left epoch | tr '\n' ' ')" = "1 1 2 2 " ] || fail "epochs of two updates: $(column left epoch)"

# The second of four updates translates backwards; the fourth is after the half.
still back --set train.both_directions=0.5
column back train_loss | sed '2d' >"$TMP/there"
alike "there" "1 1 1" "$TMP/there"
column back train_loss | sed '3,$d' >"$TMP/returned"
! (alike "back" "1 1" "$TMP/returned") >"$TMP/out" || fail "no update goes back"

# The learning rate of each update.
moving="--set train.learning_rate=0.001 --epochs 6 --set train.warmup=3"
# shellcheck disable=SC2086  # the arguments are words
{
    still warming $moving
    column warming learning_rate >"$TMP/rates"
    alike "a warm-up of 3" "1 2 3 3 3 3" "$TMP/rates"
    still falling $moving --set train.schedule=linear
    column falling learning_rate >"$TMP/rates"
    alike "a linear schedule" "1 2 3 2.25 1.5 0.75" "$TMP/rates"
}

# The average starts with the initial weights (0 for a bias) and adds 9/11 of the weights after the first
# update.
for average in 0 0.001; do
    still mean$average --max-updates 1 --set train.learning_rate=0.001 --set train.average=$average
    "$attn" inspect --tensor output.bias "$TMP/mean$average/last.safetensors" | tr '\t' '\n' >"$TMP/$average"
done
paste "$TMP/0" "$TMP/0.001" | awk '{ apart = $2 - 9 / 11 * $1 }
    apart > 1e-8 || apart < -1e-8 { wrong = 1 }
    END { exit wrong || NR < 9 }' || fail "average: $(paste "$TMP/0" "$TMP/0.001" | head -n 3)"

# A lower-case model is scored with lower-case references.
awk -F '\t' '{ print $1 "\t" toupper($2) }' "$TMP/pairs.tsv" >"$TMP/upper.tsv"
for valid in pairs upper; do
    still of_$valid --set data.valid="$TMP/$valid.tsv" --set text.lowercase=true --set train.stop_on=chrf \
        --set train.learning_rate=0.02 --max-updates 150 --epochs 0 --set train.valid_every=150
    for score in bleu chrf; do column of_$valid valid_$score; done >"$TMP/scores_$valid"
done
grep -q '^0$' "$TMP/scores_pairs" && fail "no scores: $(cat "$TMP/scores_pairs")"
same "case counts" "$TMP/scores_pairs" "$TMP/scores_upper"

# With as many samples as sentences, each sentence occurs once; the loss is that of all sentences.
still few --set train.valid_limit=3 --set train.samples=5 --max-updates 1
grep '^  source ' "$TMP/err" | sort -u >"$TMP/sources"
[ "$(grep -c '^  source ' "$TMP/err")" -eq 3 ] && [ "$(wc -l <"$TMP/sources")" -eq 3 ] ||
    fail "samples: $(cat "$TMP/err")"
{
    column plain valid_loss | head -n 1
    column few valid_loss
} >"$TMP/both"
alike "loss of all sentences" "1 1" "$TMP/both"
