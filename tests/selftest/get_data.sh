# get_data.sh - get-data creates the folder of a corpus only with all correct files; downloads are resumed.
set -eu
top=$TMP/top
mkdir -p "$top/scripts" "$top/data"
cp scripts/get-data scripts/help.inc "$top/scripts/"
pairs=$PWD/data/train.tsv
cd "$TMP"

expect() { # WHAT, EXIT CODE, PATTERN OF THE OUTPUT, ARGUMENT...
    what=$1 code=$2 pattern=$3 status=0
    shift 3
    "$top/scripts/get-data" "$@" >out 2>&1 </dev/null || status=$?
    if [ $status -ne "$code" ] || ! grep -qE -e "$pattern" out; then
        echo "$what: expected exit code $code and '$pattern', got exit code $status and:"
        cat out
        exit 1
    fi
}
fail() { echo "$1" && exit 1; }

# A corpus of two files simulates Multi30k.
commit=$(sed -n 's|^multi30k_raw=\([0-9a-f]*\)/data/task1/raw$|\1|p' "$top/scripts/get-data")
tok_commit=$(sed -n 's|^multi30k_tok=\([0-9a-f]*\)/data/task1$|\1|p' "$top/scripts/get-data")
site=site/$commit/data/task1/raw tok_site=site/$tok_commit/data/task1/tok
mkdir -p from/multi30k/tok from/tatoeba "$site" "$tok_site"
echo "Two dogs." >a
echo "two dogs ." >b
cp a "$site/a.en" && gzip "$site/a.en"
cp b "$tok_site/b.en"
gzip <a >from/multi30k/a.en.gz
gzip <b >from/multi30k/tok/b.en.gz
digest() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1; }
for file in a.en b.en; do
    case $file in a*) path=$file.gz ;; *) path=tok/$file.gz ;; esac
    echo "$(digest <"${file%.en}")  $path"
done >"$top/data/multi30k.sha256"
unpacked() { gzip -dc "$top/data/$1.gz"; }
same() { unpacked multi30k/a.en | cmp - a && unpacked multi30k/tok/b.en | cmp - b; }
none() { [ ! -e "$top/data/$1" ] || fail "$2: data/$1 is there"; }

# ---- the command line
expect "no name" 2 "scripts/get-data multi30k"
expect "another name" 2 "scripts/get-data multi30k" europarl
expect "two names" 2 "scripts/get-data multi30k" multi30k tatoeba
expect "no folder" 2 "scripts/get-data multi30k" multi30k --from
expect "help" 0 "DATA_URL" --help

# ---- copies
expect "nothing there" 1 "must have every file" multi30k --from nowhere
none multi30k "nothing there"
echo "Two cats." | gzip >wrong.gz
mv from/multi30k/tok/b.en.gz right.gz
expect "a file is missing" 1 "cannot copy .*from/multi30k/tok/b.en.gz" multi30k --from from
none multi30k "a file is missing"
cp wrong.gz from/multi30k/tok/b.en.gz
expect "another content" 1 "tok/b.en.gz: not what data/multi30k.sha256 says" multi30k --from from
none multi30k "another content"
head -c 20 right.gz >from/multi30k/tok/b.en.gz
expect "half a file" 1 "tok/b.en.gz: not what" multi30k --from=from
none multi30k "half a file"
cp right.gz from/multi30k/tok/b.en.gz
expect "all there, after failures" 0 "^multi30k: complete" multi30k --from from
same || fail "the copies differ"
[ -z "$(find "$top/data" -name '.*.part')" ] || fail "something is left"
expect "there already" 0 "^multi30k: complete" multi30k
cp wrong.gz "$top/data/multi30k/a.en.gz"
expect "damaged later" 1 "remove or rename data/multi30k" multi30k --from from
rm -r "$top/data/multi30k"

for set in train valid test; do printf 'Hi.\tSalut.\n' | gzip >from/tatoeba/$set.tsv.gz; done
echo "Hi." | gzip >from/tatoeba/test.tsv.gz
expect "one column" 1 "test.tsv.gz: not two columns in every line" tatoeba --from from
none tatoeba "one column"
printf 'Hi.\tSalut.\n' | gzip >from/tatoeba/test.tsv.gz
expect "three parts" 0 "^tatoeba: complete" tatoeba --from "$TMP/from"
rm -r "$top/data/tatoeba"

# ---- downloads, from a folder that simulates the site
if ! curl --silent --output /dev/null "file://$TMP/a"; then
    echo "skipped: downloads, because there is no curl that reads file://"
    exit 77
fi
export DATA_URL="file://$TMP/site"
rm "$tok_site/b.en"
expect "not on the site" 1 "cannot fetch file://.*/tok/b.en" multi30k
none multi30k "not on the site"
mv "$site/a.en.gz" elsewhere.gz # already downloaded
printf 'two d' >"$top/data/.multi30k.part/tok/b.en.partial"
printf 'TWO Dogs .\n' >"$tok_site/b.en" # of which only the rest is fetched
expect "goes on" 0 "^multi30k: complete" multi30k
same || fail "the rest was not added to what was there"
rm -r "$top/data/multi30k"
mv elsewhere.gz "$site/a.en.gz"
expect "wrong on the site" 1 "tok/b.en.gz: not what" multi30k
none multi30k "wrong on the site"
cp b "$tok_site/b.en"
cp b "$top/data/.multi30k.part/tok/b.en.partial"
expect "all but the last step was done" 0 "^multi30k: complete" multi30k
same || fail "the files are not those of the site"

if ! command -v zip >/dev/null || ! command -v unzip >/dev/null; then
    echo "skipped: the archive, because zip or unzip is not installed"
    exit 77
fi
echo "no archive" >site/fra-eng.zip
expect "no archive" 1 "is no archive with pairs" tatoeba
none tatoeba "no archive"
mkdir fra-eng
awk -F '\t' '{ print $0 "\tattribution"; print toupper($1) " !!\t" $2 }' "$pairs" >fra-eng/fra.txt
echo "Hi" >fra-eng/_about.txt
rm site/fra-eng.zip
zip -q -r site/fra-eng.zip fra-eng
expect "an archive" 0 "not the archive of 2019-04-07" tatoeba
lines() { unpacked "tatoeba/$1.tsv" | wc -l; }
total=$(wc -l <fra-eng/fra.txt)
[ $(($(lines train) + $(lines valid) + $(lines test))) -eq "$total" ] || fail "the parts are not the whole"
for set in valid test; do
    n=$(lines $set)
    [ "$n" -gt $((total / 150)) ] || fail "$set has only $n pairs"
    [ "$n" -lt $((total / 40)) ] || fail "$set has $n pairs"
done
# A sentence and its upper-case form are in the same part.
for set in train valid test; do
    unpacked "tatoeba/$set.tsv" | cut -f 1 | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9\n' | sort -u
done | sort | uniq -d >twice
[ ! -s twice ] || fail "in two parts: $(head -n 3 twice)"
[ "$(find "$top/data" -type f | wc -l)" -eq 6 ] || fail "files are left: $(find "$top/data" -type f)"
