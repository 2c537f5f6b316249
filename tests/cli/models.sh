#!/bin/sh
# models.sh - attn-mt models, and the models that other commands take by name, by languages or by themselves.
set -eu
. tests/cli/tiny_model.inc
tiny_model mine --set data.source=en --set data.target=fr
mkdir -p "$TMP/home" "$TMP/shared/attn-mt/models" "$TMP/work"
export HOME="$TMP/home" XDG_DATA_DIRS="$TMP/shared"
unset ATTN_MT_MODELS XDG_DATA_HOME
folder=$HOME/.local/share/attn-mt/models
model=$TMP/mine/best.safetensors
printf 'go .\n' >"$TMP/go"
"$attn" translate -m "$model" "$TMP/go" >"$TMP/expected"
old=$PWD/tests/golden/models/0.2.0-recurrent.safetensors # without a shortlist
cd "$TMP/work"

translates() { # OPTION...: as the model does
    expect 0 "$attn" translate "$@" "$TMP/go"
    same "translate $*" "$TMP/expected" "$TMP/out"
}

# Nothing there: the three ways.
for command in translate score; do
    expect 2 "$attn" $command "$TMP/go"
    says "no model given, and none is installed in '$folder' or below runs/"
    says "attn-mt train mine.tsv"
    says "attn-mt models add"
    says "--model FILE"
done
expect 2 "$attn" heatmap "go ."
says "no model given"
expect 2 "$attn" translate --languages en-fr "$TMP/go"
says "no model translates from en to fr"
expect 0 "$attn" models
says "no models in '$folder'"
[ ! -s "$TMP/out" ] || fail "a list of no models"
[ ! -e "$folder" ] || fail "listing made the folder"

# The newest run below runs/; a damaged one and other files do not matter.
mkdir -p runs/older runs/newer runs/damaged runs/empty
cp "$model" runs/older/best.safetensors
touch -d '2020-01-01' runs/older/best.safetensors
cp "$model" runs/newer/best.safetensors
echo nonsense >runs/damaged/best.safetensors
echo nonsense >runs/file
translates
says "model    runs/newer/best.safetensors: the newest below runs/"
translates --languages eng-fra
says "model    runs/newer/best.safetensors: the newest below runs/ of these languages"
translates --quiet
[ ! -s "$TMP/err" ] || fail "not quiet: $(cat "$TMP/err")"
expect 0 "$attn" heatmap "go ."
says "runs/newer/best.safetensors"
# The folder of a run is a model, with and without a slash at its end.
for run in runs/older runs/older/ ./runs/older; do translates -m $run; done
expect 0 "$attn" average runs/older runs/newer -o mean.safetensors
expect 0 "$attn" convert runs/older -o small.safetensors
expect 0 "$attn" inspect runs/older
expect 3 "$attn" translate -m runs/empty "$TMP/go"
says "it is a folder"

# Names. One in the user's folder hides one in the shared folders.
mkdir -p "$folder"
cp "$model" "$TMP/shared/attn-mt/models/common.safetensors"
translates
says "model    'common': the only one in the folders of models"
odd='ö d\d "1" -x'
cp "$model" "$folder/$odd.safetensors"
cp small.safetensors "$folder/common.safetensors"
for name in common "$odd"; do
    translates -m "$name"
    [ ! -s "$TMP/err" ] || fail "a name: $(cat "$TMP/err")"
done
expect 0 "$attn" inspect "$odd"
expect 0 "$attn" average "$odd" "$odd" -o mean.safetensors
expect 0 "$attn" score -m "$odd" "$TMP/tiny.tsv"
expect 0 "$attn" heatmap -m "$odd" "go ."
expect 0 "$attn" convert "$odd" -o again.safetensors
same "convert of a name" small.safetensors again.safetensors
expect 0 "$attn" train "$TMP/tiny.tsv" --init "$odd" --run "$TMP/next" --epochs 1 --languages en-fr
# A name that is a folder here, too, is the model's, and that is said.
mkdir "$TMP/beside" "$TMP/beside/common"
(cd "$TMP/beside" && expect 0 "$attn" translate -m common "$TMP/go" &&
    says "'common' is both a model of 'attn-mt models' and a file here; this is the model") || exit 1
expect 2 "$attn" translate -m comon "$TMP/go"
says "no model is called 'comon'"
says "did you mean 'common'?"
expect 1 "$attn" translate -m ./common "$TMP/go"
expect 1 "$attn" translate -m common.safetensors "$TMP/go"
cp "$model" plain # without a slash, and no such name: a file
translates -m plain

