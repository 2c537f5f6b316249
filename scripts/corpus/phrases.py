"""Subjects, noun phrases and verb phrases that can be put in any clause."""
import re

import english as E
import french as F
import lexicon as L

POSS_EN = ['my', 'your', 'his', 'our', 'your', 'their']


class Subject:
    def __init__(self, en, fr, person, gender='m', plural=None, pronoun=False,
                 owner=None):
        self.en, self.fr, self.person = en, fr, person
        self.gender = gender
        self.plural = person >= 3 if plural is None else plural
        self.pronoun = pronoun
        self.poss_en = 'her' if person == 2 and gender == 'f' \
            else POSS_EN[person]
        self.key = en            # to keep subject and object apart


PRONOUNS = [Subject('I', 'je', 0, pronoun=True),
            Subject('you', 'tu', 1, pronoun=True),
            Subject('he', 'il', 2, pronoun=True),
            Subject('she', 'elle', 2, 'f', pronoun=True),
            Subject('we', 'nous', 3, pronoun=True),
            Subject('they', 'ils', 5, pronoun=True)]
I, YOU, HE, SHE, WE, THEY = PRONOUNS
# The formal or plural "you", only in sentences that carry a cue for it.
VOUS = Subject('you', 'vous', 4, pronoun=True, plural=False)
VOUS_PL = Subject('you', 'vous', 4, pronoun=True)
VOUS_F = Subject('you', 'vous', 4, 'f', pronoun=True, plural=False)


def name(rng):
    en, gender = rng.choice(L.NAMES)
    return Subject(en, L.FR_NAMES.get(en, en), 2, gender)


def relative(rng, married=True):
    """my brother / his sister ...; married: also husband and wife."""
    noun = rng.choice(L.FAMILY if married else L.FAMILY[:-2])
    poss_en, poss_fr = rng.choice(
        [('my', 0)] * 5 + [('your', 1), ('his', 2), ('her', 2), ('our', 3)])
    if noun.en == 'husband' and poss_en in ('his', 'our'):
        poss_en, poss_fr = 'her', 2
    if noun.en == 'wife' and poss_en in ('her', 'our'):
        poss_en, poss_fr = 'his', 2
    return Subject(poss_en + ' ' + noun.en,
                   F.possessive(poss_fr, noun.gender, False, noun.fr) + ' '
                   + noun.fr, 2, noun.gender)


def person(rng):
    """the doctor ..."""
    noun = rng.choice(L.PEOPLE)
    return Subject('the ' + noun.en, F.elide('le ' + noun.fr
                   if noun.gender == 'm' else 'la ' + noun.fr), 2, noun.gender)


def plural_people(rng):
    kind = rng.randrange(4)
    if kind == 0:
        (a, ga), (b, gb) = rng.sample(L.NAMES, 2)
        fa, fb = L.FR_NAMES.get(a, a), L.FR_NAMES.get(b, b)
        gender = 'f' if ga == gb == 'f' else 'm'
        return Subject(a + ' and ' + b, fa + ' et ' + fb, 5, gender)
    if kind == 1:
        return Subject('the children', 'les enfants', 5)
    noun = rng.choice(L.FAMILY_PL)
    poss_en, poss_fr = rng.choice([('my', 0)] * 4 + [('your', 1), ('our', 3)])
    return Subject(poss_en + ' ' + noun.en_pl,
                   F.possessive(poss_fr, noun.gender, True, noun.fr_pl) + ' '
                   + noun.fr_pl, 5, noun.gender)


def subject(rng, nouns=0.45):
    """Any human subject; pronouns are the most frequent."""
    if rng.random() > nouns:
        return rng.choice(PRONOUNS + [I, I, HE, SHE])
    return rng.choice([name, name, relative, relative, person,
                       plural_people])(rng)


def kin(rng):
    """A relative as an object, where a spouse would often be odd."""
    return relative(rng, married=False)


class Phrase:
    """A noun phrase whose article may depend on negation and on the subject.

    det: def, indef, part (mass, 'some' or bare), poss (of the subject),
    demo, zero, or a number.
    """

    def __init__(self, noun, det, plural=False, adj=None, number=None,
                 some=False):
        self.noun, self.det, self.plural = noun, det, plural
        self.adj, self.number, self.some = adj, number, some
        if number:
            self.plural = True

    def en(self, subj=None, neg=False):
        core = self.noun.e(self.plural)
        if self.adj:
            core = self.adj[0] + ' ' + core
        if self.number:
            return L.NUMBERS[self.number][0] + ' ' + core
        if self.det == 'def':
            return 'the ' + core
        if self.det == 'poss':
            return subj.poss_en + ' ' + core
        if self.det == 'demo':
            return ('these ' if self.plural else 'this ') + core
        if self.det == 'indef' and not self.plural:
            return E.article(core)
        if self.some and self.det in ('indef', 'part'):
            return ('any ' if neg else 'some ') + core
        return core

    def fr(self, subj=None, neg=False):
        noun = self.noun.f(self.plural)
        gender = self.noun.gender
        core = noun
        if self.adj:
            _, adj, before = self.adj
            form = F.adjective(adj, gender, self.plural, noun if before else '')
            core = form + ' ' + noun if before else noun + ' ' + form
        if self.number:
            return L.NUMBERS[self.number][1] + ' ' + core
        if self.det == 'poss':
            return F.possessive(subj.person, gender, self.plural, core) + ' ' \
                + core
        if self.det == 'demo':
            return F.demonstrative(gender, self.plural, core) + ' ' + core
        if self.det == 'def':
            art = 'les' if self.plural else 'la' if gender == 'f' else 'le'
            return F.elide(art + ' ' + core)
        if self.det in ('indef', 'part') and neg:
            return F.elide('de ' + core)
        if self.det == 'indef':
            if self.plural:
                # des becomes de before a preceding adjective
                art = 'de' if self.adj and self.adj[2] else 'des'
                return F.elide(art + ' ' + core)
            return ('une ' if gender == 'f' else 'un ') + core
        if self.det == 'part':
            if F.starts_with_vowel(core):
                return "de l'" + core
            return ('de la ' if gender == 'f' else 'du ') + core
        return core


