#!/usr/bin/env python3
"""read_model.py - reads a model file and translates with NumPy alone, one best token after the other.

    scripts/read_model.py best.safetensors <test.en >test.fr     as attn-mt translate --beam-size 1

docs/model-format.md in code, for models as configs/ has them: READ says which.
"""
import functools, json, math, re, struct, sys, unicodedata
import numpy as np

READ = {"text.bpe_marker": ["prefix"], "model.encoder.style": ["rnn", "self_attention"],
        "model.decoder.style": ["conditional", "bahdanau", "transformer"], "model.norm": ["pre"],
        "model.attention": ["additive", "concat", "dot", "scaled_dot", "general"],
        "model.decoder.self_attention": [False], "model.positions": ["sinusoidal"],
        "model.layer_norm": [False], "model.residual": [False]}
PAD, UNK, BOS, EOS = range(4)
SPACES = " \t\n\v\f\r\x85\u2028\u2029"
KINDS = {"'": "'", "\u2019": "'", "\u200c": "M", "\u200d": "M", **dict.fromkeys(SPACES, " ")}
RUN = re.compile("L[LM]*(?:'(?=L))?|N[NM]*|[OM']+")  # of kinds: letters with an elision, digits, others


class Segmenter:
    def __init__(self, options):
        self.o, self.words = options, options["tokenizer"] == "word"
        self.tokens = ["<pad>", "<unk>", "<s>", "</s>"] + options["vocab"]
        self.ids = {token: i for i, token in enumerate(self.tokens) if i > EOS}
        merges = [tuple(merge.split(" ")) for merge in reversed(options.get("merges", []))]
        self.rank = {pair: -place for place, pair in enumerate(merges)}  # the first merge is the lowest
        self.parts = {a + b: (a, b) for a, b in merges}  # piece -> the pair that makes it

    def normalize(self, text):
        form = self.o["normalize"].upper()
        normal = lambda s: s if form == "NONE" else unicodedata.normalize(form, s)
        if self.o["lowercase"]:  # each character for itself
            text = "".join("i" if c == "\u0130" else c.lower() for c in normal(text))
        return normal(text)

    def kind(self, c):
        category = unicodedata.category(c)
        return KINDS.get(c) or ("N" if category == "Nd" else category[0] if category[0] in "LM" else "O")

    def merge(self, units):
        while pairs := [pair for pair in zip(units, units[1:]) if pair in self.rank]:
            best = min(pairs, key=self.rank.get)
            for i in range(len(units)):
                if tuple(units[i:i + 2]) == best:
                    units[i:i + 2] = ["".join(best)]
        return units

    def known(self, piece):  # a piece that is no token is taken apart again
        if piece in self.ids or piece not in self.parts:
            return [self.ids.get(piece, UNK)]
        return [i for part in self.parts[piece] for i in self.known(part)]

    def encode(self, line):
        text = self.normalize(line)
        if self.words:
            return [self.ids.get(word, UNK) for word in re.sub("([,.!?])", r" \1", text).split()]
        kinds, ids = "".join(map(self.kind, text)), []
        for run in RUN.finditer(kinds):
            start = "\u2581" if kinds[:run.start()][-1:] in ("", " ") else ""
            units = list(start + text[run.start():run.end()].replace("\u2581", "_"))
            ids += [i for piece in self.merge(units) for i in self.known(piece)]
        return ids

    def decode(self, ids):
        words = [self.tokens[i] for i in ids]
        if not self.words:
            words = "".join(words).replace("\u2581", " ").split(" ")
        return " ".join(word for word in words if word)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


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
        for key, values in READ.items():
            value = functools.reduce(dict.get, key.split("."), config)
            if value not in values:
                sys.exit(f"read_model.py reads no models with {key} = {value}")
        self.o, self.limits = config["model"], config["decode"]
        self.encoder, self.decoder = self.o["encoder"], self.o["decoder"]
        self.source = Segmenter(json.loads(meta["source"]))
        self.target = Segmenter(json.loads(meta.get("target", meta["source"])))
        tables = [self.t.get("embedding", self.t.get(side + ".embedding")) for side in ("source", "target")]
        self.source_table, self.target_table = tables
        self.output_table = self.t.get("output.weight", self.target_table)

    def linear(self, name, x):
        return x @ self.t[name + ".weight"] + self.t.get(name + ".bias", 0)

    # ---- Transformer ----

    def norm(self, name, x):
        d = x - x.mean(-1, keepdims=True)
        y = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5)
        return y * self.t[name + ".gain"] + self.t[name + ".bias"]

    def heads(self, x):  # a matrix for each head
        return x.reshape(len(x), self.o["heads"], -1).transpose(1, 0, 2)

    def attend(self, name, x, keys, values):
        q, k, v = self.heads(self.linear(name + ".query", x)), self.heads(keys), self.heads(values)
        context = softmax(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])) @ v
        return self.linear(name + ".output", context.transpose(1, 0, 2).reshape(x.shape))

    def positions(self, rows, width):
        column = np.arange(width)
        angle = np.array(rows)[:, None] * 10000.0 ** (-(column - column % 2) / width)
        return np.where(column % 2, np.cos(angle), np.sin(angle)).astype(np.float32)

    def stack(self, name, x, first=0, earlier=None, source=None):  # rows stand at first, first + 1, ...
        if name + ".input.weight" in self.t:
            x = self.linear(name + ".input", x)
        x = x * math.sqrt(x.shape[1]) + self.positions(range(first, first + len(x)), x.shape[1])
        for layer in range(self.o[name]["layers"]):
            part = f"{name}.{layer}."
            y = self.norm(part + "self_norm", x)
            kv = [self.linear(part + "self" + to, y) for to in (".key", ".value")]
            if earlier is not None:  # keys and values of earlier steps
                kv = earlier[layer] = [np.concatenate(pair) for pair in zip(earlier[layer], kv)]
            x = x + self.attend(part + "self", y, *kv)
            if source is not None:
                kv = [self.linear(part + "cross" + to, source) for to in (".key", ".value")]
                x = x + self.attend(part + "cross", self.norm(part + "cross_norm", x), *kv)
            y = self.linear(part + "inner", self.norm(part + "feed_norm", x))
            x = x + self.linear(part + "outer", np.maximum(y, 0))
        return self.norm(name + ".norm", x)

    # ---- recurrent encoder and decoders ----

    def cell(self, name, x, state, more=0):  # one step of a GRU, state (h,), or LSTM, state (h, c)
        a, b = self.linear(name + ".input", x) + more, self.linear(name + ".state", state[0])
        if self.o["cell"] == "gru":
            (ar, az, ac), (br, bz, bc) = np.split(a, 3, -1), np.split(b, 3, -1)
            z, c = sigmoid(az + bz), np.tanh(ac + sigmoid(ar + br) * bc)
            return ((1 - z) * c + z * state[0],)
        i, f, g, o = np.split(a + b, 4, -1)
        c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        return (sigmoid(o) * np.tanh(c), c)

    def encode(self, x):  # annotations [S, K], and the last states of recurrent layers
        if self.encoder["style"] == "self_attention":
            return self.stack("encoder", x), None
        zeros = np.zeros((1, self.o["hidden"]), np.float32)
        final = []
        for layer in range(self.encoder["layers"]):
            ways = []
            for way, turn in [("forward", 1), ("backward", -1)][:1 + self.encoder["bidirectional"]]:
                state, outputs = (zeros,) if self.o["cell"] == "gru" else (zeros, zeros), []
                for row in x[::turn]:
                    state = self.cell(f"encoder.{layer}.{way}", row[None], state)
                    outputs.append(state[0])
                ways.append(np.concatenate(outputs)[::turn])
                final.append(state)
            x = np.concatenate(ways, -1)
        return x, final

    def start(self, values, final):  # the decoder's first states
        if self.decoder["style"] == "transformer":  # keys and values of each layer: none yet
            return [[np.zeros((0, self.o["hidden"]), np.float32)] * 2 for _ in range(self.decoder["layers"])]
        if self.decoder["start"] == "final":
            return final
        mean, names = values.mean(0, keepdims=True), ["decoder.start", "decoder.start_memory"][:len(final[0])]
        return [tuple(np.tanh(self.linear(f"{name}.{layer}", mean)) for name in names)
                for layer in range(self.decoder["layers"])]

    def context(self, q, values):
        name, score = "decoder.attention", self.o["attention"]
        keys = self.linear(name + ".key", values) if name + ".key.weight" in self.t else values
        if score in ("additive", "concat"):
            scores = (np.tanh(self.linear(name + ".query", q) + keys) * self.t[name + ".v"]).sum(-1)
        else:
            scores = keys @ q[0] / (math.sqrt(q.shape[1]) if score == "scaled_dot" else 1)
        return softmax(scores)[None] @ values

    def step(self, x, values, states):  # changes the states; returns the readout
        name = f"decoder.{self.o['cell']}."
        if self.decoder["style"] == "bahdanau":
            context = self.context(states[-1][0], values)
            states[0] = self.cell(name + "0", x, states[0], self.linear("decoder.context", context))
        else:
            states[0] = self.cell(name + "0", x, states[0])
            context = self.context(states[0][0], values)
            states[0] = self.cell("decoder.second", context, states[0])
        for layer in range(1, len(states)):
            states[layer] = self.cell(name + str(layer), states[layer - 1][0], states[layer])
        if self.decoder["readout"] == "linear":
            return states[-1][0]
        parts = {"state": states[-1][0], "context": context, "embedding": x}
        return np.tanh(sum(self.linear("decoder.readout." + part, y) for part, y in parts.items()))

    def translate(self, line):
        ids, found, token = self.source.encode(line), [], BOS
        if not ids:
            return ""
        values, final = self.encode(self.source_table[ids + [EOS]])
        states = self.start(values, final)
        most = math.floor(self.limits["max_length_factor"] * len(ids) + self.limits["max_length_extra"])
        while len(found) < max(most, 1):
            x = self.target_table[[token]]
            if self.decoder["style"] == "transformer":
                read = self.stack("decoder", x, len(found), states, values)
            else:
                read = self.step(x, values, states)
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
