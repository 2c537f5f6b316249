"""Sentence frames.  Each takes a random generator and returns a pair
(English, French), or None where the draw made no sense; French is written
with plain spaces (main adds the narrow ones) and capitals are added later."""
import english as E
import french as F
import lexicon as L
from phrases import (DESCRIBED, HE, I, PRONOUNS, SHE, SLOTS,
                     THEY, VERB_PHRASES, VOUS, VOUS_F, VOUS_PL, WE, YOU, Fixed,
                     Phrase, Subject, kin, name, person, plural_people,
                     relative, subject)

FRAMES = []  # (share of the corpus, function)


def frame(share):
    def add(function):
        FRAMES.append((share, function))
        return function
    return add


# --------------------------------------------------------- small helpers ---

# Besides those marked w or l, what one does at some time in a week.
WEEKLY = {'buy', 'visit', 'travel', 'work', 'meet', 'see', 'sell', 'come',
          'leave', 'receive', 'write', 'finish', 'start', 'return', 'repair',
          'pay', 'lose', 'find', 'study', 'send'}


def adverbial(rng, vp, tense):
    """(english, french, mid) for the tense, or None for no adverbial."""
    if vp.times == 'n':
        return None
    pools = {'past': L.PAST, 'perf': [], 'will': L.FUTURE, 'goingto': L.FUTURE,
             'pres': L.HABIT, 'prog': L.NOW, 'usedto': [], 'pastprog': [],
             'wantto': L.FUTURE[:-1], 'can': L.FUTURE[:6], 'must': L.FUTURE,
             'haveto': L.FUTURE, 'should': L.FUTURE[:6]}
    pool = pools.get(tense, [])
    if tense == 'can' and vp.en_verb == 'live':
        return None
    if 'l' in vp.times:
        extra = {'past': L.LONGPAST, 'will': L.LONGFUTURE,
                 'goingto': L.LONGFUTURE}.get(tense, [])
        pool = extra if vp.times == 'l' else pool + extra
    if 'hour' in ' '.join(vp.slots):
        pool = [a for a in pool if 'morning' not in a[0] and 'night' not in
                a[0] and 'ago' not in a[0] and 'evening' not in a[0]
                and 'noon' not in a[0] and a[0] not in ('now', 'right now')]
    if vp.en_rest.startswith('to bed') or vp.en_verb == 'wake' \
            or vp.en_rest.startswith('up') or 'dinner' in vp.en_rest \
            or 'breakfast' in vp.en_rest:
        pool = [a for a in pool if a[0] in (
            'yesterday', 'tomorrow', 'every day', 'on Sundays', 'today',
            'last Saturday', 'on Saturday', 'on Saturdays', 'on Monday')]
    if 'w' not in vp.times:
        pool = [a for a in pool if a[0] != 'every week']
    if 'i' in vp.flags and vp.en_verb not in ('call', 'write'):
        # durative: not "we stayed at home two days ago"
        pool = [a for a in pool if not a[0].endswith('ago')]
    if not set('wl') & set(vp.times) and vp.en_verb not in WEEKLY:
        pool = [a for a in pool if a[0] not in ('next week', 'last week')]
    if vp.en_verb in ('sleep', 'take') and tense == 'past':
        # "last night" would be la nuit dernière with these
        pool = [a for a in pool if a[0] != 'last night']
    return rng.choice(pool) if pool else None


def odd(subj, text):
    """Clothes and people that the subject would not have."""
    words = text.split()
    man = subj.gender == 'm' and subj.person in (2, 4, 5)
    woman = subj.gender == 'f'
    last = subj.en.split()[-1]
    return (man and ('dress' in words or 'skirt' in words)
            or woman and 'tie' in words
            or last in ('husband', 'wife')
            and ('husband' in words or 'wife' in words))


def asks(subj):
    """Is a question about this subject natural?  Not about oneself."""
    return subj not in (I, WE) and subj.en.split()[0] not in ('my', 'our')


def pupil(subj):
    return subj.pronoun or not subj.en.startswith('the ') and \
        subj.en.split()[-1] in ('brother', 'sister', 'son', 'daughter',
                                'brothers', 'sisters') or \
        subj.en in ('the children', 'the boy', 'the girl') or \
        subj.en[0].isupper()


def sees_itself(subj, values):
    """The object names the subject again (Paul calls Paul)."""
    for v in values.values():
        text = v.en(subj, False)
        if not subj.pronoun and any(w in text for w in subj.key.split()
                                    if w not in ('the', 'my', 'your', 'his',
                                                 'her', 'our', 'and')):
            return True
    return False


def owner_clash(subj, values):
    """'you ... your mother' is fine, 'my son ... his wife' is not told
    apart; avoid a second third-person owner."""
    text = ' '.join(v.en(subj, False) for v in values.values())
    return subj.person in (2, 5) and (' his ' in ' ' + text + ' '
                                      or ' her ' in ' ' + text + ' ') \
        and any(isinstance(v, Fixed) for v in values.values())


def pick(rng, flag, pool=None):
    """A verb phrase that allows the flag, by rejection so that each phrase
    keeps an equal weight."""
    return rng.choice([v for v in (pool or VERB_PHRASES) if flag in v.flags])


def build(rng, subj, vp, tense, neg='', mid=None, time=None, question=False,
          inversion=False, values=None):
    """One clause in both languages, without capital and final mark."""
    values = vp.fill(rng) if values is None else values
    if sees_itself(subj, values) or owner_clash(subj, values):
        return None
    is_neg = bool(neg)
    if is_neg and any(getattr(v, 'number', None) for v in values.values()):
        return None
    if subj.plural and vp.en_verb in ('wear', 'put', 'take', 'try') and \
            vp.slots and 'clothes' in vp.slots[0] and not any(
                getattr(v, 'plural', True) for v in values.values()):
        return None          # they wear coats, not a coat
    if 'homework' in vp.en_rest and not pupil(subj):
        return None
    if mid and vp.en_verb in ('live', 'prefer', 'understand') or \
            neg and vp.en_verb == 'prefer' or \
            vp.en_verb == 'live' and tense in ('must', 'haveto', 'should'):
        return None
    if vp.en_verb in ('wear', 'buy', 'want', 'put', 'choose', 'take') \
            and odd(subj, vp.en(values, subj, is_neg)) \
            or vp.en_verb in ('meet', 'invite', 'call', 'have', 'go') \
            and odd(subj, vp.en(values, subj, is_neg)):
        return None
    en = E.clause(subj, vp.en_verb, vp.en(values, subj, is_neg), tense,
                  neg, mid[0] if mid else '', question)
    fr = F.clause(subj, vp.fr_verb, vp.fr(values, subj, is_neg), tense, neg,
                  mid[1] if mid else '', stative=vp.stative,
                  inversion=inversion)
    if time:
        en, fr = en + ' ' + time[0], fr + ' ' + time[1]
    return en, fr


def finish(pair, mark='.'):
    if pair is None:
        return None
    en, fr = pair
    return en + mark, fr + (' ' + mark if mark in '?!' else mark)


def lead(pair, time):
    """The adverbial first: "Tomorrow, I'll leave." """
    en, fr = pair
    return time[0] + ', ' + en, time[1] + ', ' + fr


# ------------------------------------------------- plain verb clauses ------

TENSE_FLAG = {'pres': 'p', 'prog': 'g', 'past': 't', 'will': 'f',
              'goingto': 'f', 'usedto': 'i', 'pastprog': 'i'}


def plain(tense, neg_share=0.2, time_share=0.6):
    def make(rng):
        vp = pick(rng, TENSE_FLAG[tense])
        subj = subject(rng)
        neg = 'not' if rng.random() < neg_share else ''
        time = adverbial(rng, vp, tense) if rng.random() < time_share else None
        mid = None
        if tense == 'pres':
            if rng.random() < 0.4:
                mid, time = rng.choice(L.MID), None
                neg = ''
            elif rng.random() < 0.3:
                neg, time = rng.choice(['never', 'anymore']), None
            elif not time and vp.times == 'd' and not neg:
                time = adverbial(rng, vp, tense)
        if neg and any('hour' in s for s in vp.slots):
            time = None
        if neg and time and time[0] in ('soon', 'one day', 'an hour ago',
                                        'two days ago', 'three days ago',
                                        'every week'):
            time = None
        if tense == 'will' and neg and rng.random() < 0.25:
            neg = 'never'
            time = None
        pair = build(rng, subj, vp, tense, neg, mid)
        if pair and time:
            if rng.random() < 0.12 and ' ' not in time[0]:
                pair = lead(pair, time)
            else:
                pair = pair[0] + ' ' + time[0], pair[1] + ' ' + time[1]
        return finish(pair)
    return make


frame(10)(plain('pres'))
frame(7)(plain('prog', time_share=0.45))
frame(13)(plain('past'))
frame(6)(plain('will'))
frame(6)(plain('goingto'))


@frame(4)
def brief(rng):
    """He ran.  We're waiting.  They'll come back."""
    vps = [v for v in VERB_PHRASES if not v.slots and ' ' not in v.en_rest
           and 's' not in v.flags and '{' not in v.en_rest]
    tense = rng.choice(['past', 'past', 'past', 'prog', 'pres', 'will',
                        'goingto'])
    vp = pick(rng, TENSE_FLAG[tense], vps)
    subj = rng.choice(PRONOUNS + PRONOUNS + [name(rng)])
    neg = 'not' if rng.random() < 0.15 else ''
    return finish(build(rng, subj, vp, tense, neg))


@frame(3)
def used_to(rng):
    subj = rng.choice(PRONOUNS + [name(rng), relative(rng)])
    vp = pick(rng, 'i', [v for v in VERB_PHRASES if 'p' in v.flags])
    pair = build(rng, subj, vp, 'usedto')
    if pair and rng.random() < 0.6:
        pron_en = {0: 'I', 1: 'you', 3: 'we', 5: 'they'}.get(
            subj.person, 'she' if subj.gender == 'f' else 'he')
        pron = [s for s in PRONOUNS if s.en == pron_en][0]
        en, fr = rng.choice([('young', 'jeune'), ('small', 'petit')])
        be = E.WAS[pron.person]
        pair = ('%s when %s %s %s' % (pair[0], pron.en, be, en),
                F.elide('%s quand %s %s %s' % (
                    pair[1], pron.fr, F.verb('être').form('impf', pron.person),
                    F.adjective(fr, pron.gender, pron.plural))))
    return finish(pair)


@frame(3)
def interrupted(rng):
    """I was reading when the phone rang."""
    vp = pick(rng, 'i', [v for v in VERB_PHRASES if 'g' in v.flags
                         and v.en_verb not in ('get', 'arrive', 'ride', 'speak')])
    events = [('the phone rang', 'le téléphone a sonné'),
              ('the lights went out', "la lumière s'est éteinte"),
              ('my mother called', 'ma mère a appelé'),
              ('Paul arrived', 'Paul est arrivé'),
              ('Marie came in', 'Marie est entrée'),
              ('it started to rain', 'il a commencé à pleuvoir'),
              ('I saw %s', 'je %s'), ('you called', 'tu as appelé')]
    subj = rng.choice(PRONOUNS + [name(rng), relative(rng)])
    event = rng.choice(events)
    if '%s' in event[0]:
        if subj.person in (0, 3):
            return None
        seen = {1: ('you', "t'ai vu"), 5: ('them', 'les ai vus')}.get(
            subj.person, ('her', "l'ai vue") if subj.gender == 'f'
            else ('him', "l'ai vu"))
        event = (event[0] % seen[0], event[1] % seen[1])
    if subj.en.lower() in event[0].lower().split('saw')[0]:
        return None
    pair = build(rng, subj, vp, 'pastprog')
    return pair and finish((pair[0] + ' when ' + event[0],
                            pair[1] + ' quand ' + event[1]))


