#!/bin/sh
# own_data.sh - `attn-mt train FILE`: chooses sizes, validation pairs and languages;
# short targets, resume, --init.
set -eu
. tests/cli/tiny_model.inc

# Trains in a second; the rule chooses the other values.
small="--set model.hidden=16 --set model.embedding=16 --set train.samples=0 --threads 1"
train() { # STATUS RUN ARGUMENT...
    expected=$1 run=$2
    shift 2
    # shellcheck disable=SC2086  # words
    expect "$expected" "$attn" train --run "$TMP/$run" "$@" $small
}
silent_on() { # TEXT
    ! grep -qF -e "$1" "$TMP/err" || fail "'$1' on standard error: $(cat "$TMP/err")"
}
member() { column "$1" "$2" | tail -n 1; } # RUN KEY: of its last validation

head -n 120 tests/cli/german_numbers.tsv >"$TMP/plain.tsv"
{ printf 'en\tde\n' && cat "$TMP/plain.tsv"; } >"$TMP/header.tsv"
awk -F'\t' '{ print $1 > A; print $2 > B }' A="$TMP/two.en" B="$TMP/two.de" "$TMP/plain.tsv"

# ---- one command -------------------------------------------------------------------------------------------

train 0 one "$TMP/plain.tsv" --epochs 3
says 'held out a share of 0.17 of the pairs'
says 'sizes    530 words a side'
for key in text.bpe_merges train.batch_size train.warmup model.dropout_embedding train.bpe_dropout_target \
    train.stop_on=chrf model.decoder.bidirectional=true; do
    says "$key"
done
silent_on 'train.epochs='
silent_on 'model.hidden='
says ' validation pairs, held out of the file'
says 'columns  source and target; --languages en-de names'
says 'rate     falls to 0 at the end of the training: train.schedule=linear'
grep -q '"valid_chrf": [0-9]' "$TMP/one/train.jsonl" || fail "no chrF: $(cat "$TMP/one/train.jsonl")"
awk 'length > 80 && /^epoch/ { bad = 1; print } END { exit bad }' "$TMP/err" || fail "more than 80 columns"
grep -q '^epoch 3 update .* chrF ' "$TMP/err" || fail "no chrF in the log: $(cat "$TMP/err")"
expect 0 "$attn" inspect "$TMP/one/best.safetensors"
grep -q 'source_language.*source' "$TMP/out" || fail "languages: $(cat "$TMP/out")"
expect 0 "$attn" score -m "$TMP/one/best.safetensors" "$TMP/header.tsv" # its own languages
says "columns  en and de, as '$TMP/header.tsv' says"
silent_on 'these pairs are'

# Each reason has its value.
train 0 constant "$TMP/plain.tsv" --set train.schedule=constant --max-updates 1
silent_on 'to 0 at the end'
says 'train.learning_rate=0.003'

# Many pairs with placeholders: a hint, unless the option is given.
awk -F'\t' '{ print "%s " $1 "\t%s " $2 }' "$TMP/plain.tsv" >"$TMP/marked.tsv"
train 0 marked "$TMP/marked.tsv" --max-updates 1
says 'hint     100 % of the pairs have placeholders; data.placeholders=true is better for'
train 0 reserved "$TMP/marked.tsv" --max-updates 1 --set data.placeholders=true
silent_on 'of the pairs have placeholders'
expect 0 "$attn" inspect "$TMP/reserved/last.safetensors"
grep -q '^  reserved' "$TMP/out" || fail "no reserved tokens: $(cat "$TMP/out")"
expect 0 "$attn" inspect "$TMP/marked/last.safetensors"
! grep -q '^  reserved' "$TMP/out" || fail "reserved tokens: $(cat "$TMP/out")"