class Fixed:
    """A slot value whose two sides never change."""

    def __init__(self, en, fr):
        self._en, self._fr = en, fr

    def en(self, subj=None, neg=False):
        return self._en

    def fr(self, subj=None, neg=False):
        return self._fr


def human(rng):
    """Someone as an object; never a pronoun."""
    who = rng.choice([name, kin, kin, person])(rng)
    return Fixed(who.en, who.fr)


def colored(rng, noun, plural):
    return Phrase(noun, 'indef', plural, rng.choice(L.COLORS))


def _indef(pool, adjs=(), plural=0.0):
    def make(rng):
        adj = rng.choice(adjs) if adjs and rng.random() < 0.55 else None
        return Phrase(rng.choice(pool), 'indef', rng.random() < plural, adj)
    return make


def _def(pool, det='def', plural=0.0):
    return lambda rng: Phrase(rng.choice(pool), det, rng.random() < plural)


def fruit(rng):
    if rng.random() < 0.35:
        return Phrase(rng.choice(L.FRUIT), 'indef', number=rng.choice([2, 3]))
    plural = rng.random() < 0.5
    return Phrase(rng.choice(L.FRUIT), 'indef', plural)


def food(rng):
    return Phrase(rng.choice(L.FOOD[:10] + L.FOOD[:11]), 'part')


def grocery(rng):
    if rng.random() < 0.5:
        return Phrase(rng.choice(L.FRUIT), 'indef', True, some=True)
    return Phrase(rng.choice(L.FOOD + L.DRINK), 'part', some=True)


def clothes(rng):
    plural = rng.random() < 0.25
    noun = rng.choice(L.CLOTHES_PL if plural else L.CLOTHES)
    if rng.random() < 0.45:
        return colored(rng, noun, plural)
    adj = rng.choice([L.NEW, L.BEAUTIFUL, L.NEW, L.PRETTY]) \
        if rng.random() < 0.6 else None
    return Phrase(noun, 'indef', plural, adj)


def own(rng):
    noun = rng.choice(L.OWN)
    plural = noun.en in ('key', 'book', 'ticket') and rng.random() < 0.5
    return Phrase(noun, 'poss', plural)


def own_clothes(rng):
    if rng.random() < 0.4:
        return Phrase(rng.choice(L.CLOTHES_PL), 'poss', True)
    return Phrase(rng.choice([n for n in L.CLOTHES if n.en not in
                              ('shirt', 'dress', 'skirt')]), 'poss')


def to_place(rng):
    noun = rng.choice(L.PLACE)
    if noun.en == 'school':
        return Fixed('to school', "à l'école")
    return Fixed('to the ' + noun.en, F.contract('à', Phrase(noun, 'def').fr()))


def at_place(rng):
    noun = rng.choice(L.PLACE)
    if noun.en == 'school':
        return Fixed('at school', "à l'école")
    return Fixed('at the ' + noun.en, F.contract('à', Phrase(noun, 'def').fr()))


def stay_place(rng):
    noun = rng.choice([n for n in L.PLACE if n.en in (
        'hospital', 'hotel', 'beach', 'park', 'library', 'office', 'pool',
        'museum', 'restaurant', 'church')])
    return Fixed('at the ' + noun.en, F.contract('à', Phrase(noun, 'def').fr()))


def in_place(rng):
    noun = rng.choice(L.INSIDE)
    en = 'on the train' if noun.en == 'train' else 'in the ' + noun.en
    return Fixed(en, 'dans ' + Phrase(noun, 'def').fr())


def to_land(rng):
    if rng.random() < 0.55:
        en, fr = rng.choice(L.CITIES)
        return Fixed('to ' + en, 'à ' + fr)
    en, into, _, _ = rng.choice(L.COUNTRIES)
    return Fixed('to ' + en, into)


