#!/usr/bin/env python3
"""read_model.py - reads a model file and translates with NumPy alone, one best token after the other.

    scripts/read_model.py best.safetensors <test.en >test.fr     as attn-mt translate --beam-size 1

docs/model-format.md in code: encoders recurrent and of self-attention, every decoder, every attention score.
"""
import json, math, struct, sys, unicodedata
import numpy as np


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    meta = header.pop("__metadata__")
    assert meta["format"] == "attn-mt" and meta["format_version"] == "2"
    tensors = {name: np.frombuffer(data[slice(*t["data_offsets"])], "<f4").reshape(t["shape"])
               for name, t in header.items()}
    source = json.loads(meta["source"])
    return json.loads(meta["config"]), source, json.loads(meta.get("target", meta["source"])), tensors


# ---- text ----

PAD, UNK, BOS, EOS = range(4)
SPACES = " \t\n\v\f\r\x85\u2028\u2029"


class Segmenter:
    def __init__(self, o):
        self.o, self.suffix = o, o.get("marker") == "suffix"
        self.tokens = ["<pad>", "<unk>", "<s>", "</s>"] + o["vocab"]
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.rank, self.parts = {}, {}
        for rank, (left, right) in enumerate(tuple(merge.split(" ")) for merge in o.get("merges", [])):
            marked = (left + right).endswith("</w>") and not right.endswith("</w>")
            if left.endswith("</w>") or marked:
                continue
            self.rank.setdefault((left, right), rank)
            self.parts.setdefault(left + right, (left, right))

    def normalize(self, line):
        form = self.o["normalize"].upper()
        normal = (lambda s: s) if form == "NONE" else (lambda s: unicodedata.normalize(form, s))
        if self.o["lowercase"]:  # each character for itself
            line = normal("".join(c.lower() if len(c.lower()) == 1 else c for c in normal(line)))
            line = line.replace("\u0130", "i")
        return normal(line)

    def words(self, text):
        for c in ",.!?":
            text = text.replace(c, " " + c)
        return text.split()

    def runs(self, text):
        tokens, run, space = [""], None, True
        for i, c in enumerate(text):
            kind = unicodedata.category(c)
            kind = "L" if kind[0] == "L" else "M" if kind[0] == "M" else "N" if kind == "Nd" else "other"
            if c in SPACES:
                tokens.append("")
                space = True
                continue
            inside = tokens[-1] != ""
            if kind == "M" or c in "\u200c\u200d":
                kind = run if inside else "other"
            c = "_" if c == "\u2581" else c
            if inside and kind != run:
                if run == "L" and c in "'\u2019" and text[i + 1:i + 2].isalpha():  # an elision: l' in l'ami
                    tokens[-1] += c
                    tokens.append("")
                    continue
                tokens.append("")
            if tokens[-1] == "":
                tokens[-1], space, run = "\u2581" if space else "", False, kind
            tokens[-1] += c
        return [token for token in tokens if token]

    def known(self, piece):
        """A piece that is no token is taken apart again."""
        i = self.ids.get(piece, UNK)
        if i <= EOS and piece in self.parts:
            return [i for part in self.parts[piece] for i in self.known(part)]
        return [i if i > EOS else UNK]

    def pieces(self, token):
        units = list(token)
        if self.suffix:
            units = units[:-4]
            units[-1] += "</w>"
        while len(units) > 1:
            best = min(zip(units, units[1:]), key=lambda pair: self.rank.get(pair, math.inf))
            if best not in self.rank:
                break
            joined, i = [], 0
            while i < len(units):
                both = tuple(units[i:i + 2]) == best
                joined.append("".join(units[i:i + 2]) if both else units[i])
                i += 2 if both else 1
            units = joined
        return [i for unit in units for i in self.known(unit)]

    def encode(self, line):
        text = self.normalize(line)
        if self.o["tokenizer"] == "word":
            return [i if i > EOS else UNK for i in (self.ids.get(word, UNK) for word in self.words(text))]
        for c in SPACES[1:] if self.suffix else "":
            text = text.replace(c, " ")
        tokens = [word + "</w>" for word in text.split(" ") if word] if self.suffix else self.runs(text)
        return [i for token in tokens for i in self.pieces(token)]

    def decode(self, ids):
        tokens = [self.tokens[i] for i in ids]
        if self.o["tokenizer"] == "word":
            return " ".join(tokens)
        line = "".join(tokens).replace("</w>" if self.suffix else "\u2581", " ")
        return " ".join(word for word in line.split(" ") if word)


# ---- layers: rows are tokens ----

def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def unit(x):
    return x / np.maximum(np.sqrt((x * x).sum(-1, keepdims=True)), 1e-30)