# BLEU counts characters of a language without spaces, in training and afterwards.
awk -F'\t' '{ print $1 "\t\344\270\200\344\272\214" NR }' "$TMP/plain.tsv" >"$TMP/chinese.tsv"
train 0 chinese "$TMP/chinese.tsv" --languages en-zh --epochs 1
says 'train.bleu_tokenizer=zh'
cut -f 1 "$TMP/chinese.tsv" >"$TMP/chinese.en"
cut -f 2 "$TMP/chinese.tsv" >"$TMP/chinese.zh"
for asked in auto:zh 13a:13a char:char; do
    expect 0 "$attn" translate -m "$TMP/chinese/best.safetensors" -r "$TMP/chinese.zh" \
        --tokenize "${asked%:*}" --report "$TMP/report" "$TMP/chinese.en"
    grep -q "tok:${asked#*:}" "$TMP/report" || fail "--tokenize $asked: $(cat "$TMP/report")"
done
expect 0 "$attn" translate -m "$TMP/chinese/best.safetensors" -r "$TMP/chinese.zh" "$TMP/chinese.en"
says 'tok:zh'
train 0 spaces "$TMP/chinese.tsv" --languages en-ja --epochs 1 --set train.bleu_tokenizer=13a
silent_on 'train.bleu_tokenizer'

# Number words are spelt.
train 3 nothing "$TMP/plain.tsv" --set text.tokenizer=word
says 'no word of the training pairs occurs 2 times (text.min_count): the vocabulary is empty'
[ ! -e "$TMP/nothing/best.safetensors" ] || fail "a model of no words"

train 3 nothing "$TMP/plain.tsv" --set text.max_vocab=4
says 'text.max_vocab = 4 leaves room only for the 4 special tokens'

# Many characters below the minimum count are reported.
awk 'BEGIN {
    for (i = 0; i < 60; i++) {
        for (a = 0; a <= i % 12; a++) printf "a "
        printf "\t%c\n", 65 + i % 26
    }
}' >"$TMP/signs.tsv"
train 0 signs "$TMP/signs.tsv" --epochs 1 --set text.min_count=9
says '% of the target tokens are <unk>, with text.min_count=9'
! grep -q 'of the source tokens' "$TMP/err" || fail "what is known is called unknown: $(cat "$TMP/err")"

# The chosen configuration gives the same bytes in a run with --config.
"$attn" train "$TMP/plain.tsv" --epochs 3 --dump-config >"$TMP/chosen.json" 2>"$TMP/err"
# shellcheck disable=SC2086  # words
expect 0 "$attn" train --config "$TMP/chosen.json" $small --run "$TMP/by_hand" --set model.size=manual
silent_on 'sizes '
for tensors in one by_hand; do
    "$attn" translate --model "$TMP/$tensors/last.safetensors" "$TMP/two.en" >"$TMP/$tensors.out"
done
same "chosen and by hand" "$TMP/one.out" "$TMP/by_hand.out"
[ "$(member one valid_loss)" = "$(member by_hand valid_loss)" ] || fail "chosen and by hand: other losses"

# Text from Windows: line ends and byte-order marks are removed and reported, UTF-16 is refused.
{ printf '\357\273\277' && sed "s/\$/$(printf '\r')/" "$TMP/plain.tsv"; } >"$TMP/windows.tsv"
train 0 windows "$TMP/windows.tsv" --epochs 3
says 'removed the carriage return from 120 lines'
says 'removed the byte-order mark from 1 file'
[ "$(member one valid_loss)" = "$(member windows valid_loss)" ] || fail "line ends change the loss"
for start in '\377\376g\0' '\376\377\0g' '\342\0' '\0g'; do # marked or not, lower or upper byte first
    case $start in *'\0') rest='o\0\t\0v\0a\0\n\0' ;; *) rest='\0o\0\t\0v\0a\0\n' ;; esac
    # shellcheck disable=SC2059
    printf "$start$rest" >"$TMP/utf16.tsv"
    train 3 none "$TMP/utf16.tsv"
    says "'$TMP/utf16.tsv' is UTF-16, not UTF-8"
    says 'hint: iconv -f UTF-16 -t UTF-8'
