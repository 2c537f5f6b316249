#!/bin/sh
# train.sh - `attn-mt train`: outputs, validation, threads, resume, errors, schedules, divergence, damaged run
# folders.
set -u
. tests/cli/train.inc

# ---- one run, and the same with more threads ---------------------------------------------------------------

succeed a --threads 1
for file in best.safetensors last.safetensors last.state.safetensors train.jsonl curve.svg; do
    [ -s "$own/a/$file" ] || complain "no $file"
done
lines=$(wc -l <"$own/a/train.jsonl")
[ "$lines" -ge 7 ] || complain "only $lines validations"
for key in update epoch seconds tokens_per_second train_loss valid_loss valid_bleu; do
    [ "$(grep -c "\"$key\": [0-9]" "$own/a/train.jsonl")" -eq "$lines" ] || complain "train.jsonl lacks $key"
done
# The best model has the lowest loss; the learning rate is halved after two validations without a new best.
succeed plateau --set train.valid_every=1 --set train.decay_patience=2 --set train.learning_rate=0.05 \
    --set train.warmup=0
awk 'function number(key) { # of this line
        match($0, "\"" key "\": [^,]*")
        return substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4) + 0
    }
    BEGIN { factor = 1 }
    {
        loss = number("valid_loss")
        better = NR == 1 || loss < least
        if (better != /"best": true/ || number("learning_rate") / (0.05 * factor) - 1 > 1e-9 ||
            number("learning_rate") / (0.05 * factor) - 1 < -1e-9) print "line " NR
        if (better) least = loss
        stalled = better ? 0 : stalled + 1
        if (stalled == 2) { factor /= 2; stalled = 0 }
    }
    END { if (factor > 0.25) print "hardly any cut" }' "$own/plateau/train.jsonl" >"$own/out"
[ -s "$own/out" ] && complain "best models and cuts of the learning rate: $(cat "$own/out")"
state_of a >"$own/state.a"
[ -s "$own/state.a" ] || complain "the training state is empty"
for threads in 2 3; do
    succeed threads$threads --threads $threads
    same_models "$threads threads" a threads$threads
    state_of threads$threads >"$own/state.b"
    cmp "$own/state.a" "$own/state.b" || complain "$threads threads: the training state differs"
done
for model in best last; do
    "$ATTN_MT" inspect "$own/a/$model.safetensors" >"$own/out" 2>&1 ||
        complain "inspect $model: $(cat "$own/out")"
    echo 'go .' | "$ATTN_MT" translate --model "$own/a/$model.safetensors" >"$own/out" 2>"$own/err" ||
        complain "translate with $model: $(cat "$own/err")"
    [ "$(wc -l <"$own/out")" -eq 1 ] || complain "translate with $model: $(cat "$own/out")"
done
succeed other_seed --threads 2 --seed 2
cmp -s "$own/a/last.safetensors" "$own/other_seed/last.safetensors" && complain "the seed does not matter"

# ---- two trainings in one folder ---------------------------------------------------------------------------

start 1 locked
refuse 2 "is in use by process $trainer" locked --overwrite
kill -s KILL $trainer 2>/dev/null
wait $trainer 2>/dev/null
succeed locked --resume # the lock ends with its process
same_models "after a lock" a locked

# ---- resume, overwrite, and their errors -------------------------------------------------------------------

cp "$own/a/last.safetensors" "$own/before"
succeed a --resume # a finished run: no update
grep -q 'resume   the run is finished, all epochs are done: 4 epochs' "$own/err" &&
    grep -q 'to train longer: --resume --epochs 8' "$own/err" || complain "finished: $(cat "$own/err")"
# A finished run is not validated again, even without its log.
cp -R "$own/a" "$own/unlogged"
rm "$own/unlogged/train.jsonl"
succeed unlogged --resume
grep -q 'train nan' "$own/err" && complain "validated again: $(cat "$own/err")"
grep -q '^done in' "$own/err" && ! grep -q 'tokens/s' "$own/err" ||
    complain "speed of what was not trained: $(cat "$own/err")"
