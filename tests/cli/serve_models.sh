# serve_models.sh - attn-mt serve with a folder of models: pairs, pivots, detection, a damaged model, models
# that take turns in memory, and reloads while requests run.
# alone
. tests/cli/tiny_model.inc
. scripts/serve.inc
export ATTN_MT_MODELS="$TMP/models" XDG_DATA_DIRS="$TMP/none"
mkdir "$TMP/models"
expect 2 "$attn" serve --port 0
if grep -q "built without libmicrohttpd" "$TMP/err"; then
    echo "skipped: built without libmicrohttpd"
    exit 77
fi
says "no model given, and no model with two languages in '$TMP/models'"
says "attn-mt models add PATH"

# English to French and back; "German" is French under another name, so French goes through English to it.
tiny_model there
tiny_model back --set data.source=fra_Latn --set data.target=eng --set data.columns=en,fr
cp "$TMP/there/best.safetensors" "$TMP/models/there.safetensors"
cp "$TMP/back/best.safetensors" "$TMP/models/back.safetensors"
expect 0 "$attn" models add "$TMP/there/best.safetensors" --name german --languages en-de
expect 0 "$attn" models add "$TMP/there/best.safetensors" --name italian --languages it-fr
# Its header is sound, its last weight is not.
printf 'x' | dd of="$TMP/models/italian.safetensors" bs=1 conv=notrunc \
    seek=$(($(wc -c <"$TMP/models/italian.safetensors") - 1)) 2>/dev/null
head -c 1000 "$TMP/there/best.safetensors" >"$TMP/models/broken.safetensors"
cut -f 1 "$TMP/tiny.tsv" | head -n 20 >"$TMP/en"
cut -f 2 "$TMP/tiny.tsv" | head -n 20 >"$TMP/fr"