done
expect 3 "$attn" translate --model "$TMP/one/best.safetensors" "$TMP/utf16.tsv"
says "is UTF-16, not UTF-8"
expect 3 "$attn" inspect "$TMP/utf16.tsv"
says "is UTF-16, not UTF-8"
expect 3 "$attn" bleu "$TMP/utf16.tsv" -i "$TMP/plain.tsv"
says "'$TMP/utf16.tsv' is UTF-16, not UTF-8"
says 'hint: iconv -f UTF-16 -t UTF-8'
expect 3 "$attn" train --config "$TMP/utf16.tsv" --dump-config
says "'$TMP/utf16.tsv' is UTF-16, not UTF-8"
expect 3 "$attn" bleu "$TMP/plain.tsv" <"$TMP/utf16.tsv"
says "'standard input' is UTF-16, not UTF-8"

# Another encoding is refused, but not a few invalid lines. Ids in the source column are refused.
iconv -f UTF-8 -t ISO-8859-1 "$TMP/plain.tsv" >"$TMP/latin1.tsv"
train 3 latin1 "$TMP/latin1.tsv"
says "of 120 pairs are not UTF-8, the first in line"
says 'hint: convert the file, if it is in Latin-1 with: iconv -f ISO-8859-1 -t UTF-8'
train 3 latin1 "$TMP/latin1.tsv" --set data.limit=100 # no further, but so far
says "of 100 pairs are not UTF-8, the first in line"
expect 0 "$attn" inspect "$TMP/latin1.tsv" # which shows what there is
grep -q 'pairs with invalid UTF-8' "$TMP/out" || fail "inspect: $(cat "$TMP/out")"
grep -q 'the file is in another encoding: convert the file' "$TMP/out" || fail "inspect: $(cat "$TMP/out")"
grep ü "$TMP/plain.tsv" | head -n 5 | iconv -f UTF-8 -t ISO-8859-1 | cat "$TMP/plain.tsv" - >"$TMP/some.tsv"
train 0 some "$TMP/some.tsv" --epochs 1
says 'repaired 5 pairs with invalid UTF-8'
awk -F '\t' '{ print NR "\t" $2 "\t" NR + 900 "\t" $1 }' "$TMP/plain.tsv" >"$TMP/ids.tsv"
train 3 ids "$TMP/ids.tsv" --languages de-en
says "has 4 columns, and in line 1 the de side is the number 1"
says 'hint: name all columns, '"'-'"' what is not read: --set data.columns=-,de,-,en'
expect 0 "$attn" inspect "$TMP/ids.tsv"
grep -q "found a number for the source, and more columns than are read, in 1 file ($TMP/ids.tsv: line 1)" \
    "$TMP/out" || fail "inspect: $(cat "$TMP/out")"
train 0 ids "$TMP/ids.tsv" --languages de-en --set data.columns=-,de,-,en --epochs 1
train 3 none "$TMP/ids.tsv"
says 'hint: name all columns, '"'-'"' what is not read: --set data.columns=-,source,-,target'
{ printf 'Nr\tDeutsch\tNotiz\tEnglisch\n' && cat "$TMP/ids.tsv"; } >"$TMP/unknown.tsv"
train 3 none "$TMP/unknown.tsv" --languages de-en
says "has 4 columns, and in line 2 the de side is the number 1"
train 2 none "$TMP/ids.tsv" --set data.columns=-,de,nl,en # which two?
says "is not one of the columns '-,de,nl,en'"
says '--languages'

train 2 none "$TMP/header.tsv" --languages fr-de
says "'$TMP/header.tsv' names en and de, --languages fr-de"

train 2 none "$TMP/plain.tsv" --languages fr-de --set data.source=fr --set data.target=en
says "--languages fr-de, but data.target is 'en'"

# Files on the command line replace data.train: an error if both are there, a message with a configuration.
train 2 none "$TMP/plain.tsv" --set data.train="$TMP/header.tsv"
says "training pairs are given twice: '$TMP/plain.tsv' as FILE, '$TMP/header.tsv' as data.train"
printf '{"data": {"train": ["%s"], "valid": ["%s"]}}' "$TMP/none.tsv" "$TMP/plain.tsv" >"$TMP/named.json"
train 0 instead "$TMP/plain.tsv" --config "$TMP/named.json" --max-updates 1
says "pairs    of '$TMP/plain.tsv', not of data.train"