@frame(4)
def perfect(rng):
    """already, never, not yet, just."""
    subj = subject(rng, 0.35)
    vp = pick(rng, 'P')
    kind = rng.randrange(4)
    values = vp.fill(rng)
    if kind == 0:
        return finish(build(rng, subj, vp, 'perf', mid=('already', 'déjà'),
                            values=values))
    if kind == 1:
        return finish(build(rng, subj, vp, 'justperf', values=values))
    if kind == 2:
        if sees_itself(subj, values) or owner_clash(subj, values):
            return None
        en = E.clause(subj, vp.en_verb, vp.en(values, subj, True), 'perf',
                      'not') + ' yet'
        return finish((en, F.clause(subj, vp.fr_verb, vp.fr(values, subj, True),
                                    'perf', 'notyet')))
    return never(rng)


EXPERIENCES = [
    ('be to %s', 'aller %s', 'toland'),
    ('see this movie', 'voir ce film', ''), ('see the sea', 'voir la mer', ''),
    ('play %s', 'jouer %s', 'play'), ('read this book', 'lire ce livre', ''),
    ('drink wine', 'boire de vin', ''), ('eat fish', 'manger de poisson', ''),
    ('take the plane', "prendre l'avion", ''),
    ('drive a car', 'conduire de voiture', ''),
    ('study history', "étudier l'histoire", ''),
    ('meet your brother', 'rencontrer ton frère', ''),
    ('work in a restaurant', 'travailler dans un restaurant', '')]


def never(rng):
    subj = subject(rng, 0.4)
    en, fr, slot = rng.choice(EXPERIENCES)
    if slot:
        v = SLOTS[slot](rng)
        en = en.replace('to %s', v.en()).replace('%s', v.en())
        fr = fr.replace('%s', v.fr())
    if 'your' in en and subj is YOU:
        return None
    ev, _, er = en.partition(' ')
    fv, _, fr_rest = fr.partition(' ')
    return finish((E.clause(subj, ev, er, 'perf', 'never'),
                   F.clause(subj, fv, fr_rest, 'perf', 'never')))


@frame(12)
def modal(rng):
    """can, must, have to, want to, should, could, know how to."""
    tense = rng.choice(['can', 'must', 'haveto', 'wantto', 'should', 'wantto',
                        'haveto', 'can'])
    subj = subject(rng, 0.4)
    vp = pick(rng, 'm')
    neg = 'not' if tense != 'haveto' and rng.random() < 0.25 else ''
    if tense in ('must', 'haveto') and vp.en_verb in ('win', 'understand'):
        return None
    if tense != 'wantto' and (vp.en_rest.startswith('married')
                              or vp.en_verb == 'build'):
        return None
    if tense in ('must', 'haveto', 'should') and not neg and vp.en_verb in (
            'smoke', 'lie', 'miss'):
        return None
    if neg and tense == 'must':
        tense = 'should'
    time = adverbial(rng, vp, tense) if rng.random() < 0.35 else None
    if neg and time and time[0] == 'soon':
        time = None
    return finish(build(rng, subj, vp, tense, neg, time=time))


@frame(1.5)
def know_how(rng):
    en, fr = rng.choice([('swim', 'nager'), ('drive', 'conduire'),
                         ('dance', 'danser'), ('cook', 'cuisiner'),
                         ('read', 'lire'), ('write', 'écrire'),
                         ('play the piano', 'jouer du piano'),
                         ('play chess', 'jouer aux échecs'),
                         ('play the guitar', 'jouer de la guitare')])
    ev, _, er = en.partition(' ')
    fv, _, fr_rest = fr.partition(' ')
    neg = 'not' if rng.random() < 0.4 else ''
    subj = subject(rng)
    if rng.random() < 0.3 and subj.pronoun and subj is not I and not neg:
        return finish((E.clause(subj, ev, er, 'knowhow', question=True),
                       F.elide('est-ce que ' + F.clause(subj, fv, fr_rest,
                                                        'knowhow'))), '?')
    return finish((E.clause(subj, ev, er, 'knowhow', neg),
                   F.clause(subj, fv, fr_rest, 'knowhow', neg)))


@frame(3)
def would_like(rng):
    subj = subject(rng, 0.35)
    fin = F.verb('vouloir').form('cond', subj.person)
    head_en = subj.en + ("'d" if subj.pronoun else ' would') + ' like'
    if rng.random() < 0.5:
        vp = pick(rng, 'm')
        values = vp.fill(rng)
        if sees_itself(subj, values) or owner_clash(subj, values):
            return None
        if odd(subj, vp.en(values, subj, False)) or \
                'homework' in vp.en_rest and not pupil(subj):
            return None
        refl = vp.fr_verb.startswith('se ')
        inf = F.join(F.REFLEXIVE[subj.person], vp.fr_verb[3:]) if refl \
            else vp.fr_verb
        return finish((head_en + ' to ' + E.join(vp.en_verb,
                                                 vp.en(values, subj, False)),
                       F.elide(F.join(subj.fr, fin, inf,
                                      vp.fr(values, subj, False)))))
    obj = rng.choice([SLOTS['food'], SLOTS['drink'], SLOTS['clothes'],
                      SLOTS['vehicle'], SLOTS['fruit'], SLOTS['animal']])(rng)
    if odd(subj, obj.en(subj)):
        return None
    if obj.det == 'part':
        obj.some = True
    return finish((head_en + ' ' + obj.en(subj),
                   F.elide(F.join(subj.fr, fin, obj.fr(subj)))))


# ------------------------------------------------------------ questions ----

@frame(5)
def yes_no(rng):
    """Do you ...? -> Est-ce que tu ...?"""
    tense = rng.choice(['pres', 'past', 'will', 'prog', 'can', 'wantto',
                        'past', 'wantto', 'goingto'])
    flag = TENSE_FLAG.get(tense, 'm')
    vp = pick(rng, flag)
    subj = subject(rng, 0.3)
    if subj is I and tense not in ('can',):
        subj = YOU
    if subj is WE and tense not in ('can', 'will', 'goingto'):
        subj = YOU
    if not asks(subj) and subj not in (I, WE):
        return None
    time = adverbial(rng, vp, tense) if rng.random() < 0.4 else None
    values = vp.fill(rng)
    for v in values.values():
        if isinstance(v, Phrase) and v.some:
            v.some = False
    pair = build(rng, subj, vp, tense, time=time, question=True,
                 values=values)
    if pair is None:
        return None
    return finish((pair[0], F.elide('est-ce que ' + pair[1])), '?')


@frame(1.5)
def statement_question(rng):
    """You're leaving tomorrow? -> Tu pars demain ?"""
    vp = pick(rng, 'g', [v for v in VERB_PHRASES if v.en_verb in
                         ('leave', 'go', 'work', 'come', 'stay', 'cook',
                          'take', 'eat', 'play', 'wait', 'listen', 'sleep')])
    subj = rng.choice([YOU, YOU, HE, SHE, THEY, name(rng)])
    time = adverbial(rng, vp, 'prog') if rng.random() < 0.3 else None
    return finish(build(rng, subj, vp, 'prog', time=time), '?')


@frame(4)
def wh_question(rng):
    """Where do you live? -> Où habites-tu ?"""
    wh = rng.choice([('where', 'où'), ('when', 'quand'), ('why', 'pourquoi'),
                     ('how', 'comment'), ('what', 'que'),
                     ('why', 'pourquoi'), ('what', 'que')])
    subj = rng.choice([YOU, YOU, HE, SHE, THEY])
    choices = {
        'where': [('live', 'habiter', '', 'pres past'),
                  ('work', 'travailler', '', 'pres past will'),
                  ('go', 'aller', '', 'prog past'),
                  ('eat', 'manger', '', 'prog past'),
                  ('sleep', 'dormir', '', 'past will'),
                  ('meet Paul', 'rencontrer Paul', '', 'past'),
                  ('buy this hat', 'acheter ce chapeau', '', 'past'),
                  ('buy this coat', 'acheter ce manteau', '', 'past'),
                  ('find this book', 'trouver ce livre', '', 'past'),
                  ('find the keys', 'trouver les clés', '', 'past'),
                  ('put the keys', 'mettre les clés', '', 'past'),
                  ('put the book', 'mettre le livre', '', 'past'),
                  ('learn French', 'apprendre le français', '', 'past'),
                  ('wait', 'attendre', '', 'prog')],
        'when': [('leave', 'partir', '', 'prog past'),
                 ('arrive', 'arriver', '', 'past will'),
                 ('come back', 'revenir', '', 'past will'),
                 ('go out', 'sortir', '', 'prog past'),
                 ('start', 'commencer', '', 'past will'),
                 ('finish', 'finir', '', 'past will'),
                 ('see Anna', 'voir Anna', '', 'past'),
                 ('meet Marie', 'rencontrer Marie', '', 'past'),
                 ('buy the house', 'acheter la maison', '', 'past'),
                 ('buy the car', 'acheter la voiture', '', 'past'),
                 ('sell the car', 'vendre la voiture', '', 'past'),
                 ('go to Paris', 'aller à Paris', '', 'prog past')],
        'why': [('cry', 'pleurer', '', 'prog past'),
                ('laugh', 'rire', '', 'prog past'),
                ('leave', 'partir', '', 'prog past'),
                ('smile', 'sourire', '', 'prog'),
                ('wait', 'attendre', '', 'prog past'),
                ('run', 'courir', '', 'prog past'),
                ('learn French', 'apprendre le français', '', 'prog'),
                ('come back', 'revenir', '', 'past'),
                ('open the window', 'ouvrir la fenêtre', '', 'past'),
                ('close the door', 'fermer la porte', '', 'past'),
                ('sell the house', 'vendre la maison', '', 'past'),
                ('call the doctor', 'appeler le médecin', '', 'past'),
                ('go out', 'sortir', '', 'prog past'),
                ('stay at home', 'rester à la maison', '', 'prog past'),
                ('work on Sundays', 'travailler le dimanche', '', 'pres'),
                ('hate winter', "détester l'hiver", '', 'pres')],
        'how': [('go to school', "aller à l'école", '', 'pres'),
                ('go home', 'rentrer', '', 'will past'),
                ('find the hotel', "trouver l'hôtel", '', 'past'),
                ('find the key', 'trouver la clé', '', 'past'),
                ('come', 'venir', '', 'past will'),
                ('learn English', "apprendre l'anglais", '', 'past'),
                ('know Paul', 'connaître Paul', '', 'pres'),
                ('know Anna', 'connaître Anna', '', 'pres'),
                ('open the box', 'ouvrir la boîte', '', 'past'),
                ('repair the bike', 'réparer le vélo', '', 'past')],
        'what': [('eat', 'manger', '', 'prog past'),
                 ('drink', 'boire', '', 'prog past'),
                 ('do', 'faire', '', 'prog past'),
                 ('read', 'lire', '', 'prog past'),
                 ('buy', 'acheter', '', 'past'),
                 ('write', 'écrire', '', 'prog past'),
                 ('watch', 'regarder', '', 'prog past'),
                 ('look for', 'chercher', '', 'prog'),
                 ('see', 'voir', '', 'past'), ('say', 'dire', '', 'past'),
                 ('choose', 'choisir', '', 'past'),
                 ('want', 'vouloir', '', 'pres'),
                 ('study', 'étudier', '', 'prog past'),
                 ('cook', 'préparer', '', 'prog'),
                 ('give your mother', 'donner à ta mère', '', 'past'),
                 ('find', 'trouver', '', 'past'),
                 ('lose', 'perdre', '', 'past')]}[wh[0]]
    en, fr, _, tenses = rng.choice(choices)
    if 'your' in en and subj is not YOU:
        return None
    tense = rng.choice(tenses.split())
    ev, _, er = en.partition(' ')
    fv, _, fr_rest = fr.partition(' ')
    time = None
    if rng.random() < 0.35:
        time = {'past': rng.choice([('yesterday', 'hier'), ('this morning',
                'ce matin'), ('last night', 'hier soir'),
                ('last week', 'la semaine dernière')]),
                'prog': rng.choice([('today', "aujourd'hui"),
                                    ('now', 'maintenant')]),
                'will': ('tomorrow', 'demain')}.get(tense)
        if wh[0] == 'when' or ev not in (
                'eat', 'drink', 'do', 'read', 'watch', 'see', 'say', 'go',
                'sleep', 'leave', 'cook', 'write', 'cry', 'call', 'come',
                'stay', 'find', 'lose', 'buy', 'study'):
            time = None
    body = F.predicate(subj, fv, fr_rest, tense, inversion=True)
    return finish((E.join(wh[0], E.clause(subj, ev, er, tense, question=True),
                          time[0] if time else ''),
                   F.elide(F.join(wh[1], body, time[1] if time else ''))), '?')


