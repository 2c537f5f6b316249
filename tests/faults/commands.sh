#!/bin/sh
# commands.sh - every command under one table of faults: whatever goes wrong, it ends in time, and what it was
# to write is there whole or not at all. Prints the number of injections of each row.
# not sanitized
# slow
set -u
cc=${CC:-cc}
attn=$ATTN_MT
if [ -w /dev/shm ]; then # in memory where possible: the calls are what is tested, not the disk
    TMP=$(mktemp -d /dev/shm/attn-mt-faults.XXXXXX) && export TMP || exit 1
    trap 'rm -rf "$TMP"' EXIT
    trap 'exit 130' INT TERM
fi

# WHAT: the resource or the call that gives out. HOW: from-to-step of a limit (memory in MB, file in KB of
# 1024 bytes, files), or what becomes of the call (tests/faults/fault_shim.c) and, behind a "/", every how
# many calls.
TABLE='
memory   16-512-16    version inspect bleu demo translate heatmap train
files    3-12-1       version inspect bleu demo translate heatmap train
file     0-160-16     translate heatmap train
alloc    ENOMEM/97    inspect bleu demo translate heatmap
alloc    ENOMEM/997   train
open     EMFILE       inspect bleu translate heatmap train
open     EACCES       inspect bleu translate heatmap train
read     EIO          inspect bleu translate heatmap train
read     EINTR        inspect bleu translate heatmap train
read     short        inspect bleu translate heatmap train
write    ENOSPC       version inspect bleu demo translate heatmap train
write    EINTR        version inspect bleu demo translate heatmap train
write    short        version inspect bleu demo translate heatmap train
fsync    EIO          translate heatmap train
close    EIO          translate heatmap train
rename   EIO          translate heatmap train
flock    ENOLCK       translate heatmap train
thread   EAGAIN       translate heatmap train
write    kill         translate heatmap train
write    killafter    translate heatmap train
fsync    kill         translate heatmap train
rename   kill         translate heatmap train
rename   killafter    translate heatmap train
'

$cc -std=c11 -D_GNU_SOURCE -fPIC -shared -O1 -o "$TMP/shim.so" \
    tests/faults/fault_shim.c -ldl 2>"$TMP/log" || {
    echo "skip: the shim needs glibc"
    exit 77
}
model=tests/golden/models/0.1.0-recurrent.safetensors
source=tests/golden/models/source.txt
dir=$TMP/dir
head -n 24 data/chapter.tsv >"$TMP/pairs.tsv"
cat data/handwritten.tsv | head -n 24 >>"$TMP/pairs.tsv"
cat >"$TMP/config.json" <<END
{"data": {"train": ["$TMP/pairs.tsv"], "valid": ["$TMP/pairs.tsv"]},
 "text": {"bpe_merges": 20, "min_count": 1}, "model": {"embedding": 8, "hidden": 8},
 "train": {"max_updates": 4, "batch_size": 8, "valid_every": 2, "samples": 0, "warmup": 0}}
END

# The command in place of the shell; standard output goes to $TMP/out.
start() { # NAME
    case $1 in
        version) exec "$attn" --version ;;
        inspect) exec "$attn" inspect "$model" ;;
        bleu) exec "$attn" bleu "$source" -i "$source" -m bleu chrf ;;
        demo) cd "$dir" && exec "$attn" demo attention ;; # it writes pictures
        translate) exec "$attn" translate --quiet --threads 2 -m "$model" -o "$dir/out" "$source" ;;
        heatmap) exec "$attn" heatmap -m "$model" -f svg -o "$dir/out" 'go .' ;;
        train) exec "$attn" train --quiet --threads 2 --config "$TMP/config.json" --run "$dir" --overwrite ;;
    esac
}

# limited LIMIT VALUE NAME: run under a limit, or with a fault in the environment; sets status
limited() {
    (
        case $1 in
            memory) ulimit -v $(($2 * 1024)) ;;
            file) ulimit -f $(($2 * 2)) ;;
            files) ulimit -n "$2" ;;
            *)
                FAULT=$1:$2 FAULT_MARK=$TMP/mark LD_PRELOAD=$TMP/shim.so
                export FAULT FAULT_MARK LD_PRELOAD ;;
        esac
        start "$3"
    ) >"$TMP/out" 2>"$TMP/err" </dev/null &
    child=$!
    waited=0
    while kill -0 $child 2>/dev/null && [ $waited -lt 3000 ]; do
        sleep 0.01
        waited=$((waited + 1))
    done
    [ $waited -lt 3000 ] || { kill -9 $child 2>/dev/null; echo "hangs" >"$TMP/hangs"; }
    wait $child 2>/dev/null
    status=$?
}

