#!/bin/sh
# bleu.sh - output of `attn-mt bleu`: scores, signatures and layout byte by byte as sacreBLEU, intervals
# approximately; messages and exit codes.
#
# Lines of tests/golden/bleu/commands.tsv were run with sacreBLEU by scripts/make-bleu-golden.
set -u
cd "$(dirname "$0")/../.." || exit 1
ATTN_MT=${ATTN_MT:-build/attn-mt}
case $ATTN_MT in /*) ;; *) ATTN_MT=$PWD/$ATTN_MT ;; esac
golden=$PWD/tests/golden/bleu
own=${TMP:-}
[ -n "$own" ] || { own=$(mktemp -d) && trap 'rm -rf "$own"' EXIT; } || exit 1
unset SACREBLEU_SEED SACREBLEU_FORMAT
cd "$golden/corpus" || exit 1
bad=0 ran=0

complain() { # TEXT
    echo "$1"
    bad=$((bad + 1))
}

# A report without its intervals and p-values.
masked() { # FILE
    sed -E -e 's/μ = [0-9.]+ ± [0-9.]+/μ = M ± C/' \
        -e 's/("(confidence_mean|confidence_var|p_value|mean|ci)": )[0-9].*/\1N/' "$1"
}

# Means and half widths of intervals, in turn, one a line.
intervals() { # FILE
    grep -oE 'μ = [0-9.]+ ± [0-9.]+|"(confidence_mean|confidence_var|mean|ci)": [0-9][0-9.e-]*' "$1" |
        grep -oE '[0-9][0-9.e-]*'
}

# Both are estimates from at least 150 resamples. Five standard errors of the difference, as in
# tests/unit/bleu/resampling.c, are 0.3 half widths for means and 0.55 for half widths.
intervals_are_near() { # FILE FILE
    intervals "$1" >"$own/expected"
    intervals "$2" | paste "$own/expected" - | awk '
        NR % 2 { mean = $1 - $2; next }
        { width = $1 - $2; if (mean * mean > (0.3 * $1) ^ 2 || width * width > (0.55 * $1) ^ 2) bad = 1 }
        END { exit bad }'
}

tab=$(printf '\t')
while IFS="$tab" read -r name command; do
    case $name in '' | '#'*) continue ;; esac
    ran=$((ran + 1))
    line=$(printf '%s\n' "$command" |
        sed -e 's|{bleu}|"$ATTN_MT" bleu|' -e 's|{spm \([a-z-]*\)}|--spm ../../sentencepiece/\1.model|')
    (export ATTN_MT && exec sh -c "$line") >"$own/out" 2>"$own/err" </dev/null
    status=$?
    if [ $status -ne 0 ]; then
        complain "$name: exit code $status: $(cat "$own/err")"
    elif masked "$own/out" >"$own/ours" && masked "$golden/output/$name" | cmp -s - "$own/ours" &&
        intervals_are_near "$golden/output/$name" "$own/out"; then
        continue
    else
        complain "$name: $command"
        diff "$golden/output/$name" "$own/out"
    fi
done <"$golden/commands.tsv"
[ $ran -ge 99 ] || complain "only $ran commands found"

# EXIT CODE, STDOUT, STDERR (without hints), ARGUMENT...: what it prints and how it ends.
expect() {
    code=$1 out=$2 err=$3
    shift 3
    "$ATTN_MT" bleu "$@" >"$own/out" 2>"$own/err" </dev/null
    status=$?
    [ $status -eq "$code" ] || complain "bleu $*: exit code $status, expected $code"
    [ "$(cat "$own/out")" = "$out" ] || complain "bleu $*: printed '$(cat "$own/out")', expected '$out'"
    [ "$(grep -v '^hint: ' "$own/err")" = "$err" ] ||
        complain "bleu $*: printed '$(cat "$own/err")', expected '$err'"
}