@frame(2.5)
def where_is(rng):
    if rng.random() < 0.35:
        phrase = Phrase(rng.choice([n for n in L.PLACE if n.en not in
                                    ('office', 'restaurant')]), 'def')
        if rng.random() < 0.5:
            cue = rng.choice([('sir', 'monsieur'), ('madam', 'madame')])
            return ('where is %s, %s?' % (phrase.en(), cue[0]),
                    'où est %s, %s ?' % (phrase.fr(), cue[1]))
        return finish(('where is ' + phrase.en(), 'où est ' + phrase.fr()), '?')
    owner = rng.choice([I, YOU, HE, SHE, WE, THEY])
    noun = rng.choice(L.OWN + L.VEHICLE + L.CLOTHES + L.CLOTHES_PL + L.ANIMAL[:2]
                      + L.FAMILY)
    if odd(owner, noun.en) or noun.en == 'wife' and owner is not HE \
            or noun.en == 'husband' and owner is not SHE:
        return None
    plural = noun in L.CLOTHES_PL or noun.en in ('key', 'book') \
        and rng.random() < 0.6
    p = Phrase(noun, 'poss', plural)
    if rng.random() < 0.2:
        be = ('were', 'étaient') if plural else ('was', 'était')
    else:
        be = ('are', 'sont') if plural else ('is', 'est')
    return finish(('where %s %s' % (be[0], p.en(owner)),
                   'où %s %s' % (be[1], p.fr(owner))), '?')


@frame(1.5)
def whose(rng):
    """Is this your book? / Who is this man?"""
    owner = rng.choice([YOU, YOU, HE, SHE])
    noun = rng.choice(L.OWN + L.VEHICLE + L.CLOTHES + L.FAMILY + L.HOUSING)
    p = Phrase(noun, 'poss')
    if odd(owner, noun.en) or noun.en == 'wife' and owner is SHE \
            or noun.en == 'husband' and owner is HE:
        return None
    if rng.random() < 0.5:
        return finish(('is this ' + p.en(owner),
                       F.elide("est-ce que ce est " + p.fr(owner))), '?')
    noun = rng.choice(L.PEOPLE[8:12])  # man, woman, boy, girl
    d = Phrase(noun, 'demo')
    tail = rng.choice([('', ''), (' in the garden', ' dans le jardin'),
                       (' in the kitchen', ' dans la cuisine'),
                       (' in the car', ' dans la voiture')])
    return finish(('who is ' + d.en() + tail[0], 'qui est ' + d.fr() + tail[1]),
                  '?')


@frame(2)
def how_many(rng):
    noun, en_tail, fr = rng.choice([
        ('brothers', 'have', 'frères'), ('sisters', 'have', 'sœurs'),
        ('children', 'have', 'enfants'), ('books', 'have', 'livres'),
        ('dogs', 'have', 'chiens'), ('cats', 'have', 'chats'),
        ('keys', 'have', 'clés'), ('tickets', 'have', 'billets'),
        ('apples', 'buy', 'pommes'), ('eggs', 'buy', 'œufs'),
        ('tickets', 'buy', 'billets'), ('oranges', 'buy', 'oranges'),
        ('bottles', 'buy', 'bouteilles'), ('books', 'read', 'livres'),
        ('letters', 'write', 'lettres'), ('letters', 'receive', 'lettres'),
        ('photos', 'take', 'photos'), ('shirts', 'buy', 'chemises'),
        ('cakes', 'eat', 'gâteaux'), ('carrots', 'want', 'carottes'),
        ('apples', 'want', 'pommes'), ('tomatoes', 'want', 'tomates')])
    subj = rng.choice([YOU, YOU, HE, SHE, THEY])
    inf = {'have': 'avoir', 'buy': 'acheter', 'read': 'lire', 'take': 'prendre',
           'write': 'écrire', 'receive': 'recevoir', 'eat': 'manger',
           'want': 'vouloir'}[en_tail]
    tense = 'pres' if en_tail in ('have', 'want') else 'past'
    # the direct object comes first, so the participle agrees with it
    gender = 'f' if fr in ('pommes', 'oranges', 'bouteilles', 'lettres',
                           'photos', 'chemises', 'carottes', 'tomates') else 'm'
    body = F.predicate(subj, inf, '', tense, inversion=True,
                       pp_agree=(gender, True))
    return finish(('how many %s %s' % (noun, E.clause(subj, en_tail, '', tense,
                                                      question=True)),
                   F.elide('combien de %s %s' % (fr, body))), '?')


# --------------------------------------------------- imperatives, polite ---

@frame(2)
def command(rng):
    vp = pick(rng, '!')
    values = vp.fill(rng)
    neg = 'not' if rng.random() < 0.4 else ''
    en = E.join("don't" if neg else '', vp.en_verb,
                vp.en(values, YOU, bool(neg)))
    fr = F.imperative(1, vp.fr_verb, vp.fr(values, YOU, bool(neg)), neg)
    if not values and not neg and ' ' not in fr:
        # A bare order is an exclamation in French: Go. -> Va !
        return en + rng.choice('.!!'), fr + ' !'
    return finish((en, fr))


CALLS = [('sir', 'monsieur', VOUS), ('madam', 'madame', VOUS_F),
         ('please', "s'il vous plaît", VOUS), ('children', 'les enfants',
                                               VOUS_PL)]


@frame(3)
def polite_command(rng):
    vp = pick(rng, '!')
    values = vp.fill(rng)
    call = rng.choice(CALLS + CALLS[2:3] * 2)
    neg = 'not' if rng.random() < 0.25 else ''
    en = E.join("don't" if neg else '', vp.en_verb,
                vp.en(values, VOUS, bool(neg)), ) + ', ' + call[0]
    fr = F.imperative(4, vp.fr_verb, vp.fr(values, VOUS, bool(neg)), neg) \
        + ', ' + call[1]
    return finish((en, fr))


@frame(1.5)
def lets(rng):
    vp = pick(rng, '!')
    values = vp.fill(rng)
    if 'us' in vp.en_rest.split() or vp.en_verb == 'get':
        return None
    neg = 'not' if rng.random() < 0.2 else ''
    time = rng.choice([('now', 'maintenant'), ('tonight', 'ce soir'),
                       ('tomorrow', 'demain'), ('together', 'ensemble')]) \
        if rng.random() < 0.3 and vp.times == 'd' and not neg else None
    return finish((E.join("let's", 'not' if neg else '', vp.en_verb,
                          vp.en(values, WE, bool(neg)), time[0] if time else ''),
                   F.join(F.imperative(3, vp.fr_verb,
                                       vp.fr(values, WE, bool(neg)), neg),
                          time[1] if time else '')))


# What one would not ask of a stranger.
NOT_ASKED = {'eat', 'drink', 'go', 'rest', 'hurry', 'get', 'leave', 'thank',
             'sleep', 'dance', 'draw', 'study', 'swim', 'run', 'walk', 'do',
             'listen', 'travel', 'play', 'taste', 'order', 'put', 'read',
             'finish', 'start', 'take'}


@frame(2.5)
def polite_request(rng):
    """Could you ..., please? and Do you ..., sir?"""
    if rng.random() < 0.5:
        vp = pick(rng, 'm', [v for v in VERB_PHRASES if '!' in v.flags and
                             v.en_verb not in NOT_ASKED])
        values = vp.fill(rng)
        tense = rng.choice(['could', 'can'])
        en = E.clause(VOUS, vp.en_verb, vp.en(values, VOUS, False), tense,
                      question=True)
        fr = F.predicate(VOUS, vp.fr_verb, vp.fr(values, VOUS, False), tense,
                         inversion=True)
        return ('%s, please?' % en, F.elide(fr) + ", s'il vous plaît ?")
    call = rng.choice(CALLS[:2])
    tense = rng.choice(['pres', 'past', 'wantto', 'prog', 'will'])
    vp = pick(rng, TENSE_FLAG.get(tense, 'm'))
    values = vp.fill(rng)
    for v in values.values():
        if isinstance(v, Phrase) and v.some:
            v.some = False
    subj = call[2]
    text = ' '.join(v.en(subj) for v in values.values())
    if ' his ' in ' ' + text or ' her ' in ' ' + text:
        return None
    en = E.clause(subj, vp.en_verb, vp.en(values, subj, False), tense,
                  question=True)
    fr = F.predicate(subj, vp.fr_verb, vp.fr(values, subj, False), tense,
                     inversion=True)
    return ('%s, %s?' % (en, call[0]), '%s, %s ?' % (F.elide(fr), call[1]))


@frame(1.2)
def polite_statement(rng):
    call = rng.choice(CALLS[:2])
    subj = call[2]
    adj = rng.choice(L.STATES[:9] + L.QUALITIES[2:3])
    choices = [
        ("you're very %s" % adj[0],
         'vous êtes très %s' % F.adjective(adj[1], subj.gender, False)),
        ('you forgot %s', 'vous avez oublié %s'),
        ('here is %s', 'voici %s'), ('you can take %s', 'vous pouvez prendre %s'),
        ('is this %s', None)]
    en, fr = rng.choice(choices)
    if '%s' in en:
        p = Phrase(rng.choice(L.OWN + L.CLOTHES[2:4] + L.CLOTHES[6:8]), 'poss')
        if fr is None:
            return ('is this %s, %s?' % (p.en(subj), call[0]),
                    "est-ce %s, %s ?" % (p.fr(subj), call[1]))
        en, fr = en % p.en(subj), fr % p.fr(subj)
    elif adj[0] in L.ABSOLUTE:
        return None
    return finish((en + ', ' + call[0], fr + ', ' + call[1]))


@frame(1.2)
def order(rng):
    """I'd like a coffee, please."""
    obj = rng.choice([SLOTS['fruit'], SLOTS['food'], SLOTS['drink']])(rng)
    if obj.det == 'part' or obj.plural and not obj.number:
        obj.some = True
    if obj.noun in L.DRINK and obj.noun.en in ('coffee', 'tea', 'beer',
                                               'orange juice') \
            and rng.random() < 0.6:
        obj = Phrase(obj.noun, 'indef')
    head = rng.choice([("I'd like ", 'je voudrais '), ("I'll have ",
                       'je vais prendre '), ('give me ', 'donnez-moi ')])
    return finish((head[0] + obj.en() + ', please',
                   head[1] + obj.fr() + ", s'il vous plaît"))


# --------------------------------------------------- being and having ------

def be(subj, adj, tense='pres', neg='', degree=None, question=False):
    """subj + be + adjective in both languages."""
    en_adj, fr_adj = adj
    form = F.adjective(fr_adj, subj.gender, subj.plural)
    if degree:
        en_adj, form = degree[0] + ' ' + en_adj, degree[1] + ' ' + form
    en = E.clause(subj, 'be', en_adj, tense, neg, question=question)
    fr = F.clause(subj, 'être', form, tense, neg, stative=True)
    if question:
        fr = F.elide('est-ce que ' + fr)
    return en, fr


DEGREES = [('very', 'très'), ('too', 'trop'), ('so', 'si')]


