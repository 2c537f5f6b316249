"""damaged_models.py FOLDER - writes damaged and hostile models of other programs, and prints the name of each
file and what is wrong with it, with a tab between. convert_damaged.sh runs it."""
import io, json, struct, sys, tarfile, zipfile

folder = sys.argv[1]


def put(name, what, data):
    with open(f"{folder}/{name}", "wb") as file:
        file.write(data)
    print(f"{name}\t{what}")


def zipped(entries, method=zipfile.ZIP_STORED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as z:
        for name, content in entries.items():
            z.writestr(zipfile.ZipInfo(name) if method == zipfile.ZIP_STORED else name, content, method)
    return data.getvalue()


def without(entries, *names):
    return {name: content for name, content in entries.items() if name not in names}


# ---- a SentencePiece model, and a small model of each family ------------------------------------------


def piece(text, score, kind):
    body = b"\x0a" + bytes([len(text)]) + text + b"\x15" + struct.pack("<f", score) + b"\x18" + bytes([kind])
    return b"\x0a" + bytes([len(body)]) + body


A = "\u2581a".encode()
spm = piece(b"</s>", 0, 3) + piece(b"<unk>", 0, 2) + piece(A, -1, 1) + piece(b"b", -2, 1)
D, F, V = 4, 6, 5  # width, feed-forward, tokens with <pad>


def safetensors(shapes, numbers=None, header_extra=None):
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4
        for n in shape:
            size *= n
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    header.update(header_extra or {})
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + (numbers or b"\0" * at)


config = {"model_type": "marian", "d_model": D, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
          "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": F, "decoder_ffn_dim": F}
shapes = {"model.shared.weight": [V, D], "final_logits_bias": [1, V]}
for half in ("encoder", "decoder"):
    layer = f"model.{half}.layers.0."
    for part in ["self_attn"] + (["encoder_attn"] if half == "decoder" else []):
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            shapes.update({f"{layer}{part}.{name}.weight": [D, D], f"{layer}{part}.{name}.bias": [D]})
        shapes.update({f"{layer}{part}_layer_norm.{name}": [D] for name in ("weight", "bias")})
    shapes.update({layer + "fc1.weight": [F, D], layer + "fc1.bias": [F], layer + "fc2.weight": [D, F],
                   layer + "fc2.bias": [D], layer + "final_layer_norm.weight": [D],
                   layer + "final_layer_norm.bias": [D]})
vocab = {"</s>": 0, "<unk>": 1, "\u2581a": 2, "b": 3, "<pad>": 4}
hf = {"config.json": json.dumps(config), "vocab.json": json.dumps(vocab), "source.spm": spm, "target.spm": spm,
      "model.safetensors": safetensors(shapes)}
marian_yml = f"dim-emb: {D}\nenc-depth: 1\ndec-depth: 1\ntransformer-heads: 2\ntransformer-dim-ffn: {F}\n"


def marian(yml=marian_yml, kind=0x404):
    names = {"Wemb": (V - 1, D), "decoder_ff_logit_out_b": (1, V - 1)}
    for half in ("encoder", "decoder"):
        layer = half + "_l1_"
        for part in ["self"] + (["context"] if half == "decoder" else []):
            names.update({f"{layer}{part}_W{c}": (D, D) for c in "qkvo"})
            names.update({f"{layer}{part}_b{c}": (1, D) for c in "qkvo"})
            names.update({f"{layer}{part}_Wo_ln_{c}": (1, D) for c in ("scale", "bias")})
        names.update({layer + "ffn_W1": (D, F), layer + "ffn_b1": (1, F), layer + "ffn_W2": (F, D),
                      layer + "ffn_b2": (1, D), layer + "ffn_ffn_ln_scale": (1, D), layer + "ffn_ffn_ln_bias": (1, D)})
    items = [(name, kind, shape, bytes(4 * shape[0] * shape[1])) for name, shape in names.items()]
    items.append(("special:model.yml", 0x101, (len(yml) + 1,), yml.encode() + b"\0"))
    head = struct.pack("<QQ", 1, len(items))
    for name, kind, shape, data in items:
        head += struct.pack("<QQQQ", len(name) + 1, kind, len(shape), len(data))
    head += b"".join(name.encode() + b"\0" for name, *_ in items)
    head += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    return head + struct.pack("<Q", 0) + b"".join(data for *_, data in items)


def shortlist(offsets, ids):
    body = struct.pack("<QQQQ", 2, 2, len(offsets), len(ids)) + struct.pack(f"<{len(offsets)}Q", *offsets)
    body += struct.pack(f"<{len(ids)}I", *ids)
    seed = 0
    for (word,) in struct.iter_unpack("<Q", body[:len(body) // 8 * 8]):
        seed ^= (word + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & (2**64 - 1)
        seed &= 2**64 - 1
    return struct.pack("<QQ", 0xF11A48D5013417F5, seed) + body


good_list = shortlist([0, 0, 0, 2, 4], [2, 3, 2, 3])
firefox = {"model.enfr.intgemm.bin": marian(), "vocab.enfr.spm": spm, "lex.s2t.bin": good_list}


def torch(pickle, **more):
    data = zipped({"archive/data.pkl": pickle, **more})
    return zipped({**without(hf, "model.safetensors"), "pytorch_model.bin": data})


def tensor_pickle(key):  # {"a": torch._utils._rebuild_tensor_v2(storage, 0, (1,), (1,), False, OrderedDict())}
    text = lambda s: b"X" + struct.pack("<I", len(s)) + s
    storage = (b"(" + text(b"storage") + b"ctorch\nFloatStorage\n" + text(key) + text(b"cpu") + b"K\x01tQ")
    return (b"\x80\x02}" + text(b"a") + b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage +
            b"K\x00K\x01\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRs.")


def npz(order):
    header = f"{{'descr': '<f4', 'fortran_order': {order}, 'shape': (1, 1), }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return zipped({"Wemb.npy": b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + b"\0\0\0\0"})


def ct2(version=6, name=b"TransformerSpec", rest=b"", **more):
    return zipped({"model/model.bin": struct.pack("<IH", version, len(name) + 1) + name + b"\0" + rest, **more})


# The models that are not damaged are read.
put("good-hf.zip", "good", zipped(hf))
put("good-firefox.zip", "good", zipped(firefox))

# ---- archives ----------------------------------------------------------------------------------------

config_text = hf["config.json"]
put("dots.zip", "zip: a file `../config.json`", zipped({"../config.json": config_text}))
put("absolute.zip", "zip: a file `/etc/passwd`", zipped({"/etc/passwd": "x"}))
put("bomb.zip", "zip: 100 MB of zeros in 100 kB", zipped({"config.json": "0" * (100 << 20)}, zipfile.ZIP_DEFLATED))
whole = zipped(hf)
put("half.zip", "zip: the second half is missing", whole[:len(whole) // 2])
put("changed.zip", "zip: one byte of `source.spm` is changed", whole.replace(spm, spm[:-1] + b"x", 1))
locked = bytearray(whole)
locked[locked.index(b"PK\1\2") + 8] |= 1
put("locked.zip", "zip: encrypted", bytes(locked))
data = io.BytesIO()
with tarfile.open(fileobj=data, mode="w:gz") as t:
    info = tarfile.TarInfo("../config.json")
    info.size = 2
    t.addfile(info, io.BytesIO(b"{}"))
put("dots.tar.gz", "tar.gz: a file `../config.json`", data.getvalue())
data = io.BytesIO()
with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as t:
    info = tarfile.TarInfo("config.json")
    info.size = 2
    t.addfile(info, io.BytesIO(b"{}"))
long = bytearray(data.getvalue())
long[124:135] = b"77777777777"
put("size.tar", "tar: a file of 8 GB in 10 kB", bytes(long))
put("empty.zip", "no model: a text file", zipped({"readme.txt": "hello"}))
put("two.zip", "two models, in the folders `a` and `b`", zipped({"a/model.bin": "x", "b/model.bin": "x"}))

# ---- Hugging Face: settings, weights -------------------------------------------------------------------


def hf_with(**changed):
    return zipped({**hf, **{name.replace("__", "."): content for name, content in changed.items()}})


def configured(**changed):
    return hf_with(config__json=json.dumps({**config, **changed}))


put("bart.zip", "`config.json`: another architecture", configured(model_type="bart"))
put("norm.zip", "`config.json`: a setting that is not read", configured(normalize_before=True))
put("keys.zip", "`config.json`: no `d_model`", hf_with(config__json=json.dumps(without(config, "d_model"))))
put("heads.zip", "`config.json`: heads that do not divide the width",
    configured(encoder_attention_heads=3, decoder_attention_heads=3))
put("layers.zip", "`config.json`: a layer more than there is", configured(encoder_layers=2))
put("json.zip", "`config.json`: not JSON", hf_with(config__json='{"model_type": "marian"'))
put("header.zip", "safetensors: a header longer than the file", hf_with(model__safetensors=b"\xff" * 12))
put("offsets.zip", "safetensors: a tensor behind the end of the file", hf_with(model__safetensors=safetensors(
    without(shapes, "final_logits_bias"),
    header_extra={"final_logits_bias": {"dtype": "F32", "shape": [5], "data_offsets": [9000, 9020]}})))
put("shape.zip", "safetensors: a matrix of another shape", hf_with(model__safetensors=safetensors(
    {**shapes, "model.encoder.layers.0.fc1.weight": [F + 1, D]})))
put("table.zip", "safetensors: a table of more rows than tokens", hf_with(model__safetensors=safetensors(
    {**shapes, "model.shared.weight": [V + 1, D]})))
put("missing.zip", "safetensors: a tensor is missing", hf_with(model__safetensors=safetensors(
    without(shapes, "model.decoder.layers.0.fc2.bias"))))
put("unknown.zip", "safetensors: a tensor that no Transformer has", hf_with(model__safetensors=safetensors(
    {**shapes, "model.encoder.gates": [1, 2]}, b"\1" * 4000)))
count = len(safetensors({"x": [1]})) and sum(4 * (s[0] * s[1] if len(s) == 2 else s[0]) for s in shapes.values())
put("nan.zip", "safetensors: NaN", hf_with(model__safetensors=safetensors(
    shapes, struct.pack("<f", float("nan")) + bytes(count - 4))))

# ---- Hugging Face: pickles -----------------------------------------------------------------------------

put("calls.zip", "pickle: calls `os.system`", torch(b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R."))
put("known.zip", "pickle: calls `OrderedDict` with a number", torch(b"\x80\x02ccollections\nOrderedDict\nK\x01\x85R."))
put("opcode.zip", "pickle: an operation that tensors do not need", torch(b"\x80\x02\x93."))
put("cut.zip", "pickle: cut off", torch(b"\x80\x02}q"))
put("stack.zip", "pickle: takes values that are not there", torch(b"\x80\x02R."))
put("memo.zip", "pickle: remembers 4 billion values", torch(b"\x80\x02}r\xff\xff\xff\xff."))
put("loop.zip", "pickle: 2.1 million lists", torch(b"\x80\x02" + b"]" * 2100000 + b"."))
put("number.zip", "pickle: a number in place of a tensor", torch(b"\x80\x02}X\x01\x00\x00\x00aK\x01s."))
put("storage.zip", "pickle: a tensor whose numbers are not in the file", torch(tensor_pickle(b"7")))
put("hello.zip", "`pytorch_model.bin`: a text file",
    zipped({**without(hf, "model.safetensors"), "pytorch_model.bin": b"hello"}))

# ---- vocabularies, SentencePiece ----------------------------------------------------------------------

put("ids.zip", "`vocab.json`: no token has the id 2", hf_with(vocab__json=json.dumps(without(vocab, "\u2581a"))))
put("twice.zip", "`vocab.json`: two tokens have the id 2", hf_with(vocab__json=json.dumps({**vocab, "c": 2})))
put("end.zip", "`vocab.json`: no `</s>`", hf_with(vocab__json=json.dumps({**without(vocab, "</s>"), "c": 0})))
put("spm-cut.zip", "SentencePiece: cut off", hf_with(source__spm=spm[:-3]))
put("spm-text.zip", "SentencePiece: a text file", hf_with(target__spm=b"hello\n"))
put("spm-none.zip", "SentencePiece: `source.spm` is missing", zipped(without(hf, "source.spm")))

# ---- Marian, CTranslate2 ------------------------------------------------------------------------------


def firefox_with(model=None, lex=None):
    return zipped({**firefox, "model.enfr.intgemm.bin": model or marian(), "lex.s2t.bin": lex or good_list})


put("items.zip", "Marian: 10^18 tensors", firefox_with(struct.pack("<QQ", 1, 1 << 60)))
put("encrypted.zip", "Marian: encrypted", firefox_with(struct.pack("<QQ", 2, 1)))
put("bin-cut.zip", "Marian: cut off", firefox_with(marian()[:-300]))
put("packed.zip", "Marian: packed for one processor", firefox_with(marian(kind=0x10201)))
put("right.zip", "Marian: a right-to-left model", firefox_with(marian(marian_yml + "right-left: true\n")))
put("codes.zip", "Marian: text cut by subword-nmt",
    zipped({"model.npz": npz("False"), "source.bpe": "#version: 0.2\n", "opus.vocab.yml": "a: 0\n"}))
put("columns.zip", "NumPy: an array stored column by column", zipped({"model.npz": npz("True")}))
put("lex.zip", "shortlist: one byte is changed", firefox_with(lex=good_list[:-1] + b"\1"))
put("lex-ids.zip", "shortlist: a token beyond the vocabulary", firefox_with(lex=shortlist([0, 0, 0, 2, 4], [2, 9, 2, 3])))
put("lex-lists.zip", "shortlist: a list that ends before it begins",
    firefox_with(lex=shortlist([0, 0, 4, 2, 4], [2, 3, 2, 3])))
put("bpe.zip", "CTranslate2: a package whose text is cut by subword-nmt", ct2(**{"bpe.model": "#version: 0.2\n"}))
put("spec.zip", "CTranslate2: another kind of model", ct2(name=b"WhisperSpec"))
put("version.zip", "CTranslate2: a version of the future", ct2(version=9))
put("ct2-cut.zip", "CTranslate2: cut off", ct2(rest=struct.pack("<II", 5, 3) + b"\x05\x00abcd"))
