"""Self-checks on the finished corpus."""
import re
import unicodedata
from collections import Counter

import french as F

# "oui" and "onze" aside, these are the patterns that good French never shows.
FAULTS = [
    ('missing elision', re.compile(
        r"(?<![-\w'])(le|la|je|ne|me|te|se|de|que) (?=[aeiouyàâéèêëîïôùûœh])",
        re.I)),
    ('missing elision', re.compile(r"\bce (est|était|étaient)\b", re.I)),
    ('si il', re.compile(r"\bsi ils?\b", re.I)),
    ('contraction', re.compile(r"\b(à|de) les? (?!\w+(er|ir|re)\b)", re.I)),
    ('partitive after de', re.compile(r"\bde (du|des|un|une|de)\b", re.I)),
    ('euphony', re.compile(r"\b(ma|ta|sa) [aeiouéèêâœ]|"
                           r"\bce [aeiouéèêâœ](?!st|tai)|"
                           r"(?<!fait )(?<!sait )(?<!fera )(?<!est )"
                           r"\b(beau|nouveau|vieux) [aeiouéèêâœ]", re.I)),
    ('hiatus', re.compile(r"[aeé]-(il|elle)\b", re.I)),
    ('double word', re.compile(r"\b(?!nous nous|vous vous)(\w+) \1\b", re.I)),
    ('space', re.compile(r"  |^ | $|\t| [.,]")),
    ('mark', re.compile(r"[^\u202f][?!;:]|’|\u00a0")),
    ('end', re.compile(r"[^.?!]$")),
]
EN_FAULTS = [
    ('article', re.compile(r"\ba [aeio]|\ban (?!hour|honest)[^aeiou]", re.I)),
    ('double word', re.compile(r"\b(?!had had|that that)(\w+) \1\b", re.I)),
    ('space', re.compile(r"  |^ | $| [.,?!]|\u202f|’")),
    ('pronoun', re.compile(r"\bi\b")),
    ('third person', re.compile(r"^(he|she|it) (have|do|go|are)\b",
                                re.I)),
    ('end', re.compile(r"[^.?!]$")),
]


def doubled(english):
    """'lent her her book': right, but hard to read."""
    return re.search(r"\b(\w+) \1\b", english)


def textbook(text):
    """Lower-case, marks set apart by spaces: "Va !" -> "va !"."""
    text = text.replace('\u202f', ' ').replace('\u00a0', ' ').lower()
    text = re.sub(r'(?<=[^ ])([,.!?;:])', r' \1', text)
    return re.sub(r' +', ' ', text).strip()


def tokens(text):
    return textbook(text).split()


def norm(text):
    """Case-, space- and punctuation-insensitive form."""
    return ' '.join(re.findall(r"[\w'-]+", text.lower()))


def words(pair):
    return ['e:' + w for w in tokens(pair[0])] + \
        ['f:' + w for w in tokens(pair[1])]


def run(files):
    """A list of problems, empty when all is well."""
    out = []
    parts = [files['train.tsv'], files['valid.tsv'], files['test.tsv']]
    every = [p for part in parts for p in part]
    for en, fr in every + files['test-forms.tsv'] + files['test-words.tsv']:
        for what, rule in FAULTS:
            for m in rule.finditer(fr):
                if what == 'missing elision' and not \
                        F.starts_with_vowel(fr[m.end():]):
                    continue
                out.append('%s: %s' % (what, fr))
        for what, rule in EN_FAULTS:
            if rule.search(en):
                out.append('%s: %s' % (what, en))
        for side in (en, fr):
            if unicodedata.normalize('NFC', side) != side:
                out.append('not NFC: ' + side)
            if not (side[0].isupper() or side[0].isdigit()):
                out.append('no capital: ' + side)
    sources = Counter(norm(en) for en, _ in every)
    out += ['source twice: ' + s for s, n in sources.items() if n > 1]
    if len(every) < 8000:
        out.append('only %d pairs' % len(every))
    if len(parts[1]) != 500 or len(parts[2]) != 500:
        out.append('valid and test must hold 500 pairs each')
    train = Counter(w for p in parts[0] for w in words(p))
    targets = {norm(fr) for _, fr in parts[0]}
    for part in parts[1:]:
        for p in part:
            rare = [w for w in words(p) if train[w] < 3]
            if rare:
                out.append('rare in train: %s' % rare)
            if norm(p[1]) in targets:
                out.append('held-out target in train: ' + p[1])
    for name in ('test-forms.tsv', 'test-words.tsv'):
        for en, fr in files[name]:
            new = [w for w in words((en, fr)) if train[w] == 0]
            if not new or norm(en) in sources:
                out.append('%s: nothing new: %s' % (name, en))
    first = [textbook(en) for en, _ in parts[0][:512]]
    for en, fr in files['chapter.tsv']:
        if en not in first:
            out.append('not among the first 512 lines: ' + en)
    return out


def summary(files):
    lines = []
    for name, pairs in files.items():
        en = Counter(w for e, _ in pairs for w in tokens(e))
        fr = Counter(w for _, f in pairs for w in tokens(f))
        lines.append('%-12s %6d pairs, English %6d tokens %5d types, French '
                     '%6d tokens %5d types' % (
                         name, len(pairs), sum(en.values()), len(en),
                         sum(fr.values()), len(fr)))
    return '\n'.join(lines)
