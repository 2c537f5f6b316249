#!/bin/sh
# readme.sh - every attn-mt command of README.md, docs/use.md, files.md, tutorial.md, your-data.md and
# chapters.md is run, in the order it is shown, on small files. pages.sh runs those of other pages.
# slow: it takes minutes, and other tests run these commands
set -eu
root=$(pwd)
program=${ATTN_MT:-build/attn-mt}
case $program in /*) ;; *) program=$root/$program ;; esac
work=${TMP:?an empty folder}

mkdir "$work/build" "$work/configs"
ln -s "$program" "$work/build/attn-mt"
ln -s "$root/data" "$work/data"
# The same recipes, shortened to seconds.
for config in "$root"/configs/*.json; do
    sed -e 's/"epochs": [0-9]*/"epochs": 2/' -e 's/"embedding": [0-9]*/"embedding": 32/' \
        -e 's/"hidden": [0-9]*/"hidden": 32/' "$config" >"$work/configs/${config##*/}"
done
cd "$work"
head -n 300 data/train.tsv >my.tsv
head -n 20 data/valid.tsv >my-dev.tsv
cp my-dev.tsv noisy.tsv
printf 'go\tva\n' >terms.tsv
cut -f 1 my-dev.tsv | tee test.en >input.txt
cut -f 2 my-dev.tsv | tee test.fr >reference.txt
{ echo '<!DOCTYPE html>' && sed 's|.*|<p>&</p>|' input.txt; } >page.html
printf 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "go ."\nmsgstr ""\n' >de.po
sed 's/^/0 ||| /; s/$/ ||| F0= -1 ||| -1/' test.fr | awk '{ $1 = NR - 1; print }' >output.nbest

status=0
# serve COMMAND: stops the server when it is ready; on a free port
serve() {
    : >out
    sh -c "exec $1 --port 0" >out 2>err &
    while kill -0 $! 2>/dev/null && [ ! -s out ]; do sleep 0.05; done
    kill $! 2>/dev/null || true
    wait $! || grep -q 'built without libmicrohttpd' err
}
# run_commands FILE: its lines
run_commands() {
    while IFS= read -r command; do
        echo "\$ $command"
        case $command in
        *"attn-mt serve"*) run=serve ;;
        *) run="sh -c" ;;
        esac
        if ! $run "$command" </dev/null >out 2>err; then
            echo "failed:"
            cat err
            status=1
        fi
        # files for later commands
        for copy in a b; do
            [ ! -f runs/mine/best.safetensors ] || cp runs/mine/best.safetensors $copy.safetensors
        done
    done <"$1"
}
# enough PAGE COUNT: the page has at least COUNT commands
enough() {
    [ "$(wc -l <commands)" -ge "$2" ] || {
        echo "$1 shows only $(wc -l <commands) commands"
        exit 1
    }
}
# lines FILE COUNT
lines() {
    [ "$(wc -l <"$1")" -eq "$2" ] || {
        echo "$1 has $(wc -l <"$1") lines instead of $2"
        status=1
    }
}

# Lines of code blocks, without the trailing comment.
cat >memory.tmx <<'TMX'
<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>good morning</seg></tuv>
<tuv xml:lang="de"><seg>guten Morgen</seg></tuv></tu></body></tmx>
TMX
# The folder of a run stands for a public model of others, which convert_foreign.sh reads.
build/attn-mt train my.tsv --languages en-fr --set train.epochs=1 --run opus-mt-en-fr >out 2>err || {
    cat err
    exit 1
}
export ATTN_MT_MODELS="$work/models"
for page in README.md docs/use.md; do
    rm -rf runs models
    { # code blocks, then commands in sentences and tables
        sed -nE 's/^    ((echo .* \| )?build\/attn-mt .*)$/\1/p' "$root/$page"
        sed '/^    /d' "$root/$page" | grep -o '`build/attn-mt [^`]*`' | grep -v '\.\.\.' | tr -d '`'
    } | sed -e 's/  *# .*$//' -e 's/ --run/ --set train.epochs=2 --run/' >commands
    enough "$page" 8
    run_commands commands
    lines output.txt 20
    rm output.txt
done

# Documents: the commands of files.md with a model and files of this page.
sed -nE 's/^    (attn-mt .*)$/build\/\1/p' "$root/docs/files.md" >commands
cp a.safetensors best.safetensors
enough docs/files.md 2
run_commands commands
for file in page.de.html new.po; do
    [ -s $file ] || {
        echo "docs/files.md: no $file"
        status=1
    }
done

# The tutorial, with a shorter training. Its program is built already.
rm -rf runs models
sed -nE 's/^    ((echo|cp|cut|build\/attn-mt) .*)$/\1/p' "$root/docs/tutorial.md" |
    sed -e 's/ --run/ --set train.epochs=2 --run/' >commands
enough docs/tutorial.md 10
run_commands commands
lines test.fr 500
lines output.fr 500
unset ATTN_MT_MODELS

# Numbers below 300 and their German names, three of them twice; the lines of all code blocks, shortened.
awk 'BEGIN {
    split("eins zwei drei vier fünf sechs sieben acht neun", unit, " ")
    split("zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", ten, " ")
    for (n = 1; n <= 303; n++) {
        k = n > 300 ? n - 300 : n
        text = k >= 200 ? "zweihundert " : k >= 100 ? "einhundert " : ""
        print k "\t" text unit[k % 10] (k % 10 && int(k / 10) % 10 ? " und " : "") ten[int(k / 10) % 10]
    }
}' | grep -v '	$' >mine.tsv
cut -f 1 mine.tsv | head -n 20 | tee test.en >input.txt
cut -f 2 mine.tsv | head -n 20 >test.de
head -n 100 mine.tsv >new.tsv
sed -n 's/^    //p' "$root/docs/your-data.md" |
    sed -e 's/ --run/ --set train.epochs=1 --run/' -e 's/--epochs [0-9]*/--epochs 2/' >commands
enough docs/your-data.md 8
run_commands commands
lines output.txt 20
build/attn-mt inspect train.tsv --valid valid.tsv | grep -q 'pairs also in validation  *0$' || {
    echo "validation pairs are in train.tsv"
    status=1
}

# Code blocks and cells of tables.
sed -n -e 's/^    //p' -e 's/^|[^`]*| `\(.*build\/attn-mt [^`]*\)` .*/\1/p' "$root/docs/chapters.md" |
    sed -e 's/ --set train.epochs=[0-9]*//' \
        -e 's/ --run/ --set train.epochs=1 --set data.limit=200&/' >commands
enough docs/chapters.md 40
run_commands commands
exit $status
