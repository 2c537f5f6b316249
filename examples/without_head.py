#!/usr/bin/env python3
"""without_head.py PART HEAD MODEL OUT - a copy of a Transformer in which one attention head says nothing.

    without_head.py decoder.0.cross 2 best.safetensors without.safetensors
    attn-mt score --model without.safetensors test.en test.fr

PART is the beginning of a name that attn-mt inspect lists: encoder.0.self, decoder.0.self, decoder.0.cross. HEAD counts
from 1. What the head hands on goes through its rows of PART.output.weight, which become 0 (docs/model-format.md)."""
import hashlib, json, sys

if len(sys.argv) != 5:
    sys.exit(__doc__)
part, head, model, out = sys.argv[1:]
with open(model, "rb") as file:
    header, data = json.loads(file.read(int.from_bytes(file.read(8), "little"))), bytearray(file.read())
meta = header["__metadata__"]
heads = json.loads(meta["config"])["model"]["heads"]
if part + ".output.weight" not in header or head not in map(str, range(1, heads + 1)):
    sys.exit(f"without_head.py: no head {head} of {part} in {model}, where parts have {heads}")
begin, end = header[part + ".output.weight"]["data_offsets"]
size = (end - begin) // heads
begin += (int(head) - 1) * size
data[begin:begin + size] = bytes(size)

meta["payload_sha256"], meta["header_sha256"] = hashlib.sha256(data).hexdigest(), "0" * 64
text = json.dumps(header, separators=(",", ":"))
digest = hashlib.sha256((text := text + " " * (-len(text) % 8)).encode()).hexdigest()
text = text.replace('"header_sha256":"' + "0" * 64, '"header_sha256":"' + digest)
with open(out, "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text.encode() + data)