old() { # NAME: what was there before
    rm -rf "$dir" && mkdir "$dir"
    case $1 in
        translate) echo old >"$dir/out" ;;
        heatmap) echo old >"$dir/out.svg" ;;
    esac
}
result() { # NAME: the file that it writes
    case $1 in
        translate) echo "$dir/out" ;;
        heatmap) echo "$dir/out.svg" ;;
        train) echo "$dir/last.safetensors" ;;
        *) echo "$TMP/out" ;;
    esac
}

wrong() { # REASON
    echo "$case: $1 (status $status)"
    head -n 5 "$TMP/err" | sed 's/^/    /'
    failures=$((failures + 1))
}

# What must hold afterwards.
judge() { # NAME
    [ ! -e "$TMP/hangs" ] || { rm "$TMP/hangs"; wrong "does not end"; return; }
    file=$(result "$1")
    stray=$(find "$dir" -name '.*.tmp' | wc -l)
    case $mode in
        kill*) [ $status -eq 137 ] || wrong "was not killed" ;;
        *)
            [ "$stray" -eq 0 ] || wrong "a temporary file is left"
            # 127: the program could not be loaded at all
            case $status in
                0 | 1 | 2) ;;
                127) [ "$what" = memory ] || [ "$what" = files ] || wrong "not loaded" ;;
                *) wrong "a wild end" ;;
            esac ;;
    esac
    if [ $status -eq 0 ]; then
        cmp -s "$file" "$TMP/expected.$1" || wrong "success with another result"
    elif [ $status -ne 137 ] && [ "$what/$mode" != write/ENOSPC ] && [ "$what/$value" != file/0 ]; then
        # in the two cases standard error fails as well
        [ -s "$TMP/err" ] || wrong "fails without a word"
    fi
    case $1 in
        translate | heatmap)
            cmp -s "$file" "$TMP/expected.$1" || [ "$(cat "$file")" = old ] || wrong "neither old nor new" ;;
        train)
            for saved in best last; do
                saved=$dir/$saved.safetensors
                [ ! -e "$saved" ] || "$attn" inspect "$saved" >/dev/null 2>"$TMP/err" || wrong "broken $saved"
            done
            [ $status -ne 0 ] || return
            again=--overwrite
            [ ! -e "$dir/last.state.safetensors" ] || again=--resume
            "$attn" train --quiet --threads 1 --config "$TMP/config.json" --run "$dir" $again \
                >"$TMP/err" 2>&1 || wrong "cannot go on with $again"
            cmp -s "$file" "$TMP/expected.train" || wrong "going on with $again gives another model" ;;
    esac
}

attack() { # WHAT HOW NAME: sets count
    what=$1 mode=${2%/*} step=${2#*/}
    [ "$step" != "$2" ] || step=1
    [ -z "${TEST_FAST:-}" ] || step=$((step * 7))
    count=0 value=1 last=100000
    case $what in
        memory | file | files)
            step=${2##*-} value=${2%%-*} last=${2#*-}
            last=${last%-*} mode=limit ;;
    esac
    while [ "$value" -le "$last" ]; do
        old "$3"
        rm -f "$TMP/mark"
        case $mode in
            limit) case="$3 with $what $value" && limited "$what" "$value" "$3" ;;
            *)
                case="$3 with $what $value $mode"
                limited "$what" "$value:$mode" "$3"
                [ -e "$TMP/mark" ] || break ;;
        esac
        judge "$3"
        count=$((count + 1))
        value=$((value + step))
    done
}

failures=0
for name in version inspect bleu demo translate heatmap train; do
    old $name
    (start $name) >"$TMP/out" 2>"$TMP/err" </dev/null || { cat "$TMP/err"; exit 1; }
    cp "$(result $name)" "$TMP/expected.$name"
done

total=0
while read -r what how names; do
    for name in $names; do
        case " ${FAULTS:-$what} " in *" $what "*) ;; *) continue ;; esac
        attack "$what" "$how" "$name"
        [ $count -gt 0 ] || wrong "$what $how $name: nothing was injected"
        total=$((total + count))
        printf '%-7s %-11s %-9s %5d injections\n' "$what" "$how" "$name" $count
    done
done <<END
$(echo "$TABLE" | grep .)
END
echo "$total injections, $failures failures"
[ $failures -eq 0 ]
