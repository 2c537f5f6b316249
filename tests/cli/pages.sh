# pages.sh - the commands of docs/serving.md, public-models.md, machines.md and by-hand.md and of
# python/README.md are run as they are shown, on small files. readme.sh runs those of the other pages;
# tests/selftest/commands.sh finds the commands that no test runs.
# not sanitized: other tests run these commands
set -eu
. tests/cli/tiny_model.inc
root=$(pwd)
foreign=${ATTN_MT_FOREIGN:-../shared/reference/foreign}
case $foreign in /*) ;; *) foreign=$root/$foreign ;; esac
missing=
tiny_model tiny
mkdir "$TMP/bin" "$TMP/work" "$TMP/models"
ln -s "$attn" "$TMP/bin/attn-mt"
PATH=$TMP/bin:$PATH
export PATH ATTN_MT_MODELS="$TMP/models"
attn-mt models add "$TMP/tiny" --name en-fr >"$TMP/out" 2>&1 || fail "models add: $(cat "$TMP/out")"

# commands PAGE START: the lines of its code blocks that begin with START, without the comments at their ends
commands() { sed -nE -e 's/ +# .*$//' -e "s/^    (($2).*)$/\1/p" "$root/$1" >"$TMP/commands"; }
# run COMMAND: in the shell, in the working directory
run() {
    echo "\$ $1"
    (cd "$TMP/work" && sh -c "$1") </dev/null >"$TMP/out" 2>"$TMP/err" || fail "$1: $(cat "$TMP/err")"
}
# run_all COUNT: the commands, of which there are at least COUNT
run_all() {
    [ "$(wc -l <"$TMP/commands")" -ge "$1" ] || fail "less than $1 commands: $(cat "$TMP/commands")"
    while IFS= read -r command; do run "$command"; done <"$TMP/commands"
}
# not_empty FILE...
not_empty() {
    for file; do [ -s "$TMP/work/$file" ] || fail "no $file"; done
}

# A step of the decoder by hand.
ln -s "$root/docs" "$TMP/work/docs"
commands docs/by-hand.md 'attn-mt '
run_all 2

# Several machines: parts that ordinary commands translate.
cut -f 1 data/chapter.tsv >"$TMP/work/big.en"
cp "$TMP/tiny/best.safetensors" "$TMP/work/"
"$attn" translate -m "$TMP/tiny/best.safetensors" "$TMP/work/big.en" >"$TMP/expected"
commands docs/machines.md 'mkdir parts && split -n l\/8|ls parts|cat parts'
run_all 3
same "docs/machines.md: parts" "$TMP/expected" "$TMP/work/big.fr"
commands docs/machines.md 'parallel '
if parallel --version 2>/dev/null | grep -q GNU; then
    run_all 1
    same "docs/machines.md: parallel" "$TMP/expected" "$TMP/work/big.fr"
else
    missing="$missing GNU parallel,"
fi

# Python.
python=${PYTHON:-python3}
if [ -e "$BUILD/libattn_mt.so.1" ] && "$python" -c 'import numpy' 2>/dev/null; then
    sed -n '/^    import attn_mt/,/^[^ ]/s/^    //p' python/README.md >"$TMP/example.py"
    grep -q translate "$TMP/example.py" || fail "python/README.md has no example"
    ATTN_MT_LIBRARY=$BUILD/libattn_mt.so.1 PYTHONPATH=python "$python" -B "$TMP/example.py" \
        >"$TMP/out" 2>&1 || fail "python/README.md: $(cat "$TMP/out")"
    [ "$(wc -l <"$TMP/out")" -eq 4 ] || fail "python/README.md prints: $(cat "$TMP/out")"
else
    missing="$missing Python with NumPy and the library,"
fi

# Servers. Requests go to the one that was started last.
serve_ready() { # COMMAND: on a free port; false without libmicrohttpd
    echo "\$ $1"
    : >"$TMP/address"
    (cd "$TMP/work" && exec sh -c "exec $1 --port 0") >"$TMP/address" 2>"$TMP/err" &
    server=$!
    while [ ! -s "$TMP/address" ]; do
        if ! kill -0 "$server" 2>/dev/null; then
            grep -q 'built without libmicrohttpd' "$TMP/err" && return 1
            fail "$1: $(cat "$TMP/err")"
        fi
        sleep 0.05
    done
    address=$(sed 's|.*http://\([^/]*\)/.*|\1|' "$TMP/address")
}
cp -r "$TMP/tiny" "$TMP/work/mine"
mkdir "$TMP/work/runs" && mv "$TMP/work/mine" "$TMP/work/runs/mine"
printf '<p>go .</p>\n' >"$TMP/work/guide.html"
# the page's servers have other languages than this model
adapt() { sed -e 's/fr-de/en-fr/' -e 's/en-de/en-fr/' -e 's/target=de/target=fr/'; }
commands docs/serving.md 'attn-mt serve'
adapt <"$TMP/commands" >"$TMP/servers"
[ "$(wc -l <"$TMP/servers")" -ge 3 ] || fail "docs/serving.md: less than 3 servers"
commands docs/serving.md 'curl '
adapt <"$TMP/commands" >"$TMP/requests"
[ "$(wc -l <"$TMP/requests")" -ge 2 ] || fail "docs/serving.md: less than 2 requests"
while IFS= read -r start; do
    serve_ready "$start" || {
        missing="$missing libmicrohttpd,"
        break
    }
    while command -v curl >/dev/null && IFS= read -r request; do
        run "$(echo "$request" | sed "s/127.0.0.1:5000/$address/; s/^curl/curl -fsS/")"
        grep -q '"translated' "$TMP/out" || fail "$request: $(cat "$TMP/out")"
    done <"$TMP/requests"
    kill "$server" && wait "$server" || fail "$start: $(cat "$TMP/err")"
done <"$TMP/servers"
command -v curl >/dev/null || missing="$missing curl,"
commands docs/serving.md 'ATTN_MT_MODELS='
sed "s|/usr/local/share|$TMP/share|; s|PATH\$|runs/mine --name second|" "$TMP/commands" >"$TMP/adapted"
mv "$TMP/adapted" "$TMP/commands"
run_all 1

# Public models: a reference model in the place of OPUS-MT, and pairs of the project.
if [ -d "$foreign/opus-hf" ]; then
    cp -r "$foreign/opus-hf" "$TMP/work/opus-mt-en-fr"
    head -n 40 data/train.tsv >"$TMP/work/mine.tsv"
    tail -n 20 data/train.tsv >"$TMP/work/other.tsv"
    rm -r "$TMP/models" "$TMP/work/runs"
    commands docs/public-models.md '(echo .* \| )?attn-mt '
    sed -i 's/ train / train --set train.epochs=1 /' "$TMP/commands"
    run_all 7
    not_empty en-fr.safetensors runs/mine/best.safetensors runs/mine/tuned.safetensors
else
    missing="$missing reference models for docs/public-models.md,"
fi
[ -z "$missing" ] || echo "skipped: not here:${missing%,}"