# The textbook's score, and options that sacreBLEU does not have.
printf 'va !\nil est riche .\n' >"$own/ours"
printf 'va !\nil est calme .\n' >"$own/theirs"
expect 0 0.829 '' "$own/theirs" -i "$own/ours" --d2l -b
expect 0 0.933 '' "$own/theirs" -i "$own/ours" --d2l 1 -b -w 3 --quiet
expect 0 '1.000
0.658' '' "$own/theirs" -i "$own/ours" --d2l=2 --sentence-level -b
expect 0 0.829 '' --reference "$own/theirs" -i "$own/ours" --d2l -b
expect 2 '' "attn-mt: option '--d2l' is a metric of its own and cannot be combined with '--metrics'" \
    "$own/theirs" -i "$own/ours" --d2l -m chrf ter
expect 2 '' "attn-mt: options '--d2l' and '--tokenize' cannot be combined" \
    "$own/theirs" -i "$own/ours" --d2l -tok zh
expect 2 '' "attn-mt: options '--d2l' and '--smooth-method' cannot be combined" \
    "$own/theirs" -i "$own/ours" --d2l -s none
expect 0 0.829 '' -i "$own/ours" -b --d2l "$own/theirs"
printf 'va !\nil est riche .\n' >"$own/others"
# With several references the best one counts.
expect 0 1.000 '' "$own/others" "$own/theirs" -i "$own/ours" --d2l -b
expect 0 1.000 '' "$own/theirs" "$own/others" -i "$own/ours" --d2l -b
printf 'VA !\nIL est riche .\n' >"$own/loud"
expect 0 1.000 '' "$own/loud" -i "$own/ours" --d2l -b -lc

# An interval of width 0 is not printed.
printf 'a b\nc d e f\n' >"$own/other_words"
expect 0 0.0 '' "$own/other_words" -i "$own/ours" -ci -b

# Several systems as a table. Paired tests keep the order of the metrics.
cp "$own/ours" "$own/詩"
(cd "$own" && "$ATTN_MT" bleu theirs -i ours 詩 theirs -m chrf bleu -f text -sh -w 2 -q) >"$own/out"
cat >"$own/table" <<'END'
System  BLEU    chrF2
ours    40.17   36.03
詩      40.17   36.03
theirs  100.00  100.00

BLEU|#:1|c:mixed|e:no|tok:13a|s:exp|v:2.6.0
chrF2|#:1|c:mixed|e:yes|nc:6|nw:0|s:no|v:2.6.0
END
cmp -s "$own/out" "$own/table" || complain "a table of systems: $(cat "$own/out")"
SACREBLEU_SEED=0099 "$ATTN_MT" bleu ref.txt -i sys_a.txt sys_c.txt -pbs -pbsn 200 -m ter bleu -f text -q \
    >"$own/out"
cat >"$own/table" <<'END'
System  TER (μ ± 95% CI)  BLEU (μ ± 95% CI)
Baseline: sys_a.txt  20.8 (M ± C)  60.2 (M ± C)
sys_c.txt  38.5 (M ± C) (p = 0.0050)*  32.9 (M ± C) (p = 0.0050)*

p: the probability of such a difference by chance, by paired bootstrap resampling
against the first system; * p <= 0.05

TER|nrefs:1|bs:200|seed:99|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0
BLEU|nrefs:1|bs:200|seed:99|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0
END
sed -E "s/[0-9.]+ ± [0-9.]+\)/M ± C)/g; s/  +/  /g" "$own/out" | cmp -s - "$own/table" ||
    complain "a table of compared systems: $(cat "$own/out")"

# Arguments in other orders, and names that look like lists.
expect 0 60.2 '' -m bleu ref.txt -b -i sys_a.txt
expect 0 60.2 '' -i sys_a.txt -b ref.txt
expect 0 60.2 '' -b -i sys_a.txt -- ref.txt
cp sys_a.txt "$own/a,b"
expect 0 60.2 '' ref.txt -b -i "$own/a,b"
expect 0 60.2 '' ref.txt -b "--input=$own/a,b"