def degree_for(rng, adj, share=0.35):
    if adj[0] in L.ABSOLUTE or rng.random() > share:
        return None
    if adj[1] == 'en colère':
        return ('very', 'très') if rng.random() < 0.5 else None
    if (adj[0] == 'strong' or adj[0] == 'nice') and rng.random() < 0.5:
        return None
    return rng.choice(DEGREES)


@frame(2.2)
def short_being(rng):
    """He's calm.  Every pronoun with every adjective."""
    subj = rng.choice(PRONOUNS)
    return finish(be(subj, rng.choice(L.STATES + L.QUALITIES)))


@frame(8)
def being(rng):
    subj = subject(rng, 0.6)
    state = rng.random() < 0.55
    adj = rng.choice(L.STATES if state else L.QUALITIES)
    tense = rng.choice(['pres', 'pres', 'past', 'will']) if state else \
        rng.choice(['pres', 'pres', 'pres', 'past'])
    neg = rng.choice(['', '', '', 'not', 'not', 'never' if state and
                      adj[0] != 'free' else 'not', 'anymore'])
    if neg == 'anymore' and (tense != 'pres' or not state):
        neg = 'not'
    if neg == 'never' and tense == 'will':
        neg = 'not'
    question = not neg and asks(subj) and rng.random() < 0.18
    degree = degree_for(rng, adj) if not question and neg in ('', 'not') \
        else None
    if degree and neg and degree[0] != 'very':
        degree = None
    if adj[0] == 'old' and tense == 'past' or \
            adj in L.STATES[12:] and tense == 'will':
        tense = 'pres'
    en, fr = be(subj, adj, tense, neg, degree, question)
    if state and neg in ('', 'not') and rng.random() < 0.35:
        time = rng.choice({'pres': L.NOW[2:5] + L.NOW[:1], 'past': L.PAST[:5],
                           'will': L.FUTURE[:4]}[tense])
        en, fr = en + ' ' + time[0], fr + ' ' + time[1]
    return finish((en, fr), '?' if question else '.')


@frame(1.5)
def seeming(rng):
    subj = subject(rng, 0.5)
    if subj.person in (0, 1, 3):
        return None
    adj = rng.choice(L.STATES[:6] + L.STATES[11:17] + L.QUALITIES[2:3]
                     + L.QUALITIES[7:12])
    degree = ('very', 'très') if rng.random() < 0.4 and \
        adj[1] not in ('en retard', 'en avance') else None
    verb = rng.choice([('seem', 'sembler', 'pres'),
                       ('look', "avoir l'air", 'pres')])
    en_adj = F.join(degree[0] if degree else '', adj[0])
    fr_adj = F.adjective(adj[1], subj.gender, subj.plural)
    fr_adj = F.join(degree[1] if degree else '', fr_adj)
    return finish((E.clause(subj, verb[0], en_adj, 'pres'),
                   F.clause(subj, *verb[1].partition(' ')[::2], 'pres') + ' '
                   + fr_adj))


@frame(2.5)
def comparing(rng):
    a = rng.choice([name, relative, relative])(rng)
    adj = rng.choice(L.QUALITIES[:2] + L.QUALITIES[2:])
    b = rng.choice([name, kin])(rng)
    pron_b = [('me', 'moi'), ('you', 'toi'), ('him', 'lui'), ('her', 'elle'),
              ('us', 'nous')]
    if rng.random() < 0.5:
        a = rng.choice([HE, SHE, I, YOU, THEY])
    b_en, b_fr = (b.en, b.fr) if rng.random() < 0.6 else rng.choice(pron_b)
    if a.en == b_en or (a.en, b_en) in (('I', 'me'), ('he', 'him'),
                                        ('she', 'her'), ('you', 'you'),
                                        ('I', 'us')):
        return None
    if set(a.en.split()) & set(b_en.split()):
        return None
    comparative = {'tall': 'taller', 'short': 'shorter', 'nice': 'nicer',
                   'rich': 'richer', 'poor': 'poorer', 'young': 'younger',
                   'old': 'older', 'strong': 'stronger', 'smart': 'smarter',
                   'funny': 'funnier', 'shy': 'shyer', 'lazy': 'lazier',
                   'brave': 'braver'}
    if adj[0] == 'old':
        adj = ('old', 'âgé')
    kind = rng.randrange(3)
    form = F.adjective(adj[1], a.gender, a.plural)
    if kind == 0 or kind == 1:
        en = comparative.get(adj[0], 'more ' + adj[0]) + ' than ' + b_en
        fr = 'plus ' + form + ' que ' + b_fr
    else:
        en = 'as %s as %s' % (adj[0], b_en)
        fr = 'aussi ' + form + ' que ' + b_fr
    neg = 'not' if rng.random() < 0.2 else ''
    return finish((E.clause(a, 'be', en, 'pres', neg),
                   F.clause(a, 'être', fr, 'pres', neg)))


JOBS = [('a doctor', 'médecin'), ('a teacher', 'professeur'),
        ('a lawyer', 'avocat'), ('a student', 'étudiant'),
        ('a baker', 'boulanger'), ('an engineer', 'ingénieur'),
        ('an artist', 'artiste'), ('a singer', 'chanteur'),
        ('a policeman', 'policier'), ('a waiter', 'serveur'),
        ('a nurse', 'infirmier'), ('a writer', 'écrivain')]
JOBS_F = {'avocat': 'avocate', 'étudiant': 'étudiante',
          'boulanger': 'boulangère', 'chanteur': 'chanteuse',
          'infirmier': 'infirmière'}


@frame(3)
def job(rng):
    subj = rng.choice([I, YOU, HE, SHE, name(rng), relative(rng),
                       relative(rng)])
    en, fr = rng.choice(JOBS)
    if subj.gender == 'f':
        if en in ('a policeman', 'a waiter'):
            return None
        fr = JOBS_F.get(fr, fr)
    kind = rng.randrange(5)
    if kind < 3:
        tense = rng.choice(['pres', 'pres', 'past'])
        neg = 'not' if rng.random() < 0.25 else ''
        return finish((E.clause(subj, 'be', en, tense, neg),
                       F.clause(subj, 'être', fr, tense, neg, stative=True)))
    if kind == 3:
        return finish((E.clause(subj, 'want', 'to be ' + en, 'pres'),
                       F.clause(subj, 'vouloir', 'être ' + fr, 'pres')))
    if en == 'a student':
        return None
    return finish((E.clause(subj, 'become', en, 'will'),
                   F.clause(subj, 'devenir', fr, 'will')))


@frame(1.5)
def nationality(rng):
    subj = rng.choice(PRONOUNS + [name(rng), relative(rng), person(rng),
                                  plural_people(rng)])
    en, fr = rng.choice(L.LANGUAGES + [('American', 'américain'),
                                       ('Canadian', 'canadien'),
                                       ('Japanese', 'japonais')])
    neg = 'not' if rng.random() < 0.3 else ''
    question = not neg and asks(subj) and rng.random() < 0.3
    return finish(be(subj, (en, fr), 'pres', neg, None, question),
                  '?' if question else '.')


@frame(4)
def somewhere(rng):
    """They're at the hotel. / My keys are on the table."""
    tense = rng.choice(['pres', 'pres', 'past', 'will'])
    if rng.random() < 0.5:
        subj = subject(rng, 0.55)
        place = rng.choice([SLOTS['atplace'], SLOTS['inplace'],
                            SLOTS['inland']])(rng)
        if rng.random() < 0.12:
            place = Fixed('at home', 'à la maison')
            if subj.pronoun:
                return None
    else:
        p = Phrase(rng.choice(L.OWN + L.CLOTHES), rng.choice(['poss', 'def']))
        owner = rng.choice([I, YOU, HE, SHE])
        if odd(owner, p.noun.en):
            return None
        if p.noun.en in ('key', 'book') and rng.random() < 0.6:
            p.plural = True
        subj = Subject(p.en(owner), p.fr(owner), 5 if p.plural else 2,
                       p.noun.gender)
        place = SLOTS['spot'](rng)
        if p.noun.en in ('suitcase', 'coat', 'bag', 'computer') \
                and ('the bag' in place.en() or 'suitcase' in place.en()) \
                or 'the ' + p.noun.en in place.en():
            return None
        tense = rng.choice(['pres', 'pres', 'past'])
    neg = 'not' if rng.random() < 0.2 else ''
    question = not neg and asks(subj) and rng.random() < 0.2
    en = E.clause(subj, 'be', place.en(), tense, neg, question=question)
    fr = F.clause(subj, 'être', place.fr(), tense, neg, stative=True)
    if question:
        return finish((en, F.elide('est-ce que ' + fr)), '?')
    return finish((en, fr))


HOME = {0: 'moi', 1: 'toi', 2: 'lui', 3: 'nous', 5: 'eux'}


@frame(0.8)
def at_home(rng):
    """I'm home. -> Je suis chez moi."""
    subj = subject(rng, 0.3)
    word = 'elle' if subj.person == 2 and subj.gender == 'f' else \
        'elles' if subj.person == 5 and subj.gender == 'f' else \
        HOME[subj.person]
    tense = rng.choice(['pres', 'pres', 'past', 'will'])
    neg = 'not' if rng.random() < 0.3 else ''
    question = not neg and asks(subj) and rng.random() < 0.2
    en = E.clause(subj, 'be', 'home', tense, neg, question=question)
    fr = F.clause(subj, 'être', 'chez ' + word, tense, neg, stative=True)
    time = rng.choice({'pres': L.NOW[2:5:2] + L.NOW[:1], 'past': L.PAST[:4],
                       'will': L.FUTURE[:4]}[tense]) \
        if rng.random() < 0.3 else None
    if time:
        en, fr = en + ' ' + time[0], fr + ' ' + time[1]
    if question:
        return finish((en, F.elide('est-ce que ' + fr)), '?')
    return finish((en, fr))


@frame(4.5)
def having(rng):
    subj = subject(rng, 0.5)
    pool = rng.choice(['animal', 'vehicle', 'housing', 'clothes', 'number',
                       'family', 'time', 'own'])
    if pool == 'number':
        noun = rng.choice([n for n in L.FAMILY_PL if n.en not in
                           ('parent', 'neighbor')] + L.ANIMAL[:2])
        obj = Phrase(noun, 'indef', number=rng.choice([2, 3, 4]))
    elif pool == 'family':
        obj = Phrase(rng.choice([n for n in L.FAMILY if n.en in
                                 ('brother', 'sister', 'son', 'daughter')]),
                     'indef')
    elif pool == 'time':
        obj = Fixed(*rng.choice([('time', 'le temps'), ('a problem',
                                 'un problème'), ('an idea', 'une idée'),
                                 ('a lot of work', 'beaucoup de travail'),
                                 ('a lot of money', "beaucoup d'argent"),
                                 ('a lot of friends', "beaucoup d'amis"),
                                 ('a question', 'une question')]))
    elif pool == 'own':
        obj = Phrase(rng.choice(L.OWN), 'indef', False,
                     rng.choice([None, L.NEW, L.OLD]))
        if obj.noun.en in ('ticket', 'key', 'wallet', 'bag', 'suitcase',
                           'pen', 'book', 'umbrella') and obj.adj is L.OLD:
            obj.adj = L.NEW
    else:
        obj = SLOTS[pool](rng)
    if obj.en(subj) == 'time' and subj.person == 5:
        return None
    neg = 'not' if rng.random() < 0.3 else ''
    if neg and isinstance(obj, Fixed):
        swap = {'un problème': 'de problème', 'une idée': "d'idée",
                'une question': 'de question'}
        obj = Fixed(obj.en(), swap.get(obj.fr(), obj.fr()))
    if neg and getattr(obj, 'number', None):
        neg = ''
    if odd(subj, obj.en(subj)):
        return None
    question = not neg and asks(subj) and rng.random() < 0.2
    tense = rng.choice(['pres', 'pres', 'pres', 'past'])
    if question:
        tense = 'pres'
    en = E.clause(subj, 'have', obj.en(subj, bool(neg)), tense, neg,
                  question=question)
    fr = F.clause(subj, 'avoir', obj.fr(subj, bool(neg)), tense, neg,
                  stative=True)
    if question:
        return finish((en, F.elide('est-ce que ' + fr)), '?')
    return finish((en, fr))


