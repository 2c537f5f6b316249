#!/bin/sh
# demo.sh - the textbook examples: numbers, pictures, errors.
set -eu
. tests/cli/tiny_model.inc
# Files are named after the demo, unless the arguments have -o.
demo() {
    case " $* " in
        *" -o "*) "$attn" demo "$@" ;;
        " attention "* | " softmax "* | " multihead "* | " positions "* | " pooling "*)
            "$attn" demo "$@" -o "$1" ;;
        *) "$attn" demo "$@" ;;
    esac
}
cd "$TMP"

# picture FILE: an XML document with an svg element and no number that is none
picture() {
    [ "$(head -c 5 "$1")" = "<?xml" ] && [ "$(tail -n 1 "$1")" = "</svg>" ] || fail "no whole SVG: $1"
    ! grep -Eq '[" -](nan|inf)' "$1" || fail "not a number in $1"
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1" || fail "$1 is not XML"
    elif command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1" ||
            fail "$1 is not XML"
    fi
}

# Without --output there are only numbers.
mkdir only_numbers && cd only_numbers
for name in attention softmax multihead positions pooling; do
    "$attn" demo $name >../numbers 2>&1 || fail "demo $name: $(cat ../numbers)"
    [ -s ../numbers ] || fail "demo $name prints nothing"
    [ -z "$(ls)" ] || fail "demo $name writes $(ls)"
done
cd ..

# ---- attention ----

# check_weights FILE equal|random|unlike: lengths 2 and 6 of ten keys, sums, exact zeros; equal or different
# weights in a row
check_weights() {
    awk -F , -v kind="$2" '
        function wrong(what) { print "row " NR ": " what; bad = 1 }
        NF != 11 { wrong(NF " fields") }
        NR == 1 { next }
        {
            n = NR == 2 ? 2 : 6; sum = 0; low = 1; high = 0
            for (i = 2; i <= 1 + n; i++) {
                sum += $i
                if (!($i > 0)) wrong("weight " $i)
                if ($i + 0 < low) low = $i + 0
                if ($i + 0 > high) high = $i + 0
            }
            for (; i <= 11; i++) if ($i != "0") wrong("weight beyond the length " $i)
            if (!(sum > 0.99999 && sum < 1.00001)) wrong("sum " sum)
            if (kind == "equal" && !(high - low <= 1e-6)) wrong("weights from " low " to " high)
            if (kind != "equal" && !(high - low > 1e-3)) wrong("weights are all the same")
        }
        END { if (NR != 3) wrong("lines"); exit bad }' "$1" || fail "$2 weights: $(cat "$1")"
}

# check_contexts FILE TEXT: contexts are the means of the rows 0 1 2 3, 4 5 6 7, ... under the weights of the
# table
check_contexts() {
    awk -F , 'NR > 1 {
            for (c = 0; c < 4; c++) {
                s = 0
                for (i = 2; i <= NF; i++) s += $i * (4 * (i - 2) + c)
                printf "%.4f ", s
            }
        print "" }' "$1" >expected
    awk '/^contexts/ { on = 1; next } on { print $3, $4, $5, $6 }' "$2" >found
    paste -d ' ' expected found | awk 'NF != 8 { bad = 1 }
        { for (i = 1; i <= 4; i++) { d = $i - $(i + 4); if (!(d < 2e-4 && d > -2e-4)) bad = 1 } }
        END { exit bad || NR != 2 }' || fail "contexts: $(cat "$1" "$2")"
}

expect 0 demo --help
mv out help
scores=$(awk '/--score/ { on = 1 } on { text = text " " $0 } on && /default/ { exit }
    END {
        sub(/.*function \(/, "", text)
        sub(/; default.*/, "", text)
        gsub(/,/, "", text)
        print text
    }' help)
for score in additive dot scaled_dot general cosine distance location concat; do
    case " $(echo $scores) " in *" $score "*) ;; *) fail "--help does not list $score: $scores" ;; esac
done

