#!/bin/sh
# promise_resume.sh - training repeats with any interruptions: after signals, kills and a stop during
# validation, a resumed run ends with the same bytes as an uninterrupted one.
set -u
. tests/cli/train.inc

succeed a --threads 1
state_of a >"$own/state.a"
[ -s "$own/state.a" ] || complain "the training state is empty"

# A signal saves and stops the training: three times, at different updates, with different numbers of
# threads. At least one run must stop, because a run that ends before its signal tests nothing.
stops=0
for signal in TERM:143:1:1 INT:130:3:2 TERM:143:5:3; do
    IFS=: read -r name code lines threads <<EOF
$signal
EOF
    resume=
    [ -d "$own/stopped" ] && resume=--resume
    # The shell starts background jobs with SIGINT ignored; the program handles SIGINT anyway.
    start "$lines" stopped --threads "$threads" $resume
    kill -s "$name" $trainer 2>/dev/null
    wait $trainer
    status=$?
    case $status in
        0) ;;
        "$code")
            stops=$((stops + 1))
            grep -q 'stopped at update [0-9]*, epoch [0-9]*; everything is saved' "$own/err" &&
                grep -q '^hint: .*--resume' "$own/err" || complain "stopped by $name: $(cat "$own/err")"
            # Simulates a kill between the log entry of a validation and the save of the state.
            update=$(sed -n 's/.*stopped at update \([0-9]*\),.*/\1/p' "$own/err")
            grep -q "\"update\": $update," "$own/stopped/train.jsonl" ||
                sed -n "\$s/\"update\": [0-9]*/\"update\": $update/p" "$own/stopped/train.jsonl" \
                    >>"$own/stopped/train.jsonl"
            ;;
        *) complain "stopped by $name: exit code $status, expected $code: $(cat "$own/err")" ;;
    esac
done
[ $stops -gt 0 ] || complain "no run was stopped by a signal"
succeed stopped --resume
same_models "stopped by signals" a stopped
state_of stopped >"$own/state.b"
cmp "$own/state.a" "$own/state.b" || complain "stopped by signals: the training state differs"

# After a kill at any time the files are valid, and the resumed training ends with the same bytes.
kills=0
for delay in 0.05 0.6 0.11 0.23 0.07 0.31 0.17 0.02; do
    again=--overwrite
    [ -f "$own/killed/last.state.safetensors" ] && again=--resume
    "$ATTN_MT" train --config "$own/base.json" --run "$own/killed" --threads 2 $again \
        >/dev/null 2>"$own/err" </dev/null &
    trainer=$!
    sleep $delay
    kill -s KILL $trainer 2>/dev/null
    wait $trainer 2>/dev/null
    status=$?
    case $status in
        137) kills=$((kills + 1)) ;;
        0) ;;
        *) complain "to be killed after $delay seconds: exit code $status: $(cat "$own/err")" ;;
    esac
    for file in best.safetensors last.safetensors; do
        [ ! -f "$own/killed/$file" ] || "$ATTN_MT" inspect "$own/killed/$file" >/dev/null 2>"$own/err" ||
            complain "after a kill: $(cat "$own/err")"
    done
done
[ $kills -gt 0 ] || complain "no run was killed"
again=--overwrite
[ -f "$own/killed/last.state.safetensors" ] && again=--resume
succeed killed $again
same_models "killed" a killed
[ "$(find "$own/killed" -type f | wc -l)" -le $((6 + kills)) ] ||
    complain "kills leave files behind: $(ls -A "$own/killed")"

# SIGHUP and SIGUSR1 save as SIGTERM does.
for signal in HUP:129 USR1:138; do
    rm -rf "$own/stopped"
    start 1 stopped --set train.epochs=0
    kill -s "${signal%:*}" $trainer 2>/dev/null
    wait $trainer
    status=$?
    [ $status -eq "${signal#*:}" ] && grep -q 'everything is saved' "$own/err" ||
        complain "stopped by $signal: exit code $status: $(cat "$own/err")"
done

# A signal during a long validation stops the validation; the resumed run repeats it.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    cat data/train.tsv
done | head -n 40000 >"$own/long.tsv"
head -n 200 data/train.tsv >"$own/short.tsv"
begin() { # RUN, ARGUMENT...: replaces the shell
    run=$1
    shift
    exec "$ATTN_MT" train --run "$own/$run" --set data.train="$own/short.tsv" \
        --set data.valid="$own/long.tsv" --set text.bpe_merges=50 --set model.embedding=16 \
        --set model.hidden=16 --set train.valid_limit=12000 --set train.max_updates=6 \
        --set train.valid_every=3 --set train.warmup=0 --set train.samples=0 --threads 2 "$@" 2>"$own/err"
}
(begin whole)
(export ATTN_MT_PROGRESS=0.01 && begin validating) &
trainer=$!
while kill -0 $trainer 2>/dev/null && ! grep -q '^validating' "$own/err"; do sleep 0.05; done
kill -s TERM $trainer || complain "the run ended before its validation: $(cat "$own/err")"
wait $trainer
status=$?
[ $status -eq 143 ] || complain "stopped in a validation: exit code $status: $(cat "$own/err")"
(begin validating --resume)
same_models "stopped in a validation" whole validating

[ $bad -eq 0 ]