# The rule does not apply with a configuration.
for config in configs/demo.json configs/d2l.json configs/multi30k.json; do
    expect 0 "$attn" train --config "$config" --dump-config=minimal
    silent_on 'sizes '
    silent_on 'held out'
    ! grep -q '"size"' "$TMP/out" || fail "$config has model.size"
done
expect 0 "$attn" train --config configs/demo.json --set model.size=auto --dump-config
says 'train.stop_on=chrf'
silent_on 'train.epochs='
expect 0 "$attn" train "$TMP/plain.tsv" --set text.tokenizer=word --dump-config
says ' model.hidden='
silent_on 'bpe_' # words stay whole
expect 0 "$attn" train "$TMP/plain.tsv" --set model.size=manual --dump-config
silent_on 'sizes '
# --set data.train=FILE is the same as FILE.
expect 0 "$attn" train "$TMP/plain.tsv" --dump-config
cp "$TMP/out" "$TMP/dumped"
cp "$TMP/err" "$TMP/messages"
expect 0 "$attn" train --set data.train="$TMP/plain.tsv" --dump-config
same "the configuration with data.train" "$TMP/dumped" "$TMP/out"
same "messages about data.train" "$TMP/messages" "$TMP/err"

# ---- languages ---------------------------------------------------------------------------------------------

languages() { # FILE SOURCE TARGET COLUMNS ARGUMENT...
    file=$1 source=$2 target=$3 columns=$4
    shift 4
    expect 0 "$attn" train "$file" --dump-config "$@"
    for pair in "source\": \"$source" "target\": \"$target" "columns\": \"$columns"; do
        grep -qF "\"$pair\"" "$TMP/out" || fail "$file $*: no $pair in $(head -n 12 "$TMP/out")"
    done
}
languages "$TMP/plain.tsv" source target source,target
languages "$TMP/header.tsv" en de en,de
says "columns  en and de, as '$TMP/header.tsv' says"
languages "$TMP/header.tsv" de en en,de --languages de-en
languages "$TMP/plain.tsv" de en de,en --languages de-en
{ printf 'id\tde\tnote\ten\n' && cat "$TMP/ids.tsv"; } >"$TMP/named-ids.tsv"
languages "$TMP/named-ids.tsv" de en -,de,-,en
languages "$TMP/named-ids.tsv" en de -,de,-,en --languages en-de
{ printf 'target\tsource\n' && cat "$TMP/plain.tsv"; } >"$TMP/neutral.tsv"
languages "$TMP/neutral.tsv" de en en,de --languages de-en
languages "$TMP/plain.tsv" de en en,de --languages de-en --set data.columns=en,de
languages "$TMP/ids.tsv" source target -,source,-,target --set data.columns=-,source,-,target
languages "$TMP/ids.tsv" de en -,de,-,en --set data.columns=-,de,-,en
languages "$TMP/ids.tsv" en fr -,fr,-,en --set data.columns=-,fr,-,en --set model.size=manual
languages "$TMP/two.{}" en de en,de --languages en-de
train 2 none "$TMP/two.{}"
says 'which languages does {}'
says 'hint: name them: --languages en-de'
for wrong in en en- -de en-en English-en en-de-fr; do
    train 2 none "$TMP/plain.tsv" --languages=$wrong
    says "does not name two languages"
done
train 2 none "$TMP/plain.tsv" --languages=en-en
says 'hint: to simplify or correct text of one language, give one side a private code'
says 'en:en-x-simple'
train 0 none "$TMP/plain.tsv" --languages=en:en-x-simple --dump-config
grep -q '"target": "en-x-simple"' "$TMP/out" || fail "a private code: $(cat "$TMP/out")"
# With a time limit a run could stop while it still trains both directions.
for limit in 0 5; do
    train 0 none "$TMP/plain.tsv" --languages en-fr --max-minutes $limit --dump-config
    both=$(grep -c '"both_directions": 0.33' "$TMP/out" || true)
    [ "$limit:$both" = 0:1 ] || [ "$limit:$both" = 5:0 ] || fail "--max-minutes $limit: both directions $both"