for score in $scores; do
    random=random # kind of weights of random keys; location attention ignores keys
    [ "$score" != none ] || random=equal
    expect 0 demo attention --score "$score" -o "$score"
    says "wrote $score.csv"
    says "wrote $score.pgm"
    says "wrote $score.svg"
    head -n 1 out | grep -q "^$score: " || fail "no formula: $(cat out)"
    check_contexts "$score.csv" out
    if [ "$score" = location ]; then # this score ignores keys and prints that
        grep -q "not at the keys" out || fail "$score says nothing of keys: $(cat out)"
        check_weights "$score.csv" unlike
    else
        ! grep -q "not at the keys" out || fail "$score looks at keys: $(cat out)"
        check_weights "$score.csv" equal
        printf '%s\n' 'contexts (2, 1, 4)' 'query 1   2.0000  3.0000  4.0000  5.0000' \
            'query 2  10.0000 11.0000 12.0000 13.0000' >expected
        tail -n 3 out >found
        same "contexts under $score" expected found
    fi
    picture "$score.svg"
    grep -q "$score attention, equal keys</text>" "$score.svg" || fail "no title: $score"
    [ "$(grep -c '<title>query [12] ← key ' "$score.svg")" -eq 20 ] || fail "cells: $score"
    [ "$(head -n 2 "$score.pgm" | tr '\n' ' ')" = "P5 160 32 " ] || fail "PGM: $(head -n 2 "$score.pgm")"
    [ "$(wc -c <"$score.pgm")" -eq $((14 + 160 * 32)) ] || fail "PGM: $(wc -c <"$score.pgm") bytes"

    expect 0 demo attention --score "$score" --keys random -q -o random
    [ ! -s err ] || fail "--quiet is not quiet"
    check_weights random.csv $random
    check_contexts random.csv out
    picture random.svg
    mv out text
    expect 0 demo attention --score "$score" --keys random --seed 1 -q -o again
    same "the same seed" text out
    same "the same seed" random.csv again.csv
    expect 0 demo attention --score "$score" --keys random --seed 2 -q -o again
    check_weights again.csv $random
    [ "$score" = none ] || ! cmp -s random.csv again.csv || fail "another seed, the same weights"
done

# Keys of 2 and queries of 20 components if the score allows it; otherwise both of 2.
expect 0 demo attention -q
grep -q "2 queries of 20 numbers, 10 equal keys of 2, of which 2 and 6 count" out || fail "sizes: $(cat out)"
[ -s attention.csv ] && [ -s attention.pgm ] && [ -s attention.svg ] || fail "files: $(ls)"
expect 0 demo attention -q --score scaled_dot --cell 1 -o one
grep -q "2 queries of 2 numbers, 10 equal keys of 2, of which 2 and 6 count" out || fail "sizes: $(cat out)"
[ "$(head -n 2 one.pgm | tr '\n' ' ')" = "P5 10 2 " ] || fail "--cell"