cmp "$own/a/last.safetensors" "$own/before" || complain "resuming a finished run changes the model"
succeed longer --set train.epochs=2 --threads 2
succeed longer --resume
# The extra validation at the end of the first part does not change the training.
cmp "$own/a/last.safetensors" "$own/longer/last.safetensors" ||
    complain "resumed with more epochs: another model"
state_of longer >"$own/state.b"
cmp "$own/state.a" "$own/state.b" || complain "resumed with more epochs: the training state differs"
refuse 2 'already holds a trained model' a
grep -q '^hint: .*--resume.*--overwrite.*--run' "$own/err" || complain "no hint: $(cat "$own/err")"
cmp "$own/a/last.safetensors" "$own/before" || complain "a refused run changes the model"
refuse 2 'exclude each other' a --resume --overwrite
refuse 2 'the name of the folder is empty' a --run ''
refuse 2 'nothing to resume' nowhere --resume
[ ! -e "$own/nowhere" ] || complain "a folder for nothing"
grep -q '^hint: train without --resume' "$own/err" || complain "no hint: $(cat "$own/err")"
touch "$own/file"
"$ATTN_MT" train "$own/train.tsv" --run "$own/file/run" 2>"$own/err"
[ $? -eq 1 ] && head -n 1 "$own/err" | grep -q "^attn-mt: cannot create folder '$own/file'" ||
    complain "a folder that cannot be made is noticed late: $(cat "$own/err")"
mkdir "$own/alone"
cp "$own/a/best.safetensors" "$own/alone"
for resume in --no-resume --resume; do
    refuse 2 "'$own/alone'" alone $resume
    grep -q "^hint: no training state .*: --init $own/alone/best.safetensors .*--overwrite" "$own/err" ||
        complain "a model without its training state: $(cat "$own/err")"
done
mv "$own/longer/best.safetensors" "$own/best"
refuse 1 'the best model so far, is missing' longer --resume
grep -q "^hint: copy '$own/longer/last.safetensors'" "$own/err" ||
    complain "no hint: $(cat "$own/err")"
mv "$own/best" "$own/longer/best.safetensors"
refuse 2 'train.learning_rate was 0.01, now it is 0.02' a --resume --set train.learning_rate=0.02
refuse 2 'model.hidden was 16, now it is 17' a --resume --set model.hidden=17
refuse 2 'text.bpe_merges was 150, now it is 151' a --resume --set text.bpe_merges=151
refuse 2 'train.seed was 1, now it is 5' a --resume --seed 5
refuse 2 'train.average was 0.001, now it is 0' a --resume --set train.average=0
sed '7s/.*/Go away.	Va-t-en./' "$own/train.tsv" >"$own/changed.tsv"
refuse 2 'training data differ from those' a --resume --set data.train="$own/changed.tsv"
cp "$own/train.tsv" "$own/moved.tsv"
succeed a --resume --set data.train="$own/moved.tsv" # the same data under another name
succeed linear --set train.schedule=linear --set train.epochs=1
refuse 2 'falls to 0 at the end of a run that has none' endless --set train.schedule=linear \
    --set train.epochs=0 --set train.max_updates=0 --set train.max_minutes=1
linear="--resume --set train.schedule=linear"
# shellcheck disable=SC2086  # the arguments are words
{
    refuse 2 'train.schedule was "plateau", now it is "linear"' a $linear
    succeed linear $linear --epochs 1
    grep -q 'falls to 0 at the new end' "$own/err" && complain "the end is the same: $(cat "$own/err")"
    succeed linear $linear --epochs 2 # another end is another schedule: a warning
    grep -q 'falls to 0 at the new end' "$own/err" || complain "a longer linear run: $(cat "$own/err")"
    tail -n 1 "$own/linear/train.jsonl" | grep -q '"epoch": 2,' || complain "the run is not longer"
    succeed linear $linear --epochs 1 # no update
    grep -q 'the run is finished' "$own/err" || complain "an earlier end: $(cat "$own/err")"
    grep -q 'falls to 0 at the new end' "$own/err" && complain "no end to come: $(cat "$own/err")"
}
refuse 2 'train.schedule was "linear", now it is "plateau"' linear --resume