# expected SOURCE TARGET FILE: appends lines for `serve-client pairs`
expected() {
    "$attn" translate --split -q --languages "$1-$2" "$3" >"$TMP/translated" || fail "$1-$2"
    awk -v OFS='\t' -v s="$1" -v t="$2" 'NR == FNR { line[FNR] = $0; next } { print s, t, line[FNR], $0 }' \
        "$3" "$TMP/translated" >>"$TMP/pairs"
}
expected en fr "$TMP/en"
expected fr en "$TMP/fr"
expected en de "$TMP/en"
expected fr de "$TMP/fr"
[ "$(sort -u "$TMP/pairs" | wc -l)" -ge 70 ] || fail "pairs: $(cat "$TMP/pairs")"
shuffled() { awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' "$1" | sort | cut -f 2-; }
shuffled "$TMP/pairs" >"$TMP/mixed"

# loads, all_of WHAT: the number of times that the model was loaded; of all models together
loads() { metric "model_loads_total{model=\"$1\"}"; }
all_of() {
    get /metrics | awk -v name="attn_mt_model_$1{" 'index($1, name) == 1 { n += $2 } END { print n }'
}
# right WHAT CLIENTS SECONDS: all answers are right
right() {
    "$client" "$port" pairs "$2" "$3" "$TMP/mixed" >"$TMP/out" 2>"$TMP/err" ||
        fail "$1: $(cat "$TMP/out" "$TMP/err" "$TMP/serve.log")"
    grep -q ' 0 wrong' "$TMP/out" || fail "$1: $(cat "$TMP/out")"
}

serve_start --threads 2 || fail "the server does not start: $(cat "$TMP/serve.log")"
trap 'kill "$server" 2>/dev/null' EXIT
grep -q "left out: '$TMP/models/broken.safetensors'" "$TMP/serve.log" || fail "$(cat "$TMP/serve.log")"

# Languages, in one form; pivots count.
gives "languages" 200 '[{"code": "en", "name": "English", "targets": ["fr", "de"]}, {"code": ' get /languages
gives "languages" 200 '{"code": "fr", "name": "French", "targets": ["en", "de"]}' get /languages
gives "languages" 200 '{"code": "de", "name": "German", "targets": []}' get /languages
gives "languages" 200 '{"code": "it", "name": "Italian", "targets": ["en", "fr", "de"]}' get /languages
gives "settings" 200 '"target": {"code": "fr", "name": "French", "targets": []}' get /frontend/settings

# Models are loaded when they are needed.
[ "$(metric models_bytes)" = 0 ] && [ "$(all_of loads_total)" = 0 ] || fail "loaded at once: $(get /metrics)"
gives "a pair" 200 '{"translatedText": "va !"}' \
    post_json '{"q": "go .", "source": "en_US", "target": "fra"}'
[ "$(loads there)" = 1 ] && [ "$(all_of loads_total)" = 1 ] || fail "not one: $(get /metrics)"
[ "$(metric models_bytes)" -gt 500000 ] || fail "bytes: $(get /metrics)"
gives "a pivot" 200 '{"translatedText": ["va !", ""], "pivot": ["go .", ""]}' \
    post_json '{"q": ["va !", ""], "source": "fr", "target": "German"}'
gives "a pivot with HTML" 200 '"<b>va !</b>", "pivot": "<b>go .</b>"' \
    post_json '{"q": "<b>va !</b>", "source": "fr", "target": "de", "format": "html"}'
gives "a pivot with attention" 200 '"attention": {"source": ["go"' \
    post_json '{"q": "va !", "source": "fr", "target": "de", "attention": "word", "alternatives": 1}'
grep -qF '"alternatives": ["' "$TMP/answer" || fail "alternatives: $(cat "$TMP/answer")"
right "pairs" 6 0
[ "$(all_of loads_total)" = 3 ] && [ "$(all_of evictions_total)" = 0 ] || fail "loads: $(get /metrics)"

# Requests that no model serves.
gives "a source" 400 "source language 'de' is not supported; there are en, fr, it" \
    post_json '{"q": "x", "source": "de", "target": "en"}'
gives "a target" 400 "target language 'it' is not supported; there are en, fr, de" \
    post_json '{"q": "x", "source": "en", "target": "it"}'
gives "a pair" 400 "no model translates from 'en' to 'en'; the targets are fr, de" \
    post_json '{"q": "x", "source": "en", "target": "en"}'
gives "no target" 400 "'target', the language, is missing; there are en, fr, de" post_json '{"q": "x"}'

# The damaged model fails with the reason, the others go on.
gives "a damaged model" 500 "model 'italian' cannot be loaded: cannot use 'italian.safetensors' as a model" \
    post_json '{"q": "x", "source": "it", "target": "fr"}'
gives "a damaged model first" 500 "the model 'italian' cannot be loaded" \
    post_json '{"q": "x", "source": "it", "target": "de"}'
! grep -qF "$TMP" "$TMP/answer" || fail "the folder is told: $(cat "$TMP/answer")"
[ "$(metric 'model_load_failures_total{model="italian"}')" = 1 ] || fail "failures: $(get /metrics)"
gives "the others" 200 '"va !"' post_json '{"q": "go .", "source": "en", "target": "fr"}'
reason="model 'italian' cannot be loaded: cannot use '$TMP/models/italian"
while ! grep -qF "$reason" "$TMP/serve.log"; do sleep 0.05; done
rm "$TMP/models/italian.safetensors" "$TMP/models/broken.safetensors"

# Which language a text is in.
if echo go | "$attn" detect >/dev/null 2>&1; then
    gives "auto" 200 '"language": "en"}' \
        post_json '{"q": "Where did you put the keys of the house?", "source": "auto", "target": "de"}'
    gives "auto" 200 '"language": "fr"}' \
        post_json '{"q": "Où as-tu mis les clés de la maison ?", "source": "auto", "target": "de"}'
    gives "auto of the only sources" 200 '"language": "fr"}' \
        post_json '{"q": ["Où as-tu mis", "les clés de la maison ?"], "source": "auto", "target": "en"}'
    gives "detection" 200 '"language": "de"}' \
        post application/x-www-form-urlencoded 'q=Wo hast du den Schlüssel hingelegt?' /detect
else
    gives "auto" 400 "'source', the language, is missing" \
        post_json '{"q": "x", "source": "auto", "target": "de"}'
fi

# A reload reads the folder again; models whose files are the same stay.
before=$(all_of loads_total)
reload() {
    count=$(metric reloads_total)
    kill -HUP "$server"
    while [ "$(metric reloads_total)" -eq "$count" ]; do sleep 0.05; done
}
reload
gives "languages of the folder" 400 "there are en, fr" post_json '{"q": "x", "source": "it", "target": "en"}'
right "after a reload" 6 0
[ "$(all_of loads_total)" -le "$before" ] || fail "loaded again: $(get /metrics)"

# Reloads with new, changed and removed models while requests run.
"$client" "$port" pairs 6 4 "$TMP/mixed" >"$TMP/load" 2>&1 &
load=$!
for n in 1 2 3; do
    cp "$TMP/there/best.safetensors" "$TMP/new"
    mv "$TMP/new" "$TMP/models/there.safetensors"
    cp "$TMP/models/back.safetensors" "$TMP/models/more$n.safetensors"
    reload
    rm "$TMP/models/more$n.safetensors"
    reload
done
wait "$load" || fail "requests were lost in a reload: $(cat "$TMP/load" "$TMP/serve.log")"
gives "a file that was replaced" 200 '"va !"' post_json '{"q": "go .", "source": "en", "target": "fr"}'
[ "$(loads there)" = 1 ] || fail "not loaded again: $(get /metrics)"
# Terms and memories belong to pairs, of models alone and in pivots; a reload reads them again.
serve_stop || fail "exit status"
printf 'go\tcours\n' >"$TMP/terms"
printf 'Quite another text.\tTout autre chose.\n' >"$TMP/pairs.tsv"
expect 2 "$attn" serve --port 0 --glossary "$TMP/terms"
says "--glossary '$TMP/terms' names no languages, which it needs without --model"
expect 2 "$attn" serve --port 0 --memory "en-it=$TMP/pairs.tsv"
says "--memory: no model translates from en to it"
expect 1 "$attn" serve --port 0 --glossary "en-de=$TMP/nothing"
says "--glossary: there is no file '$TMP/nothing'"
serve_start --threads 2 --glossary "en-German=$TMP/terms" --memory "eng-fr=$TMP/pairs.tsv" ||
    fail "the server does not start: $(cat "$TMP/serve.log")"
gives "a term" 200 'cours' post_json '{"q": "go .", "source": "en", "target": "de"}'
gives "a term of a step" 200 'cours' post_json '{"q": "va !", "source": "fr", "target": "de"}'
gives "no term of another pair" 200 '"va !"' post_json '{"q": "go .", "source": "en", "target": "fr"}'
gives "a text of the memory" 200 '"Tout autre chose."' \
    post_json '{"q": "Quite another text.", "source": "en", "target": "fr"}'
post_json '{"q": "Quite another text.", "source": "en", "target": "de"}' >"$TMP/answer"
! grep -q "Tout autre" "$TMP/answer" || fail "the memory of another pair: $(cat "$TMP/answer")"
printf 'hi\tcours\n' >"$TMP/terms"
reload
gives "a term of before" 200 '"va !"' post_json '{"q": "go .", "source": "en", "target": "de"}'
gives "a new term" 200 'cours' post_json '{"q": "hi .", "source": "en", "target": "de"}'
rm "$TMP/terms"
kill -HUP "$server"
while ! grep -q "continues with the old models" "$TMP/serve.log"; do sleep 0.05; done
gives "the term stays" 200 'cours' post_json '{"q": "hi .", "source": "en", "target": "de"}'
serve_stop || fail "exit status"
serve_start --threads 2 || fail "the server does not start: $(cat "$TMP/serve.log")"

# A file that is now for other languages is not taken for what it was, before and after the reload.
cp "$TMP/models/german.safetensors" "$TMP/german"
expect 0 "$attn" models remove german
expect 0 "$attn" models add "$TMP/back/best.safetensors" --name german --languages fr-it
reload
cp "$TMP/german" "$TMP/new"
mv "$TMP/new" "$TMP/models/german.safetensors"
gives "other languages" 500 "its file was replaced by one for en > de, and was for fr > it; SIGHUP reads" \
    post_json '{"q": "go .", "source": "fr", "target": "it"}'
reload
gives "other languages" 400 "target language 'it' is not supported" \
    post_json '{"q": "go .", "source": "fr", "target": "it"}'
gives "other languages" 200 '"va !"' post_json '{"q": "go .", "source": "en", "target": "de"}'

# Without any model the old ones stay.
right "all models" 2 0
mv "$TMP/models" "$TMP/away"
kill -HUP "$server"
while ! grep -q "continues with the old models" "$TMP/serve.log"; do sleep 0.05; done
right "the old models" 2 0
mv "$TMP/away" "$TMP/models"
serve_stop || fail "exit status"

# There is place for one model: they take turns.
serve_start --threads 2 --max-memory 1 || fail "no server: $(cat "$TMP/serve.log")"
right "turns" 8 4
[ "$(all_of evictions_total)" -ge 3 ] || fail "no turns: $(get /metrics)"
[ "$(metric models_bytes)" -le 1048576 ] || fail "more than 1 MB: $(get /metrics)"
[ "$(metric waiting_texts)" = 0 ] || fail "waiting: $(get /metrics)"
serve_stop || fail "exit status"
# A model that is too large for all of the place fails alone.
tiny_model large --set train.epochs=1 --set model.hidden=256
cp "$TMP/large/best.safetensors" "$TMP/models/there.safetensors"
serve_start --threads 1 --max-memory 1 || fail "no server: $(cat "$TMP/serve.log")"
gives "a model that is too large" 503 "the model 'there' cannot be loaded: it takes " \
    post_json '{"q": "x", "source": "en", "target": "fr"}'
gives "another" 200 '"go ."' post_json '{"q": "va !", "source": "fr", "target": "en"}'
serve_stop || fail "exit status"

# The client of a pivot goes away during the second step.
cp "$TMP/there/best.safetensors" "$TMP/models/there.safetensors"
serve_start --threads 1 --mini-batch 1 --beam-size 200 || fail "no server: $(cat "$TMP/serve.log")"
many=$(printf '%0100d' 0 | sed 's/0/"va !", /g; s/, $//')
body="{\"q\": [$many], \"source\": \"fr\", \"target\": \"de\"}"
printf 'POST /translate HTTP/1.1\r\nHost: localhost\r\n%s: application/json\r\n%s: %d\r\n\r\n%s' \
    Content-Type Content-Length ${#body} "$body" >"$TMP/request"
"$client" "$port" send <"$TMP/request" >"$TMP/gone" &
gone=$!
while [ "$(metric texts_total)" -lt 102 ] && kill -0 $gone; do sleep 0.01; done
kill $gone
wait $gone || true
gives "the next one" 200 '"va !"' post_json '{"q": "va !", "source": "fr", "target": "de"}'
[ "$(metric 'requests_total{status="499"}')" = 1 ] || fail "499: $(get /metrics)"
serve_stop || fail "exit status"

# A model whose two languages are the same, and scripts of a language in one region.
tiny_model same --set data.target=eng --set data.columns=en,eng --set train.epochs=1
serve_start --threads 1 --model "$TMP/same/best.safetensors" || fail "no server: $(cat "$TMP/serve.log")"
gives "one language" 200 '[{"code": "en", "name": "English", "targets": ["eng"]}, ' get /languages
gives "one language" 200 '"source": {"code": "en"' get /frontend/settings
serve_stop || fail "exit status"
for script in Latn Cyrl; do
    expect 0 "$attn" models add "$TMP/there/best.safetensors" --name $script --languages en-uz_${script}_UZ
done
serve_start --threads 1 || fail "no server: $(cat "$TMP/serve.log")"
for code in '"uz-Latn-UZ"' '"uz-Cyrl-UZ"'; do gives "scripts" 200 "$code" get /languages; done
serve_stop || fail "exit status"
rm "$TMP/models/Latn.safetensors" "$TMP/models/Cyrl.safetensors"

# --languages: only this pair.
cp "$TMP/there/best.safetensors" "$TMP/models/there.safetensors"
serve_start --threads 1 --languages fr-de || fail "no server: $(cat "$TMP/serve.log")"
gives "one pair" 200 '[{"code": "fr", "name": "French", "targets": ["de"]}, {"code": "de"' get /languages
gives "one pair" 200 '"va !"' post_json '{"q": "va !"}'
gives "another pair" 400 "it is 'fr' here" post_json '{"q": "x", "source": "en", "target": "de"}'
serve_stop || fail "exit status"
expect 2 "$attn" serve --port 0 --languages de-fr
says "no model translates from de to fr"