def in_land(rng):
    if rng.random() < 0.55:
        en, fr = rng.choice(L.CITIES)
        return Fixed('in ' + en, 'à ' + fr)
    en, into, _, _ = rng.choice(L.COUNTRIES)
    return Fixed('in ' + en, into)


def from_land(rng):
    if rng.random() < 0.5:
        en, fr = rng.choice(L.CITIES)
        return Fixed('from ' + en, 'de ' + fr)
    en, _, out, _ = rng.choice(L.COUNTRIES)
    return Fixed('from ' + en, out)


def spot(rng):
    """on the table, under the bed, in the bag ..."""
    kind = rng.randrange(3)
    if kind == 2:
        noun = rng.choice([n for n in L.INSIDE if n.en not in
                           ('train', 'street')]
                          + [n for n in L.OWN if n.en in ('bag', 'suitcase')])
        return Fixed('in the ' + noun.en, 'dans ' + Phrase(noun, 'def').fr())
    noun = rng.choice(L.FURNITURE)
    en, fr = ('on', 'sur') if kind == 0 else ('under', 'sous')
    return Fixed(en + ' the ' + noun.en, fr + ' ' + Phrase(noun, 'def').fr())


def hour(rng, first=5, last=11):
    n = first + rng.randrange(last - first + 1)
    half = rng.random() < 0.3
    en, fr = L.NUMBERS[n]
    if half:
        return Fixed('at half past ' + en, 'à ' + fr + ' heures et demie')
    return Fixed("at " + en + " o'clock", 'à ' + fr + ' heures')


def language(rng):
    en, fr = rng.choice(L.LANGUAGES)
    return Fixed(en, fr)


def the_language(rng):
    en, fr = rng.choice(L.LANGUAGES)
    return Fixed(en, F.elide('le ' + fr))


def pairs(table):
    return lambda rng: Fixed(*rng.choice(table))


def to_human(rng):
    who = rng.choice([name, kin, kin, person])(rng)
    return Fixed('to ' + who.en, F.contract('à', who.fr))


def about_topic(rng):
    if rng.random() < 0.4:
        who = rng.choice([name, kin, person])(rng)
        return Fixed('about ' + who.en, F.elide(F.contract('de', who.fr)))
    noun = rng.choice(L.MEETING)
    return Fixed('about the ' + noun.en,
                 F.contract('de', Phrase(noun, 'def').fr()))


def with_human(rng):
    if rng.random() < 0.35:
        return Phrase2('with', 'avec', Phrase(
            [n for n in L.FAMILY_PL if n.en == 'friend'][0], 'poss', True))
    who = rng.choice([name, kin, kin])(rng)
    return Fixed('with ' + who.en, 'avec ' + who.fr)


class Phrase2:
    """Preposition + phrase."""

    def __init__(self, en, fr, phrase):
        self._en, self._fr, self.phrase = en, fr, phrase

    def en(self, subj=None, neg=False):
        return self._en + ' ' + self.phrase.en(subj, neg)

    def fr(self, subj=None, neg=False):
        return F.contract(self._fr, self.phrase.fr(subj, neg))


def need_thing(rng):
    """After "avoir besoin de": no partitive or plural article."""
    kind = rng.randrange(3)
    if kind == 0:
        noun = rng.choice(L.FOOD + L.DRINK)
        return Fixed(noun.en, F.elide('de ' + noun.fr))
    if kind == 1:
        noun = rng.choice(L.OWN)
        return OwnNeed(Phrase(noun, 'poss'))
    noun = rng.choice([n for n in L.OWN + L.VEHICLE + L.CLOTHES
                       if n.en not in ('passport', 'ticket', 'key')])
    p = Phrase(noun, 'indef')
    return Fixed(p.en(), "d'" + p.fr())


class OwnNeed:
    def __init__(self, phrase):
        self.phrase = phrase

    def en(self, subj=None, neg=False):
        return self.phrase.en(subj)

    def fr(self, subj=None, neg=False):
        return 'de ' + self.phrase.fr(subj)


ROOM = [n for n in L.INSIDE if n.en in ('kitchen', 'living room', 'bathroom',
                                        'house', 'car')]
TASKS = [('the work', 'le travail'), ('the book', 'le livre'),
         ('the letter', 'la lettre'), ('the exam', "l'examen"),
         ('the game', 'le match')]

