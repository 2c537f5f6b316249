"""French morphology: conjugation, agreement, elision, contraction."""
import re

NNBSP = '\u202f'  # goes before ? ! ; : in French typography
VOWEL = 'aeiouyàâäéèêëîïôöùûüœæh'
# Words whose first letter does not elide: h aspiré, and a few others.
NO_ELISION = ('haut', 'haute', 'hauts', 'hautes', 'huit', 'huitième', 'héros',
              'haricot', 'haricots', 'honte', 'hibou', 'onze', 'yaourt',
              'yaourts', 'hamster', 'oui', 'hasard', 'handball')


def starts_with_vowel(text):
    """True where le/la/je/de... elide before this text."""
    word = re.split(r"[ ,.!?'\u202f-]", text.lower(), maxsplit=1)[0]
    return bool(word) and word[0] in VOWEL and word not in NO_ELISION


ELIDING = r"\b(le|la|je|ne|me|te|se|de|que|ce|jusque|lorsque|puisque) "


def elide(text):
    """Elide every le, la, je, ne ... that stands before a vowel sound, and
    si before il(s).  Clitics hyphenated after their verb (donne-le) stay."""
    def shorten(match):
        if text[:match.start()].endswith('-'):
            return match.group(0)
        if starts_with_vowel(text[match.end():]):
            if match.group(1).lower() == 'ce' and not re.match(
                    r'(est|était|étaient)\b', text[match.end():]):
                return match.group(0)
            return match.group(1)[:-1] + "'"
        return match.group(0)
    text = re.sub(ELIDING, shorten, text, flags=re.I)
    return re.sub(r"\b([Ss])i (ils?\b)", r"\1'\2", text)


def contract(prep, phrase):
    """à/de before a noun phrase: au, aux, du, des."""
    for art, forms in (('le ', {'à': 'au ', 'de': 'du '}),
                       ('les ', {'à': 'aux ', 'de': 'des '})):
        if phrase.startswith(art) and prep in forms:
            return forms[prep] + phrase[len(art):]
    return prep + ' ' + phrase


def join(*parts):
    return ' '.join(p for p in parts if p)


# ---------------------------------------------------------------- verbs ----

ENDINGS_IMPF = ['ais', 'ais', 'ait', 'ions', 'iez', 'aient']
ENDINGS_FUT = ['ai', 'as', 'a', 'ons', 'ez', 'ont']

# infinitive: (six present forms, future stem, past participle)
IRREGULAR = {
    'être': ('suis es est sommes êtes sont', 'ser', 'été'),
    'avoir': ('ai as a avons avez ont', 'aur', 'eu'),
    'aller': ('vais vas va allons allez vont', 'ir', 'allé'),
    'faire': ('fais fais fait faisons faites font', 'fer', 'fait'),
    'dire': ('dis dis dit disons dites disent', 'dir', 'dit'),
    'voir': ('vois vois voit voyons voyez voient', 'verr', 'vu'),
    'savoir': ('sais sais sait savons savez savent', 'saur', 'su'),
    'pouvoir': ('peux peux peut pouvons pouvez peuvent', 'pourr', 'pu'),
    'vouloir': ('veux veux veut voulons voulez veulent', 'voudr', 'voulu'),
    'devoir': ('dois dois doit devons devez doivent', 'devr', 'dû'),
    'prendre': ('prends prends prend prenons prenez prennent', 'prendr',
                'pris'),
    'venir': ('viens viens vient venons venez viennent', 'viendr', 'venu'),
    'partir': ('pars pars part partons partez partent', 'partir', 'parti'),
    'sortir': ('sors sors sort sortons sortez sortent', 'sortir', 'sorti'),
    'dormir': ('dors dors dort dormons dormez dorment', 'dormir', 'dormi'),
    'mettre': ('mets mets met mettons mettez mettent', 'mettr', 'mis'),
    'lire': ('lis lis lit lisons lisez lisent', 'lir', 'lu'),
    'écrire': ('écris écris écrit écrivons écrivez écrivent', 'écrir',
               'écrit'),
    'boire': ('bois bois boit buvons buvez boivent', 'boir', 'bu'),
    'croire': ('crois crois croit croyons croyez croient', 'croir', 'cru'),
    'connaître': ('connais connais connaît connaissons connaissez connaissent',
                  'connaîtr', 'connu'),
    'ouvrir': ('ouvre ouvres ouvre ouvrons ouvrez ouvrent', 'ouvrir', 'ouvert'),
    'recevoir': ('reçois reçois reçoit recevons recevez reçoivent', 'recevr',
                 'reçu'),
    'courir': ('cours cours court courons courez courent', 'courr', 'couru'),
    'conduire': ('conduis conduis conduit conduisons conduisez conduisent',
                 'conduir', 'conduit'),
    'construire': ('construis construis construit construisons construisez '
                   'construisent', 'construir', 'construit'),
    'éteindre': ('éteins éteins éteint éteignons éteignez éteignent',
                 'éteindr', 'éteint'),
    'mentir': ('mens mens ment mentons mentez mentent', 'mentir', 'menti'),
    'rire': ('ris ris rit rions riez rient', 'rir', 'ri'),
}
PREFIXED = {'comprendre': 'prendre', 'apprendre': 'prendre',
            'revenir': 'venir', 'souvenir': 'venir', 'devenir': 'venir', 'sourire': 'rire',
            'permettre': 'mettre', 'découvrir': 'ouvrir', 'revoir': 'voir'}