# With several models the languages choose, or ATTN_MT_MODEL.
rm -r runs
expect 2 "$attn" translate "$TMP/go"
says "no model given, and several are installed: common, $odd"
translates --languages en-fr
says "model    'common': translates from en to fr"
expect 2 "$attn" translate --languages fr-englsh "$TMP/go"
says "did you mean 'english'?"
expect 2 "$attn" models remov common
says "did you mean 'attn-mt models remove'?"
expect 2 "$attn" translate --languages fr-en "$TMP/go"
says "no model translates from fr to en"
says "there are en-fr"
translates --languages en-fr --model "$odd"
expect 2 "$attn" translate --languages en-de --model "$odd" "$TMP/go"
says "translates from en to fr, not from en to de"
expect 2 "$attn" heatmap --languages fr-en "go ."
says "no model translates from fr to en"
export ATTN_MT_MODEL="$odd"
translates
says "ATTN_MT_MODEL names it"
expect 2 env ATTN_MT_MODEL=nothing "$attn" translate "$TMP/go"
says "ATTN_MT_MODEL: no model is called 'nothing'"
unset ATTN_MT_MODEL

# The variables of the folder: ATTN_MT_MODELS before XDG_DATA_HOME before HOME.
mkdir -p "$TMP/xdg/attn-mt/models" "$TMP/set"
cp "$model" "$TMP/xdg/attn-mt/models/x.safetensors"
cp "$model" "$TMP/set/s.safetensors"
export XDG_DATA_DIRS="$TMP/none"
XDG_DATA_HOME="$TMP/xdg" translates -m x
ATTN_MT_MODELS="$TMP/set" XDG_DATA_HOME="$TMP/xdg" translates
says "model    's'"
export XDG_DATA_DIRS="$TMP/shared"

# A damaged model is named and left out.
head -c 5000 "$model" >"$folder/broken.safetensors"
translates --languages en-fr
says "left out: '$folder/broken.safetensors'"
expect 0 "$attn" models
says "left out: '$folder/broken.safetensors'"
[ "$(wc -l <"$TMP/out")" -eq 3 ] || fail "list: $(cat "$TMP/out")"
grep -q "^common  *en-fr  *attn-mt  *[0-9.]*M  *int8  *[0-9.]* kB  *$folder\$" "$TMP/out" ||
    fail "list: $(cat "$TMP/out")"
expect 0 "$attn" models --json
if command -v python3 >/dev/null; then
    python3 - "$TMP/out" "$odd" <<-'END' || fail "JSON: $(cat "$TMP/out")"
	import json, sys
	found = json.load(open(sys.argv[1]))
	assert [m["name"] for m in found["models"]] == ["common", sys.argv[2]], found
	common = found["models"][0]
	assert (common["source"], common["targets"], common["precision"]) == ("en", ["fr"], "int8"), found
	assert common["own"] and common["bytes"] > 1000 and common["parameters"] > 1000, found
	assert len(found["damaged"]) == 1 and len(found["folders"]) == 2, found
END
fi

# add: from a run, with the languages of the model, of the name or of --languages; it translates a sentence.
export ATTN_MT_MODELS="$TMP/added"
expect 0 "$attn" models add "$TMP/mine"
says "added    'mine': from en to fr"
says "test     Where is the station? -> "
expect 0 "$attn" models add "$model" --name en_de --languages de-en
says "added    'en_de': from de to en"
expect 2 "$attn" models add "$TMP/mine/best.safetensors"
says "there is a model 'mine' already: '$TMP/added/mine.safetensors'"
expect 0 "$attn" models add "$TMP/mine" --overwrite --precision int8
"$attn" models | grep -q '^mine .* int8 ' || fail "not overwritten: $("$attn" models)"
translates --model mine
cp -r "$TMP/mine" en-fr # a folder beside us, not a name
expect 0 "$attn" models add en-fr
for name in a/b .hidden ''; do
    expect 2 "$attn" models add "$model" --name "$name"
    says "'$name' cannot be the name of a model"
done
expect 2 "$attn" models add "$model" --name x --languages en
expect 1 "$attn" models add nothing
says "cannot open 'nothing'"
head -c 5000 "$model" >cut.safetensors
expect 3 "$attn" models add cut.safetensors
[ "$(ls -A "$TMP/added" | tr '\n' ' ')" = "en-fr.safetensors en_de.safetensors mine.safetensors " ] ||
    fail "left in the folder: $(ls -A "$TMP/added")"