SLOTS = {
    'food': food, 'fruit': fruit, 'grocery': grocery, 'clothes': clothes,
    'drink': lambda rng: Phrase(rng.choice(L.DRINK), 'part'),
    'own': own, 'ownclothes': own_clothes,
    'readable': lambda rng: Phrase(rng.choice(L.READABLE),
                                   rng.choice(['def', 'indef', 'demo'])),
    'writable': lambda rng: Phrase(rng.choice(
        [n for n in L.READABLE if n.en in ('letter', 'book', 'message',
                                           'poem', 'story')]), 'indef'),
    'vehicle': _indef(L.VEHICLE, [L.NEW, L.BIG, L.RED, L.BLUE, L.SMALL, L.BLACK]),
    'ownvehicle': _def(L.VEHICLE, 'poss'),
    'housing': _indef(L.HOUSING[:2], [L.BIG, L.SMALL, L.NEW, L.BEAUTIFUL,
                                      L.OLD]),
    'animal': _indef(L.ANIMAL[:4], [L.BIG, L.SMALL, L.BLACK, L.WHITE, L.OLD,
                                    L.BEAUTIFUL]),
    'openable': _def(L.OPENABLE), 'closable': _def(L.OPENABLE[:4]),
    'tableware': _indef(L.TABLEWARE[:4]),
    'gift': _indef(L.GIFT, [], plural=0.25),
    'present': _indef([n for n in L.GIFT if n.en not in ('letter', 'photo')],
                      [L.BEAUTIFUL, L.PRETTY, L.BEAUTIFUL], plural=0.25),
    'sendable': lambda rng: Phrase(rng.choice(
        [n for n in L.GIFT + L.READABLE if n.en in
         ('gift', 'letter', 'postcard', 'message', 'photo', 'book')]), 'indef'),
    'play': pairs(L.SPORTS),
    'instrument': lambda rng: (lambda n: Fixed(
        'the ' + n.en, F.contract('de', Phrase(n, 'def').fr())))(
            rng.choice(L.INSTRUMENT)),
    'language': language, 'thelanguage': the_language,
    'subject': pairs(L.SUBJECTS),
    'toplace': to_place, 'atplace': at_place, 'inplace': in_place,
    'stayplace': stay_place,
    'walkplace': pairs([('in the park', 'dans le parc'),
                        ('in the garden', 'dans le jardin'),
                        ('in the street', 'dans la rue'),
                        ('on the beach', 'sur la plage'),
                        ('by the sea', 'au bord de la mer'),
                        ('in the city', 'dans la ville')]),
    'toland': to_land, 'inland': in_land, 'fromland': from_land,
    'spot': spot, 'hour': hour,
    'earlyhour': lambda rng: hour(rng, 5, 9),
    'latehour': lambda rng: hour(rng, 9, 11), 'human': human, 'tohuman': to_human,
    'withhuman': with_human, 'about': about_topic,
    'room': _def(ROOM), 'need': need_thing,
    'transport': _def(L.TRANSPORT[:4]),
    'work': pairs([('at the hospital', "à l'hôpital"), ('in a bank',
                   'dans une banque'), ('in a restaurant', 'dans un restaurant'),
                   ('at home', 'à la maison'), ('in an office',
                   'dans un bureau'), ('at the bakery', 'à la boulangerie'),
                   ('with my brother', 'avec mon frère'),
                   ('in a hotel', 'dans un hôtel')]),
    'film': pairs([('a movie', 'un film'), ('the movie', 'le film'),
                   ('TV', 'la télé'), ('the game', 'le match'),
                   ('this movie', 'ce film')]),
    'music': pairs([('music', 'de la musique'), ('the radio', 'la radio'),
                    ('this song', 'cette chanson'),
                    ('the teacher', 'le professeur')]),
    'meal': pairs([('dinner', 'le dîner'), ('breakfast', 'le petit déjeuner'),
                   ('lunch', 'le déjeuner')]),
    'question': pairs([('the question', 'la question'),
                       ('the lesson', 'la leçon'),
                       ('this problem', 'ce problème'),
                       ('this word', 'ce mot'), ('the answer', 'la réponse')]),
    'answer': pairs([('the question', 'à la question'),
                     ('the letter', 'à la lettre'),
                     ('the phone', 'au téléphone'),
                     ('this message', 'à ce message')]),
    'task': pairs(TASKS),
    'hobby': pairs([('to read', 'lire'), ('to travel', 'voyager'),
                    ('to dance', 'danser'), ('to sing', 'chanter'),
                    ('to swim', 'nager'), ('to cook', 'cuisiner'),
                    ('to sleep', 'dormir'), ('to run', 'courir'),
                    ('to walk', 'marcher'), ('to drive', 'conduire'),
                    ('to work', 'travailler')]),
    'plan': pairs([('to leave', 'partir'), ('to stay', 'rester'),
                   ('to buy a house', 'acheter une maison'),
                   ('to buy a car', 'acheter une voiture'),
                   ('to sell the house', 'vendre la maison'),
                   ('to learn French', 'apprendre le français'),
                   ('to go to Paris', 'aller à Paris'),
                   ('to go to Italy', 'aller en Italie'),
                   ('to live in London', 'habiter à Londres'),
                   ('to travel', 'voyager')]),
    'chore': pairs([('to close the door', 'fermer la porte'),
                    ('to close the window', 'fermer la fenêtre'),
                    ('to call {my} mother', 'appeler {mon:mère:f}'),
                    ('to call the doctor', 'appeler le médecin'),
                    ('to buy bread', 'acheter du pain'),
                    ('to buy milk', 'acheter du lait'),
                    ('to answer the letter', 'répondre à la lettre'),
                    ('to take the umbrella', 'prendre le parapluie')]),
    'skill': pairs([('to swim', 'nager'), ('to drive', 'conduire'),
                    ('to dance', 'danser'), ('to cook', 'cuisiner'),
                    ('to read', 'lire'), ('to write', 'écrire'),
                    ('to play the piano', 'jouer du piano'),
                    ('to play the guitar', 'jouer de la guitare'),
                    ('to speak French', 'parler français'),
                    ('to sing', 'chanter')]),
    'atcity': pairs(L.CITIES),
    'device': pairs([('light', 'la lumière'), ('TV', 'la télé'),
                     ('radio', 'la radio'), ('computer', "l'ordinateur")]),
    'duration': pairs([('a week', 'une semaine'), ('two weeks',
                       'deux semaines'), ('the weekend', 'le week-end'),
                       ('three days', 'trois jours'), ('a month', 'un mois'),
                       ('the summer', "l'été")]),
    'drawable': pairs([('a house', 'une maison'), ('a horse', 'un cheval'),
                       ('a cat', 'un chat'), ('a flower', 'une fleur'),
                       ('a bird', 'un oiseau'), ('the sun', 'le soleil'),
                       ('a boat', 'un bateau'), ('a cow', 'une vache')]),
    'sayable': pairs([('the question', 'la question'), ('the word', 'le mot'),
                      ('this word', 'ce mot'), ('the answer', 'la réponse')]),
    'memory': pairs([('this day', 'de ce jour'), ('this trip',
                     'de ce voyage'), ('this song', 'de cette chanson'),
                     ('my grandmother', 'de ma grand-mère'),
                     ('my grandfather', 'de mon grand-père'),
                     ('this movie', 'de ce film'),
                     ('this story', 'de cette histoire'),
                     ('the war', 'de la guerre'),
                     ('your name', 'de ton nom'),
                     ('the party', 'de la fête')]),
    'shareable': pairs([('the cake', 'le gâteau'), ('the bread', 'le pain'),
                        ('the work', 'le travail'), ('the room',
                        'la chambre'), ('the bill', "l'addition"),
                        ('the money', "l'argent")]),
    'hideable': pairs([('the gift', 'le cadeau'), ('the letter',
                       'la lettre'), ('the money', "l'argent"),
                       ('the key', 'la clé'), ('the truth', 'la vérité'),
                       ('the cake', 'le gâteau')]),
    'animaldef': pairs([('the dog', 'le chien'), ('the cat', 'le chat'),
                        ('the children', 'les enfants'),
                        ('the baby', 'le bébé'), ('my brother', 'mon frère'),
                        ('my sister', 'ma sœur')]),
    'caretaken': pairs([('the children', 'des enfants'), ('the baby',
                        'du bébé'), ('the dog', 'du chien'),
                        ('the cat', 'du chat'), ('the garden', 'du jardin'),
                        ('the house', 'de la maison')]),
    'downto': pairs([('to the kitchen', 'à la cuisine'),
                     ('to the garden', 'au jardin'),
                     ('to the beach', 'à la plage')]),
    'borrowable': pairs([('a pen', 'un stylo'), ('a book', 'un livre'),
                         ('money', "de l'argent"), ('my car', 'ma voiture'),
                         ('an umbrella', 'un parapluie'),
                         ('a bike', 'un vélo'), ('a suitcase',
                         'une valise')]),
    'orderable': pairs([('a coffee', 'un café'), ('a beer', 'une bière'),
                        ('a salad', 'une salade'), ('a soup', 'une soupe'),
                        ('a sandwich', 'un sandwich'), ('fish', 'du poisson'),
                        ('chicken', 'du poulet'), ('wine', 'du vin')]),
    'tasteable': pairs([('the soup', 'la soupe'), ('the cake', 'le gâteau'),
                        ('the wine', 'le vin'), ('the cheese',
                        'le fromage'), ('this cheese', 'ce fromage'),
                        ('this wine', 'ce vin')]),
    'things': pairs([(n.en_pl, 'les ' + n.fr_pl) for n in
                     L.FRUIT[:4] + L.FRUIT[5:] + L.ANIMAL]
                    + [(n.en, Phrase(n, 'def').fr())
                       for n in L.FOOD[:10] + L.DRINK]
                    + [('music', 'la musique'), ('winter', "l'hiver"),
                       ('summer', "l'été"), ('spring', 'le printemps'),
                       ('school', "l'école"), ('history', "l'histoire"),
                       ('flowers', 'les fleurs'), ('soccer', 'le football'),
                       ('this book', 'ce livre'), ('this song',
                       'cette chanson'), ('this city', 'cette ville'),
                       ('this house', 'cette maison'), ('this movie',
                       'ce film'), ('the snow', 'la neige'),
                       ('the sea', 'la mer')]),
}


