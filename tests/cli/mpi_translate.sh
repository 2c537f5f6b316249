# mpi_translate.sh - translation by several ranks: the bytes that one process writes, with every kind of
# output; and what happens when one of them fails, is stopped by a signal, or has another model.
# not sanitized: the program is linked here
set -eu
. tests/cli/mpi.inc
[ -d /proc/self ] || {
    echo "skipped: no /proc to find processes in"
    exit 77
}
tiny_model one
tiny_model two --set train.seed=7 --set model.decoder.style=conditional
one=$TMP/one/best.safetensors two=$TMP/two/best.safetensors

cut -f 1 data/valid.tsv | head -n 90 >"$TMP/plain"
{
    head -n 5 "$TMP/plain"
    printf '\n \t \nhi \377!\nzzqx go . hi ! <b>go</b> {0} .\n'
    yes 'go . hi !' | head -n 60 | tr '\n' ' '
    printf '\n'
} >"$TMP/odd"
cut -f 2 data/valid.tsv | head -n 90 >"$TMP/reference"
yes 'va' | head -n 90 >"$TMP/prefixes"
printf 'go\tva\nhi\tsalut\n' >"$TMP/glossary"
cat >"$TMP/lines.json" <<'END'
{"text": "go .", "id": 1}
{"text": "hi !", "constraints": ["salut", "va"], "prefix": "va"}
this is none
{"text": "i'm home .", "prefix": "je"}
END

# like_alone WHAT COUNTS OPTION...: so many ranks write and say what one process does
like_alone() {
    what=$1 counts=$2 code=0
    shift 2
    rm -f "$TMP/report" "$TMP/alone.report"
    "$attn" translate --threads 2 "$@" -o "$TMP/alone" 2>"$TMP/alone.all" || code=$?
    sed '/^translated/d' "$TMP/alone.all" >"$TMP/alone.err" # told only where it took a second
    [ ! -e "$TMP/report" ] || mv "$TMP/report" "$TMP/alone.report"
    for library in $mpis; do
        for count in $counts; do
            rm -f "$TMP/together"
            expect $code ranks "$library" "$count" translate --threads 1 "$@" -o "$TMP/together"
            cmp "$TMP/alone" "$TMP/together" || fail "$library, $count ranks, $what: other output"
            sed "s/rank 0 ([^)]*): //; /^translated/d" "$TMP/err" >"$TMP/together.err"
            [ $code -ne 0 ] || cmp "$TMP/alone.err" "$TMP/together.err" ||
                fail "$library, $count ranks, $what: says $(cat "$TMP/err")"
            [ ! -e "$TMP/alone.report" ] || cmp "$TMP/report" "$TMP/alone.report" ||
                fail "$library, $count ranks, $what: other report"
        done
    done
}

like_alone "plain" "1 2 3 4" -m "$one" "$TMP/plain"
like_alone "small windows" "2 4" -m "$one" --mini-batch 3 --maxi-batch 2 "$TMP/plain" "$TMP/odd"
like_alone "greedy, 8 bits" "3" -m "$one" -b 1 --precision int8 "$TMP/plain"
like_alone "n-best" "1 2 3 4" -m "$one" -b 4 --n-best --alignment --word-scores "$TMP/plain"
like_alone "JSON" "1 2 3 4" -m "$one" --json --alternatives 3 --confidence --alignment=soft "$TMP/plain"
like_alone "long lines" "3" -m "$one" --max-input-length 20 "$TMP/odd"
like_alone "paragraphs and markup" "3" -m "$one" --split --tags --max-input-length 20 "$TMP/odd"
like_alone "two models, the best of a beam" "3" -m "$one" -m "$two" -b 6 --mbr chrf "$TMP/plain"
like_alone "pictures" "2" -m "$one" --attention "$TMP/odd"
like_alone "prefixes, glossary" "3" -m "$one" --prefix-file "$TMP/prefixes" --glossary "$TMP/glossary" \
    "$TMP/plain"
