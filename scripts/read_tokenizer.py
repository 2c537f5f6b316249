"""read_tokenizer.py - text to tokens and back for read_model.py, as docs/model-format.md has it."""
import re, unicodedata

PAD, UNK, BOS, EOS = range(4)
SPACES = " \t\n\v\f\r\x85\u2028\u2029"
KINDS = {"'": "'", "\u2019": "'", "\u200c": "M", "\u200d": "M", **dict.fromkeys(SPACES, " ")}
RUN = re.compile("L[LM]*(?:'(?=L))?|N[NM]*|[OM']+")  # of kinds: letters with an elision, digits, others


def tokenizer(options, pieces=()):
    return Pieces(options, pieces) if options["tokenizer"] == "sentencepiece" else Tokenizer(options)


class Pieces:
    def __init__(self, options, pieces):  # pieces: two tensors, which files of version 2 and 3 have as JSON
        import base64, sentencepiece
        file, vocab = pieces or (base64.b64decode(options["model"]), None)
        self.model = sentencepiece.SentencePieceProcessor(model_proto=file)
        tokens = options["vocab"] if vocab is None else vocab.decode().rstrip("\0").split("\0")
        self.tokens = ["<pad>", "<unk>", "<s>", "</s>"] + tokens
        self.ids = {token: i for i, token in enumerate(self.tokens) if i > EOS}
        self.unknown = self.model.id_to_piece(self.model.unk_id())

    def encode(self, line):
        return [self.ids.get(piece, UNK) for piece in self.model.encode(line, out_type=str)]

    def decode(self, ids):
        pieces = [self.unknown if i == UNK else self.tokens[i] for i in ids if i not in (PAD, BOS)]
        return re.sub("[\u2581\\r\\n\0]", " ", self.model.decode(pieces))


class Tokenizer:
    def __init__(self, options):
        self.o, self.words = options, options["tokenizer"] == "word"
        self.tokens = ["<pad>", "<unk>", "<s>", "</s>"] + options["vocab"]
        self.ids = {token: i for i, token in enumerate(self.tokens) if i > EOS}
        merges = [tuple(merge.split(" ")) for merge in reversed(options.get("merges", []))]
        self.rank = {pair: -place for place, pair in enumerate(merges)}  # the first merge is the lowest
        self.banned = [self.ids[token] for token in options.get("banned", [])]
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
        language = next((token for token in self.o.get("languages", []) if line.startswith(token)), "")
        return ([self.ids[language]] if language else []) + self.encode_text(line[len(language):])

    def encode_text(self, line):
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
