#!/bin/sh
# promise_typos.sh - a typo is an error, and the message names the nearest known name.
set -eu
. tests/cli/tiny_model.inc

# Commands.
expect 2 "$attn" transalte
says "did you mean 'attn-mt translate'?"
expect 2 "$attn" --verison
says "did you mean '--version'?"
expect 2 "$attn" help trian
says "did you mean 'attn-mt train'?"

# Options.
expect 2 "$attn" translate --bean-size 3
says "did you mean '--beam-size'?"

# Keys of the configuration, on the command line and in a file.
expect 2 "$attn" train --set train.learning_rat=1
says "unknown key 'train.learning_rat'"
says "did you mean 'train.learning_rate'?"
printf '{\n  "train": {\n    "epohcs": 3}}\n' >"$TMP/bad.json"
expect 2 "$attn" train --config "$TMP/bad.json"
says "epohcs"
says "did you mean 'train.epochs'?"

# A key in the wrong section.
for key in normalize:text.normalize run.normalize:text.normalize train.beam_size:decode.beam_size; do
    expect 2 "$attn" train --set "${key%:*}=1"
    says "did you mean '${key#*:}'?"
done

# Flags of earlier releases.
while read -r command old new; do
    expect 2 "$attn" "$command" "$old"
    says "unknown option '$old'"
    says "did you mean '$new'?"
done <<END
train --after-epochs --epochs
train --after-updates --max-updates
train --disp-freq --log-every
train --model-dir --run
train --pretrained-model --init
train --cpu-threads --threads
train --layers --encoder-layers
translate --normalize --length-penalty
translate --max-length --max-input-length
translate --quiet-translation --quiet
translate --models --model
translate --references --reference
translate --tok --tokenize
translate --level --alignment-level
heatmap --alignment-level --level
score --word-scores --per-word
END