# Of several users who add the same name at once one gets it.
for i in 1 2 3; do
    "$attn" models add "$model" --name same >"$TMP/add$i" 2>&1 && echo yes >>"$TMP/won" &
done
wait
[ "$(wc -l <"$TMP/won")" -eq 1 ] || fail "two have added: $(cat "$TMP"/add?)"
if [ "$(id -u)" -ne 0 ]; then
    chmod -w "$TMP/added"
    expect 1 "$attn" models add "$model" --name other
    chmod +w "$TMP/added"
fi
unset ATTN_MT_MODELS

# remove: only what is in the user's folder, damaged ones too.
expect 0 "$attn" models remove broken
expect 0 "$attn" models remove common
says "removed '$folder/common.safetensors'"
expect 2 "$attn" models remove common
says "is not a model of '$folder'"
expect 2 "$attn" models remove "$model"
[ -e "$model" ] || fail "removed by path"
expect 2 "$attn" models remove nothing
expect 2 "$attn" models remove
expect 2 "$attn" models list
[ "$(ls "$folder")" = "$odd.safetensors" ] || fail "left: $(ls "$folder")"

# Pivots: no model of both languages, but models that connect them.
rm -r "$folder"
export ATTN_MT_MODELS="$TMP/route" XDG_DATA_DIRS="$TMP/none"
expect 0 "$attn" models add "$model" --name en-fr
expect 0 "$attn" models add "$model" --name de-en --languages de-en
"$attn" translate -q -m "$model" "$TMP/expected" >"$TMP/twice"
expect 0 "$attn" translate --languages de-fr "$TMP/go"
same "de-fr through en" "$TMP/twice" "$TMP/out"
says "model    'de-en', then 'en-fr': translates from de to en to fr"
expect 0 "$attn" translate --quiet --languages de-fr --json "$TMP/go"
grep -qF "\"pivot\": \"$(cat "$TMP/expected")\"" "$TMP/out" || fail "JSON: $(cat "$TMP/out")"
printf '<!DOCTYPE html>\n<p>go .</p>\n' >"$TMP/page"
expect 0 "$attn" translate --quiet --languages de-fr "$TMP/page"
grep -qF "<p>$(cat "$TMP/twice")</p>" "$TMP/out" || fail "a page: $(cat "$TMP/out")"
expect 0 "$attn" translate --quiet --shortlist 9 --languages de-fr "$TMP/go"
expect 0 "$attn" models add "$old" --name it-en --languages it-en
expect 2 "$attn" translate --shortlist 9 --languages it-fr "$TMP/go"
says "it-en.safetensors' has no list of likely translations of its tokens"
expect 2 "$attn" translate --no-pivot --languages de-fr "$TMP/go"
says "no model translates from de to fr"
printf 'go\tva\n' >"$TMP/terms"
expect 2 "$attn" translate --glossary "$TMP/terms" --languages de-fr "$TMP/go"
says "option '--glossary' needs a model of both languages, and 'de-fr' has none"
expect 2 "$attn" heatmap --languages de-fr "go ."

# auto: the language of the text, of those with a route to the target.
if echo go | "$attn" detect >/dev/null 2>&1; then
    echo "Wo hast du die Schlüssel des Hauses hingelegt?" >"$TMP/german"
    expect 0 "$attn" translate --languages auto-fr "$TMP/german"
    says "language de, with a confidence of 0.9"
    says "model    'de-en', then 'en-fr'"
    cp "$TMP/out" "$TMP/expected"
    expect 0 "$attn" translate --languages auto-fr <"$TMP/german"
    same "from a pipe" "$TMP/expected" "$TMP/out"
    expect 0 "$attn" translate --languages auto-en "$TMP/german"
    says "model    'de-en': translates from de to en"
    printf '<p>Where did you put the keys of the house?</p>\n' >"$TMP/page"
    expect 0 "$attn" translate --format html --languages auto-fr "$TMP/page"
    says "language en, "
    expect 2 "$attn" translate --format html --languages auto-fr <"$TMP/page"
    says "a language is detected in a file, or in lines from a pipe"
    expect 2 "$attn" translate --languages auto-it "$TMP/german"
    says "no model translates from any language to it"
    expect 2 "$attn" translate --languages auto-fr --model en-fr "$TMP/german"
    says "leave --model out"
fi