done
# Columns by name; a column of numbers is not Indonesian ("id").
awk -F '\t' '{ print (NR == 1 ? "id" : NR) "\t" $0 }' "$TMP/header.tsv" >"$TMP/numbered.tsv"
languages "$TMP/numbered.tsv" en de -,en,de
languages "$TMP/numbered.tsv" de en -,en,de --languages de-en
train 0 numbered "$TMP/numbered.tsv" --epochs 1
says 'left out 1 header line'
sed '1s/.*/key\tde\ten/' "$TMP/numbered.tsv" >"$TMP/keyed.tsv"
languages "$TMP/keyed.tsv" en de -,de,en --languages en-de
says "columns  de and en, as '$TMP/keyed.tsv' says"
languages "$TMP/keyed.tsv" de en -,de,en
says "columns  de and en, as '$TMP/keyed.tsv' says"
train 0 keyed "$TMP/keyed.tsv" --set data.source=en --set data.target=de --set data.columns=en,de --epochs 1
says 'left out 1 header line' # which comes before data.columns
# Another file has its columns in the other order.
awk -F '\t' '{ print $2 "\t" $1 }' "$TMP/header.tsv" >"$TMP/swapped.tsv"
train 0 swapped_valid "$TMP/header.tsv" --set data.valid="$TMP/swapped.tsv" --epochs 1
train 0 straight "$TMP/header.tsv" --set data.valid="$TMP/header.tsv" --epochs 1
[ "$(member swapped_valid valid_loss)" = "$(member straight valid_loss)" ] ||
    fail "the columns of a header are not read"

train 0 header "$TMP/header.tsv" --epochs 1
says 'left out 1 header line'
expect 0 "$attn" inspect "$TMP/header/best.safetensors"
grep -q 'target_language.*de' "$TMP/out" || fail "languages: $(cat "$TMP/out")"
train 0 both "$TMP/plain.tsv" --set data.held_out=0.5 --set data.valid="$TMP/header.tsv" --epochs 1
silent_on 'held out of the file' # validation pairs are given
train 1 none "$TMP/missing.tsv"
says "cannot find '$TMP/missing.tsv'"
# With data.limit, validation pairs are from the first pairs only.
train 0 limited "$TMP/plain.tsv" --set data.limit=40 --epochs 1
set -- $(sed -n 's/^data  *\([0-9]*\) training pairs.*; \([0-9]*\) validation pairs.*/\1 \2/p' "$TMP/err")
[ $(($1 + $2)) -eq 40 ] || fail "data.limit: $* of 40 pairs"
# Validation pairs and training pairs together are all pairs; each source is in one part.
pairs() { # KIND ARGUMENT...: in $TMP/KIND, without the line of names
    kind=$1
    shift
    expect 0 "$attn" train "$@" --dump-pairs="$kind"
    [ "$(head -n 1 "$TMP/out")" = "$names" ] || fail "first of the pairs: $(head -n 1 "$TMP/out")"
    sed 1d "$TMP/out" >"$TMP/$kind"
}
names=$(printf 'source\ttarget')
pairs valid "$TMP/plain.tsv" --set data.limit=40
[ "$(wc -l <"$TMP/valid")" -eq "$2" ] || fail "$(wc -l <"$TMP/valid") validation pairs, not $2"
pairs train "$TMP/plain.tsv" --set data.limit=40
head -n 40 "$TMP/plain.tsv" | sort >"$TMP/expected"
sort "$TMP/train" "$TMP/valid" | cmp -s - "$TMP/expected" || fail "pairs are missing: $(cat "$TMP/train")"
cut -f 1 "$TMP/valid" >"$TMP/sources"
! cut -f 1 "$TMP/train" | grep -qxF -f "$TMP/sources" || fail "a source is trained and validated on"
names=$(printf 'en\tde')
sed '4s/.*//' "$TMP/two.en" >"$TMP/odd.en"
sed '3s/e/\t/' "$TMP/two.de" >"$TMP/odd.de"
pairs valid "$TMP/plain.tsv" --languages en-de --set data.valid="$TMP/header.tsv"
same "validation pairs of a file" "$TMP/plain.tsv" "$TMP/valid"
pairs train "$TMP/odd.{}" --languages en-de --set data.valid="$TMP/header.tsv"
says "dropped 1 pair with an empty side ($TMP/odd.{}: line 4)"
paste "$TMP/two.en" "$TMP/two.de" | sed '3s/e/ /; 4d' >"$TMP/expected"
same "training pairs of two files" "$TMP/expected" "$TMP/train"
expect 2 "$attn" train --dump-pairs --dump-config
says '--dump-config and --dump-pairs exclude each other'
expect 2 "$attn" train --dump-pairs
says 'no training data is configured'
# A very long line.
{ cat "$TMP/header.tsv" && awk 'BEGIN { while (i++ < 1500) printf "a "; print "\tb" }'; } >"$TMP/endless.tsv"
train 0 endless "$TMP/plain.tsv" --set data.valid="$TMP/endless.tsv" --epochs 1
says 'left out 1 validation pair of more than 1000 tokens a side'
train 0 shortened "$TMP/endless.tsv" --set data.valid="$TMP/header.tsv" --epochs 1
says 'left out 1 training pair of more than 100 tokens a side (data.max_length)'
printf 'PK\003\004rest\n' >"$TMP/zip"
train 3 none "$TMP/zip"
says "'$TMP/zip' is a zip file, not a file of sentence pairs"
says "hint: unpack it: unzip FILE"
gzip -c "$TMP/one/best.safetensors" >"$TMP/packed"
expect 3 "$attn" inspect "$TMP/packed"
says "not a model file: it is a gzip file"