# --overwrite starts a new run and removes the old state. A run that cannot start does not change the old run.
succeed over --set train.epochs=1 --seed 3
refuse 1 'missing.codes' over --overwrite --set text.bpe_codes="$own/missing.codes"
succeed over --resume --set train.epochs=1 --seed 3
wild="--set train.learning_rate=1e9 --set train.weight_decay=1 --set train.warmup=0"
# shellcheck disable=SC2086  # the arguments are words
refuse 4 'far above the 5.' over --overwrite $wild --set train.valid_every=0 --set train.save_minutes=5
refuse 2 'nothing to resume' over --resume --set train.epochs=2 --seed 3
succeed over --overwrite
same_models "overwritten" a over

# ---- bad configurations and data ---------------------------------------------------------------------------

refuse 1 'missing.tsv' new --set data.train="$own/missing.tsv"
refuse 1 'missing.tsv' new --set data.valid="$own/missing.tsv"
refuse 2 'no training data is configured' new --set data.train=
refuse 2 'no validation data is configured' new --set data.valid=
grep -q '^hint: .*data.held_out' "$own/err" || complain "no hint: $(cat "$own/err")"
: >"$own/empty.tsv"
refuse 3 'empty.tsv' new --set data.train="$own/empty.tsv"
refuse 3 'empty.tsv' new --set data.valid="$own/empty.tsv"
refuse 3 'max_length' new --set data.max_length=1
refuse 2 'learning_rate' new --set train.learning_rate=fast
refuse 2 'model.decoder.start' new --set model.decoder.start=final
refuse 1 "cannot find 'extra'" new extra
refuse 1 "missing.json" new --config "$own/missing.json"
printf '{"train": {"epochs": 3,}}\n' >"$own/bad.json"
refuse 2 'bad.json' new --config "$own/bad.json"
: >"$own/file"
refuse 1 "$own/file" file
[ ! -e "$own/new/best.safetensors" ] || complain "a refused run leaves a model"

# Training accepts the output of --dump-config.
for kind in full minimal; do
    "$ATTN_MT" train --config "$own/base.json" --dump-config=$kind >"$own/dump.json" 2>"$own/err" ||
        complain "--dump-config=$kind: $(cat "$own/err")"
    "$ATTN_MT" train --config "$own/dump.json" --dump-config=$kind >"$own/again.json" 2>"$own/err" ||
        complain "--dump-config=$kind fed back: $(cat "$own/err")"
    [ -s "$own/dump.json" ] && cmp "$own/dump.json" "$own/again.json" ||
        complain "--dump-config=$kind is not read back"
done
[ "$(wc -c <"$own/again.json")" -lt "$("$ATTN_MT" train --dump-config | wc -c)" ] ||
    complain "minimal is not smaller"
for config in configs/*.json; do
    "$ATTN_MT" train --config "$config" --dump-config >"$own/out" 2>"$own/err" ||
        complain "$config: $(cat "$own/err")"
done
refuse 2 'model.decoder.start' new --dump-config --set model.decoder.start=final

# ---- schedules and options that change the result ----------------------------------------------------------

# train.schedule=auto depends on whether the end is known; a resumed run keeps its schedule.
rm -rf "$own/change"
auto="--set train.schedule=auto --max-minutes 1"
# shellcheck disable=SC2086  # the arguments are words
{
    succeed change $auto --epochs 0 --max-updates 4 --valid-every 1 --warmup 0
    rates=$(sed 's/.*"learning_rate": \([^,]*\),.*/\1/' "$own/change/train.jsonl" | tr '\n' ' ')
    [ "$rates" = "0.01 0.0075 0.005 0.0025 " ] || complain "learning rates up to a known end: $rates"
    grep -q 'rate  *falls to 0 .*train.schedule=linear' "$own/err" || complain "no rule: $(cat "$own/err")"
    refuse 2 'train.schedule was "linear", now it is "inverse_sqrt"' change $auto --resume --epochs 0
    rm -rf "$own/change"
    succeed change $auto --epochs 0 --max-minutes 0.0001
    grep -q 'no known end: train.schedule=inverse_sqrt' "$own/err" || complain "no rule: $(cat "$own/err")"
}