# Verbs whose fixed complements above and below are direct objects, so that
# their article becomes "de" in the negative (but: jouer du piano).
DIRECT_OBJECT = {'faire', 'prendre', 'raconter', 'poser', 'acheter', 'écouter',
                 'regarder', 'commander', 'emprunter', 'dessiner',
                 'construire'}


class VP:
    """A verb phrase in both languages.

    flags: p present habit, g progressive, t past, s stative past (imparfait),
    i "used to" and past progressive, f future, c conditional, m infinitive
    after a modal, ! imperative, P perfect with already/never/yet.
    times: d = day-sized adverbials, l = long ones (last year), n = none,
    h = clock times.  neg_ok: 'Q' where negation changes the article of the
    object.
    """

    def __init__(self, line):
        en, fr, flags, times = [x.strip() for x in line.split('|')]
        self.en_verb, _, self.en_rest = en.partition(' ')
        fr = fr.replace("s'", 'se ', 1) if fr.startswith("s'") else fr
        if fr.startswith('se '):
            words = fr.split(' ', 2)
            self.fr_verb = ' '.join(words[:2])
            self.fr_rest = words[2] if len(words) > 2 else ''
        else:
            self.fr_verb, _, self.fr_rest = fr.partition(' ')
        self.flags, self.times = flags, times
        self.slots = [s for s in re.findall(r'\{(\w+)\}', self.en_rest)
                      if s != 'my']
        self.stative = 's' in flags

    def fill(self, rng):
        return {s: SLOTS[s](rng) for s in self.slots}

    def en(self, values, subj, neg):
        text = self.en_rest
        for s, v in values.items():
            text = text.replace('{%s}' % s, v.en(subj, neg))
        return text.replace('{my}', subj.poss_en)

    def fr(self, values, subj, neg):
        text = self.fr_rest
        for s, v in values.items():
            text = text.replace('{%s}' % s, v.fr(subj, neg))
        if neg and self.fr_verb in DIRECT_OBJECT:
            # ne ... pas turns un, une, du, de la, des into de
            text = re.sub(r"^(un|une|du|de la|des) |^de l'", 'de ', text)
        # {mon:noun:gender} is the subject's own thing
        def own_noun(m):
            noun, gender = m.group(1), m.group(2)
            return F.possessive(subj.person, gender[0], gender.endswith('p'),
                                noun) + ' ' + noun
        return re.sub(r'\{mon:([^:}]+):(\w+)\}', own_noun, text)