# Names in JSON are ASCII, as Python writes it: U+E9, a pair of surrogates, DEL.
odd=$(printf 'x\303\251\360\237\230\200\177')
cp "$own/ours" "$own/$odd"
"$ATTN_MT" bleu "$own/theirs" -i "$own/$odd" "$own/others" >"$own/out"
grep -qF '"system": "'"$own"'/x\u00e9\ud83d\ude00\u007f"' "$own/out" ||
    complain "names in JSON: $(cat "$own/out")"

# Warnings.
"$ATTN_MT" bleu tokenized.txt -i tokenized.txt -b >"$own/out" 2>"$own/err"
[ "$(cat "$own/out")" = 100.0 ] && [ "$(grep -c '' "$own/err")" -eq 3 ] &&
    grep -q "That's 100 lines that end in a tokenized period ('.')" "$own/err" ||
    complain "no warning about tokenized input: $(cat "$own/err")"
expect 0 100.0 '' tokenized.txt -i tokenized.txt -b --force
expect 0 100.0 '' tokenized.txt -i tokenized.txt -b -m chrf
unspaced="attn-mt: most of the text has no spaces between words: '13a' takes whole sentences for words"
printf '\346\210\221\345\226\234\346\255\241\350\262\223\n' >"$own/chinese"
printf '\346\210\221 \345\226\234\346\255\241 \350\262\223\n' >"$own/cut"
printf '\353\202\230\353\212\224 \352\263\240\354\226\221\354\235\264\353\245\274\n' >"$own/korean"
"$ATTN_MT" bleu "$own/chinese" -i "$own/chinese" 2>"$own/err" >"$own/out"
{ grep -qF "$unspaced" "$own/err" && grep -q 'tokenize zh' "$own/err"; } ||
    complain "no warning about text without spaces: $(cat "$own/err")"
for quiet in 'chinese --force' 'chinese --tokenize zh' 'chinese --tokenize char' 'cut' 'korean'; do
    # shellcheck disable=SC2086  # the options are words
    (cd "$own" && "$ATTN_MT" bleu chinese -i $quiet 2>err >out) && [ ! -s "$own/err" ] ||
        complain "$quiet: a warning: $(cat "$own/err")"
done
expect 0 99.9 "attn-mt: 'bom.txt' starts with a byte-order mark, which counts as part of its first word" \
    sys_a.txt -i bom.txt -b
printf 'caf\351\n' >"$own/latin1"
printf 'caf\357\277\275\n' >"$own/replaced"
expect 0 100.0 "attn-mt: '$own/latin1': 1 ill-formed UTF-8 sequence read as U+FFFD" \
    "$own/replaced" -i "$own/latin1" -b -m chrf