AVOIR = [('hungry', 'faim'), ('thirsty', 'soif'), ('cold', 'froid'),
         ('afraid', 'peur'), ('sleepy', 'sommeil'), ('right', 'raison'),
         ('wrong', 'tort'), ('hot', 'chaud'), ('lucky', 'de la chance')]


@frame(4)
def avoir_idiom(rng):
    """be hungry -> avoir faim."""
    subj = subject(rng, 0.4)
    en, fr = rng.choice(AVOIR)
    tense = rng.choice(['pres', 'pres', 'past'])
    neg = rng.choice(['', '', '', 'not', 'not', 'never', 'anymore'])
    if neg == 'anymore' and (tense != 'pres' or en in ('right', 'wrong',
                                                       'lucky')):
        neg = ''
    if neg == 'never' and en in ('hot', 'sleepy') or neg == 'never' \
            and tense != 'pres':
        neg = 'not'
    degree = rng.choice([('very', 'très'), ('too', 'trop')]) \
        if rng.random() < 0.3 and not neg and \
        en not in ('right', 'wrong', 'lucky') else None
    if en == 'lucky' and neg:
        fr = 'de chance'
    question = not neg and not degree and asks(subj) and rng.random() < 0.2
    e = E.clause(subj, 'be', E.join(degree[0] if degree else '', en), tense,
                 neg, question=question)
    f = F.clause(subj, 'avoir', F.join(degree[1] if degree else '', fr), tense,
                 neg, stative=True)
    if question:
        return finish((e, F.elide('est-ce que ' + f)), '?')
    return finish((e, f))


@frame(1.8)
def age(rng):
    subj = subject(rng, 0.65)
    if not subj.pronoun and (subj.en.startswith('the ') or subj.en.split()[-1]
                             in ('friends', 'neighbors', 'parents')):
        return None
    n = rng.choice([5, 7, 8, 10, 12, 15, 16, 18, 20, 30, 40, 50, 60])
    en, fr = L.NUMBERS[n]
    if n < 15 and subj.en.split()[-1] in ('mother', 'father', 'aunt', 'uncle',
                                          'wife', 'husband', 'grandmother',
                                          'parents', 'grandfather'):
        return None
    if n < 60 and 'grand' in subj.en or n < 30 and subj.en.split()[-1] in (
            'mother', 'father', 'parents', 'husband', 'wife'):
        return None
    kind = rng.randrange(4)
    if kind == 3 and subj is not I:
        return finish((E.join('how old', E.clause(subj, 'be', '', 'pres',
                                                  question=True)),
                       'quel âge ' + F.predicate(subj, 'avoir', '', 'pres',
                                                 inversion=True)), '?') \
            if subj.pronoun else finish(
                ('how old is ' + subj.en if subj.person == 2 else
                 'how old are ' + subj.en,
                 'quel âge ' + ('a ' if subj.person == 2 else 'ont ')
                 + subj.fr), '?')
    tense = 'past' if kind == 2 and n <= 20 else 'pres'
    return finish((E.clause(subj, 'be', en + ' years old', tense),
                   F.clause(subj, 'avoir', fr + ' ans', tense, stative=True)))


PAINS = [('head', 'la tête', 'a headache'), ('stomach', 'le ventre', ''),
         ('foot', 'le pied', ''), ('back', 'le dos', ''),
         ('arm', 'le bras', ''), ('leg', 'la jambe', ''),
         ('hand', 'la main', '')]


@frame(1.3)
def pain(rng):
    """My foot hurts. -> J'ai mal au pied."""
    owner = rng.choice(PRONOUNS[:4])
    part, fr, _ = rng.choice(PAINS)
    tense = rng.choice(['pres', 'pres', 'past'])
    rest = 'mal ' + F.contract('à', fr)
    if part == 'head' and tense == 'pres' and rng.random() < 0.5:
        return finish((E.clause(owner, 'have', 'a headache', 'pres'),
                       F.clause(owner, 'avoir', rest, 'pres')))
    if rng.random() < 0.25 and owner is YOU:
        return finish(('does your %s hurt' % part,
                       'est-ce que tu as ' + rest), '?')
    if rng.random() < 0.25:
        return finish(('%s %s doesn\'t hurt anymore' % (owner.poss_en, part),
                       F.clause(owner, 'avoir', rest, 'pres', 'anymore')))
    time = rng.choice([None, ('today', "aujourd'hui"),
                       ('this morning', 'ce matin')]) if tense == 'pres' else \
        rng.choice([('yesterday', 'hier'), ('last night', 'hier soir')])
    word = 'hurt' if tense == 'past' else 'hurts'
    return finish((E.join(owner.poss_en, part, word, time[0] if time else ''),
                   F.join(F.clause(owner, 'avoir', rest, tense, stative=True),
                          time[1] if time else '')))


# ------------------------------------------------ things, there is, this ---

@frame(4)
def thing_is(rng):
    """This dress is too expensive."""
    noun, adjs = rng.choice(DESCRIBED)
    adj = rng.choice(adjs)
    det = rng.choice(['demo', 'demo', 'def', 'poss'])
    if det == 'poss' and noun.en in ('movie', 'question', 'street', 'exam',
                                     'soup', 'tea', 'coffee', 'door', 'sea',
                                     'city', 'window', 'shop', 'water', 'milk',
                                     'box', 'hotel', 'museum', 'park', 'beach',
                                     'restaurant', 'bread', 'wine', 'song',
                                     'game', 'party', 'lesson', 'cake', 'train',
                                     'story'):
        det = 'demo'
    plural = noun in L.CLOTHES_PL or noun in L.FRUIT or (
        noun.en in ('house', 'car', 'book', 'question', 'street', 'dress',
                    'flower') and rng.random() < 0.25)
    owner = rng.choice([I, YOU, HE, SHE, WE])
    if det == 'poss' and odd(owner, noun.en):
        return None
    if noun in L.PLACE and noun.en not in ('hotel', 'restaurant', 'museum',
                                           'park', 'beach', 'pool'):
        det = 'def'
    p = Phrase(noun, det, plural)
    subj = Subject(p.en(owner), p.fr(owner), 5 if plural else 2, noun.gender)
    tense = rng.choice(['pres', 'pres', 'pres', 'past'])
    neg = 'not' if rng.random() < 0.2 else ''
    degree = rng.choice(DEGREES[:2] + DEGREES[:1]) if rng.random() < 0.45 \
        and not neg and adj not in (L.OPEN, L.CLOSED, L.BROKEN, L.FULL, L.EMPTY,
                                    *L.COLORS) else None
    if degree and adj in (L.GOOD, L.BEAUTIFUL, L.INTERESTING, L.PRETTY,
                          L.IMPORTANT):
        degree = DEGREES[0]
    question = not neg and not degree and rng.random() < 0.15
    if adj is L.NEW:
        # "nouveau" stands before its noun; the predicate is "neuf"
        if noun in L.PLACE or degree:
            return None
        adj = ('new', 'neuf')
    return finish(be(subj, adj[:2], tense, neg, degree, question),
                  '?' if question else '.')


@frame(3)
def there_is(rng):
    place = rng.choice([SLOTS['spot'], SLOTS['inplace']])(rng)
    kind = rng.randrange(5)
    plural = False
    if 'on the' in place.en():
        pool = L.TABLEWARE + L.FRUIT[:5] + L.READABLE[:3] + L.OWN[:2] \
            if 'table' in place.en() or 'desk' in place.en() else \
            L.OWN[:4] + L.CLOTHES[:4] + L.ANIMAL[1:2]
    elif 'under' in place.en():
        pool = L.ANIMAL[:2] + L.OWN[:4] + L.CLOTHES_PL[:1]
    elif 'suitcase' in place.en() or 'bag' in place.en():
        pool = L.OWN[:2] + L.OWN[4:6] + L.CLOTHES[:2] + L.READABLE[1:3]
    elif 'garden' in place.en():
        pool = L.ANIMAL + [n for n in L.GIFT if n.en == 'flower'] \
            + L.FURNITURE[:2]
    elif 'street' in place.en():
        pool = L.VEHICLE + L.ANIMAL[:4] + [n for n in L.PEOPLE if n.en in
                                           ('man', 'woman', 'policeman')]
    elif 'train' in place.en() or 'the car' in place.en():
        pool = L.ANIMAL[:2] + L.OWN[3:4] + [n for n in L.PEOPLE if n.en in
                                            ('man', 'woman', 'boy', 'girl')]
    else:
        pool = L.FURNITURE[:2] + L.ANIMAL[:2] + [n for n in L.PEOPLE if n.en in
                                                 ('man', 'woman', 'boy')]
    noun = rng.choice(pool)
    if kind == 0:
        obj, plural = Phrase(noun, 'indef', number=rng.choice([2, 3, 4, 5])), \
            True
    elif kind == 1:
        obj, plural = Phrase(noun, 'indef', True), True
        obj.some = True
    elif kind == 2 and ('kitchen' in place.en() or 'table' in place.en()):
        obj = Phrase(rng.choice(L.FOOD[:9] + L.DRINK[:4]), 'part')
        obj.some = True
    else:
        obj = Phrase(noun, 'indef')
    mode = rng.choice(['', '', '', 'not', 'q', 'was'])
    if obj.number and mode == 'not' or noun in L.PEOPLE and mode == 'not':
        mode = ''
    if obj.noun.en in place.en() or 'bathroom' in place.en():
        return None
    if mode == 'q':
        en = ('are there ' if plural else 'is there ') + \
            obj.en(None, obj.some) + ' ' + place.en()
        return finish((en, F.elide("est-ce que il y a " + obj.fr() + ' '
                                   + place.fr())), '?')
    if mode == 'not':
        if not plural and obj.det == 'indef':
            return finish(("there isn't %s %s" % (obj.en(), place.en()),
                           F.elide("il n'y a pas %s %s" % (obj.fr(None, True),
                                                           place.fr()))))
        return finish(("there %s %s %s" % ("aren't" if plural else "isn't",
                                           obj.en(None, True), place.en()),
                       "il n'y a pas %s %s" % (obj.fr(None, True),
                                               place.fr())))
    if mode == 'was':
        return finish(("there %s %s %s" % ('were' if plural else 'was',
                                           obj.en(), place.en()),
                       'il y avait %s %s' % (obj.fr(), place.fr())))
    return finish((("there are " if plural else "there's ") + obj.en() + ' '
                   + place.en(), 'il y a %s %s' % (obj.fr(), place.fr())))


@frame(2.5)
def this_is(rng):
    """This is my brother. / These are my shoes. / It's a beautiful house."""
    kind = rng.randrange(4)
    if kind == 0:
        who = relative(rng)
        return finish(('this is ' + who.en, "c'est " + who.fr))
    if kind == 1:
        noun = rng.choice(L.CLOTHES_PL + [n for n in L.OWN if n.en in
                                          ('book', 'key')])
        owner = rng.choice([I, YOU, HE, SHE, WE, THEY])
        p = Phrase(noun, 'poss', True)
        if rng.random() < 0.3:
            return finish(("these aren't " + p.en(owner),
                           'ce ne sont pas ' + p.fr(owner)))
        return finish(('these are ' + p.en(owner), 'ce sont ' + p.fr(owner)))
    if kind == 2:
        noun = rng.choice(L.OWN + L.VEHICLE + L.CLOTHES + L.HOUSING[:2])
        owner = rng.choice([I, YOU, HE, SHE, WE, THEY])
        if odd(owner, noun.en):
            return None
        p = Phrase(noun, 'poss')
        if rng.random() < 0.4:
            return finish(("this isn't " + p.en(owner),
                           "ce n'est pas " + p.fr(owner)))
        return finish(('this is ' + p.en(owner), "c'est " + p.fr(owner)))
    noun, adjs = rng.choice(DESCRIBED)
    adjs = [a for a in adjs if a[2]]
    if not adjs:
        return None
    p = Phrase(noun, 'indef', False, rng.choice(adjs))
    if noun in L.DRINK or noun in L.FOOD:
        return None
    if rng.random() < 0.2:
        return finish(("it isn't " + p.en(), "ce n'est pas " + p.fr()))
    return finish(("it's " + p.en(), "c'est " + p.fr()))


