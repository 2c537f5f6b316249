#!/bin/sh
# data_cache.sh - training with a cache of encoded pairs gives the bytes that it gives without one, whatever
# happened to the cache; and what the user sees while much is read.
set -eu
. tests/cli/tiny_model.inc

scripts/make-large 3000 >"$TMP/train.tsv"
scripts/make-large 40 2 >"$TMP/valid.tsv"
cache=$TMP/pairs.cache
train() { # RUN ARGUMENT...
    run=$1
    shift
    expect 0 "$attn" train --run "$TMP/$run" --overwrite --threads 2 --set data.train="$TMP/train.tsv" \
        --set data.valid="$TMP/valid.tsv" --set text.bpe_merges=300 --set model.embedding=16 \
        --set model.hidden=16 --set train.max_updates=8 --set train.valid_every=4 --set train.valid_limit=5 \
        --set train.samples=0 --set train.warmup=0 --set model.size=manual "$@"
}
same_model() { # WHAT RUN RUN
    for file in best last; do same "$1: $file" "$TMP/$2/$file.safetensors" "$TMP/$3/$file.safetensors"; done
}

# ---- the same bytes ----------------------------------------------------------------------------------------

train plain --set data.cache=none
[ ! -e "$TMP/plain/data.cache" ] || fail "a cache although there was to be none"
train small
[ ! -e "$TMP/small/data.cache" ] || fail "a cache of a small file"
train first --set data.cache="$cache"
[ -s "$cache" ] || fail "no cache"
! grep -q '^cache ' "$TMP/err" || fail "a cache that was not there is mentioned: $(cat "$TMP/err")"
train second --set data.cache="$cache"
says "cache    the encoded data are read from '$cache'"
for run in small first second; do same_model "with a cache: $run" plain $run; done
train one --set data.cache="$cache" --threads 1
train three --set data.cache=none --threads 3
same_model "one thread" plain one
same_model "three threads" plain three

# A run that is interrupted goes on with the cache, one that was begun without too.
train part --set data.cache="$cache" --set train.max_updates=5
for file in "$cache" none; do
    cp -r "$TMP/part" "$TMP/resumed"
    train resumed --set data.cache="$file" --resume --set train.max_updates=8 --no-overwrite
    same_model "resumed with $file" plain resumed
    rm -r "$TMP/resumed"
done

# Words are cut anew each epoch, and pairs held out.
for option in train.bpe_dropout_source=0.2 data.held_out=0.02; do
    [ $option != data.held_out=0.02 ] || set -- --set data.valid=
    train plain --set data.cache=none --set $option "$@"
    train first --set data.cache="$cache" --set $option "$@"
    says "cache    '$cache' is of other data or options"
    train second --set data.cache="$cache" --set $option "$@"
    says "cache    the encoded data are read"
    same_model "$option" plain first
    same_model "$option, cached" plain second
done

# A large file is cached without being asked, one that nobody names too.
{ cat "$TMP/train.tsv" && head -c 32000000 /dev/zero | tr '\0' x; } >"$TMP/large.tsv"
train large --set data.train="$TMP/large.tsv" --set data.cache=
[ -s "$TMP/large/data.cache" ] || fail "no cache of a large file"
train large --set data.train="$TMP/large.tsv"
says "cache    the encoded data are read from '$TMP/large/data.cache'"
rm "$TMP/large.tsv"

# ---- damage ------------------------------------------------------------------------------------------------

train plain --set data.cache=none
train first --set data.cache="$cache"
printf 'X' | dd of="$cache" bs=1 seek=5000 conv=notrunc 2>/dev/null
train second --set data.cache="$cache"
says "'$cache' is no cache of encoded data, or damaged: they are encoded anew"
same_model "damaged" plain second
train second --set data.cache="$cache"
says "cache    the encoded data are read"
head -c 20000 "$cache" >"$TMP/cut"
mv "$TMP/cut" "$cache"
train second --set data.cache="$cache"
says "damaged: they are encoded anew"
same_model "cut off" plain second
train second --set data.cache=/dev/full
says "no cache is written: '/dev/full' is not a regular file"
same_model "nowhere to write" plain second
cp "$TMP/plain/best.safetensors" "$TMP/precious"
train second --set data.cache="$TMP/precious"
says "no cache is written: '$TMP/precious' is another file, which stays as it is"
same "a file that is no cache" "$TMP/plain/best.safetensors" "$TMP/precious"
train second --set data.cache="$TMP/none/cache"
says "no cache is written: cannot create '$TMP/none/cache'"