train 3 none "$TMP/plain.tsv" --set data.held_out=1e-9
says 'is held out for validation'
says 'hint: raise data.held_out'

# ---- resume ------------------------------------------------------------------------------------------------

# If no option depends on the end, a longer resumed run equals one long run.
constant="--set train.schedule=constant --set train.warmup=5 --set train.both_directions=0"
constant="$constant --set train.average=0.01 --set train.valid_every=0"
# shellcheck disable=SC2086  # words
{
    train 0 whole "$TMP/plain.tsv" --epochs 4 $constant
    train 0 parts "$TMP/plain.tsv" --epochs 2 $constant
}
train 0 parts "$TMP/plain.tsv" --resume # neither sizes nor schedule are chosen anew
says 'resume   the run is finished, all epochs are done: 2 epochs'
says 'to train longer: --resume --epochs 4'
silent_on 'sizes '
train 0 parts "$TMP/plain.tsv" --resume --epochs 4
says 'resume   from update'
cmp "$TMP/whole/last.safetensors" "$TMP/parts/last.safetensors" || fail "longer later is another model"
train 2 parts "$TMP/plain.tsv" --resume --seed 7
says 'train.seed was 1, now it is 7'
for updates in 2 3; do
    train 0 plateau "$TMP/plain.tsv" --overwrite --set train.schedule=plateau --set train.valid_every=2 \
        --max-updates $updates
    train 0 plateau "$TMP/plain.tsv" --resume --set train.schedule=plateau --set train.valid_every=2 \
        --max-updates 4
    [ $updates = 3 ] || silent_on 'between two validations'
done
says 'between two validations, which counts for train.schedule = plateau'
train 0 one "$TMP/plain.tsv" --resume --epochs 4
says 'falls to 0 at the new end'
[ "$(member one epoch)" = 4 ] || fail "a linear run was not trained longer"

# ---- starting from a model ---------------------------------------------------------------------------------

