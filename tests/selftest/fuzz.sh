# Every fuzz target runs on a sound input of its kind, and on changes of it that are the same each time.
set -eu
changes=${TEST_FAST:+50}
changes=${changes:-500}

replay() { # TARGET FILE...
    target=$1
    shift
    "$BUILD/replay/$target" -mutate="$changes" "$@" >"$TMP/out" 2>&1 || {
        echo "$target: exit code $?"
        tail -n 5 "$TMP/out"
        exit 1
    }
    grep -q "^$(($# * (changes + 1))) inputs\$" "$TMP/out" ||
        { echo "$target: $(tail -n 1 "$TMP/out")"; exit 1; }
    seen="$seen $target"
}
seen=

printf '1// c\n{ "a": {"b": [1, -2.5e3, true, null]},\n  "c": "\\u00e9\\n" }' >"$TMP/commented"
{ printf 0 && cat configs/demo.json; } >"$TMP/config"
replay fuzz_json "$TMP/commented" "$TMP/config"

printf '#version: 0.2\nt h\nth e</w>\na n\n\0the theatre than' >"$TMP/codes"
replay fuzz_bpe_codes "$TMP/codes"

printf '0a dog\tun chien\r\n\tvide\nno tab\nlast\tdernier' >"$TMP/tsv"
printf '1one\ntwo\nun\ndeux' >"$TMP/two"
replay fuzz_pairs "$TMP/tsv" "$TMP/two"

printf '{"tokenizer":"bpe","normalize":"nfc","lowercase":true,"marker":"prefix",' >"$TMP/text"
printf '"merges":["t h","th e"],' >>"$TMP/text"
printf '"vocab":["\342\226\201","the","t","h","e","a"]}\0The \303\251t\303\251, a the' >>"$TMP/text"
replay fuzz_segmenter "$TMP/text"

printf '1{"q": ["a", "\\u00e9"], "source": "en", "alternatives": 2, "api_key": null}' >"$TMP/ask"
printf '0q=a+b%%21%%c3%%a9&source=en&q=c&alternatives=1' >"$TMP/form"
replay fuzz_ask "$TMP/ask" "$TMP/form"

# 88 bytes of header, then six floats.
printf '\130\0\0\0\0\0\0\0%-88s\0\0\200\77AAAABBBBCCCCDDDDEEEE' \
    '{"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}' >"$TMP/tensors"
replay fuzz_safetensors "$TMP/tensors"

for file in tests/fuzz/fuzz_*.c; do
    name=$(basename "$file" .c)
    case "$seen fuzz_main " in *" $name "*) ;; *) echo "$name is not replayed"; exit 1 ;; esac
done