# Other data under the same name.
train first --set data.cache="$cache"
sed 's/the/The/' "$TMP/train.tsv" >"$TMP/other.tsv"
mv "$TMP/other.tsv" "$TMP/train.tsv"
train second --set data.cache="$cache"
says "cache    '$cache' is of other data or options: it is made anew"
train plain --set data.cache=none
same_model "other data" plain second

# ---- what else can be the matter ---------------------------------------------------------------------------

mkfifo "$TMP/pipe.tsv"
expect 2 "$attn" train --run "$TMP/pipe" --set data.train="$TMP/pipe.tsv" --set data.valid="$TMP/valid.tsv" \
    --set data.cache="$cache"
says "'$TMP/pipe.tsv' is not a regular file"
expect 1 "$attn" train --run "$TMP/pipe" --set data.train="$TMP/nothing.tsv" \
    --set data.valid="$TMP/valid.tsv" --set data.cache="$cache"
says "cannot find '$TMP/nothing.tsv'"

printf 'no pair\n' >"$TMP/none.tsv"
for option in data.train="$TMP/none.tsv" data.max_length=1; do
    expect 3 "$attn" train --run "$TMP/none" --set data.train="$TMP/train.tsv" \
        --set data.valid="$TMP/valid.tsv" --set data.cache="$TMP/none.cache" --set $option
    [ ! -e "$TMP/none.cache" ] || fail "a cache of nothing: $option"
done
# Shares and the time that is left, as often as is asked for.
for i in 1 2 3 4 5 6 7 8; do cat "$TMP/train.tsv"; done >"$TMP/long.tsv"
ATTN_MT_PROGRESS=0.0001 train plain --set data.train="$TMP/long.tsv" --set data.cache="$cache"
for doing in counting learning reading; do
    grep -q "^$doing  *[0-9]*%  ETA " "$TMP/err" || fail "nothing is said of $doing: $(cat "$TMP/err")"
done

# What a cache follows from cannot be read.
expect 1 "$attn" train --run "$TMP/none" --set data.train="$TMP/train.tsv" --set data.valid="$TMP/valid.tsv" \
    --set data.cache="$TMP/none.cache" --set text.bpe_codes="$TMP/no.codes"
says "cannot open '$TMP/no.codes'"

# Data that change while they are read: a busy machine may leave no moment for it, so more than once.
while touch "$TMP/long.tsv" 2>/dev/null; do :; done &
toucher=$!
for attempt in 1 2 3 4 5 6 7 8 9 10; do
    rm -f "$TMP/changing.cache"
    train changing --set data.train="$TMP/long.tsv" --set data.cache="$TMP/changing.cache"
    if grep -q "no cache is written: the data changed while they were read" "$TMP/err"; then break; fi
done
kill $toucher
wait $toucher || true
says "no cache is written: the data changed while they were read"
[ ! -e "$TMP/changing.cache" ] || fail "a cache of data that changed"

# A signal while data are read ends the program at once and leaves nothing half done.
for i in 1 2 3 4 5 6 7 8; do cat "$TMP/long.tsv"; done >"$TMP/longer.tsv"
mkdir "$TMP/stopped"
"$attn" train --run "$TMP/stopped" --set data.train="$TMP/longer.tsv" --set data.valid="$TMP/valid.tsv" \
    --set data.cache="$TMP/stopped/cache" 2>"$TMP/err" &
trainer=$!
sleep 0.4
kill -TERM $trainer
status=0
wait $trainer || status=$?
[ $status -eq 143 ] || fail "exit status $status: $(cat "$TMP/err")"
left=$(find "$TMP/stopped" -name '.*.tmp')
[ -z "$left" ] || fail "left behind: $left"