IMPERATIVE = {'être': ('sois', 'soyons', 'soyez'),
              'avoir': ('aie', 'ayons', 'ayez'),
              'aller': ('va', 'allons', 'allez'),
              'savoir': ('sache', 'sachons', 'sachez')}
WITH_ETRE = {'aller', 'venir', 'revenir', 'devenir', 'arriver', 'partir',
             'rentrer', 'rester', 'tomber', 'entrer', 'sortir', 'monter',
             'descendre', 'naître', 'mourir', 'retourner'}
DOUBLE_LL = {'appeler': 'appell', 'jeter': 'jett'}


class Verb:
    """All simple forms of one verb: pres[6], stem_impf, stem_fut, pp."""

    def __init__(self, inf):
        self.inf = inf
        if inf in PREFIXED:
            base = Verb(PREFIXED[inf])
            prefix = inf[:-len(PREFIXED[inf])]
            self.pres = [prefix + f for f in base.pres]
            self.fut, self.pp = prefix + base.fut, prefix + base.pp
        elif inf in IRREGULAR:
            forms, self.fut, self.pp = IRREGULAR[inf]
            self.pres = forms.split()
        elif inf.endswith('er'):
            self._first_group(inf[:-2])
        elif inf.endswith('ir'):
            stem = inf[:-1]
            self.pres = [stem + e for e in
                         ('s', 's', 't', 'ssons', 'ssez', 'ssent')]
            self.fut, self.pp = inf, stem
        elif inf.endswith('re'):
            stem = inf[:-2]
            self.pres = [stem + e for e in ('s', 's', '', 'ons', 'ez', 'ent')]
            self.fut, self.pp = inf[:-1], stem + 'u'
        else:
            raise ValueError(inf)
        self.impf = 'ét' if inf == 'être' else self.pres[3][:-3]

    def _first_group(self, stem):
        nous = stem
        if stem.endswith('g'):
            nous = stem + 'e'
        elif stem.endswith('c'):
            nous = stem[:-1] + 'ç'
        strong, self.fut = stem, stem + 'er'
        if stem + 'er' in DOUBLE_LL:
            strong = DOUBLE_LL[stem + 'er']
            self.fut = strong + 'er'
        elif stem.endswith(('oy', 'uy', 'ay')):
            strong = stem[:-1] + 'i'
            self.fut = 'enverr' if stem == 'envoy' else strong + 'er'
        elif re.search(r'e[tvlnm]$', stem):          # acheter, lever, enlever
            strong = stem[:-2] + 'è' + stem[-1]
            self.fut = strong + 'er'
        elif re.search(r'é[a-z]$', stem):            # préférer, espérer
            strong = re.sub(r'é([a-z])$', r'è\1', stem)
        self.pres = [strong + 'e', strong + 'es', strong + 'e', nous + 'ons',
                     stem + 'ez', strong + 'ent']
        self.pp = stem + 'é'

    def form(self, tense, p):
        if tense == 'pres':
            return self.pres[p]
        if tense == 'impf':
            end = ENDINGS_IMPF[p]
            stem = self.impf
            if end.startswith('i') and self.inf.endswith('er'):
                # mangions, commencions: no softening letter before i
                if stem.endswith('ge'):
                    stem = stem[:-1]
                elif stem.endswith('ç'):
                    stem = stem[:-1] + 'c'
            return stem + end
        if tense == 'fut':
            return self.fut + ENDINGS_FUT[p]
        if tense == 'cond':
            return self.fut + ENDINGS_IMPF[p]
        raise ValueError(tense)

    def imperative(self, p):
        """p: 1 tu, 3 nous, 4 vous."""
        if self.inf in IMPERATIVE:
            return IMPERATIVE[self.inf][{1: 0, 3: 1, 4: 2}[p]]
        form = self.pres[p]
        return form[:-1] if p == 1 and form.endswith('es') else form