VERB_PHRASES = [VP(line) for line in """
eat {food} | manger {food} | pgtifcm!P | d
eat {fruit} | manger {fruit} | gtfm! | d
eat at the restaurant | manger au restaurant | pgtifm | d
drink {drink} | boire {drink} | pgtifm! | d
buy {grocery} | acheter {grocery} | tfm!P | d
buy {clothes} | acheter {clothes} | tfcmP | d
buy {vehicle} | acheter {vehicle} | tfcmP | dl
buy {housing} | acheter {housing} | tfcmP | l
sell {ownvehicle} | vendre {ownvehicle} | gtfcmP | dl
sell {my} house | vendre {mon:maison:f} | gtfcmP | l
lose {own} | perdre {own} | tP | d
find {own} | trouver {own} | tP | d
look for {own} | chercher {own} | gi | n
forget {own} | oublier {own} | tP | d
break {tableware} | casser {tableware} | t | d
open {openable} | ouvrir {openable} | gtfm! | n
close {closable} | fermer {closable} | gtfm! | n
read {readable} | lire {readable} | gtifm!P | d
write {writable} | écrire {writable} | gtifcmP | d
watch {film} | regarder {film} | gtifm | d
listen to {music} | écouter {music} | pgifm! | n
play {play} | jouer {play} | pgtifm | dw
play {instrument} | jouer {instrument} | pgifm | d
sing | chanter | pgtifcm! | d
dance | danser | pgtifcm! | d
swim | nager | pgtifm! | d
run | courir | pgtim! | d
walk | marcher | pgtim! | d
sleep | dormir | gtifm! | d
sleep late | dormir tard | ptifm | d
take a nap | faire la sieste | pgtifm | d
work | travailler | pgtifcm! | d
work {work} | travailler {work} | pgif | l
travel | voyager | pgtifcm | l
smile | sourire | pgt! | n
laugh | rire | pgti | n
cry | pleurer | pgti | n
smoke | fumer | pim | n
wait | attendre | gtifm! | n
win | gagner | tfcm | d
wait for {transport} | attendre {transport} | gti | d
wait for {human} | attendre {human} | gti | d
speak {language} | parler {language} | pgicm! | n
learn {thelanguage} | apprendre {thelanguage} | gtifcm | l
study {subject} | étudier {subject} | pgtifm | l
live {inland} | habiter {inland} | pifcm | l
go {toplace} | aller {toplace} | pgtifm! | d
go {toland} | aller {toland} | gtfcmP | dl
go home | rentrer | gtfm! | d
leave | partir | tfcmP! | d
arrive {hour} | arriver {hour} | ptf | d
leave {hour} | partir {hour} | ptfm | d
arrive | arriver | gtfP | d
come back | revenir | tfcmP! | d
come with us | venir avec nous | gtfm! | d
go out {withhuman} | sortir {withhuman} | gtfm | d
go out | sortir | pgtifm! | d
stay at home | rester à la maison | gtifm! | d
stay {stayplace} | rester {stayplace} | gtfm! | d
come {fromland} | venir {fromland} | s | n
take {transport} | prendre {transport} | pgtfcm! | d
take a shower | prendre une douche | pgtifm | d
take a picture | prendre une photo | gtfm | d
do the dishes | faire la vaisselle | pgtifm! | d
do {my} homework | faire {mon:devoirs:mp} | pgtifm!P | d
go shopping | faire les courses | pgtifm | dw
clean {room} | nettoyer {room} | pgtifm! | dw
make {meal} | préparer {meal} | pgtifm | d
make coffee | faire du café | gtfm! | d
make a cake | faire un gâteau | gtfcm | d
have breakfast | prendre le petit déjeuner | pgi | d
have dinner {withhuman} | dîner {withhuman} | pgtifcm | d
get up {earlyhour} | se lever {earlyhour} | ptifm | d
get up early | se lever tôt | ptifm | d
go to bed late | se coucher tard | ptifm | d
go to bed {latehour} | se coucher {latehour} | ptifm | d
wake up early | se réveiller tôt | ptifm | d
get dressed | se habiller | gtm! | n
take a walk {walkplace} | se promener {walkplace} | pgtifm | d
rest | se reposer | gtfm! | d
hurry | se dépêcher | gtm! | n
have fun | se amuser | gtif | d
get married | se marier | gtfcmP | dl
visit {atcity} | visiter {atcity} | gtfcm | l
visit the museum | visiter le musée | gtfcm | d
visit {my} grandparents | rendre visite à {mon:grands-parents:mp} | pgtifcm | dw
call {human} | appeler {human} | pgtfcm! | dw
help {human} | aider {human} | pgtifcm! | d
see {human} | voir {human} | tfmP | d
meet {human} | rencontrer {human} | tfmP | dl
invite {human} | inviter {human} | gtfcm! | d
know {human} | connaître {human} | s | n
love {human} | aimer {human} | s | n
thank {human} | remercier {human} | gtfm! | n
understand {question} | comprendre {question} | ptm | n
talk {tohuman} | parler {tohuman} | gtifm!P | d
talk {about} | parler {about} | pgtim | n
answer {answer} | répondre {answer} | tfm!P | d
write {tohuman} | écrire {tohuman} | gtifm! | dw
give {gift} {tohuman} | donner {gift} {tohuman} | tfm! | d
buy {present} | acheter {present} | tfm! | d
send {sendable} {tohuman} | envoyer {sendable} {tohuman} | gtfm! | d
show the photos {tohuman} | montrer les photos {tohuman} | gtfm! | d
put {own} {spot} | mettre {own} {spot} | t! | n
leave {own} {spot} | laisser {own} {spot} | t! | n
wear {clothes} | porter {clothes} | gif | d
put on {ownclothes} | mettre {ownclothes} | gtfm! | n
take off {ownclothes} | enlever {ownclothes} | gtm! | n
pay the bill | payer l'addition | gtfm!P | d
choose {clothes} | choisir {clothes} | tfm | n
finish {task} | finir {task} | tfmP! | d
start {task} | commencer {task} | tfmP! | d
repair {ownvehicle} | réparer {ownvehicle} | gtifm | d
ride a bike | faire du vélo | pgifm | d
fall | tomber | t | n
need {need} | avoir besoin {need} | s | n
want {clothes} | vouloir {clothes} | s | n
like {things} | aimer {things} | s | n
hate {things} | détester {things} | s | n
prefer {things} | préférer {things} | p | n
like {hobby} | aimer {hobby} | s | n
decide {plan} | décider de {plan} | t | d
forget {chore} | oublier de {chore} | tP | d
learn {skill} | apprendre à {skill} | gtfcm | l
receive {sendable} | recevoir {sendable} | tfP | d
cook | cuisiner | pgtifcm | d
swim in the sea | nager dans la mer | pgtifm | d
wash the car | laver la voiture | pgtifm! | dw
wash {my} clothes | laver {mon:vêtements:mp} | pgtifm | dw
turn on the {device} | allumer {device} | gtfm! | n
turn off the {device} | éteindre {device} | gtfm! | n
cut the bread | couper le pain | gtfm! | n
carry the suitcase | porter la valise | gtfm! | n
miss {transport} | rater {transport} | tP | d
spend {duration} {inland} | passer {duration} {inland} | gtfcm | n
build a house | construire une maison | gtfcm | l
draw {drawable} | dessiner {drawable} | gtfm! | d
repeat {sayable} | répéter {sayable} | gtfm! | n
explain {question} {tohuman} | expliquer {question} {tohuman} | gtfm! | d
ask a question | poser une question | tfm | n
tell a story {tohuman} | raconter une histoire {tohuman} | gtfm! | d
tell the truth | dire la vérité | tfm! | n
lie | mentir | pt | n
shout | crier | pgti | n
remember {memory} | se souvenir {memory} | p | n
share {shareable} | partager {shareable} | gtfm! | n
hide {hideable} | cacher {hideable} | tfm | n
play with {animaldef} | jouer avec {animaldef} | pgtifm! | d
take care of {caretaken} | s'occuper {caretaken} | pgtifm! | d
go down {downto} | descendre {downto} | gtfm! | n
come into the kitchen | entrer dans la cuisine | t | n
move {toland} | déménager {toland} | gtfm | l
borrow {borrowable} | emprunter {borrowable} | tfmP | d
dream {about} | rêver {about} | t | n
set the table | mettre la table | gtfm! | n
buy a ticket | acheter un billet | tfm!P | d
try on {clothes} | essayer {clothes} | gtf | n
order {orderable} | commander {orderable} | gtfm! | n
taste {tasteable} | goûter {tasteable} | tfm! | n
return the book | rendre le livre | tfm!P | d
""".strip().splitlines()]