previous=
for change in train.schedule=constant train.schedule=inverse_sqrt train.schedule=linear train.accumulate=1 \
    train.average=0 train.clip=0.1 train.weight_decay=0.1 train.batch_unit=tokens train.label_smoothing=0 \
    model.layer_norm=true model.decoder.style=bahdanau text.tokenizer=word; do
    rm -rf "$own/change"
    succeed change --set train.epochs=1 --set $change
    sum=$(cksum <"$own/change/last.safetensors")
    case $previous in *"[$sum]"*) complain "$change makes no difference" ;; esac
    previous="$previous[$sum]"
done
rm -rf "$own/change"
succeed change --set train.max_updates=3
grep -q '"update": 3,' "$own/change/train.jsonl" || complain "max_updates: $(cat "$own/change/train.jsonl")"
rm -rf "$own/change"
succeed change --set train.epochs=0 --set train.max_updates=4 --set train.valid_every=1 \
    --set train.schedule=linear --set train.warmup=0
rates=$(sed 's/.*"learning_rate": \([^,]*\),.*/\1/' "$own/change/train.jsonl" | tr '\n' ' ')
[ "$rates" = "0.01 0.0075 0.005 0.0025 " ] || complain "learning rates of 4 updates: $rates"
rm -rf "$own/change"
# The learning rate is too small to change a weight.
succeed change --set train.epochs=50 --set train.patience=1 --set train.learning_rate=1e-30 \
    --set train.average=0 --set train.valid_every=2
[ "$(wc -l <"$own/change/train.jsonl")" -lt 100 ] || complain "patience does not end the run"
succeed quiet --quiet --set train.epochs=1
[ ! -s "$own/err" ] || complain "--quiet says something"

# ---- divergence --------------------------------------------------------------------------------------------

# A loss far above the first one ends the run before a save, although all numbers are finite. The message
# names the cure. The learning rate of `slowly` grows: the saved models stay.
slowly="--set train.learning_rate=3e8 --set train.warmup=1000000000"
# shellcheck disable=SC2086  # the arguments are words
{
    refuse 4 'far above the 5.' diverged --set train.learning_rate=1e9 --set train.warmup=0
    grep -q '^hint: lower train.learning_rate (1e+09)' "$own/err" || complain "no cure: $(cat "$own/err")"
    [ ! -e "$own/diverged/last.safetensors" ] || complain "a diverged model is saved"
    refuse 4 'far above the 5.' diverged $wild
    refuse 4 'the validation loss is' diverged $wild --set train.valid_every=1
    refuse 4 'loss is' diverged $slowly
}
grep -q '^hint: .*last good model is kept' "$own/err" || complain "no word of the model: $(cat "$own/err")"
for model in best last; do
    "$ATTN_MT" translate --model "$own/diverged/$model.safetensors" </dev/null >/dev/null 2>"$own/err" ||
        complain "after a divergence: $(cat "$own/err")"
done
# shellcheck disable=SC2086  # the arguments are words
succeed diverged --resume $slowly --set train.max_updates=1
refuse 4 'is not finite at update 1' zeros --set model.word_dropout=0.95 --set model.layer_norm=true
grep -q '^hint: .*model.word_dropout (0.95)' "$own/err" || complain "no cure: $(cat "$own/err")"

# ---- a run directory that changes --------------------------------------------------------------------------

# The lock file is deleted: the run stops.
start 1 robbed --set train.epochs=0
rm -f "$own/robbed/LOCK"
wait $trainer
status=$?
[ $status -eq 1 ] && grep -q 'that this process locked: no more files are written' "$own/err" ||
    complain "without its lock: exit code $status: $(cat "$own/err")"
