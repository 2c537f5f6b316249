"""English morphology: just enough for the clauses the corpus needs."""

IRREGULAR = {  # base: (past, past participle)
    'be': ('was', 'been'), 'have': ('had', 'had'), 'do': ('did', 'done'),
    'go': ('went', 'gone'), 'come': ('came', 'come'), 'eat': ('ate', 'eaten'),
    'drink': ('drank', 'drunk'), 'buy': ('bought', 'bought'),
    'sell': ('sold', 'sold'), 'lose': ('lost', 'lost'),
    'find': ('found', 'found'), 'forget': ('forgot', 'forgotten'),
    'bring': ('brought', 'brought'), 'read': ('read', 'read'),
    'write': ('wrote', 'written'), 'sing': ('sang', 'sung'),
    'swim': ('swam', 'swum'), 'run': ('ran', 'run'),
    'sleep': ('slept', 'slept'),
    'win': ('won', 'won'), 'speak': ('spoke', 'spoken'),
    'leave': ('left', 'left'), 'take': ('took', 'taken'),
    'make': ('made', 'made'), 'get': ('got', 'gotten'),
    'wake': ('woke', 'woken'),
    'see': ('saw', 'seen'), 'meet': ('met', 'met'), 'know': ('knew', 'known'),
    'understand': ('understood', 'understood'),
    'think': ('thought', 'thought'),
    'give': ('gave', 'given'), 'lend': ('lent', 'lent'),
    'send': ('sent', 'sent'),
    'put': ('put', 'put'), 'wear': ('wore', 'worn'), 'pay': ('paid', 'paid'),
    'choose': ('chose', 'chosen'), 'break': ('broke', 'broken'),
    'drive': ('drove', 'driven'), 'fall': ('fell', 'fallen'),
    'say': ('said', 'said'), 'hear': ('heard', 'heard'),
    'cost': ('cost', 'cost'),
    'feel': ('felt', 'felt'), 'tell': ('told', 'told'),
    'ride': ('rode', 'ridden'),
    'sit': ('sat', 'sat'), 'build': ('built', 'built'),
    'draw': ('drew', 'drawn'), 'spend': ('spent', 'spent'),
    'cut': ('cut', 'cut'), 'hide': ('hid', 'hidden'),
    'become': ('became', 'become'),
}
# Verbs that double the last consonant before -ed and -ing.
DOUBLING = {'run', 'swim', 'win', 'get', 'put', 'forget', 'stop', 'sit', 'cut'}
VOWELS = 'aeiou'


def third(base):
    if base == 'be':
        return 'is'
    if base == 'have':
        return 'has'
    if base.endswith(('s', 'sh', 'ch', 'x', 'z', 'o')):
        return base + 'es'
    if base.endswith('y') and base[-2] not in VOWELS:
        return base[:-1] + 'ies'
    return base + 's'


def past(base):
    if base in IRREGULAR:
        return IRREGULAR[base][0]
    if base.endswith('e'):
        return base + 'd'
    if base.endswith('y') and base[-2] not in VOWELS:
        return base[:-1] + 'ied'
    if base in DOUBLING:
        return base + base[-1] + 'ed'
    return base + 'ed'


def participle(base):
    return IRREGULAR[base][1] if base in IRREGULAR else past(base)


def ing(base):
    if base == 'lie':
        return 'lying'
    if base in DOUBLING:
        return base + base[-1] + 'ing'
    if base.endswith('e') and not base.endswith('ee') and base != 'be':
        return base[:-1] + 'ing'
    return base + 'ing'


def article(phrase):
    """'a' or 'an' in front of a phrase, by sound."""
    first = phrase.split()[0].lower()
    if first.startswith(('uni', 'eu', 'use')):
        return 'a ' + phrase
    if first.startswith(('hour', 'honest')):
        return 'an ' + phrase
    return ('an ' if first[0] in VOWELS else 'a ') + phrase


def plural(noun):
    irregular = {'man': 'men', 'woman': 'women', 'child': 'children',
                 'policeman': 'policemen', 'mouse': 'mice', 'knife': 'knives',
                 'fish': 'fish', 'potato': 'potatoes', 'tomato': 'tomatoes',
                 'wife': 'wives', 'scarf': 'scarves', 'foot': 'feet',
                 'tooth': 'teeth'}
    head, space, last = noun.rpartition(' ')
    if last in irregular:
        return head + space + irregular[last]
    if last.endswith(('s', 'sh', 'ch', 'x')):
        return noun + 'es'
    if last.endswith('y') and last[-2] not in VOWELS:
        return noun[:-1] + 'ies'
    return noun + 's'