def _named(pool, *names):
    return [n for n in pool if n.en in names]


EXTRA = {n.en: n for n in L.nouns("""
street | rue | f
city | ville | f
sea | mer | f
story | histoire | f
day | journée | f""")}

# Things with the adjectives that suit them (adjective order matters not).
DESCRIBED = (
    [(n, [L.BIG, L.SMALL, L.OLD, L.NEW, L.BEAUTIFUL, L.EXPENSIVE, L.CLEAN])
     for n in L.HOUSING]
    + [(n, [L.NEW, L.OLD, L.BEAUTIFUL, L.EXPENSIVE, L.DIRTY, L.CLEAN, L.PRETTY]
        + L.COLORS[:5]) for n in L.CLOTHES]
    + [(n, [L.NEW, L.OLD, L.BEAUTIFUL, L.EXPENSIVE, L.DIRTY, L.CLEAN]
        + L.COLORS[4:]) for n in L.CLOTHES_PL]
    + [(n, [L.NEW, L.OLD, L.BIG, L.SMALL, L.EXPENSIVE, L.DIRTY, L.BROKEN]
        + L.COLORS[:5]) for n in L.VEHICLE]
    + [(n, [L.GOOD, L.BAD, L.INTERESTING, L.BORING, L.LONG, L.SHORT])
       for n in _named(L.MEETING, 'movie', 'lesson')
       + _named(L.READABLE, 'book', 'story')]
    + [(n, [L.EASY, L.DIFFICULT, L.LONG, L.IMPORTANT])
       for n in _named(L.MEETING, 'exam', 'lesson', 'question')]
    + [(n, [L.BEAUTIFUL, L.SHORT, L.LONG, L.OLD, L.PRETTY])
       for n in _named(L.MEETING, 'song')]
    + [(n, [L.HEAVY, L.LIGHT, L.BIG, L.SMALL, L.NEW, L.FULL, L.EMPTY])
       for n in _named(L.OWN, 'bag', 'suitcase') + _named(L.OPENABLE, 'box')]
    + [(n, [L.NEW, L.OLD, L.EXPENSIVE, L.BROKEN, L.BEAUTIFUL])
       for n in _named(L.OWN, 'phone', 'watch', 'computer', 'umbrella')]
    + [(n, [L.EMPTY, L.FULL, L.CLEAN, L.DIRTY, L.BROKEN])
       for n in _named(L.TABLEWARE, 'glass', 'cup', 'bottle')]
    + [(n, [L.OPEN, L.CLOSED, L.BROKEN, L.DIRTY])
       for n in _named(L.OPENABLE, 'window', 'door')]
    + [(n, [L.HOT, L.COLD, L.GOOD]) for n in
       _named(L.FOOD + L.DRINK, 'soup', 'coffee', 'tea', 'water', 'milk')]
    + [(n, [L.GOOD, L.EXPENSIVE]) for n in
       _named(L.FOOD + L.DRINK, 'wine', 'bread', 'meat', 'fish', 'cheese')]
    + [(n, [L.OPEN, L.CLOSED, L.BIG, L.FULL, L.EMPTY, L.EXPENSIVE, L.NEW])
       for n in _named(L.PLACE, 'hotel', 'restaurant')]
    + [(n, [L.OPEN, L.CLOSED, L.BIG, L.INTERESTING, L.NEW])
       for n in _named(L.PLACE, 'museum')]
    + [(n, [L.OPEN, L.CLOSED, L.NEW]) for n in
       _named(L.PLACE, 'bank', 'pharmacy', 'library', 'post office',
              'supermarket', 'pool', 'bakery')]
    + [(n, [L.BIG, L.BEAUTIFUL, L.CLEAN, L.DIRTY, L.EMPTY])
       for n in _named(L.PLACE, 'beach', 'park')]
    + [(n, [L.GOOD, L.EXPENSIVE]) for n in _named(L.FRUIT, 'apple',
       'orange', 'strawberry', 'tomato', 'egg', 'cake')]
    + [(EXTRA['street'], [L.LONG, L.CLEAN, L.DIRTY, L.EMPTY]),
       (EXTRA['city'], [L.BIG, L.SMALL, L.BEAUTIFUL, L.OLD, L.CLEAN])]
    + [(n, [L.BIG, L.SMALL, L.OLD, L.BLACK, L.WHITE, L.BEAUTIFUL])
       for n in L.ANIMAL[:4]])