_cache = {}


def verb(inf):
    if inf not in _cache:
        _cache[inf] = Verb(inf)
    return _cache[inf]


def forms_of(infinitive):
    """Every simple form of a verb, without its pronouns."""
    v = verb(infinitive)
    return {v.form(t, p) for t in ('pres', 'impf', 'fut', 'cond')
            for p in range(6)} | {v.pp, infinitive}


def known_verbs():
    """The infinitives of all verbs that were asked for so far."""
    return sorted(_cache)


def agree(participle, gender, plural):
    if gender == 'f':
        participle = 'due' if participle == 'dû' else participle + 'e'
    if plural and not participle.endswith(('s', 'x')):
        participle += 's'
    return participle


PRONOUNS = {'m': ['je', 'tu', 'il', 'nous', 'vous', 'ils'],
            'f': ['je', 'tu', 'elle', 'nous', 'vous', 'elles']}
REFLEXIVE = ['me', 'te', 'se', 'nous', 'vous', 'se']

# English tense (as in english.clause) to French.  A tuple (verb, tense) is a
# semi-auxiliary followed by the infinitive.
TENSES = {
    'pres': 'pres', 'prog': 'pres', 'past': 'pc', 'perf': 'pc',
    'pastprog': 'impf', 'usedto': 'impf', 'will': 'fut', 'would': 'cond',
    'goingto': ('aller', 'pres'), 'can': ('pouvoir', 'pres'),
    'must': ('devoir', 'pres'), 'haveto': ('devoir', 'pres'),
    'should': ('devoir', 'cond'), 'could': ('pouvoir', 'cond'),
    'wantto': ('vouloir', 'pres'), 'knowhow': ('savoir', 'pres'),
    'needto': ('avoir besoin de', 'pres'), 'justperf': ('venir de', 'pres'),
}
NEG = {'not': 'pas', 'never': 'jamais', 'anymore': 'plus', 'rien': 'rien',
       'personne': 'personne', 'notyet': 'pas encore'}


def invert(finite, pronoun):
    """finite-pronoun, with the euphonic -t-."""
    if pronoun in ('il', 'elle', 'on') and finite[-1] in 'aeé':
        return finite + '-t-' + pronoun
    return finite + '-' + pronoun


def predicate(subj, inf, rest, tense, neg='', adverb='', clitics='',
              pp_agree=None, stative=False, inversion=False):
    """The French clause without its subject (with it, if inverted).

    inf may start with 'se ' (reflexive).  pp_agree: (gender, plural) of a
    preceding direct object, 'no' for a reflexive whose participle does not
    agree.  adverb follows the finite verb.
    """
    p = subj.person
    reflexive = inf.startswith('se ')
    inf = inf[3:] if reflexive else inf
    v = verb(inf)
    if tense == 'past' and stative:
        fr_tense = 'impf'
    else:
        fr_tense = TENSES[tense]
    before = join(REFLEXIVE[p] if reflexive else '', clitics)
    after, tail = NEG.get(neg, ''), ''
    if neg == 'personne':
        after, tail = '', 'personne'
    if isinstance(fr_tense, tuple):
        semi, semi_tense = fr_tense
        semi, _, extra = semi.partition(' ')
        finite = verb(semi).form(semi_tense, p)
        # "avoir besoin de" and "venir de": the rest follows the negation
        main = join(extra, before, inf)
        outer = ''
    elif fr_tense == 'pc':
        with_etre = reflexive or inf in WITH_ETRE
        finite = verb('être' if with_etre else 'avoir').form('pres', p)
        main = v.pp
        if pp_agree == 'no':
            pass
        elif pp_agree:
            main = agree(main, *pp_agree)
        elif with_etre:
            main = agree(main, subj.gender, subj.plural)
        outer = before
    else:
        finite, main, outer = v.form(fr_tense, p), '', before
    if inversion:
        finite = invert(finite, PRONOUNS[subj.gender][p])
    words = join(outer, finite, after, adverb, main, tail, rest)
    if neg:
        words = 'ne ' + words
    return words


def clause(subj, *args, **kwargs):
    inversion = kwargs.get('inversion')
    body = predicate(subj, *args, **kwargs)
    return elide(body if inversion else subj.fr + ' ' + body)


CLITIC_AFTER = {'me': 'moi', 'te': 'toi'}