# The scores follow from the printed queries, keys and parameters.
expect 0 demo attention --score none -q
! grep -q weight\\. out || fail "parameters of no score: $(cat out)"
for score in additive concat general location; do
    expect 0 demo attention --score $score --keys random --lengths 2,6 -q
    awk -v score=$score '
        /^[a-z.]+ \(/ { section = $1; r = 0; next }
        /^[a-z]+ [0-9]/ { r++; c = 0; from = 3 }
        /^ / { from = 1 }
        NF > 2 { for (i = from; i <= NF; i++) x[section, r, ++c] = $i; columns[section] = c }
        END {
            for (q = 1; q <= 2; q++)
                for (k = 1; k <= (q == 1 ? 2 : 6); k++) {
                    a = 0
                    for (j = 1; j <= columns[score == "general" ? "key.weight" : "query.weight"]; j++) {
                        query = key = 0
                        for (i = 1; i <= 20; i++) query += x["queries", q, i] * x["query.weight", i, j]
                        for (i = 1; i <= 2; i++) key += x["keys", 10 * (q - 1) + k, i] * x["key.weight", i, j]
                        if (score == "general") a += x["queries", q, j] * key
                        else if (score == "location") a += (j == k) * query
                        else { e = exp(2 * (query + key)); a += x["v", 1, j] * (e - 1) / (e + 1) }
                    }
                    d = a - x["scores", q, k]; n++
                    if (!(d < 2e-3 && d > -2e-3)) { print q, k, a, x["scores", q, k]; bad = 1 }
                }
            exit bad || n != 8
        }' out >wrong || fail "$score from its parameters: $(cat wrong out)"
done

# A length for each query; a length of 0 gives only zeros.
expect 0 demo attention --lengths "1,3;2,4" -q
for section in 'queries (2, 2, 20)' 'keys (2, 10, 2)' 'values (2, 10, 4)' 'scores (2, 2, 10)' \
    'weights (2, 2, 10)' 'contexts (2, 2, 4)'; do
    grep -qxF "$section" out || fail "no $section: $(cat out)"
done
tail -n 4 out >found
printf '%s\n' 'query 1.1   0.0000  1.0000  2.0000  3.0000' 'query 1.2   4.0000  5.0000  6.0000  7.0000' \
    'query 2.1   2.0000  3.0000  4.0000  5.0000' 'query 2.2   6.0000  7.0000  8.0000  9.0000' >expected
same "contexts of two queries each" expected found
[ "$(sed -n '/^scores/,/^weights/p' out | grep -o -e ' -inf' | wc -l)" -eq 30 ] ||
    fail "scores of what is masked: $(cat out)"
expect 0 demo attention --lengths 0,10 -q
tail -n 2 out | head -n 1 | grep -qx 'query 1   0.0000  0.0000  0.0000  0.0000' || fail "length 0: $(cat out)"

# On a narrow terminal, rows wrap; nothing else differs.
if has_terminals; then
    export attn
    expect 0 demo attention --quiet
    tr -s ' \n' ' ' <out >expected
    script -qec 'stty cols 60 && "$attn" demo attention --quiet' /dev/null </dev/null | tr -d '\r' >narrow
    grep '^query\|^ ' narrow | awk 'length > 60 { exit 1 }' || fail "wider than 60 columns: $(cat narrow)"
    tr -s ' \n' ' ' <narrow | cmp -s - expected || fail "other numbers on a narrow terminal: $(cat narrow)"
fi

# ---- softmax ----

# check_softmax LENGTHS: the table holds the softmax of the first scores that were printed
check_softmax() {
    awk -v lengths="$1" '
        BEGIN { split(lengths, length_of, " ") }
        FILENAME == "out" && /^scores/ { n = 0; on = 1; next }
        FILENAME == "out" && /^weights/ { on = 0 }
        FILENAME == "out" && on && /^query/ { n++; for (i = 1; i <= 4; i++) score[n, i] = $(i + 2) }
        FILENAME != "out" && FNR > 1 {
            split($0, weight, ","); r = FNR - 1; sum = 0
            for (i = 1; i <= length_of[r]; i++) sum += exp(score[r, i])
            for (i = 1; i <= 4; i++) {
                d = weight[i + 1] - (i <= length_of[r] ? exp(score[r, i]) / sum : 0)
                if (d > 1e-4 || d < -1e-4 || (i > length_of[r] && weight[i + 1] != "0")) bad = 1
            } }
        END { exit bad || n != 4 || r != 4 }' out softmax.csv || fail "softmax of $1: $(cat out softmax.csv)"
}
expect 0 demo softmax
says "wrote softmax.svg"
picture softmax.svg
check_softmax "2 2 3 3"
expect 0 demo softmax -q --lengths "1,3;2,4"
check_softmax "1 3 2 4"

# ---- multihead ----

expect 0 demo multihead
says "wrote multihead.csv"
picture multihead.svg
grep -qxF 'weights (5, 2, 4, 6), result (2, 4, 100)' out || fail "shapes: $(cat out)"
awk -F , 'NR > 1 { n = (NR - 2) % 8 < 4 ? 3 : 2
        for (i = 1; i <= 6; i++) { d = $(i + 1) - (i <= n ? 1 / n : 0); if (d > 1e-6 || d < -1e-6) bad = 1 } }
    END { exit bad || NR != 41 }' multihead.csv || fail "weights: $(cat multihead.csv)"
