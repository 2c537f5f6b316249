#!/bin/sh
# convert.sh - attn-mt convert: small model files translate as the original with --precision, work
# in all commands, and are refused if exact weights are necessary.
set -eu
. tests/cli/tiny_model.inc
tiny_model one
tiny_model transformer --set train.epochs=5 --set model.encoder.style=self_attention \
    --set model.decoder.style=transformer --set model.attention=scaled_dot --set model.heads=4 \
    --set model.embedding=64
tiny_model apart --set train.epochs=5 --set model.tie=none --set model.attention=general
cut -f 1 "$TMP/tiny.tsv" | head -n 20 >"$TMP/lines"

for name in one transformer apart; do
    model=$TMP/$name/best.safetensors
    for precision in int8 bf16; do
        small=$TMP/$name.$precision
        expect 0 "$attn" convert --precision $precision "$model" -o "$small"
        says "wrote '$small'"
        expect 0 "$attn" translate --model "$model" --precision $precision --json "$TMP/lines"
        cp "$TMP/out" "$TMP/expected"
        # A small file keeps its precision with any --precision.
        for asked in float32 int8 bf16; do
            expect 0 "$attn" translate --model "$small" --precision $asked --json "$TMP/lines"
            same "$name: $precision" "$TMP/expected" "$TMP/out"
        done
        expect 0 "$attn" score --model "$model" --precision $precision "$TMP/tiny.tsv"
        cp "$TMP/out" "$TMP/expected"
        expect 0 "$attn" score --model "$small" "$TMP/tiny.tsv"
        same "scores of $name: $precision" "$TMP/expected" "$TMP/out"
    done
done

# A rounded model is not rounded again; --output is required and must be another file.
model=$TMP/one/best.safetensors small=$TMP/one.int8
expect 0 "$attn" convert -q "$model" -o "$TMP/again"
[ ! -s "$TMP/err" ] || fail "--quiet: $(cat "$TMP/err")"
same "int8 is what it does by itself" "$small" "$TMP/again"
expect 3 "$attn" convert --precision bf16 "$small" -o "$TMP/none"
says "the weights of '$small' were rounded to int8"
expect 2 "$attn" convert "$model"
says "no --output"
expect 2 "$attn" convert "$model" -o ''
says "the name of a file to write is empty"
"$attn" convert "$model" -o - <"$small" 2>"$TMP/err" | cmp -s - "$small" || fail "to standard output"
[ "$(cat "$TMP/err")" = "wrote '-'" ] || fail "of unknown size: $(cat "$TMP/err")"
if has_terminals; then
    export attn model
    if script -qec '"$attn" convert "$model" -o -' /dev/null </dev/null >"$TMP/out"; then
        fail "a model went to a terminal"
    fi
    grep -qF 'a model cannot be written to a terminal' "$TMP/out" ||
        fail "on a terminal: $(head -c 300 "$TMP/out")"
fi
ln "$model" "$TMP/linked"
expect 2 "$attn" convert "$model" -o "$TMP/linked"
says "would overwrite another file"
# No command overwrites its own input or its own other output.
cp "$model" "$TMP/precious"
printf 'go .\n' >"$TMP/go"
for command in "translate --model $TMP/precious -o $TMP/precious $TMP/go" \
    "translate --model $model -o $TMP/x --reference $TMP/go --report $TMP/x $TMP/go" \
    "translate --model $model -o $TMP/precious $TMP/precious" \
    "translate --model $model --glossary $TMP/precious --report $TMP/precious --reference $TMP/go $TMP/go" \
    "score --model $model -o $TMP/precious $TMP/go $TMP/precious" \
    "score --model $TMP/precious -o $TMP/precious $TMP/go" "inspect --codes $TMP/precious $TMP/precious" \
    "average $model $TMP/precious -o $TMP/precious"; do
    # shellcheck disable=SC2086  # a command and its arguments
    expect 2 "$attn" $command
    says "would overwrite another file of this command"
done
same "it stays" "$model" "$TMP/precious"
cp "$TMP/go" "$TMP/read"
expect 2 "$attn" translate --model "$model" -o "$TMP/read" <"$TMP/read"
says "would overwrite another file of this command"
expect 2 "$attn" score --model "$model" -o "$TMP/read" - <"$TMP/read"
same "standard input stays" "$TMP/go" "$TMP/read"
expect 2 "$attn" convert "$model" "$small" -o "$TMP/none"
says "more than one model"
expect 3 "$attn" convert "$TMP/tiny.tsv" -o "$TMP/none"
says "not a model file"
[ ! -e "$TMP/none" ] || fail "a file was written all the same"