rm -rf "$own/robbed"
start 1 robbed --set train.epochs=0
mv "$own/robbed" "$own/away"
mkdir "$own/robbed"
wait $trainer
status=$?
[ $status -eq 1 ] && [ ! -e "$own/robbed/last.safetensors" ] ||
    complain "in a folder made anew: exit code $status: $(cat "$own/err")"
mkdir "$own/linked"
echo precious >"$own/precious"
ln -s "$own/precious" "$own/linked/LOCK"
refuse 1 'is a symbolic link' linked
[ "$(cat "$own/precious")" = precious ] || complain "the target of a link LOCK is overwritten"
(cd "$own" && "$ATTN_MT" train --config base.json --run r --quiet --set train.max_updates=1) \
    >"$own/out" 2>"$own/err" ||
    complain "a folder of one letter: $(cat "$own/err")"

# A truncated log, and a pipe in place of a file: an error with a hint, no waiting.
rm -rf "$own/logged"
succeed logged --set train.max_updates=1 --set train.epochs=0
printf '{"update": 1, "ep' >"$own/logged/train.jsonl"
refuse 3 'train.jsonl: line 1' logged --resume --set train.max_updates=2 --set train.epochs=0
grep -q '^hint: .*move the file away' "$own/err" || complain "a log that is cut off: $(cat "$own/err")"
rm "$own/logged/train.jsonl"
for file in train.jsonl last.state.safetensors last.safetensors best.safetensors curve.svg; do
    [ ! -f "$own/logged/$file" ] || mv "$own/logged/$file" "$own/logged/kept"
    mkfifo "$own/logged/$file"
    refuse 3 'not a regular file' logged --resume --set train.max_updates=2 --set train.epochs=0
    rm "$own/logged/$file"
    [ ! -f "$own/logged/kept" ] || mv "$own/logged/kept" "$own/logged/$file"
done
succeed logged --resume --set train.max_updates=2 --set train.epochs=0

# A vocabulary too large for a model file is refused before the first update.
awk 'BEGIN { w = "abcdefghij"; for (i = 0; i < 4; i++) w = w w; w = w "abcdefghijklmnopqrstuvwxyz"
    for (i = 100000; i < 192000; i++) print w i "\tx" }' </dev/null >"$own/huge.tsv"
refuse 3 'header would exceed 16 MiB' huge --set data.train="$own/huge.tsv" --set text.tokenizer=word \
    --set train.max_updates=1
grep -q '^epoch' "$own/err" && complain "a vocabulary too large is found after training"
# A vocabulary with more tokens than readers accept is also refused.
awk 'BEGIN { for (i = 0; i < 1050000; i++) printf "%x%s", i, i % 50 == 49 ? "\tx\n" : " " }' </dev/null \
    >"$own/huge.tsv"
refuse 3 'its vocabulary could not be read back' huge --set data.train="$own/huge.tsv" \
    --set text.tokenizer=word --set model.embedding=2 --set train.max_updates=1
grep -q '^hint: .*text.max_vocab' "$own/err" || complain "no cure: $(cat "$own/err")"
awk -F'\t' '{ print $2 "\t" $1 }' "$own/huge.tsv" >"$own/swapped.tsv"
refuse 3 'its vocabulary could not be read back' huge --set data.train="$own/swapped.tsv" \
    --set text.tokenizer=word --set text.joint=false --set model.tie=none --set model.embedding=2 \
    --set train.max_updates=1
rm "$own/huge.tsv" "$own/swapped.tsv"