model=$TMP/header/best.safetensors
tail -n 60 tests/cli/german_numbers.tsv >"$TMP/new.tsv"
train 0 started "$TMP/new.tsv" --init "$model" --epochs 1
says 'gently from a trained model: train.learning_rate=0.0005'
silent_on 'text.bpe_merges'
expect 0 "$attn" inspect "$TMP/started/best.safetensors"
grep -q 'target_language.*de' "$TMP/out" || fail "--init forgets the languages: $(cat "$TMP/out")"
silent_on 'these pairs are'
sed 's/^/日本 /' "$TMP/new.tsv" >"$TMP/lacks.tsv"
train 0 lacks "$TMP/lacks.tsv" --init "$model" --max-updates 1
says '% of the source tokens are <unk>: the vocabulary of the model it begins with lacks them'
silent_on 'of the target tokens'
train 0 lacks "$TMP/lacks.tsv" --resume --max-updates 2
says '% of the source tokens are <unk>: the vocabulary of the run lacks them'
# The direction of the model stays, for any order of the columns; another language is a question.
train 0 swapped "$TMP/swapped.tsv" --init "$model" --max-updates 1
says 'columns  de and en'
silent_on 'these pairs are'
expect 0 "$attn" inspect "$TMP/swapped/best.safetensors"
grep -q 'target_language.*de' "$TMP/out" || fail "--init swaps the direction: $(cat "$TMP/out")"
awk -F '\t' '{ print (NR == 1 ? "fr" : "x") "\t" $0 }' "$TMP/swapped.tsv" >"$TMP/wider.tsv"
languages "$TMP/wider.tsv" en de -,de,en --init "$model"
train 0 other "$TMP/new.tsv" --init "$model" --max-updates 1 --languages fr-de
says "'$model' translates from en to de, these pairs are from fr to de"
# Without updates the weights are those of the model.
train 0 same "$TMP/new.tsv" --init "$model" --max-updates 1 --set train.learning_rate=0
for run in header same; do
    "$attn" translate --model "$TMP/$run/best.safetensors" "$TMP/two.en" >"$TMP/$run.out"
done
same "weights of --init" "$TMP/header.out" "$TMP/same.out"
# --vocabulary: other sizes and weights; both models form an ensemble.
train 0 ensemble "$TMP/new.tsv" --vocabulary "$model" --max-updates 1 --set model.cell=lstm \
    --set model.hidden=48
silent_on 'gently from a trained model'
silent_on 'text.bpe_merges'
expect 0 "$attn" translate --model "$model" --model "$TMP/ensemble/best.safetensors" "$TMP/two.en"
silent_on 'translates from'
train 0 back "$TMP/new.tsv" --vocabulary "$model" --languages de-en --max-updates 1
expect 0 "$attn" translate --model "$model" --model "$TMP/back/best.safetensors" "$TMP/two.en"
says "'$model' translates from en to de, '$TMP/back/best.safetensors' from de to en"
train 0 ensemble "$TMP/new.tsv" --resume --max-updates 2 --set model.cell=lstm --set model.hidden=48
train 0 own "$TMP/new.tsv" --vocabulary "$model" --max-updates 1 --set train.learning_rate=0
"$attn" translate --model "$TMP/own/best.safetensors" "$TMP/two.en" >"$TMP/own.out"
! cmp -s "$TMP/header.out" "$TMP/own.out" || fail "--vocabulary took the weights, too"
train 2 none "$TMP/new.tsv" --vocabulary "$model" --set text.lowercase=true
says "the vocabulary of '$model' cannot be taken: its text.lowercase is false"
says 'hint: remove text.lowercase: a model has its own vocabulary'
train 2 none "$TMP/new.tsv" --vocabulary "$model" --init "$model"
says '--init and --vocabulary exclude each other'
train 0 ensemble "$TMP/new.tsv" --vocabulary "$model" --resume --max-updates 3 --set model.cell=lstm \
    --set model.hidden=48