# All translating commands accept it; commands that need exact weights refuse it by name.
expect 0 "$attn" heatmap --model "$small" --format csv 'go .'
expect 0 "$attn" heatmap --model "$small" --model "$model" --format html --output "$TMP/page.html" 'go .'
expect 0 "$attn" translate --model "$small" --model "$model" "$TMP/lines"
expect 0 "$attn" inspect "$small"
grep -q 'all .*(int8, [0-9.]* kB)' "$TMP/out" || fail "inspect: $(tail -n 2 "$TMP/out")"
expect 0 "$attn" inspect --json "$small"
grep -q '"precision": "int8"' "$TMP/out" || fail "inspect --json: $(head -n 9 "$TMP/out")"
expect 3 "$attn" average "$model" "$small" -o "$TMP/none"
says "'$small' were rounded to int8"
says "hint: use the model that 'attn-mt convert' made it from"
expect 3 "$attn" train --config "$TMP/tiny.json" --init "$TMP/one.bf16" --run "$TMP/none"
says "were rounded to bf16"
[ ! -e "$TMP/none" ] || fail "average or train left something"

# Read by another program.
command -v python3 >/dev/null || exit 0
python3 - "$model" "$small" "$TMP/one.bf16" "$TMP/late" <<'END' || fail "not the documented layout"
import hashlib, json, struct, sys

def read(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + n]), data[8 + n:]

def numbers(entry, payload, code):
    begin, end = entry["data_offsets"]
    return struct.unpack("<%d%s" % ((end - begin) // struct.calcsize(code), code), payload[begin:end])

def matrix(header, payload, name):  # docs/model-format.md
    entry = header[name]
    columns = entry["shape"][1]
    if entry["dtype"] == "F32":
        return numbers(entry, payload, "f")
    if entry["dtype"] == "BF16":
        return [struct.unpack("<f", struct.pack("<I", h << 16))[0] for h in numbers(entry, payload, "H")]
    scale = header[name + ".scale"]
    units = numbers(scale, payload, "f")
    by_row = scale["shape"][1] == 1 and scale["shape"][0] == entry["shape"][0]
    return [q * units[i // columns if by_row else i % columns]
            for i, q in enumerate(numbers(entry, payload, "b"))]

exact, exact_payload = read(sys.argv[1])
small = 0
for path in sys.argv[2:4]:
    header, payload = read(path)
    assert header["__metadata__"]["format_version"] == "4"
    assert exact["__metadata__"]["config"] == header["__metadata__"]["config"]
    for name in exact:
        if name == "__metadata__":
            continue
        if header[name]["dtype"] == "U16":  # lists, before everything else
            begin, end = header[name]["data_offsets"]
            assert header[name] == exact[name] and payload[begin:end] == exact_payload[begin:end]
            assert name.startswith("shortlist.") and (end % 8 == 0 or name.endswith("lengths"))
            continue
        x, y = matrix(exact, exact_payload, name), matrix(header, payload, name)
        worst = max(abs(a - b) for a, b in zip(x, y))
        assert len(x) == len(y) and worst <= max(map(abs, x)) / 128, name
        rounded = header[name]["dtype"] != "F32"
        assert rounded == (name.endswith("weight") or name == "embedding"), name
        assert rounded or x == y
    small = len(payload) / len(exact_payload)
    assert small < (0.3 if path.endswith("int8") else 0.53), small
    try:
        from safetensors import safe_open
    except ImportError:
        continue
    with safe_open(path, framework="np") as file:
        assert sorted(file.keys()) == sorted(name for name in header if name != "__metadata__")
        assert file.metadata()["precision"] in ("int8", "bf16")

# The same tensors with the scales at the end, and valid checksums: refused.
header, payload = read(sys.argv[2])
late = sorted((name for name in header if name != "__metadata__"), key=lambda name: name.endswith(".scale"))
moved = b""
for name in late:
    begin, end = header[name]["data_offsets"]
    header[name]["data_offsets"] = [len(moved), len(moved) + end - begin]
    moved += payload[begin:end]
header["__metadata__"]["payload_sha256"] = hashlib.sha256(moved).hexdigest()
header["__metadata__"]["header_sha256"] = "0" * 64
text = json.dumps(header, separators=(",", ":")).encode()
text = text.replace(b'"header_sha256":"' + b"0" * 64,
                    b'"header_sha256":"' + hashlib.sha256(text).hexdigest().encode())
open(sys.argv[4], "wb").write(struct.pack("<Q", len(text)) + text + moved)
END
expect 3 "$attn" translate --model "$TMP/late" "$TMP/lines"
says "its scales are not before it"