# Person index 0..5 as in French: I, you, he/she, we, you (plural), they.
BE = ['am', 'are', 'is', 'are', 'are', 'are']
WAS = ['was', 'were', 'was', 'were', 'were', 'were']
CONTRACT_BE = ["'m", "'re", "'s", "'re", "'re", "'re"]
NOT = {'will': "won't", 'can': "can't", 'would': "wouldn't",
       'should': "shouldn't", 'must': "mustn't", 'could': "couldn't"}
MODALS = ('can', 'must', 'should', 'could', 'would', 'will')


def auxiliary(person, tense, base):
    """(finite auxiliary or None, following main form, kind).

    None as auxiliary: the main verb is itself finite (simple tenses) and
    negation and questions need do-support.
    """
    if tense in MODALS:
        return tense, base
    if tense == 'prog':
        return BE[person], ing(base)
    if tense == 'goingto':
        return BE[person], 'going to ' + base
    if tense == 'pastprog':
        return WAS[person], ing(base)
    if tense == 'perf':
        return ('has' if person == 2 else 'have'), participle(base)
    if tense == 'justperf':
        return ('has' if person == 2 else 'have'), 'just ' + participle(base)
    if base == 'be' and tense == 'pres':
        return BE[person], ''
    if base == 'be' and tense == 'past':
        return WAS[person], ''
    if tense == 'pres':
        return None, third(base) if person == 2 else base
    if tense == 'past':
        return None, past(base)
    if tense == 'usedto':
        return None, 'used to ' + base
    if tense in ('haveto', 'wantto', 'needto', 'knowhow'):
        head, tail = {'haveto': ('have', 'to '), 'wantto': ('want', 'to '),
                      'needto': ('need', 'to '),
                      'knowhow': ('know', 'how to ')}[tense]
        return None, (third(head) if person == 2 else head) + ' ' + tail + base
    raise ValueError(tense)


def negated(aux, person):
    if aux == 'am':
        return None  # "I'm not" has no contracted form
    return NOT.get(aux, aux + "n't")


def join(*parts):
    return ' '.join(p for p in parts if p)


def clause(subj, base, rest, tense, neg='', mid='', question=False):
    """An English clause.  neg is '', 'not', 'never' or 'anymore'; mid is an
    adverb such as 'often'.  Pronoun subjects contract with be/will/have."""
    aux, main = auxiliary(subj.person, tense, base)
    tail = 'anymore' if neg == 'anymore' else ''
    is_neg = neg in ('not', 'anymore')
    if neg == 'never':
        mid = 'never'
    if question:
        if aux is None:
            aux = {'past': 'did', 'usedto': 'did'}.get(
                tense, 'does' if subj.person == 2 else 'do')
            main = bare(base, tense)
        if is_neg:
            aux = "aren't" if aux == 'am' else negated(aux, subj.person)
        return join(aux, subj.en, mid, main, rest, tail)
    if aux is None:
        if is_neg:
            do = {'past': "didn't", 'usedto': "didn't"}.get(
                tense, "doesn't" if subj.person == 2 else "don't")
            return join(subj.en, do, mid, bare(base, tense), rest, tail)
        return join(subj.en, mid, main, rest, tail)
    if is_neg:
        if aux == 'am':
            return join("I'm not", mid, main, rest, tail)
        return join(subj.en, negated(aux, subj.person), mid, main, rest, tail)
    if subj.pronoun and aux in ('am', 'are', 'is'):
        return join(subj.en + CONTRACT_BE[subj.person], mid, main, rest)
    if subj.pronoun and aux == 'will':
        return join(subj.en + "'ll", mid, main, rest)
    if subj.pronoun and aux == 'have':
        return join(subj.en + "'ve", mid, main, rest)
    return join(subj.en, aux, mid, main, rest)


def bare(base, tense):
    return {'usedto': 'use to ' + base, 'haveto': 'have to ' + base,
            'wantto': 'want to ' + base, 'needto': 'need to ' + base,
            'knowhow': 'know how to ' + base}.get(tense, base)
