#!/usr/bin/env python3
"""read_model.py best.safetensors <test.en >test.fr - translates as attn-mt translate --beam-size 1: in NumPy,
what docs/model-format.md says in words, for most models of configs/. READ says which."""
import functools, json, math, sys

if len(sys.argv) > 1 and sys.argv[1] in ("-h", "--help"):
    sys.exit(print(__doc__))
import numpy as np
from read_tokenizer import BOS, EOS, PAD, UNK, tokenizer

READ = {"text.bpe_marker": ["prefix"], "model.encoder.style": ["rnn", "self_attention"],
        "model.decoder.style": ["conditional", "bahdanau", "transformer"], "model.layer_norm": [False],
        "model.attention": ["additive", "concat", "dot", "scaled_dot", "general"], "model.norm": ["pre"],
        "model.decoder.self_attention": [False], "model.positions": ["sinusoidal"], "model.residual": [False],
        "model.decoder.right_to_left": [False], "model.decoder.autoreg": ["self_attention"],
        "model.activation": ["relu"], "model.norm_epsilon": [1e-5], "model.embedding_multiplier": [0],
        "model.add_source_eos": [True]}
sigmoid = lambda x: 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def positions(first, count, width):  # sinusoids, of rows at first, first + 1, ...
    angle = np.outer(np.arange(first, first + count), 10000.0 ** (-(np.arange(width) // 2 * 2) / width))
    return np.where(np.arange(width) % 2, np.cos(angle), np.sin(angle)).astype(np.float32)


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            header, data = json.loads(file.read(int.from_bytes(file.read(8), "little"))), file.read()
        meta = header.pop("__metadata__")
        assert meta["format"] == "attn-mt" and meta["format_version"] in ("2", "4")
        assert meta.get("precision", "float32") == "float32"
        kinds = {"F32": "<f4", "U8": "u1", "U16": "<u2", "U32": "<u4"}
        self.t = {name: np.frombuffer(data[slice(*t["data_offsets"])], kinds[t["dtype"]]).reshape(t["shape"])
                  for name, t in header.items()}
        config = json.loads(meta["config"])
        for key, values in READ.items():
            if (value := functools.reduce(dict.get, key.split("."), config)) not in values:
                sys.exit(f"read_model.py reads no models with {key} = {value}")
        self.o, self.limits = config["model"], config["decode"]
        self.encoder, self.decoder, sides = self.o["encoder"], self.o["decoder"], ("source", "target")
        self.source, self.target = [tokenizer(json.loads(meta.get(side, meta["source"])), self.pieces(side))
                                    for side in sides]
        self.tables = [self.t.get("embedding", self.t.get(side + ".embedding")) for side in sides]
        self.output_table = self.t.get("output.weight", self.tables[1])

    def pieces(self, side):  # of a tokenizer that is a model of SentencePiece: its file and its tokens
        parts = [self.t.get(f"{name}.{side}", self.t.get(name + ".source")) for name in ("sentencepiece", "vocab")]
        return [part.tobytes() for part in parts if part is not None]

    def linear(self, name, x):
        return x @ self.t[name + ".weight"] + self.t.get(name + ".bias", 0)

    def norm(self, name, x):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x * self.t[name + ".gain"] + self.t[name + ".bias"]

    def attend(self, name, x, *key_and_value):  # a Transformer's
        q, k, v = [y.reshape(len(y), self.o["heads"], -1).transpose(1, 0, 2)  # a matrix for each head
                   for y in (self.linear(name + ".query", x), *key_and_value)]
        context = softmax(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])) @ v
        return self.linear(name + ".output", context.transpose(1, 0, 2).reshape(x.shape))

    def stack(self, name, x, first=0, earlier=None, source=None):  # earlier: keys and values
        if name + ".input.weight" in self.t:
            x = self.linear(name + ".input", x)
        x = x * math.sqrt(x.shape[1]) + positions(first, *x.shape)
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
            return self.stack("encoder", x), []
        zeros, final = np.zeros((1, self.o["hidden"]), np.float32), []
        for layer in range(self.encoder["layers"]):
            ways = []
            for way, turn in [("forward", 1), ("backward", -1)][:1 + self.encoder["bidirectional"]]:
                states = [(zeros,) if self.o["cell"] == "gru" else (zeros, zeros)]
                for row in x[::turn]:
                    states.append(self.cell(f"encoder.{layer}.{way}", row[None], states[-1]))
                ways.append(np.concatenate([state[0] for state in states[1:]])[::turn])
                final.append(states[-1])
            x = np.concatenate(ways, -1)
        return x, final

    def start(self, values, final):  # the decoder's first states
        if self.decoder["style"] == "transformer":  # keys and values of each layer: none yet
            return [[np.zeros((0, self.o["hidden"]), np.float32)] * 2 for _ in range(self.decoder["layers"])]
        if self.decoder["start"] == "final":
            return final
        mean, memory = values.mean(0, keepdims=True), [] if self.o["cell"] == "gru" else ["_memory"]
        return [tuple(np.tanh(self.linear(f"decoder.start{part}.{layer}", mean)) for part in ["", *memory])
                for layer in range(self.decoder["layers"])]

    def context(self, q, values):
        name, score = "decoder.attention", self.o["attention"]
        keys = self.linear(name + ".key", values) if name + ".key.weight" in self.t else values
        scores = ((np.tanh(self.linear(name + ".query", q) + keys) * self.t[name + ".v"]).sum(-1)
                  if score in ("additive", "concat") else
                  keys @ q[0] / (math.sqrt(q.shape[1]) if score == "scaled_dot" else 1))
        return softmax(scores)[None] @ values

    def step(self, x, values, states):  # of a recurrent decoder: changes the states; returns the readout
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
        parts = ("state", states[-1][0]), ("context", context), ("embedding", x)
        return np.tanh(sum(self.linear("decoder.readout." + part, y) for part, y in parts))

    @staticmethod
    def repeats(tokens):
        """How often a phrase of at most 16 tokens stands in a row at the end of tokens."""
        best = 1
        for length in range(1, min(16, len(tokens)) + 1):
            same = 0
            while same + length < len(tokens) and tokens[-1 - same] == tokens[-1 - same - length]:
                same += 1
            best = max(best, same // length + 1)
        return best

    def translate(self, line):
        ids, found = self.source.encode(line), [BOS]
        values, final = self.encode(self.tables[0][ids + [EOS]])
        states = self.start(values, final)
        loop_limit = max([8] + [self.repeats(ids[: end + 1]) for end in range(len(ids))])
        most = self.limits["max_length_factor"] * len(ids) + self.limits["max_length_extra"]
        while ids and found[-1] != EOS and len(found) <= max(math.floor(most), 1):
            x = self.tables[1][found[-1:]]
            read = (self.stack("decoder", x, len(found) - 1, states, values)
                    if self.decoder["style"] == "transformer" else self.step(x, values, states))
            logits = (read @ self.output_table.T + self.t["output.bias"])[0]
            logits[[PAD, BOS] + ([] if self.limits["allow_unk"] else [UNK])] = -np.inf
            logits[self.target.banned] = -np.inf
            found.append(int(logits.argmax()))
            if len(found) % 16 == 1 and self.repeats(found[1:]) > loop_limit:
                break
        return self.target.decode([token for token in found if token not in (BOS, EOS)])


if __name__ == "__main__":
    model = Model(*sys.argv[1:])
    for line in sys.stdin.buffer.read().decode("utf-8", "replace").replace("\0", "\ufffd").split("\n")[:-1]:
        print(model.translate(line))