@frame(1)
def exclaim(rng):
    noun, adjs = rng.choice(DESCRIBED)
    adjs = [a for a in adjs if a[2] and a not in (L.OLD, L.NEW)]
    if not adjs or noun in L.DRINK or noun in L.FOOD:
        return None
    p = Phrase(noun, 'zero', False, rng.choice(adjs))
    quel = 'quelle ' if noun.gender == 'f' else 'quel '
    return finish(('what ' + E.article(p.en()), quel + p.fr()), '!')


@frame(1.5)
def price(rng):
    noun = rng.choice(L.CLOTHES + L.OWN[4:6] + L.OWN[:1] + L.CLOTHES_PL
                      + L.TABLEWARE[:2] + L.VEHICLE[1:] + L.GIFT[1:2])
    plural = noun in L.CLOTHES_PL or noun.en == 'flower'
    p = Phrase(noun, 'demo', plural)
    subj = Subject(p.en(), p.fr(), 5 if plural else 2, noun.gender)
    if rng.random() < 0.35:
        return finish(('how much %s %s cost' % ('do' if plural else 'does',
                                                subj.en),
                       'combien ' + ('coûtent ' if plural else 'coûte ')
                       + subj.fr), '?')
    n = rng.choice([5, 10, 12, 15, 20, 30, 40, 50, 60, 100])
    en, fr = L.NUMBERS[n]
    # "these cost" would be read as the present
    tense = 'pres' if plural else rng.choice(['pres', 'pres', 'past'])
    return finish((E.clause(subj, 'cost', en + ' euros', tense),
                   F.clause(subj, 'coûter', fr + ' euros', tense)))


# ---------------------------------------------------- time and weather -----

WEATHER = [("it's cold", 'il fait froid', 'it was cold', 'il faisait froid',
            'it will be cold', 'il fera froid'),
           ("it's hot", 'il fait chaud', 'it was hot', 'il faisait chaud',
            'it will be hot', 'il fera chaud'),
           ("the weather is nice", 'il fait beau', 'the weather was nice',
            'il faisait beau', 'the weather will be nice', 'il fera beau'),
           ("the weather is bad", 'il fait mauvais', 'the weather was bad',
            'il faisait mauvais', 'the weather will be bad',
            'il fera mauvais'),
           ("it's raining", 'il pleut', 'it rained', 'il a plu',
            'it will rain', 'il pleuvra'),
           ("it's snowing", 'il neige', 'it snowed', 'il a neigé',
            'it will snow', 'il neigera'),
           ("it's windy", 'il y a du vent', 'it was windy',
            'il y avait du vent', 'it will be windy', 'il y aura du vent')]


@frame(2.5)
def weather(rng):
    w = rng.choice(WEATHER)
    t = rng.randrange(3)
    en, fr = w[2 * t], w[2 * t + 1]
    if t == 0:
        time = rng.choice([('today', "aujourd'hui"), ('this morning',
                           'ce matin'), ('now', 'maintenant')])
    elif t == 1:
        time = rng.choice(L.PAST[:5])
        if en in ('it rained', 'it snowed') and rng.random() < 0.4:
            time = rng.choice([('all day', 'toute la journée'),
                               ('all week', 'toute la semaine'),
                               ('all night', 'toute la nuit')])
    else:
        time = rng.choice(L.FUTURE[:4] + [('this weekend', 'ce week-end'),
                                          ('on Sunday', 'dimanche')])
    place = SLOTS['inland'](rng) if rng.random() < 0.55 else None
    en = E.join(en, place.en() if place else '', time[0]
                if not place or rng.random() < 0.6 else '')
    fr = F.join(fr, place.fr() if place else '', time[1]
                if en.endswith(time[0]) else '')
    return finish((en, fr))


