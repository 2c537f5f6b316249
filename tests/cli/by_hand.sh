#!/bin/sh
# by_hand.sh - docs/by-hand.md: the numbers of the page, of the program, and of awk with the formulas.
set -eu
. tests/cli/tiny_model.inc
model=docs/by-hand.safetensors

# Values from the program and from the model file, as lines "NAME ROW NUMBER...", rows from 1.
expect 0 "$attn" heatmap -m $model -f json -t "va !" "go ."
cp "$TMP/out" "$TMP/json"
awk '/^"tensors"/ { on = 1; next }
    on { split($0, part, "\""); gsub(/^[^[]*\[\[|\]\][,}]*$/, "")
         n = split($0, rows, /\], \[/)
         for (i = 1; i <= n; i++) { gsub(/,/, "", rows[i]); print part[2], i, rows[i] } }' \
    "$TMP/json" >"$TMP/all"
for name in decoder.attention.query.weight decoder.attention.key.weight decoder.attention.v \
    decoder.gru.0.input.weight decoder.gru.0.input.bias decoder.gru.0.state.weight decoder.gru.0.state.bias \
    decoder.context.weight output.weight output.bias; do
    expect 0 "$attn" inspect --tensor $name $model
    awk -v name=$name '{ print name, NR, $0 }' "$TMP/out" >>"$TMP/all"
done

# The page in awk: NAME and its numbers.
cat >"$TMP/step.awk" <<'END_OF_STEP'
function sigmoid(x) { return 1 / (1 + exp(-x)) }
function tanh(x) { return 2 * sigmoid(2 * x) - 1 }
function number(name, row, column) { return value[name, row, column] }
# Column j of the row x[1], x[2] times a weight.
function times(x1, x2, name, j) { return x1 * number(name, 1, j) + x2 * number(name, 2, j) }
function put(name, text) { print name, text }
function near(name, row, column, x) {
    if (x - number(name, row, column) > 1e-5 || number(name, row, column) - x > 1e-5) {
        print name, row, column, "is", number(name, row, column), "and not", x
        wrong = 1
    }
}
{ for (i = 3; i <= NF; i++) value[$1, $2, i - 2] = $i; width[$1] = NF - 2 }
END {
    for (i = 1; i <= 3; i++) {
        h[i, 1] = number("encoder.annotations", i, 1); h[i, 2] = number("encoder.annotations", i, 2)
        put("h" i, h[i, 1] " " h[i, 2])
    }
    for (j = 1; j <= 2; j++) {
        s[j] = number("decoder.gru.0.hidden", 2, j)
        y[j] = number("target.embedded", 2, j)
        v[j] = number("decoder.attention.v", 1, j)
    }
    put("s1", s[1] " " s[2]); put("y1", y[1] " " y[2]); put("v", v[1] " " v[2])
    for (j = 1; j <= 2; j++) q[j] = times(s[1], s[2], "decoder.attention.query.weight", j)
    put("Wq", q[1] " " q[2])
    for (i = 1; i <= 3; i++) {
        a[i] = 0
        for (j = 1; j <= 2; j++) {
            u[j] = times(h[i, 1], h[i, 2], "decoder.attention.key.weight", j)
            near("decoder.attention.keys", i, j, u[j])
            t[j] = tanh(q[j] + u[j])
            a[i] += v[j] * t[j]
        }
        put("Uh" i, u[1] " " u[2]); put("t" i, t[1] " " t[2]); put("a" i, a[i])
        near("decoder.attention.scores", 2, i, a[i])
        sum += exp(a[i])
    }
    for (i = 1; i <= 3; i++) {
        alpha[i] = exp(a[i]) / sum
        near("decoder.attention.weights", 2, i, alpha[i])
        for (j = 1; j <= 2; j++) c[j] += alpha[i] * h[i, j]
    }
    put("alpha", alpha[1] " " alpha[2] " " alpha[3]); put("c", c[1] " " c[2])
    for (j = 1; j <= 6; j++) {
        x[j] = times(y[1], y[2], "decoder.gru.0.input.weight", j) \
            + times(c[1], c[2], "decoder.context.weight", j) + number("decoder.gru.0.input.bias", 1, j)
        g[j] = times(s[1], s[2], "decoder.gru.0.state.weight", j) + number("decoder.gru.0.state.bias", 1, j)
        gx = gx " " x[j]; gs = gs " " g[j]
    }
    put("gx", gx); put("gs", gs)
    for (j = 1; j <= 2; j++) {
        near("decoder.attention.context", 2, j, c[j])
        r[j] = sigmoid(x[j] + g[j]); z[j] = sigmoid(x[j + 2] + g[j + 2])
        n[j] = tanh(x[j + 4] + r[j] * g[j + 4])
        new[j] = (1 - z[j]) * n[j] + z[j] * s[j]
        near("decoder.gru.0.hidden", 3, j, new[j]); near("decoder.readout", 2, j, new[j])
    }
    put("r", r[1] " " r[2]); put("z", z[1] " " z[2]); put("n", n[1] " " n[2]); put("s2", new[1] " " new[2])
    for (k = 1; k <= width["output.bias"]; k++) {
        logit = new[1] * number("output.weight", k, 1) + new[2] * number("output.weight", k, 2) \
            + number("output.bias", 1, k)
        all += exp(logit)
        if (k == 6) five = logit
    }
    put("l5", five); put("logp5", five - log(all)); put("p5", exp(five) / all)
    exit wrong
}
END_OF_STEP
awk -f "$TMP/step.awk" "$TMP/all" >"$TMP/derived" || fail "the program's numbers: $(cat "$TMP/derived")"

# compare: each line of the page to four digits, and nothing is missing
sed -n 's/^    \([A-Za-z0-9]*\) *= */\1 /p' docs/by-hand.md >"$TMP/page"
awk 'NR == FNR { for (i = 2; i <= NF; i++) expected[$1, i] = $i; count[$1] = NF; names++; next }
    { n++
      if (NF != count[$1]) { print $1 ": " NF - 1 " numbers"; bad = 1 }
      for (i = 2; i <= NF; i++) { d = $i - expected[$1, i]
          if (d > 1.1e-4 || d < -1.1e-4) { print $1, $i, "and not", expected[$1, i]; bad = 1 } } }
    END { if (n != names) { print n, "lines on the page,", names, "derived"; bad = 1 } exit bad }' \
    "$TMP/derived" "$TMP/page" || fail "docs/by-hand.md"

# The last numbers are the ones that the program prints for the step.
best='"best": \[{"token": "!".*'
said="^  {\"token\": \"!\", \"logit\": \([^,]*\), \"log_p\": \([^,]*\), $best"
token=$(sed -n "s/$said/\1 \2/p" "$TMP/json")
awk -v token="$token" '$1 == "l5" { l = $2 } $1 == "logp5" { p = $2 }
    END { split(token, t, " "); d = t[1] - l; e = t[2] - p
        exit !(d < 1e-4 && d > -1e-4 && e < 1e-4 && e > -1e-4) }' "$TMP/derived" || fail "the token: $token"