def imperative(p, inf, rest, neg='', clitic='', adverb=''):
    """p is 1 (tu), 3 (nous) or 4 (vous).  clitic: one object pronoun."""
    reflexive = inf.startswith('se ')
    inf = inf[3:] if reflexive else inf
    if reflexive:
        clitic = {1: 'te', 3: 'nous', 4: 'vous'}[p]
    form = verb(inf).imperative(p)
    if neg:
        return elide(join('ne', clitic, form, NEG[neg], adverb, rest))
    if clitic:
        if clitic in ('en', 'y') and form[-1] in 'ae':
            form += 's'
        form += '-' + CLITIC_AFTER.get(clitic, clitic)
    return elide(join(form, adverb, rest))


# ----------------------------------------------------------- adjectives ----

ADJ_FEM = {'beau': 'belle', 'nouveau': 'nouvelle', 'vieux': 'vieille',
           'blanc': 'blanche', 'bon': 'bonne', 'gentil': 'gentille',
           'long': 'longue', 'gros': 'grosse', 'doux': 'douce',
           'frais': 'fraîche', 'inquiet': 'inquiète', 'public': 'publique',
           'marron': 'marron', 'sympa': 'sympa', 'sec': 'sèche',
           'favori': 'favorite', 'jaloux': 'jalouse', 'roux': 'rousse',
           'ancien': 'ancienne', 'gris': 'grise', 'mauvais': 'mauvaise'}
BEFORE_VOWEL = {'beau': 'bel', 'nouveau': 'nouvel', 'vieux': 'vieil'}
ADJ_PLURAL = {'marron': 'marron', 'beau': 'beaux', 'nouveau': 'nouveaux'}


def adjective(adj, gender, plural, noun=''):
    """Inflect.  noun: the word that follows, for bel/nouvel/vieil.
    Multi-word predicates ('en retard') are invariable."""
    if ' ' in adj:
        return adj
    if gender == 'f':
        form = adj_feminine(adj)
        if plural and form != 'marron':
            form += 's'
        return form
    if plural:
        if adj in ADJ_PLURAL:
            return ADJ_PLURAL[adj]
        if adj.endswith('al'):
            return adj[:-2] + 'aux'
        return adj if adj.endswith(('s', 'x')) else adj + 's'
    if adj in BEFORE_VOWEL and noun and starts_with_vowel(noun):
        return BEFORE_VOWEL[adj]
    return adj


def adj_feminine(adj):
    if adj in ADJ_FEM:
        return ADJ_FEM[adj]
    if adj.endswith('e'):
        return adj
    if adj.endswith('eux'):
        return adj[:-1] + 'se'
    if adj.endswith('f'):
        return adj[:-1] + 've'
    if adj.endswith('er'):
        return adj[:-2] + 'ère'
    if adj.endswith(('ien', 'el')):
        return adj + adj[-1] + 'e'
    return adj + 'e'


def noun_plural(noun):
    irregular = {'œil': 'yeux', 'travail': 'travaux', 'pneu': 'pneus',
                 'pomme de terre': 'pommes de terre',
                 'carte postale': 'cartes postales', 'pull': 'pulls',
                 'bijou': 'bijoux'}
    if noun in irregular:
        return irregular[noun]
    if noun.endswith(('s', 'x', 'z')):
        return noun
    if noun.endswith('al'):
        return noun[:-2] + 'aux'
    if noun.endswith(('eau', 'eu')):
        return noun + 'x'
    return noun + 's'


POSSESSIVE = [('mon', 'ma', 'mes'), ('ton', 'ta', 'tes'), ('son', 'sa', 'ses'),
              ('notre', 'notre', 'nos'), ('votre', 'votre', 'vos'),
              ('leur', 'leur', 'leurs')]


def possessive(owner, gender, plural, nxt):
    """owner: person index; nxt: the following word, for mon école."""
    m, f, pl = POSSESSIVE[owner]
    if plural:
        return pl
    if gender == 'f' and not starts_with_vowel(nxt):
        return f
    return m


def demonstrative(gender, plural, nxt):
    if plural:
        return 'ces'
    if gender == 'f':
        return 'cette'
    return 'cet' if starts_with_vowel(nxt) else 'ce'


def typography(text):
    """Narrow no-break space before high punctuation; capital first."""
    text = re.sub(r'[ \u00a0\u202f]*([?!;:])', NNBSP + r'\1', text)
    # two signs in a row, or a time such as 10:30, are not used in the corpus
    return text[0].upper() + text[1:]