@frame(1.2)
def clock(rng):
    n = rng.choice([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    en, fr = L.NUMBERS[n]
    kind = rng.randrange(6)
    forms = [("it's %s o'clock" % en, 'il est %s heures' % fr),
             ("it's half past %s" % en, 'il est %s heures et demie' % fr),
             ("it's a quarter past %s" % en, 'il est %s heures et quart' % fr),
             ("it's a quarter to %s" % en, 'il est %s heures moins le quart'
              % fr),
             ("it's ten past %s" % en, 'il est %s heures dix' % fr),
             ("it's already %s o'clock" % en, 'il est déjà %s heures' % fr)]
    en, fr = forms[kind]
    return finish((en, fr))


@frame(2.5)
def timetable(rng):
    """The train leaves at eight o'clock."""
    subj, en, inf = rng.choice([
        ('the train', 'leave', 'partir'), ('the train', 'arrive', 'arriver'),
        ('the bus', 'leave', 'partir'), ('the bus', 'arrive', 'arriver'),
        ('the plane', 'leave', 'partir'), ('the plane', 'arrive', 'arriver'),
        ('the boat', 'leave', 'partir'), ('the movie', 'start', 'commencer'),
        ('the party', 'start', 'commencer'), ('the exam', 'start', 'commencer'),
        ('the lesson', 'start', 'commencer'), ('the movie', 'finish', 'finir'),
        ('the bank', 'open', 'ouvrir'), ('the museum', 'open', 'ouvrir'),
        ('the market', 'open', 'ouvrir'), ('the bank', 'close', 'fermer'),
        ('the museum', 'close', 'fermer'), ('the pharmacy', 'open', 'ouvrir'),
        ('the library', 'close', 'fermer'), ('the post office', 'close',
                                             'fermer'),
        ('the lesson', 'finish', 'finir')])
    noun = [n for n in L.TRANSPORT + L.MEETING + L.PLACE
            if 'the ' + n.en == subj][0]
    p = Phrase(noun, 'def')
    s = Subject(subj, p.fr(), 2, noun.gender)
    tense = rng.choice(['pres', 'pres', 'will', 'past'])
    if rng.random() < 0.3:
        return finish(('what time ' + E.clause(s, en, '', 'pres',
                                               question=True),
                       'à quelle heure %s %s' % (F.verb(inf).form('pres', 2),
                                                 s.fr)), '?')
    h = SLOTS['hour'](rng)
    day = rng.choice([('today', "aujourd'hui"), ('on Sundays', 'le dimanche'),
                      ('on Saturdays', 'le samedi')]
                     if tense == 'pres' else [('tomorrow', 'demain'),
                     ('on Monday', 'lundi')] if tense == 'will' else
                     [('yesterday', 'hier')]) if rng.random() < 0.35 else None
    return finish((E.join(E.clause(s, en, h.en(), tense), day[0] if day else ''),
                   F.join(F.clause(s, inf, h.fr(), tense),
                          day[1] if day else '')))


@frame(2)
def dates(rng):
    kind = rng.randrange(5)
    day, month = rng.choice(L.DAYS), rng.choice(L.MONTHS)
    if kind == 0:
        owner = rng.choice([I, YOU, HE, SHE])
        return finish(('%s birthday is in %s' % (owner.poss_en, month[0]),
                       '%s anniversaire est en %s' % (
                           F.POSSESSIVE[owner.person][0], month[1])))
    if kind == 1:
        subj = rng.choice([I, HE, SHE, name(rng), relative(rng)])
        return finish((E.clause(subj, 'be', 'born in ' + month[0], 'past'),
                       F.clause(subj, 'être', F.adjective(
                           'né', subj.gender, False) + ' en ' + month[1],
                           'pres')))
    if kind == 2:
        vp = pick(rng, 'f')
        subj = subject(rng, 0.4)
        pair = build(rng, subj, vp, 'will')
        if vp.times == 'l' or 'd' not in vp.times:
            return finish(pair and (pair[0] + ' in ' + month[0],
                                    pair[1] + ' en ' + month[1])) \
                if vp.times in ('l', 'dl') else None
        return finish(pair and (pair[0] + ' on ' + day[0],
                                pair[1] + ' ' + day[1]))
    if kind == 3:
        subj = rng.choice([WE, THEY, I, SHE, HE, name(rng)])
        tense = rng.choice(['past', 'will', 'goingto'])
        if rng.random() < 0.5:
            when = ('in ' + month[0], 'en ' + month[1])
        else:
            when = ('on ' + day[0], day[1])
        land = SLOTS['toland'](rng)
        if tense == 'past':
            when = ('in ' + month[0], 'en ' + month[1])
        return finish((E.clause(subj, 'go', land.en() + ' ' + when[0], tense),
                       F.clause(subj, 'aller', land.fr() + ' ' + when[1],
                                tense)))
    s = rng.choice(L.SEASONS)
    choice = rng.choice([
        ("it's %s in %s", "il fait %s %s"),
        ('it often rains in %s', 'il pleut souvent %s'),
        ('it often snows in %s', 'il neige souvent %s'),
        ('we travel in %s', 'nous voyageons %s'),
        ('they swim in the sea in %s', 'ils nagent dans la mer %s'),
        ('I walk a lot in %s', 'je marche beaucoup %s'),
        ('I love flowers in %s', "j'aime les fleurs %s"),
        ('he works a lot in %s', 'il travaille beaucoup %s'),
        ('we sleep well in %s', 'nous dormons bien %s'),
        ('she never travels in %s', 'elle ne voyage jamais %s')])
    if choice[0].count('%s') == 2:
        adj = ('hot', 'chaud') if s[0] == 'summer' else ('cold', 'froid')
        if s[0] in ('spring', 'fall'):
            return None
        return finish((choice[0] % (adj[0], s[0]), choice[1] % (adj[1], s[2])))
    if s[0] == 'summer' and 'snow' in choice[0] or \
            s[0] in ('winter', 'fall') and ('swim' in choice[0] or
                                            'flowers' in choice[0]):
        return None
    return finish((choice[0] % s[0], choice[1] % s[2]))


@frame(2)
def since(rng):
    """I've been living here for two years. -> J'habite ici depuis deux ans."""
    subj = subject(rng, 0.45)
    vp_en, fr_v, fr_r = rng.choice([
        ('living in %s', 'habiter', '%s'), ('working here', 'travailler', 'ici'),
        ('working in a bank', 'travailler', 'dans une banque'),
        ('learning French', 'apprendre', 'le français'),
        ('learning English', 'apprendre', "l'anglais"),
        ('studying history', 'étudier', "l'histoire"),
        ('playing the piano', 'jouer', 'du piano'),
        ('playing tennis', 'jouer', 'au tennis'),
        ('playing the guitar', 'jouer', 'de la guitare'),
        ('waiting', 'attendre', ''), ('sleeping', 'dormir', ''),
        ('waiting for the bus', 'attendre', 'le bus'),
        ('reading', 'lire', ''), ('walking', 'marcher', ''),
        ('watching TV', 'regarder', 'la télé'), ('crying', 'pleurer', ''),
        ('living here', 'habiter', 'ici')])
    long = vp_en.split()[0] not in ('waiting', 'sleeping', 'reading', 'walking',
                                    'watching', 'crying')
    n = rng.choice([2, 3, 4, 5, 6, 10])
    unit = rng.choice([('years', 'ans'), ('months', 'mois')]) if long else \
        rng.choice([('hours', 'heures'), ('minutes', 'minutes')])
    if unit[0] == 'minutes':
        n = rng.choice([5, 10, 15, 20, 30])
    if '%s' in vp_en:
        en, fr = rng.choice(L.CITIES)
        vp_en, fr_r = vp_en % en, 'à ' + fr
    en = ("%s've been" if subj.pronoun and subj.person != 2 else
          '%s has been' if subj.person == 2 else '%s have been') % subj.en
    return finish((E.join(en, vp_en, 'for', L.NUMBERS[n][0], unit[0]),
                   F.join(F.clause(subj, fr_v, fr_r, 'pres'), 'depuis',
                          L.NUMBERS[n][1], unit[1])))


# -------------------------------------------------- pronoun objects --------

OBJ = [('me', 'me', None), ('you', 'te', None), ('him', 'le', ('m', False)),
       ('her', 'la', ('f', False)), ('us', 'nous', ('m', True)),
       ('them', 'les', ('m', True))]
TRANSITIVE = [('see', 'voir', 'tfm'), ('know', 'connaître', 's'),
              ('love', 'aimer', 's'), ('help', 'aider', 'pgtfmc'),
              ('call', 'appeler', 'pgtfm'), ('invite', 'inviter', 'gtfm'),
              ('wait for', 'attendre', 'gtfm'), ('look for', 'chercher', 'gf'),
              ('find', 'trouver', 'tfm'), ('understand', 'comprendre', 'pt'),
              ('believe', 'croire', 'p'), ('hear', 'entendre', 'ptm'),
              ('listen to', 'écouter', 'pgtm'), ('watch', 'regarder', 'gt'),
              ('thank', 'remercier', 'tfm'), ('meet', 'rencontrer', 'tfm'),
              ('hate', 'détester', 's'), ('forget', 'oublier', 'tf'),
              ('visit', 'visiter', '')]
DATIVE = [('me', 'me'), ('you', 'te'), ('him', 'lui'), ('her', 'lui'),
          ('us', 'nous'), ('them', 'leur')]


def same_person(subj, obj_en):
    return (subj.person, obj_en) in ((0, 'me'), (0, 'us'), (1, 'you'),
                                     (3, 'us'), (3, 'me'))


@frame(6)
def object_pronoun(rng):
    """She called him. -> Elle l'a appelé."""
    subj = subject(rng, 0.3)
    en_o, fr_o, agr = rng.choice(OBJ)
    if same_person(subj, en_o):
        return None
    tense = rng.choice(['pres', 'prog', 'past', 'past', 'will', 'can',
                        'wantto', 'goingto'])
    flag = TENSE_FLAG.get(tense, 'm')
    verbs = [t for t in TRANSITIVE if flag in t[2]
             or tense == 'pres' and 's' in t[2]]
    en_v, fr_v, flags = rng.choice(verbs)
    ev, _, prep = en_v.partition(' ')
    neg = rng.choice(['', '', '', 'not'])
    agree = agr or ('m', False)
    question = not neg and asks(subj) and rng.random() < 0.15
    en = E.clause(subj, ev, E.join(prep, en_o), tense, neg, question=question)
    fr = F.clause(subj, fr_v, '', tense, neg, clitics=fr_o, pp_agree=agree)
    time = None
    if tense in ('past', 'will') and rng.random() < 0.35 and \
            ev not in ('understand', 'forget', 'believe'):
        time = rng.choice(L.PAST[:4] if tense == 'past' else L.FUTURE[:4])
        en, fr = en + ' ' + time[0], fr + ' ' + time[1]
    if question:
        return finish((en, F.elide('est-ce que ' + fr)), '?')
    return finish((en, fr))


@frame(4)
def dative_pronoun(rng):
    """He gave me a book. -> Il m'a donné un livre."""
    subj = subject(rng, 0.3)
    en_o, fr_o = rng.choice(DATIVE)
    if same_person(subj, en_o):
        return None
    ev, fv, kind = rng.choice([('give', 'donner', 'gift'),
                               ('send', 'envoyer', 'sendable'),
                               ('give', 'donner', 'fruit'),
                               ('write', 'écrire', 'letter'),
                               ('buy', 'acheter', 'present'),
                               ('buy', 'acheter', 'clothes'),
                               ('show', 'montrer', 'photo'),
                               ('lend', 'prêter', 'vehicle')])
    if kind == 'letter':
        obj = Phrase(rng.choice(L.READABLE[1:2] + L.READABLE[3:4]), 'indef',
                     False, rng.choice([None, L.LONG]))
        if obj.noun.en == 'message':
            obj.adj = None
    elif kind == 'photo':
        obj = Fixed(*rng.choice([('the photos', 'les photos'),
                                 ('the house', 'la maison'),
                                 ('the letter', 'la lettre'),
                                 ('this book', 'ce livre'),
                                 ('the garden', 'le jardin')]))
    elif kind == 'vehicle':
        obj = Phrase(rng.choice(L.VEHICLE + L.OWN[:1] + L.OWN[4:5] + L.OWN[6:7]
                                + L.OWN[-1:]), 'poss')
    else:
        obj = SLOTS[kind](rng)
    tense = rng.choice(['past', 'past', 'past', 'will', 'goingto', 'can'])
    neg = rng.choice(['', '', '', '', 'not'])
    if neg and getattr(obj, 'number', None):
        neg = ''
    if tense == 'can' and ev == 'send':
        tense = 'will'
    question = not neg and subj is YOU and rng.random() < 0.3
    en = E.clause(subj, ev, en_o + ' ' + obj.en(subj, bool(neg)), tense, neg,
                  question=question)
    fr = F.clause(subj, fv, obj.fr(subj, bool(neg)), tense, neg, clitics=fr_o,
                  pp_agree='no')
    if question:
        return finish((en, F.elide('est-ce que ' + fr)), '?')
    return finish((en, fr))


@frame(1.2)
def pronoun_command(rng):
    ev, fv, rests = rng.choice([
        ('help', 'aider', [('', ''), ('now', 'maintenant'),
                           ('tomorrow', 'demain')]),
        ('call', 'appeler', [('', ''), ('tomorrow', 'demain'), ('tonight',
                             'ce soir'), ('soon', 'bientôt')]),
        ('listen to', 'écouter', [('', '')]),
        ('wait for', 'attendre', [('', ''), ('here', 'ici'),
                                  ('at the station', 'à la gare')]),
        ('look at', 'regarder', [('', '')]),
        ('thank', 'remercier', [('', '')]),
        ('believe', 'croire', [('', '')]),
        ('forget', 'oublier', [('', '')]),
        ('invite', 'inviter', [('', ''), ('to the party', 'à la fête')])])
    en_o, fr_o = rng.choice([('me', 'me'), ('him', 'le'), ('her', 'la'),
                             ('us', 'nous'), ('them', 'les')])
    rest = rng.choice(rests)
    neg = 'not' if rng.random() < 0.35 else ''
    if rest[0] == 'soon' and neg:
        return None
    please = rng.random() < 0.3
    fr = F.imperative(4 if please else 1, fv, rest[1], neg, fr_o)
    head = E.join("don't" if neg else '', *ev.split()[:1], *ev.split()[1:],
                  en_o, rest[0])
    if please:
        return finish((head + ', please', fr + ", s'il vous plaît"))
    return finish((head, fr))


# ---------------------------------------------------- nothing, nobody ------

@frame(2)
def nothing(rng):
    subj = subject(rng, 0.35)
    tense = rng.choice(['pres', 'past', 'past', 'will', 'prog'])
    if rng.random() < 0.6:
        verbs = [('eat', 'manger', 'past prog will'),
                 ('say', 'dire', 'past prog will'),
                 ('see', 'voir', 'past pres'), ('hear', 'entendre', 'past pres'),
                 ('buy', 'acheter', 'past will'), ('do', 'faire', 'past prog'),
                 ('find', 'trouver', 'past'), ('understand', 'comprendre',
                                               'past pres'),
                 ('know', 'savoir', 'pres'), ('want', 'vouloir', 'pres'),
                 ('drink', 'boire', 'past'), ('forget', 'oublier', 'past will'),
                 ('lose', 'perdre', 'past'), ('read', 'lire', 'past prog')]
        word = ('anything', 'rien')
    else:
        verbs = [('see', 'voir', 'past pres'), ('know', 'connaître', 'pres'),
                 ('invite', 'inviter', 'past will'),
                 ('meet', 'rencontrer', 'past'), ('call', 'appeler',
                                                  'past will'),
                 ('help', 'aider', 'past pres'), ('hear', 'entendre',
                                                  'past pres'),
                 ('love', 'aimer', 'pres'), ('wait for', 'attendre', 'prog'),
                 ('forget', 'oublier', 'past'), ('thank', 'remercier', 'past')]
        word = ('anyone', 'personne')
    verbs = [v for v in verbs if tense in v[2].split()]
    if not verbs:
        return None
    en, fr, _ = rng.choice(verbs)
    ev, _, prep = en.partition(' ')
    time = rng.choice({'past': L.PAST[:4], 'will': L.FUTURE[:3],
                       'prog': L.NOW[:1], 'pres': [None]}[tense]) \
        if rng.random() < 0.35 else None
    return finish((E.join(E.clause(subj, ev, E.join(prep, word[0]), tense,
                                   'not'), time[0] if time else ''),
                   F.join(F.clause(subj, fr, '', tense, word[1]),
                          time[1] if time else '')))


# ------------------------------------------------------ two clauses --------

def tail_clause(rng, subj, hope):
    """A reason or an object clause about subj, both languages."""
    kind = rng.randrange(4)
    if hope:
        kind = 2
    if kind == 0:
        adj = rng.choice(L.STATES[:12])
        return be(subj, adj, 'pres', '', degree_for(rng, adj, 0.3))
    if kind == 1:
        en, fr = rng.choice(AVOIR[:6])
        return (E.clause(subj, 'be', en, 'pres'),
                F.clause(subj, 'avoir', fr, 'pres'))
    if kind == 2:
        vp = pick(rng, 'f')
        if any(len(s) > 8 for s in vp.slots):
            return None
        return build(rng, subj, vp, 'will', time=adverbial(rng, vp, 'will')
                     if rng.random() < 0.4 else None)
    vp = pick(rng, 'g')
    return build(rng, subj, vp, 'prog')


@frame(5)
def thinking(rng):
    """I think that Paul is tired."""
    en, fr, who = rng.choice([('think', 'penser', [I, HE, SHE, WE]),
                              ('know', 'savoir', [I, HE, SHE, WE, THEY]),
                              ('say', 'dire', [HE, SHE, THEY]),
                              ('hope', 'espérer', [I, WE, SHE, HE]),
                              ('believe', 'croire', [I, WE, HE])])
    subj = rng.choice(who)
    other = subject(rng, 0.5)
    if subj is WE and other is I or subj is I and other is WE:
        return None
    if other is subj or other.en == subj.en or subj.person == 2 and \
            other.person == 2 and other.pronoun:
        return None
    tail = tail_clause(rng, other, en == 'hope')
    if tail is None:
        return None
    return finish((E.clause(subj, en, 'that ' + tail[0], 'pres'),
                   F.elide(F.clause(subj, fr, 'que ' + tail[1], 'pres'))))


@frame(3)
def because(rng):
    """I'm staying at home because I'm sick."""
    subj = rng.choice(PRONOUNS + [name(rng), relative(rng)])
    pron = subj if subj.pronoun else (SHE if subj.gender == 'f' else HE)
    groups = [
        (['be tired', 'be sick', 'be cold', 'be sad'],
         [('stay at home', 'rester à la maison', 'prog'),
          ('go home', 'rentrer', 'prog'), ('rest', 'se reposer', 'prog'),
          ('sleep', 'dormir', 'prog'), ('work', 'travailler', 'not'),
          ('go to school', "aller à l'école", 'not'),
          ('play', 'jouer', 'not'), ('come', 'venir', 'not')]),
        (['be late', 'be busy', 'have time'],
         [('run', 'courir', 'prog'), ('take a taxi', 'prendre un taxi', 'prog'),
          ('hurry', 'se dépêcher', 'prog'), ('wait', 'attendre', 'not'),
          ('leave now', 'partir maintenant', 'prog')]),
        (['be hungry'],
         [('eat an apple', 'manger une pomme', 'prog'),
          ('eat bread', 'manger du pain', 'prog'),
          ('make dinner', 'préparer le dîner', 'prog'),
          ('go to the restaurant', 'aller au restaurant', 'prog'),
          ('eat a sandwich', 'manger un sandwich', 'prog')]),
        (['be thirsty'],
         [('drink water', "boire de l'eau", 'prog'),
          ('drink tea', 'boire du thé', 'prog'),
          ('drink orange juice', "boire du jus d'orange", 'prog')]),
        (['be sad', 'be angry', 'be afraid'],
         [('cry', 'pleurer', 'prog'), ('smile', 'sourire', 'not'),
          ('laugh', 'rire', 'not'), ('leave', 'partir', 'prog')]),
        (['be happy'],
         [('sing', 'chanter', 'prog'), ('smile', 'sourire', 'prog'),
          ('dance', 'danser', 'prog'), ('laugh', 'rire', 'prog')])]
    reasons, actions = rng.choice(groups)
    reason = rng.choice(reasons)
    en, fr, mode = rng.choice(actions)
    avoir = dict(AVOIR)
    word = reason.split(' ', 1)[1]
    if reason == 'have time':
        second = (E.clause(pron, 'have', 'time', 'pres', 'not'),
                  F.clause(pron, 'avoir', 'le temps', 'pres', 'not'))
        if en not in ('wait',):
            return None
    elif word in avoir:
        second = (E.clause(pron, 'be', word, 'pres'),
                  F.clause(pron, 'avoir', avoir[word], 'pres'))
    else:
        adj = [a for a in L.STATES if a[0] == word][0]
        second = be(pron, adj)
    if word == 'busy' and en != 'wait' or word == 'cold' and \
            en not in ('stay at home', 'go home'):
        return None
    ev, _, er = en.partition(' ')
    if fr.startswith('se '):
        fv, fr_rest = fr, ''
    else:
        fv, _, fr_rest = fr.partition(' ')
    tense, neg = ('prog', '') if mode == 'prog' else ('can', 'not')
    if mode == 'not' and ev in ('smile', 'laugh'):
        tense = 'prog'
    first = (E.clause(subj, ev, er, tense, neg),
             F.clause(subj, fv, fr_rest, tense, neg))
    return finish((first[0] + ' because ' + second[0],
                   F.elide(first[1] + ' parce que ' + second[1])))


@frame(2.5)
def conditional(rng):
    """If I had money, I would buy a house."""
    subj = rng.choice([I, I, YOU, HE, SHE, WE, THEY])
    vp = pick(rng, 'c')
    cond = rng.choice([('have time', 'avoir le temps'),
                       ('be rich', 'être riche'),
                       ('have money', "avoir de l'argent"),
                       ('be free', 'être libre'),
                       ('be young', 'être jeune')])
    en_v, _, en_r = cond[0].partition(' ')
    fr_v, _, fr_r = cond[1].partition(' ')
    if cond[0] in ('be rich', 'have money') and vp.en_verb not in (
            'buy', 'travel', 'go', 'live', 'leave'):
        return None
    if cond[0] == 'be young' and vp.en_verb not in ('travel', 'dance', 'learn',
                                                    'go', 'work'):
        return None
    if cond[0] in ('have time', 'be free') and vp.en_verb in (
            'buy', 'sell', 'win', 'live', 'build', 'send', 'receive') or \
            cond[0] == 'have time' and vp.en_verb in ('leave', 'come'):
        return None
    if fr_v == 'être':
        fr_r = F.adjective(fr_r, subj.gender, subj.plural)
    # "if I were", "if he were"
    if_en = '%s were %s' % (subj.en, en_r) if en_v == 'be' else \
        '%s had %s' % (subj.en, en_r)
    if_fr = F.clause(subj, fr_v, fr_r, 'pastprog')
    main = build(rng, subj, vp, 'would')
    if main is None:
        return None
    if rng.random() < 0.5:
        return finish(('if %s, %s' % (if_en, main[0]),
                       F.elide('si %s, %s' % (if_fr, main[1]))))
    return finish(('%s if %s' % (main[0], if_en),
                   F.elide('%s si %s' % (main[1], if_fr))))


@frame(2.5)
def if_weather(rng):
    """If it rains tomorrow, we'll stay at home."""
    cond = rng.choice([('it rains', 'il pleut'), ('it snows', 'il neige'),
                       ("it's cold", 'il fait froid'),
                       ("it's hot", 'il fait chaud'),
                       ('the weather is nice', 'il fait beau'),
                       ('you want', 'tu veux'), ('you help me', "tu m'aides"),
                       ('I have time', "j'ai le temps"),
                       ('you come with us', 'tu viens avec nous')])
    indoors = [('stay at home', 'rester à la maison'),
               ('take the bus', 'prendre le bus'),
               ('watch TV', 'regarder la télé'), ('read a book',
                                                  'lire un livre'),
               ('go to the museum', 'aller au musée'),
               ('play cards', 'jouer aux cartes')]
    outdoors = [('go to the beach', 'aller à la plage'),
                ('go to the park', 'aller au parc'),
                ('swim in the sea', 'nager dans la mer'),
                ('eat in the garden', 'manger dans le jardin'),
                ('play soccer', 'jouer au football'),
                ('go out', 'sortir')]
    good = cond[0] not in ('it rains', 'it snows', "it's cold")
    pool = outdoors if good else indoors
    if cond[0][0] in 'yI':
        pool = pool + [('make a cake', 'faire un gâteau'),
                       ('finish the work', 'finir le travail'),
                       ('clean the kitchen', 'nettoyer la cuisine'),
                       ('visit the museum', 'visiter le musée'),
                       ('make dinner', 'préparer le dîner')]
    if cond[0] == 'you help me':
        pool = pool[-5:]
    subj = rng.choice([I, WE, WE] if cond[0][0] == 'y' else
                      [I, WE] if cond[0][0] == 'I' else [I, WE, THEY, HE, SHE])
    if cond[0] in ('you help me',) and subj is not I:
        return None
    if cond[0] == 'you come with us' and subj is not WE or \
            cond[0] == 'I have time' and subj is not I:
        return None
    en, fr = rng.choice(pool)
    ev, _, er = en.partition(' ')
    fv, _, fr_r = fr.partition(' ')
    when = rng.choice([('', ''), (' tomorrow', ' demain')]) \
        if cond[0][0] not in 'yI' else ('', '')
    main = (E.clause(subj, ev, er, 'will'), F.clause(subj, fv, fr_r, 'will'))
    return finish(('if %s%s, %s' % (cond[0], when[0], main[0]),
                   F.elide('si %s%s, %s' % (cond[1], when[1], main[1]))))


@frame(2)
def before(rng):
    """He washes his hands before eating." -> avant de + infinitive."""
    subj = rng.choice(PRONOUNS + [name(rng), relative(rng)])
    first = rng.choice([('read', 'lire'), ('drink tea', 'boire du thé'),
                        ('take a shower', 'prendre une douche'),
                        ('listen to music', 'écouter de la musique'),
                        ('do the dishes', 'faire la vaisselle'),
                        ('close the window', 'fermer la fenêtre'),
                        ('drink coffee', 'boire du café'),
                        ('call Marie', 'appeler Marie'),
                        ('watch TV', 'regarder la télé'),
                        ('eat an apple', 'manger une pomme')])
    then = rng.choice([('sleeping', 'de dormir'), ('leaving', 'de partir'),
                       ('working', 'de travailler'), ('going out', 'de sortir'),
                       ('eating', 'de manger'),
                       ('going to bed', 'de se coucher')])
    if 'eat' in first[0] and then[0] == 'eating' or subj.en == 'Marie' \
            and 'Marie' in first[0]:
        return None
    tense = rng.choice(['past', 'past', 'will', 'pres'])
    ev, _, er = first[0].partition(' ')
    fv, _, fr_r = first[1].partition(' ')
    mid = None
    if tense == 'pres':
        mid = rng.choice(L.MID)
    fr_then = then[1]
    if 'se coucher' in fr_then:
        fr_then = 'de ' + F.REFLEXIVE[subj.person] + ' coucher'
    return finish((E.clause(subj, ev, er, tense, '', mid[0] if mid else '')
                   + ' before ' + then[0],
                   F.elide(F.clause(subj, fv, fr_r, tense, '',
                                    mid[1] if mid else '')
                           + ' avant ' + fr_then)))


@frame(2)
def how_well(rng):
    """He speaks French very well."""
    subj = subject(rng, 0.5)
    en, fr, manners = rng.choice([
        ('sing', 'chanter', 'well loud'), ('dance', 'danser', 'well'),
        ('swim', 'nager', 'well fast'), ('run', 'courir', 'fast'),
        ('drive', 'conduire', 'fast slow well'), ('walk', 'marcher',
                                                  'fast slow'),
        ('eat', 'manger', 'fast slow much well'), ('speak', 'parler',
                                              'fast slow much'),
        ('work', 'travailler', 'much hard'), ('sleep', 'dormir', 'well much'),
        ('read', 'lire', 'much fast'), ('travel', 'voyager', 'much'),
        ('smoke', 'fumer', 'much'), ('laugh', 'rire', 'much'),
        ('play', 'jouer', 'well'), ('write', 'écrire', 'well much')])
    manner = rng.choice(manners.split())
    en_m, fr_m = {'well': ('well', 'bien'), 'fast': ('fast', 'vite'),
                  'slow': ('slowly', 'lentement'), 'much': ('a lot', 'beaucoup'),
                  'hard': ('too much', 'trop'),
                  'loud': ('too loud', 'trop fort')}[manner]
    if manner in ('well', 'fast', 'slow') and rng.random() < 0.4:
        deg = rng.choice([('very', 'très'), ('too', 'trop')]
                         if manner != 'well' else [('very', 'très')])
        en_m, fr_m = deg[0] + ' ' + en_m, deg[1] + ' ' + fr_m
    tense = rng.choice(['pres', 'pres', 'past'])
    neg = 'not' if rng.random() < 0.25 and 'o ' not in en_m else ''
    # in compound tenses the short adverbs stand before the participle
    if tense == 'past' and manner in ('well', 'much', 'hard'):
        return finish((E.clause(subj, en, en_m, tense, neg),
                       F.clause(subj, fr, '', tense, neg, fr_m)))
    return finish((E.clause(subj, en, en_m, tense, neg),
                   F.clause(subj, fr, fr_m, tense, neg)))


@frame(1.2)
def only(rng):
    """She only drinks water. -> Elle ne boit que de l'eau."""
    subj = subject(rng, 0.4)
    if rng.random() < 0.35:
        noun = rng.choice([n for n in L.FAMILY_PL if n.en not in
                           ('parent', 'neighbor')])
        obj = Phrase(noun, 'indef', number=rng.choice([2, 3]))
        verb = ('have', 'avoir')
    else:
        obj, verb = rng.choice([(SLOTS['food'](rng), ('eat', 'manger')),
                                (SLOTS['drink'](rng), ('drink', 'boire')),
                                (Fixed('books', 'des livres'), ('read',
                                                                'lire')),
                                (SLOTS['language'](rng), ('speak', 'parler'))])
    fr = F.join(subj.fr, 'ne', F.verb(verb[1]).form('pres', subj.person), 'que',
                obj.fr())
    return finish((E.clause(subj, verb[0], obj.en(), 'pres', '', 'only'),
                   F.elide(fr)))
