#!/usr/bin/env python3
"""read_model.py - reads a model file and translates with NumPy alone, one best token after the other.

    scripts/read_model.py best.safetensors <test.en >test.fr     as attn-mt translate --beam-size 1

docs/model-format.md in code: encoders recurrent and of self-attention, every decoder, every attention score.
"""
import json, math, struct, sys, unicodedata
import numpy as np

PAD, UNK, BOS, EOS = range(4)
SPACES = " \t\n\v\f\r\x85\u2028\u2029"


class Segmenter:
    def __init__(self, options):
        self.o, self.suffix = options, options.get("marker") == "suffix"
        self.tokens = ["<pad>", "<unk>", "<s>", "</s>"] + options["vocab"]
        self.ids = {token: i for i, token in enumerate(self.tokens) if i > EOS}
        self.rank, self.parts = {}, {}  # pair -> its place in the list; piece -> the pair that makes it
        for rank, (a, b) in enumerate(tuple(merge.split(" ")) for merge in options.get("merges", [])):
            if not a.endswith("</w>") and (b.endswith("</w>") or not (a + b).endswith("</w>")):
                self.rank.setdefault((a, b), rank)
                self.parts.setdefault(a + b, (a, b))

    def normalize(self, text):
        form = self.o["normalize"].upper()
        normal = (lambda s: s) if form == "NONE" else (lambda s: unicodedata.normalize(form, s))
        if self.o["lowercase"]:  # each character for itself
            text = "".join("i" if c == "\u0130" else c.lower() for c in normal(text))
        return normal(text)

    def runs(self, text):
        tokens, run, space = [""], None, True
        for i, c in enumerate(text):
            if c in SPACES:
                tokens.append("")
                space = True
                continue
            kind, inside = unicodedata.category(c), tokens[-1] != ""
            kind = kind[0] if kind[0] in "LM" else "digit" if kind == "Nd" else "other"
            if kind == "M" or c in "\u200c\u200d":
                kind = run if inside else "other"
            ends = inside and kind != run
            elision = ends and run == "L" and c in "'\u2019" and text[i + 1:i + 2].isalpha()  # l'ami
            if ends and not elision:
                tokens.append("")
            if tokens[-1] == "":
                tokens[-1], space, run = "\u2581" if space else "", False, kind
            tokens[-1] += "_" if c == "\u2581" else c
            if elision:
                tokens.append("")
        return [list(token) for token in tokens if token]

    def merge(self, units):
        while len(units) > 1:
            best = min(zip(units, units[1:]), key=lambda pair: self.rank.get(pair, math.inf))
            if best not in self.rank:
                break
            joined = []
            while units:
                size = 2 if tuple(units[:2]) == best else 1
                joined, units = joined + ["".join(units[:size])], units[size:]
            units = joined
        return units

    def known(self, piece):  # a piece that is no token is taken apart again
        if piece in self.ids or piece not in self.parts:
            return [self.ids.get(piece, UNK)]
        return [i for part in self.parts[piece] for i in self.known(part)]

    def encode(self, line):
        text = self.normalize(line)
        if self.o["tokenizer"] == "word":
            words = "".join(" " + c if c in ",.!?" else c for c in text).split()
            return [self.ids.get(word, UNK) for word in words]
        if self.suffix:
            words = "".join(" " if c in SPACES else c for c in text).split(" ")
            runs = [list(word[:-1]) + [word[-1] + "</w>"] for word in words if word]
        else:
            runs = self.runs(text)
        return [i for run in runs for piece in self.merge(run) for i in self.known(piece)]

    def decode(self, ids):
        tokens = [self.tokens[i] for i in ids]
        if self.o["tokenizer"] == "word":
            return " ".join(tokens)
        line = "".join(tokens).replace("</w>" if self.suffix else "\u2581", " ")
        return " ".join(word for word in line.split(" ") if word)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def unit(x):
    return x / np.sqrt((x * x).sum(-1, keepdims=True))


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            data = file.read()
        meta = header.pop("__metadata__")
        assert (meta["format"], meta["format_version"]) == ("attn-mt", "2")
        self.t = {name: np.frombuffer(data[slice(*t["data_offsets"])], "<f4").reshape(t["shape"])
                  for name, t in header.items()}
        config = json.loads(meta["config"])
        self.o, self.limits = config["model"], config["decode"]
        self.encoder, self.decoder = self.o["encoder"], self.o["decoder"]
        self.parts = 2 if self.o["cell"] == "lstm" else 1  # of a state
        self.source = Segmenter(json.loads(meta["source"]))
        self.target = Segmenter(json.loads(meta.get("target", meta["source"])))
        tables = {"all": ["embedding"] * 3,
                  "target": ["source.embedding", "target.embedding", "target.embedding"],
                  "none": ["source.embedding", "target.embedding", "output.weight"]}[self.o["tie"]]
        self.source_table, self.target_table, self.output_table = (self.t[name] for name in tables)

    def linear(self, name, x):
        return x @ self.t[name + ".weight"] + self.t.get(name + ".bias", 0)

    def norm(self, name, x):
        if name + ".gain" not in self.t:
            return x
        d = x - x.mean(-1, keepdims=True)
        y = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5)
        return y * self.t[name + ".gain"] + self.t[name + ".bias"]

    def cell(self, name, x, state, more=0):  # one step of a GRU, state (h,), or LSTM, state (h, c)
        a = self.norm(name + ".input_norm", self.linear(name + ".input", x) + more)
        b = self.norm(name + ".state_norm", self.linear(name + ".state", state[0]))
        if self.parts == 1:
            (ar, az, ac), (br, bz, bc) = np.split(a, 3, -1), np.split(b, 3, -1)
            z, c = sigmoid(az + bz), np.tanh(ac + sigmoid(ar + br) * bc)
            return ((1 - z) * c + z * state[0],)
        i, f, g, o = np.split(a + b, 4, -1)
        c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        return (sigmoid(o) * np.tanh(c), c)

    # ---- Transformer blocks ----

    def heads(self, name, x, keys, values, first):  # rows x stand at positions first, first + 1, ...
        n, size = self.o["heads"], self.o["hidden"]
        split = lambda y: y.reshape(len(y), n, -1).transpose(1, 0, 2)
        query = split(self.linear(name + ".query", x) / math.sqrt(size / n))
        scores = query @ split(keys).transpose(0, 2, 1)
        if name + ".relative" in self.t:
            table = self.t[name + ".relative"]
            far = len(table) // 2
            distance = np.arange(len(keys))[None, :] - np.arange(first, first + len(x))[:, None]
            place = np.broadcast_to(np.clip(distance, -far, far) + far, scores.shape)
            scores = scores + np.take_along_axis(query @ table.T, place, 2)
        context = softmax(scores) @ split(values)
        return self.linear(name + ".output", context.transpose(1, 0, 2).reshape(len(x), size))

    def positions(self, name, first, count):
        size, position = self.o["hidden"], np.arange(first, first + count)
        if self.o["positions"] == "learned":
            table = self.t[name + ".positions"]
            return table[np.minimum(position, len(table) - 1)] * math.sqrt(size)
        if self.o["positions"] == "sinusoidal":
            column = np.arange(size)
            angle = position[:, None] * 10000.0 ** (-(column - column % 2) / size)
            return np.where(column % 2, np.cos(angle), np.sin(angle)).astype(np.float32)
        return 0

    def stack(self, name, layers, x, first=0, cache=None, source=None):
        def part(what, x, f):
            norm = f"{name}.{l}.{what}_norm"
            return x + f(self.norm(norm, x)) if self.o["norm"] == "pre" else self.norm(norm, x + f(x))

        def attend(what, rows, y):
            block = f"{name}.{l}.{what}"
            kv = [self.linear(block + ".key", rows), self.linear(block + ".value", rows)]
            if what == "self" and cache is not None:  # behind those of earlier steps
                kv = cache[l] = [np.concatenate(pair) for pair in zip(cache[l], kv)]
            return self.heads(block, y, *kv, first)

        if name + ".input.weight" in self.t:
            x = self.linear(name + ".input", x)
        x = x * math.sqrt(self.o["hidden"]) + self.positions(name, first, len(x))
        for l in range(layers):
            x = part("self", x, lambda y: attend("self", y, y))
            if source is not None:
                x = part("cross", x, lambda y: attend("cross", source, y))
            inner, outer = f"{name}.{l}.inner", f"{name}.{l}.outer"
            x = part("feed", x, lambda y: self.linear(outer, np.maximum(self.linear(inner, y), 0)))
        return self.norm(name + ".norm", x)

    # ---- recurrent encoder and decoders ----

    def encode(self, ids):  # annotations [S, K], and the last states of the layers
        x, final = self.source_table[ids], []
        if self.encoder["style"] == "self_attention":
            return self.stack("encoder", self.encoder["layers"], x), final
        assert self.encoder["style"] == "rnn", "this script reads no convolutional encoder"
        for l in range(self.encoder["layers"]):
            ways = []
            for way in ["forward", "backward"][:2 if self.encoder["bidirectional"] else 1]:
                order = slice(None, None, 1 if way == "forward" else -1)
                states = [(np.zeros((1, self.o["hidden"]), np.float32),) * self.parts]
                for row in x[order]:
                    states.append(self.cell(f"encoder.{l}.{way}", row[None], states[-1]))
                ways.append(np.concatenate([state[0] for state in states[1:]])[order])
                final.append(states[-1])
            y = np.concatenate(ways, -1)
            x = x + y if self.o["residual"] and l else y
        return x, final

    def scores(self, q, values):  # of one query for all annotations
        name, score = "decoder.attention", self.o["attention"]
        keys = self.linear(name + ".key", values) if name + ".key.weight" in self.t else values
        if score in ("additive", "concat"):
            return (np.tanh(self.linear(name + ".query", q) + keys) * self.t[name + ".v"]).sum(-1)
        if score == "location":
            table = self.linear(name + ".query", q)[0]
            return table[np.minimum(np.arange(len(values)), len(table) - 1)]
        if score in ("cosine", "bare_cosine"):
            return unit(keys) @ unit(q)[0] * (self.t[name + ".sharpness"][0, 0] if score == "cosine" else 1)
        if score == "sum":
            return (q + keys).sum(-1)
        if score == "none":  # there is but one row to see
            return np.zeros(len(values), np.float32)
        if score == "distance":
            return -((q - keys) ** 2).sum(-1) / 2
        return keys @ q[0] / (math.sqrt(q.shape[1]) if score == "scaled_dot" else 1)

    def last(self, values):  # forward half of the last annotation, backward half of the first
        half = self.o["hidden"]
        return np.concatenate((values[-1:, :half], values[:1, half:]), -1)

    def start(self, values, final):  # states of the layers, and the vector of input feeding
        mean, names = values.mean(0, keepdims=True), ["decoder.start", "decoder.start_memory"][:self.parts]
        if self.decoder["start"] == "mean":
            final = [tuple(np.tanh(self.linear(f"{name}.{l}", mean)) for name in names)
                     for l in range(self.decoder["layers"])]
        feed = self.t.get("decoder.feed.weight")
        return list(final), None if feed is None else np.zeros((1, len(feed)), np.float32)

    def look_back(self, output):  # the context of the decoder's own earlier outputs
        earlier = self.outputs
        self.outputs = np.concatenate((earlier, output))
        if not len(earlier):
            return np.zeros_like(output)
        scores = self.linear("decoder.self_attention.key", earlier) @ output[0]
        return softmax(scores)[None] @ earlier

    def step(self, x, values, states, vector):
        style, layer = self.decoder["style"], f"decoder.{self.o['cell']}."
        attend = lambda q: softmax(self.scores(q, values))[None] @ values
        more = 0 if vector is None else self.linear("decoder.feed", vector)
        if style == "bahdanau":
            context = attend(states[-1][0])
            more = self.linear("decoder.context", context)
        states[0] = self.cell(layer + "0", x, states[0], more)
        if style == "conditional":
            context = attend(states[0][0])
            states[0] = self.cell("decoder.second", context, states[0])
        output = states[0][0]
        for l in range(1, len(states)):
            states[l] = self.cell(layer + str(l), output, states[l])
            output = output + states[l][0] if self.o["residual"] else states[l][0]
        if style == "luong":
            context = attend(output)
        elif self.decoder["readout"] == "linear":
            return output
        read = self.linear("decoder.readout.state", output) + self.linear("decoder.readout.context", context)
        if self.decoder.get("self_attention"):
            read = read + self.linear("decoder.readout.self_attention", self.look_back(output))
        if style != "luong":
            read = read + self.linear("decoder.readout.embedding", x)
        return np.tanh(self.norm("decoder.readout.norm", read))

    def translate(self, line):
        ids, found, token = self.source.encode(line), [], BOS
        if not ids:
            return ""
        values, final = self.encode(ids + [EOS])
        transformer, layers = self.decoder["style"] == "transformer", self.decoder["layers"]
        if transformer:
            cache = [[np.zeros((0, self.o["hidden"]), np.float32)] * 2 for _ in range(layers)]
        else:
            states, vector = self.start(values, final)
            self.outputs = np.zeros((0, self.o["hidden"]), np.float32)
            if self.o["attention"] == "none":
                values = self.last(values)
        most = self.limits["max_length_factor"] * len(ids) + self.limits["max_length_extra"]
        while len(found) < max(math.floor(most), 1):
            x = self.target_table[[token]]
            if transformer:
                read = self.stack("decoder", layers, x, len(found), cache, values)
            else:
                read = self.step(x, values, states, vector)
                vector = None if vector is None else read
            logits = (read @ self.output_table.T + self.t["output.bias"])[0]
            logits[[PAD, BOS] + ([] if self.limits["allow_unk"] else [UNK])] = -np.inf
            token = int(logits.argmax())
            if token == EOS:
                break
            found.append(token)
        return self.target.decode(found)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = Model(sys.argv[1])
    for line in sys.stdin.buffer.read().decode("utf-8", "replace").replace("\0", "\ufffd").split("\n")[:-1]:
        print(model.translate(line))