# A resume with other validation data is refused; a new run does not keep the old log.
head -n 23 "$own/valid.tsv" >"$own/valid23.tsv"
succeed over --overwrite --set train.epochs=1
refuse 2 'validation data differ from those' over --resume --set data.valid="$own/valid23.tsv"
head -c 3000 "$own/over/last.state.safetensors" >"$own/cut"
mv "$own/cut" "$own/over/last.state.safetensors"
refuse 3 "hint: no training state can be read there: --init $own/over/best.safetensors" over --resume
rm -f "$own/over/last.state.safetensors"
start 0 over --overwrite --set train.epochs=0 --set train.valid_every=1000000
kill -s KILL $trainer
wait $trainer 2>/dev/null
[ ! -e "$own/over/train.jsonl" ] || complain "--overwrite keeps the log of the old run"
[ ! -e "$own/over/best.safetensors" ] || complain "--overwrite keeps the model of the old run"

# Two signals within a moment are one; a stop before the first validation says that there is no model yet.
rm -rf "$own/stopped"
"$ATTN_MT" train --config "$own/base.json" --run "$own/stopped" --set train.epochs=0 \
    --set train.valid_every=1000000 >"$own/out" 2>"$own/err" </dev/null &
trainer=$!
while kill -0 $trainer 2>/dev/null && [ ! -e "$own/stopped/last.state.safetensors" ]; do sleep 0.05; done
kill -s INT $trainer
sleep 0.02
kill -s INT $trainer 2>/dev/null
wait $trainer
status=$?
[ $status -eq 130 ] && grep -q 'everything is saved.*, but no model was validated yet' "$own/err" ||
    complain "two signals at once: exit code $status: $(cat "$own/err")"

# Another rate is another run, which may begin with these weights.
refuse 2 'train.learning_rate was 0.01, now it is 0.02' a --resume --set train.learning_rate=0.02
grep -q '^hint: .*--init DIR/best.safetensors --run OTHER' "$own/err" ||
    complain "no --init: $(cat "$own/err")"

# The rest of held-out pairs has none of their hashes.
"$ATTN_MT" train data/train.tsv --languages en-fr --set data.held_out=0.2 --dump-pairs >"$own/rest.tsv" \
    2>"$own/err" || complain "no pairs: $(cat "$own/err")"
"$ATTN_MT" train "$own/rest.tsv" --languages en-fr --run "$own/rest" --set data.held_out=0.22 \
    --set train.max_updates=1 >"$own/out" 2>"$own/err" && complain "a held-out rest is trained on"
grep -q 'data.held_out = 0.22 holds out' "$own/err" || complain "held out: $(cat "$own/err")"
grep -q '^hint: .*data.valid=FILE' "$own/err" || complain "no cure: $(cat "$own/err")"

# What the log says of validations and of the time limit.
rm -rf "$own/said"
succeed said --set train.schedule=auto --set train.max_minutes=5 --epochs 1
grep -q 'validations translate greedily' "$own/err" || complain "greedy: $(cat "$own/err")"
grep -q 'train.schedule=linear; not at the end of train.max_minutes' "$own/err" ||
    complain "max_minutes: $(cat "$own/err")"
grep -q 'not finished' "$own/err" && complain "all epochs are done: $(cat "$own/err")"
rm -rf "$own/short"
succeed short --set train.max_minutes=0.0001 --epochs 100
grep -q '^not finished: .* [0-9]*% of it; .*--resume --set train.max_minutes=2$' "$own/err" ||
    complain "the time is over: $(cat "$own/err")"

# Pipes are refused as data. Before training starts, a signal ends the program at once.
mkfifo "$own/pipe"
refuse 2 'is not a regular file' new --set data.train="$own/pipe"
refuse 2 'is not a regular file' new --set data.valid="$own/pipe"
"$ATTN_MT" train --config "$own/pipe" --run "$own/new" 2>"$own/err" </dev/null & # waits for a writer
trainer=$!
sleep 0.5
kill -s TERM $trainer
(sleep 30 && kill -s KILL $trainer) 2>/dev/null &
guard=$!
wait $trainer 2>/dev/null
status=$?
kill $guard 2>/dev/null
[ $status -eq 143 ] || complain "SIGTERM before training: exit code $status: $(cat "$own/err")"

[ $bad -eq 0 ]