# A language pair selects the tokenizer, unless --tokenize is set.
for choice in 'zh -l en-zh' 'zh --language-pair=en-zh-CN' '13a -l zh-en' 'char -l en-ja -tok char'; do
    # shellcheck disable=SC2086  # the options are words
    "$ATTN_MT" bleu "$own/chinese" -i "$own/chinese" ${choice#* } --force >"$own/out" 2>&1
    grep -q "tok:${choice%% *}|" "$own/out" || complain "-l: not $choice"
done
expect 0 100.0 '' sys_a.txt -i sys_a.txt -l en-ja -m chrf -b
expect 2 '' "attn-mt: option '--language-pair': sacreBLEU tokenizes 'ja' with MeCab, which is not built in" \
    sys_a.txt -i sys_a.txt -l en-ja
grep -q 'hint: .*--tokenize char' "$own/err" || complain "no hint at another tokenizer"
expect 2 '' "attn-mt: option '--language-pair': 'zh' is not a pair such as en-zh" sys_a.txt -i sys_a.txt -l zh

# Names of FLORES select the tokenizer, too.
"$ATTN_MT" bleu "$own/chinese" -i "$own/chinese" -l eng_Latn-zho_Hans --force >"$own/out" 2>&1
grep -q "tok:zh|" "$own/out" || complain "-l with names of FLORES: not zh"
expect 2 '' \
    "attn-mt: option '--language-pair': sacreBLEU tokenizes 'jpn_Jpan' with MeCab, which is not built in" \
    sys_a.txt -i sys_a.txt -l eng_Latn-jpn_Jpan

# chrf++ is chrF with words of order 2; both can be printed, and the order of the list does not matter.
"$ATTN_MT" bleu ref.txt -i sys_a.txt -m chrf --chrf-word-order 2 >"$own/words"
"$ATTN_MT" bleu ref.txt -i sys_a.txt -m chrf++ >"$own/out" 2>"$own/err" ||
    complain "-m chrf++: $(cat "$own/err")"
cmp -s "$own/words" "$own/out" || complain "-m chrf++ prints $(cat "$own/out")"
"$ATTN_MT" bleu ref.txt -i sys_a.txt -m chrf++ chrf >"$own/out" 2>&1
"$ATTN_MT" bleu ref.txt -i sys_a.txt -m chrf chrf++ >"$own/both" 2>&1
cmp -s "$own/out" "$own/both" || complain "-m chrf++ chrf: another order"
grep -c '"name": "chrF2' "$own/out" | grep -qx 2 || complain "-m chrf++ chrf: $(cat "$own/out")"

# Tokenizers of others: what to do instead.
for option in '-tok ja-mecab' '--tokenize ja-mecab' '--tokenize=ja-mecab'; do
    # shellcheck disable=SC2086  # the options are words
    expect 2 '' "attn-mt: option '--tokenize': 'ja-mecab' needs MeCab, which is not built in" \
    sys_a.txt -i sys_a.txt $option
    grep -q 'hint: .*mecab -Owakati' "$own/err" || complain "$option: no hint"
done

# A SentencePiece model: also in the golden commands.
expect 2 '' "attn-mt: option '--tokenize': 'flores200' needs a SentencePiece model" \
    sys_a.txt -i sys_a.txt -tok flores200
grep -q 'hint: --spm FILE names it' "$own/err" || complain "flores200: no hint"
model=../../sentencepiece/unigram.model
"$ATTN_MT" bleu ref.txt -i sys_a.txt --tokenize spm --spm $model >"$own/spm"
grep -q '"signature": ".*|tok:spm|' "$own/spm" || complain "spm: $(cat "$own/spm")"
expect 0 "$(cat "$own/spm")" '' ref.txt -i sys_a.txt --spm $model
expect 2 '' "attn-mt: options '--spm' and '--tokenize 13a' cannot be combined" \
    ref.txt -i sys_a.txt --spm $model -tok 13a
"$ATTN_MT" bleu ref.txt -i sys_a.txt --spm ref.txt >"$own/out" 2>"$own/err"
[ $? -eq 3 ] && grep -q "SentencePiece model 'ref.txt': not a protobuf message" "$own/err" ||
    complain "--spm of a text: $(cat "$own/err")"
expect 1 '' "attn-mt: cannot open 'none': No such file or directory" ref.txt -i sys_a.txt --spm none

# Errors.
expect 2 '' 'attn-mt: no reference given' -i sys_a.txt
expect 2 '' "attn-mt: option '-i' needs a value" ref.txt -i
expect 2 '' "attn-mt: option '-i' needs a value" ref.txt -i ''
expect 2 '' "attn-mt: option '--metrics' needs a value" ref.txt -i sys_a.txt -m ''
expect 2 '' "attn-mt: option '--metrics' needs a value" ref.txt -i sys_a.txt --metrics=
expect 2 '' "attn-mt: option '-m': 'rouge' is not bleu, chrf, ter or chrf++" ref.txt -i sys_a.txt -m rouge
expect 2 '' "attn-mt: option '-t': sacreBLEU's test sets are not built in" -t wmt14 -l en-de
expect 2 '' "attn-mt: option '--paired-bs' compares several systems, but there is one" \
    ref.txt -i sys_a.txt -pbs
expect 2 '' "attn-mt: option '-f': 'latex' is not json or text" ref.txt -i sys_a.txt -f latex
expect 2 '' "attn-mt: option '--confidence' is for one system, but there are 2" \
    ref.txt -i sys_a.txt sys_b.txt -ci
expect 2 '' "attn-mt: option '--sentence-level' needs a single metric" ref.txt -i sys_a.txt -sl -m bleu chrf
expect 2 '' "attn-mt: option '--sentence-level' cannot be combined with statistical tests" \
    ref.txt -i sys_a.txt -sl -ci
expect 2 '' "attn-mt: 'sys_a.txt' is given twice as input" ref.txt -i sys_a.txt sys_a.txt
expect 2 '' "attn-mt: 'sys_a.txt' is given twice as input" \
    ref.txt -i sys_b.txt sys_a.txt sys_a.txt --paired-bs
expect 2 '' "attn-mt: option '--num-refs' cannot be combined with several reference files" \
    ref.txt ref2.txt -nr 2 -i sys_a.txt
expect 2 '' "attn-mt: unknown option '--lowercse'" ref.txt -i sys_a.txt --lowercse
expect 3 '' "attn-mt: 'one_sys.txt' has 1 line, but reference 'ref.txt' has 150" ref.txt -i one_sys.txt
expect 3 '' "attn-mt: 'nothing.txt' has no line to score" nothing.txt -i nothing.txt
for count in 2 3; do
    expect 3 '' "attn-mt: 'ref.txt', line 1: 1 tab-separated references, expected $count" \
        ref.txt --num-refs $count -i sys_a.txt
done
expect 1 '' "attn-mt: cannot open 'missing.txt': No such file or directory" missing.txt -i sys_a.txt
expect 1 '' "attn-mt: cannot open 'missing.txt': No such file or directory" missing.txt -nr 2 -i sys_a.txt
printf 'a\tb\nc\n' | "$ATTN_MT" bleu blank.txt >"$own/out" 2>"$own/err"
[ $? -eq 3 ] && grep -q "standard input, line 2: 1 tab-separated fields, expected 2" "$own/err" ||
    complain "a missing field of standard input: $(cat "$own/err")"
printf 'a\nb\tc\n' | "$ATTN_MT" bleu blank.txt >"$own/out" 2>"$own/err"
[ $? -eq 3 ] && grep -q "standard input, line 2: 2 tab-separated fields, expected 1" "$own/err" ||
    complain "one field too many of standard input: $(cat "$own/err")"
"$ATTN_MT" bleu ref.txt </dev/null >"$own/out" 2>"$own/err"
[ $? -eq 3 ] && grep -q "standard input is empty, reference 'ref.txt' has 150 lines" "$own/err" ||
    complain "an empty standard input: $(cat "$own/err")"
"$ATTN_MT" bleu blank.txt <"$own" >"$own/out" 2>"$own/err"
[ $? -eq 1 ] && grep -q "cannot read 'standard input': Is a directory" "$own/err" ||
    complain "a folder as standard input: $(cat "$own/err")"
SACREBLEU_SEED=x "$ATTN_MT" bleu ref.txt -i sys_a.txt -ci >"$own/out" 2>"$own/err"
[ $? -eq 2 ] && grep -q "SACREBLEU_SEED: 'x' is not a whole number" "$own/err" ||
    complain "a bad seed: $(cat "$own/err")"
SACREBLEU_FORMAT=jsn "$ATTN_MT" bleu ref.txt -i sys_a.txt >"$own/out" 2>"$own/err"
[ $? -eq 0 ] && grep -q "SACREBLEU_FORMAT=jsn is neither json nor text: ignored" "$own/err" ||
    complain "a bad format: $(cat "$own/err")"
if [ -w /dev/full ]; then
    "$ATTN_MT" bleu ref.txt -i sys_a.txt >/dev/full 2>"$own/err"
    [ $? -eq 1 ] || complain "a full disk at the other end was not noticed"
fi
"$ATTN_MT" bleu --help | grep -q -- '--sentence-level' || complain "no help"

echo "$ran commands compared, $bad differences"
[ $bad -eq 0 ]