class Model:
    def __init__(self, path):
        config, source, target, self.t = read(path)
        self.o, self.limits = config["model"], config["decode"]
        self.source = Segmenter(source)
        self.target = Segmenter(target)

    def option(self, key):  # "encoder.style" is {"encoder": {"style": ...}}
        value = self.o
        for part in key.split("."):
            value = value[part]
        return value

    def linear(self, name, x):
        y = x @ self.t[name + ".weight"]
        return y + self.t[name + ".bias"] if name + ".bias" in self.t else y

    def norm(self, name, x):
        if name + ".gain" not in self.t:
            return x
        d = x - x.mean(-1, keepdims=True)
        y = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5)
        return y * self.t[name + ".gain"] + self.t[name + ".bias"]

    def cell(self, name, x, state, more=0):
        """One step of a GRU or LSTM; state is (h,) or (h, c)."""
        gx = self.norm(name + ".input_norm", self.linear(name + ".input", x) + more)
        gh = self.norm(name + ".state_norm", self.linear(name + ".state", state[0]))
        if len(state) == 1:
            (rx, zx, cx), (rh, zh, ch) = np.split(gx, 3, -1), np.split(gh, 3, -1)
            z, c = sigmoid(zx + zh), np.tanh(cx + sigmoid(rx + rh) * ch)
            return (c + z * (state[0] - c),)
        i, f, g, o = np.split(gx + gh, 4, -1)
        c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        return (sigmoid(o) * np.tanh(c), c)

    def heads(self, name, x, keys, values, first):
        """Multi-head attention of rows x, the first of which stands at position `first`."""
        n, size = self.o["heads"], self.o["hidden"]
        query = self.linear(name + ".query", x) / math.sqrt(size / n)
        split = lambda y: y.reshape(len(y), n, -1).transpose(1, 0, 2)
        scores = split(query) @ split(keys).transpose(0, 2, 1)
        if name + ".relative" in self.t:
            table = self.t[name + ".relative"]
            far = len(table) // 2
            distance = np.arange(len(keys))[None, :] - np.arange(first, first + len(x))[:, None]
            place = np.clip(distance, -far, far) + far
            by_distance = split(query) @ table.T
            scores = scores + np.take_along_axis(by_distance, np.broadcast_to(place, scores.shape), 2)
        context = softmax(scores) @ split(values)
        return self.linear(name + ".output", context.transpose(1, 0, 2).reshape(len(x), size))

    def stack(self, name, layers, x, first=0, cache=None, source=None):
        """Transformer blocks. cache: keys and values of earlier steps, for each layer."""
        size, pre, kind = self.o["hidden"], self.o["norm"] == "pre", self.o["positions"]
        x = self.linear(name + ".input", x) if name + ".input.weight" in self.t else x
        x = x * math.sqrt(size)
        if kind == "learned":
            table = self.t[name + ".positions"]
            x = x + table[np.minimum(np.arange(first, first + len(x)), len(table) - 1)] * math.sqrt(size)
        if kind == "sinusoidal":
            column = np.arange(size)
            angle = np.arange(first, first + len(x))[:, None] * 10000.0 ** (-(column - column % 2) / size)
            x = x + np.where(column % 2, np.cos(angle), np.sin(angle)).astype(np.float32)

        def part(block, what, x, f):
            place = block + "." + what + "_norm"
            return x + f(self.norm(place, x)) if pre else self.norm(place, x + f(x))

        for l in range(layers):
            block = f"{name}.{l}"

            def own(y):
                keys, values = self.linear(block + ".self.key", y), self.linear(block + ".self.value", y)
                if cache is not None:
                    cache[l] = [np.concatenate(pair) for pair in zip(cache[l], (keys, values))]
                    keys, values = cache[l]
                return self.heads(block + ".self", y, keys, values, first)

            x = part(block, "self", x, own)
            if source is not None:
                kv = [self.linear(f"{block}.cross.{side}", source) for side in ("key", "value")]
                x = part(block, "cross", x, lambda y: self.heads(block + ".cross", y, *kv, 0))
            feed = lambda y: self.linear(block + ".outer", np.maximum(self.linear(block + ".inner", y), 0))
            x = part(block, "feed", x, feed)
        return self.norm(name + ".norm", x)

    # ---- the encoder ----

    def zeros(self):
        return (np.zeros((1, self.o["hidden"]), np.float32),) * (2 if self.o["cell"] == "lstm" else 1)

    def encode(self, ids):
        """Annotations [S, K] and the last states of the forward layers."""
        x = self.t["embedding" if self.o["tie"] == "all" else "source.embedding"][ids]
        style, layers, final = self.option("encoder.style"), self.option("encoder.layers"), []
        if style == "self_attention":
            return self.stack("encoder", layers, x), final
        assert style == "rnn", "this script reads no convolutional encoder"
        for l in range(layers):
            ways = []
            for way in ["forward", "backward"][:2 if self.option("encoder.bidirectional") else 1]:
                state, outputs = self.zeros(), []
                for row in x if way == "forward" else x[::-1]:
                    state = self.cell(f"encoder.{l}.{way}", row[None], state)
                    outputs.append(state[0])
                ways.append(np.concatenate(outputs if way == "forward" else outputs[::-1]))
                final.append(state)
            y = np.concatenate(ways, -1)
            x = x + y if self.o["residual"] and l else y
        return x, final

    # ---- the recurrent decoder ----

    def scores(self, q, values):
        """Scores [S] of one query for all annotations: docs/model-format.md has the formulas."""
        name, score = "decoder.attention", self.o["attention"]
        keys = self.linear(name + ".key", values) if name + ".key.weight" in self.t else values
        if score in ("additive", "concat"):
            return (np.tanh(self.linear(name + ".query", q) + keys) * self.t[name + ".v"]).sum(-1)
        if score == "location":
            table = self.linear(name + ".query", q)[0]
            return table[np.minimum(np.arange(len(values)), len(table) - 1)]
        if score == "cosine":
            return (unit(keys) @ unit(q)[0]) * self.t[name + ".sharpness"][0, 0]
        if score == "distance":
            return -((q - keys) ** 2).sum(-1) / 2
        return keys @ q[0] / (math.sqrt(q.shape[1]) if score == "scaled_dot" else 1)

    def start(self, values, final):
        states, mean = [], values.mean(0, keepdims=True)
        for l in range(self.option("decoder.layers")):
            names = [f"decoder.start.{l}", f"decoder.start_memory.{l}"][:len(self.zeros())]
            mapped = self.option("decoder.start") == "mean"
            states.append(tuple(np.tanh(self.linear(n, mean)) for n in names) if mapped else final[l])
        feeds = self.option("decoder.input_feeding")
        return states, np.zeros((1, len(self.t["decoder.feed.weight"])), np.float32) if feeds else None

    def upper(self, states):
        x = states[0][0]
        for l in range(1, len(states)):
            states[l] = self.cell(f"decoder.{self.o['cell']}.{l}", x, states[l])
            x = x + states[l][0] if self.o["residual"] else states[l][0]
        return x

    def step(self, x, values, states, vector):
        style, first = self.option("decoder.style"), f"decoder.{self.o['cell']}.0"
        attend = lambda q: softmax(self.scores(q, values))[None] @ values
        if style == "bahdanau":
            context = attend(states[-1][0])
            states[0] = self.cell(first, x, states[0], self.linear("decoder.context", context))
            output = self.upper(states)
        elif style == "conditional":
            between = self.cell(first, x, states[0])
            context = attend(between[0])
            states[0] = self.cell("decoder.second", context, between)
            output = self.upper(states)
        else:
            more = 0 if vector is None else self.linear("decoder.feed", vector)
            states[0] = self.cell(first, x, states[0], more)
            output = self.upper(states)
            context = attend(output)
        if style != "luong" and self.option("decoder.readout") == "linear":
            return output, vector
        read = self.linear("decoder.readout.state", output) + self.linear("decoder.readout.context", context)
        if style != "luong":
            read = read + self.linear("decoder.readout.embedding", x)
        read = np.tanh(self.norm("decoder.readout.norm", read))
        return read, None if vector is None else read

    # ---- translation ----

    def readouts(self, ids, table):
        """A generator: send it a target token, and it gives the readout [1, E] that follows."""
        values, final = self.encode(ids)
        token, position = (yield), 0
        if self.option("decoder.style") == "transformer":
            layers, empty = self.option("decoder.layers"), np.zeros((0, self.o["hidden"]), np.float32)
            cache = [[empty, empty] for _ in range(layers)]
            while True:
                token = yield self.stack("decoder", layers, table[[token]], position, cache, values)
                position += 1
        states, vector = self.start(values, final)
        while True:
            readout, vector = self.step(table[[token]], values, states, vector)
            token = yield readout

    def translate(self, line):
        ids = self.source.encode(line)
        if not ids:
            return ""
        table = self.t["embedding" if self.o["tie"] == "all" else "target.embedding"]
        output = self.t["output.weight" if self.o["tie"] == "none" else
                        "embedding" if self.o["tie"] == "all" else "target.embedding"]
        decoder = self.readouts(ids + [EOS], table)
        next(decoder)
        found, token = [], BOS
        most = math.floor(self.limits["max_length_factor"] * len(ids) + self.limits["max_length_extra"])
        while len(found) < max(most, 1):
            logits = (decoder.send(token) @ output.T + self.t["output.bias"])[0].copy()
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