expect 0 demo multihead --keys random --heads 4 --size 12 -q
grep -qxF 'weights (4, 2, 4, 6), result (2, 4, 12)' out || fail "shapes: $(cat out)"
awk -F , 'NR > 1 { s = 0; for (i = 2; i <= 7; i++) s += $i; if (s < 0.99999 || s > 1.00001) bad = 1 }
    END { exit bad || NR != 33 }' multihead.csv || fail "sums: $(cat multihead.csv)"
! grep -q 'query.weight' out || fail "all of 12 numbers are printed"
# The printed values of a small example give its weights and its result.
expect 0 demo multihead --keys random --heads 1 --size 2 --lengths 3 -q
awk '
    function through(m, i, weight, j) {
        return at[m, i, 1] * at[weight, 1, j] + at[m, i, 2] * at[weight, 2, j]
    }
    function dot(q, k) {
        for (j = d = 0; j++ < 2;) {
            query = through("queries", q, "query.weight", j)
            d += query * through("keys and values", k, "key.weight", j)
        }
        return d
    }
    function off(a, b) { return a - b > 1e-3 || b - a > 1e-3 }
    /^[a-z].* \([0-9, ]*\)$/ { name = $0; sub(/ \(.*/, "", name) }
    $1 ~ /^(query|key|row)$/ && $2 ~ /^[0-9]+$/ { for (j = 3; j <= NF; j++) at[name, $2, j - 2] = $j }
    END {
        for (q = 1; q <= 4; q++) {
            sum = head[1] = head[2] = 0
            for (k = 1; k <= 3; k++) sum += e[k] = exp(dot(q, k) / sqrt(2))
            for (k = 1; k <= 3; k++) {
                bad += off(e[k] / sum, at["weights of head 1", q, k])
                for (j = 1; j <= 2; j++)
                    head[j] += e[k] / sum * through("keys and values", k, "value.weight", j)
            }
            for (j = 1; j <= 2; j++)
                bad += off(at["result", q, j],
                    head[1] * at["output.weight", 1, j] + head[2] * at["output.weight", 2, j])
        }
        exit bad
    }' out || fail "computed otherwise: $(cat out)"
expect 0 demo multihead -o named.svg
says "wrote named.csv"
[ -s named.csv ] && [ -s named.pgm ] && [ -s named.svg ] || fail "an ending is not part of the prefix"

# ---- positions ----

# check_matrix FILE ROWS COLUMNS: sines and cosines, labels
check_matrix() {
    awk -F , -v rows="$2" -v columns="$3" '
        function wrong(what) { print "row " NR ": " what; bad = 1 }
        NF != columns + 1 { wrong(NF " fields") }
        NR > 1 { if ($1 != NR - 2) wrong("label " $1)
            for (c = 0; c < columns; c++) {
                angle = $1 / exp(log(10000) * (c - c % 2) / columns)
                d = $(c + 2) - (c % 2 ? cos(angle) : sin(angle))
                if (!(d < 1e-6 && d > -1e-6)) wrong("column " c " is " $(c + 2)) } }
        END { if (NR != rows + 1) wrong("lines"); exit bad }' "$1" || fail "matrix: $1"
}

expect 0 demo positions
grep -qx '5 in binary is 101' out && [ "$(grep -c 'in binary is' out)" -eq 8 ] || fail "binary: $(cat out)"
sed '1d;s/^[^,]*,//;s/,//g' positions-binary.csv | paste -s -d ' ' - >found
[ "$(cat found)" = "000 001 010 011 100 101 110 111" ] ||
    fail "binary table: $(cat positions-binary.csv)"
for name in curves matrix binary rotation; do
    says "wrote positions-$name.svg"
    picture positions-$name.svg
done
# check_rotation PREFIX SIZE OFFSET: the table times a row of the matrix is the row OFFSET further on
check_rotation() {
    awk -F , -v size="$2" -v offset="$3" '
        FNR == 1 { file++; next }
        file == 1 { for (c = 0; c < size; c++) turn[$1, c] = $(c + 2); next }
        { for (c = 0; c < size; c++) p[$1, c] = $(c + 2); rows = $1 }
        END {
            for (i = 0; i + offset <= rows; i++)
                for (r = 0; r < size; r++) {
                    s = -p[i + offset, r]
                    for (c = 0; c < size; c++) s += turn[r, c] * p[i, c]
                    if (s > 1e-5 || s < -1e-5) bad = 1
                }
            exit bad || rows < offset + 2
        }' "$1-rotation.csv" "$1-matrix.csv" || fail "the rotation does not lead $3 positions on"
}
check_rotation positions 32 1
expect 0 demo positions --length 20 --size 11 --offset 7 -q -o turned
check_rotation turned 10 7
grep -q '^rotated, rows 0 to 19 are rows 7 to 26: the greatest difference is [0-9.]*e-0[78]$' out ||
    fail "rotation: $(cat out)"
check_matrix positions-matrix.csv 60 32
picture positions-curves.svg
picture positions-matrix.svg
[ "$(grep -c '<rect ' positions-matrix.svg)" -eq $((60 * 32 + 3)) ] || fail "cells of the matrix"
for column in 6 7 8 9; do
    grep -q ">column $column</text>" positions-curves.svg || fail "no column $column"
done
[ "$(grep -c 'stroke-linejoin' positions-curves.svg)" -eq 4 ] || fail "curves"
grep -q 'fill="#3293c0"><title>0 ← 0: 0.000<' positions-matrix.svg ||
    fail "0 is not the middle of the colours"
grep -q 'fill="#1f243f"><title>0 ← 1: 1.000<' positions-matrix.svg || fail "1 is not the darkest colour"
grep -q '>-1</text>' positions-matrix.svg || fail "the scale does not begin at -1"
expect 0 demo positions --length 20 -q -o short # few enough for marks that tell their values
for value in 0.176892 0.98423 0.0998334 0.995004; do
    grep -q "<title>1: $value</title>" short-curves.svg || fail "the curves do not pass through $value"
done
expect 0 demo positions --length 20 --size 11 -q -o odd
[ ! -s err ] || fail "--quiet is not quiet"
check_matrix odd-matrix.csv 20 11
picture odd-curves.svg

expect 0 demo --length 20 -q -o last positions # options first
cmp -s last-matrix.csv short-matrix.csv || fail "options first: another matrix"
expect 0 demo -q -o attention attention # a value that spells a name
[ -s attention.csv ] || fail "options first: no attention.csv"

# ---- errors are reported before any computation or output ----

mkdir empty && cd empty
expect 2 demo
says "no demo given"
expect 2 demo -q
says "no demo given"
expect 2 demo --length 5 attention
says "--length"
expect 2 demo --length 5
says "no demo given"
expect 2 demo poling
says "did you mean 'attn-mt demo pooling'?"
expect 2 demo others
says "attn-mt demo attention, or attn-mt demo pooling"
expect 2 demo attention more
says "takes only options"
expect 2 demo positions --score dot
says "unknown option '--score'"
expect 2 demo positions --size 9
says "9"
expect 2 demo attention --score bahdanau
for score in $scores; do says "$score"; done
expect 2 demo attention --score scaled-dot
says "did you mean 'scaled_dot'?"
expect 2 demo attention --lengths 2,11
says "whole numbers from 0 to 10"
expect 2 demo attention --lengths ""
says "--lengths ''"
expect 2 demo softmax --lengths "1,3;2"
says "different numbers of queries"
# The lengths of the hint are lengths that each demonstration takes.
example=$(sed -n 's/^hint: .* as in \([0-9,]*\);.*/\1/p' "$TMP/err")
for name in attention softmax multihead; do
    expect 0 demo $name --lengths "$example" -q -o "$TMP/example"
done
expect 2 demo multihead --heads 3
says "100 components cannot be divided among 3 heads"
for prefix in "" - ./; do
    expect 2 demo softmax -o "$prefix"
    says "option '--output': '$prefix' is not the beginning of file names"
done
expect 1 demo attention -o "$TMP/none/x"
says "cannot create '$TMP/none/x.csv'"
[ ! -s ../out ] || fail "printed before the files were there: $(cat ../out)"
expect 1 demo positions -o "$TMP/none/x"
says "cannot create '$TMP/none/x-curves.svg'"
[ ! -e "$TMP/none" ] || fail "a folder was made"
if [ -e /dev/full ]; then # no picture if printing fails
    status=0
    demo attention >/dev/full 2>"$TMP/err" || status=$?
    [ $status -eq 1 ] || fail "status $status on a full disk"
fi
[ -z "$(ls -A)" ] || fail "files were left: $(ls -A)"
cd ..

# ---- pooling ----

# The weights of the picture are those of its own keys and queries.
# check_pooling KERNEL WIDTH
check_pooling() {
    expect 0 demo pooling --kernel "$1" --width "$2" --quiet
    awk -F , -v kernel="$1" -v width="$2" '
        function wrong(what) { print "row " NR ": " what; bad = 1; exit }
        NR == 1 {
            for (i = 2; i <= NF; i++) { x[i] = $i; if (i > 2 && x[i] < x[i - 1]) wrong("order of keys") }
            next
        }
        {
            if (NF != 41) wrong(NF " fields")
            sum = 0
            for (i = 2; i <= NF; i++) {
                u = ($1 - x[i]) / width; size = u < 0 ? -u : u
                k[i] = kernel == "gaussian" ? exp(-u * u / 2) : kernel == "constant" ? 1 : \
                    kernel == "boxcar" ? (size < 1) : size < 1 ? 1 - size : 0
                sum += k[i]
            }
            for (i = 2; i <= NF; i++) {
                d = $i - (sum > 0 ? k[i] / sum : 0)
                if (!(d < 2e-3 && d > -2e-3)) wrong("weight " $i " of key " x[i] ", not " k[i] / sum)
            }
        }
        END { if (NR != 51) wrong(NR " lines"); exit bad }' pooling-weights.csv || fail "$1 of width $2"
}
check_pooling gaussian 1
check_pooling gaussian 0.2
check_pooling boxcar 0.7
check_pooling constant 1
check_pooling epanechnikov 0.3
for name in kernels widths learned weights; do picture pooling-$name.svg; done
for side in "is a key" "is left out"; do
    grep -q ">x $side: at keys<" pooling-learned.svg && grep -q ">x $side: at queries<" pooling-learned.svg ||
        fail "names of the lines: $(grep '<text' pooling-learned.svg)"
done

# Without noise, averaging is the whole error and the nearest keys are best. With noise, a width that is
# learned from the keys themselves averages too little.
expect 0 demo pooling --noise 0 --count 500 --quiet
awk '/mean of .f.q./ { on = 1; next }
    on && $1 == "0.1" { seen = $2 < 0.002 && $3 < 0.002 && $4 > 0.5 }
    END { exit !seen }' out ||
    fail "errors without noise: $(cat out)"
expect 0 demo pooling --quiet
awk 'NF == 7 && $1 == 0 { width = $2 }
    NF == 7 && $1 == 200 {
        seen = width == 1 && $2 < 0.05 && $3 < $6 / 2 && $4 > 2 * $7 && $5 > 0.2 && $5 < 1
    }
    END { exit !seen }' out || fail "learned widths: $(cat out)"
cp out first
expect 0 demo pooling --seed 2 --quiet
! cmp -s out first || fail "--seed changes nothing"
expect 0 demo pooling --count 2 --width 0.001 --kernel boxcar --quiet # no key is near
grep -q ' -$' out || fail "an estimate of nothing: $(cat out)"
! grep -qi nan out pooling-weights.csv || fail "not a number"
for name in kernels widths learned weights; do picture pooling-$name.svg; done
expect 0 demo pooling --noise 1000 --quiet # no slope is too steep
! grep -qi 'nan\|inf' out || fail "not a number: $(cat out)"
awk 'NF == 7 && $1 == 200 { seen = $2 > 0 || $5 > 0 } END { exit !seen }' out || fail "no width: $(cat out)"
expect 2 demo pooling --kernel gausian
says "did you mean 'gaussian'?"