like_alone "lines of JSON" "1 3" -m "$one" --json-input "$TMP/lines.json"
like_alone "scores" "3" -m "$one" --reference "$TMP/reference" --report "$TMP/report" "$TMP/plain"
: >"$TMP/empty"
like_alone "nothing" "1 3" -m "$one" "$TMP/empty"

# once TEXT: said by one rank alone
once() { [ "$(grep -cF -e "$1" "$TMP/err")" -eq 1 ] || fail "not once: $1: $(cat "$TMP/err")"; }

# What fails at rank 0, or at another one, is said once; nothing is left of the output.
"$attn" translate -m "$one" "$TMP/plain" >"$TMP/alone"
printf 'va\n' >"$TMP/short"
for library in $mpis; do
    expect 0 reading_ranks "$library" 3 translate -m "$one" --quiet <"$TMP/plain"
    cmp "$TMP/alone" "$TMP/out" || fail "$library: from standard input to standard output"
    expect 2 ranks "$library" 2 translate -m "$one" --n-best=9 -b 2 "$TMP/plain"
    once 'needs a beam as wide'
    expect 1 ranks "$library" 2 translate -m "$one" "$TMP/plain" "$TMP/missing" -o "$TMP/never"
    once "cannot open '$TMP/missing'"
    expect 3 ranks "$library" 3 translate -m "$one" --prefix-file "$TMP/short" "$TMP/plain" -o "$TMP/never"
    once 'the input has more'

    cat >"$TMP/attn-mt-model" <<END
#!/bin/sh
model=$one
[ "\${OMPI_COMM_WORLD_RANK-}\${PMI_RANK-}" = 0 ] || model=\$OTHER
exec "$TMP/attn-mt-$library" "\$@" -m "\$model"
END
    chmod +x "$TMP/attn-mt-model"
    eval "run_model=\$run_$library"
    export OTHER="$two"
    expect 3 ranks model 2 translate "$TMP/plain" -o "$TMP/never"
    says "rank 1"
    once "the model here is not what rank 0"
    export OTHER="$TMP/missing"
    expect 1 ranks model 2 translate "$TMP/plain" -o "$TMP/never"
    once "'$TMP/missing'"
    expect 2 env SLURM_NTASKS=3 "$TMP/attn-mt-$library" translate -m "$one" "$TMP/plain"
    says 'srun --mpi=pmix'

    # A signal to one rank, while rank 0 waits for input: all end. What the launcher says of SIGKILL differs.
    for signal in TERM KILL; do
        folder=$TMP/$signal.$library
        mkdir "$folder"
        mkfifo "$folder.pipe"
        reading_ranks "$library" 3 translate -m "$one" -o "$folder/out" <"$folder.pipe" >"$TMP/err" 2>&1 &
        job=$!
        exec 3>"$folder.pipe"
        cat "$TMP/plain" >&3
        for attempt in $(seq 300); do
            [ -z "$(ls -A "$folder")" ] || break # what becomes the output: all ranks have joined
            [ "$attempt" -lt 300 ] || fail "$library: nothing begins: $(cat "$TMP/err")"
            sleep 0.1
        done
        kill -$signal "$(find_rank "translate .*-o $folder/out " 2)"
        status=0
        wait $job || status=$?
        exec 3>&-
        case $signal,$status in
            TERM,143 | KILL,137 | KILL,9) ;;
            *) fail "$library: exit code $status after SIG$signal: $(cat "$TMP/err")" ;;
        esac
        for rank in 0 1 2; do
            [ -z "$(find_rank "translate .*-o $folder/out " $rank)" ] ||
                fail "$library: rank $rank is still there"
        done
        [ ! -e "$folder/out" ] || fail "$library: output of what was stopped by SIG$signal"
        [ $signal = KILL ] || [ -z "$(ls -A "$folder")" ] || fail "$library: $(ls -A "$folder") is left"
    done
done
[ ! -e "$TMP/never" ] || fail "output of what failed"