says 'resume   from update 2'
# shellcheck disable=SC2086  # words
{
    train 0 once "$TMP/new.tsv" --init "$model" --epochs 2 $constant
    train 0 twice "$TMP/new.tsv" --init "$model" --epochs 1 $constant
    train 0 twice "$TMP/new.tsv" --init "$model" --resume --epochs 2 $constant
}
cmp "$TMP/once/last.safetensors" "$TMP/twice/last.safetensors" || fail "a started run goes on elsewhere"
train 0 strange "$TMP/new.tsv" --max-updates 1 --set text.bpe_merges=10
train 2 started "$TMP/new.tsv" --init "$TMP/strange/best.safetensors" --resume
says "the run in '$TMP/started' did not begin with the vocabulary of the model of --init"
says 'hint: a run continues with its own weights and vocabulary, without --init'
train 2 none "$TMP/new.tsv" --init "$model" --set model.cell=lstm
says "its model.cell is \"gru\", here it is \"lstm\""
says 'hint: remove model.cell'
train 2 none "$TMP/new.tsv" --init "$model" --set text.lowercase=true
says 'its text.lowercase is false'
train 1 none "$TMP/new.tsv" --init "$TMP/missing.safetensors"
train 3 none "$TMP/new.tsv" --init "$TMP/new.tsv"
says "'$TMP/new.tsv': not a model file: it looks like text"
says 'hint: models are the best.safetensors and last.safetensors of a run directory'

# ---- short targets -----------------------------------------------------------------------------------------

# BLEU-4 of single words is always 0: the loss selects the best model, and a warning names chrF.
awk 'BEGIN { for (i = 0; i < 10; i++) printf "%d\tw%d\n", i, 9 - i }' >"$TMP/short.tsv"
short="--set data.valid=$TMP/short.tsv --set text.tokenizer=word --set text.min_count=1 --epochs 40"
rate="--set train.schedule=constant --set train.learning_rate=0.01 --set train.warmup=0 --set train.average=0"
# shellcheck disable=SC2086  # words
train 0 short "$TMP/short.tsv" $short $rate --set train.stop_on=bleu --set train.valid_every=5
says 'BLEU is 0 although the loss has halved'
says '--set train.stop_on=chrf'
[ "$(grep -c 'loss has halved' "$TMP/err")" -eq 1 ] || fail "the warning comes more than once"
grep '"best": true' "$TMP/short/train.jsonl" | tail -n 1 >"$TMP/best"
least=$(sed 's/.*"valid_loss": \([^,]*\),.*/\1/' "$TMP/short/train.jsonl" | sort -g | head -n 1)
grep -qF "\"valid_loss\": $least," "$TMP/best" || fail "best is not the lowest loss: $(cat "$TMP/best")"
! grep -q chrf "$TMP/short/train.jsonl" || fail "chrF is computed without being selected"

# ---- long targets ------------------------------------------------------------------------------------------

# A digit becomes 24 letters: the default limit would cut half of them.
awk 'BEGIN {
    for (d = 0; d < 10; d++) print d "\t" substr("ABCDEFGHIJ", d + 1, 1) "bcdefghijklmnopqrstuvwx"
}' >"$TMP/long.tsv"
long="--set data.valid=$TMP/long.tsv --set text.bpe_merges=0 --set text.min_count=1"
long="$long --set train.valid_every=50"
# shellcheck disable=SC2086  # words
{
    train 0 long "$TMP/long.tsv" $long $rate --epochs 50
    says 'lengths  100 % of the targets have more than 2 tokens a source token and 10: '
    says 'decode.max_length_factor='
    train 0 long "$TMP/long.tsv" $long $rate --resume --epochs 100
    silent_on 'lengths '
    train 0 stays "$TMP/long.tsv" $long $rate --set decode.max_length_factor=2.5 --epochs 1
    silent_on 'lengths '
}
cut -f 1 "$TMP/long.tsv" >"$TMP/digits"
expect 0 "$attn" translate --model "$TMP/long/last.safetensors" "$TMP/digits"
whole=$(grep -c '^.bcdefghijklmnopqrstuvwx$' "$TMP/out") || true
[ "$whole" -eq 10 ] || fail "long targets are cut: $(cat "$TMP/out")"

# ---- words to the log --------------------------------------------------------------------------------------

train 0 lines "$TMP/plain.tsv" --epochs 2 --log-every 3 --set train.batch_size=16
grep -q '^epoch 1  update 3 .* loss .* ETA ' "$TMP/err" || fail "no progress lines: $(cat "$TMP/err")"
expect 0 "$attn" train --config "$TMP/chosen.json" --set model.size=manual --set model.hidden=16 \
    --set train.warmup=400 --epochs 1 --run "$TMP/warm" --threads 1
says 'before its warm-up of 400 updates'
