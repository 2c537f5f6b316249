"""Nouns, adjectives, people and adverbials, grouped so that the sentences
built from them make sense."""
import english as E
import french as F


class Noun:
    def __init__(self, en, fr, gender, en_pl=None, fr_pl=None):
        self.en, self.fr, self.gender = en, fr, gender
        self.en_pl = en_pl or E.plural(en)
        self.fr_pl = fr_pl or F.noun_plural(fr)

    def f(self, plural=False):
        return self.fr_pl if plural else self.fr

    def e(self, plural=False):
        return self.en_pl if plural else self.en


def nouns(text):
    """One noun per line: english | french | gender."""
    out = []
    for line in text.strip().splitlines():
        parts = [p.strip() for p in line.split('|')]
        out.append(Noun(*parts))
    return out


FRUIT = nouns("""
apple | pomme | f
orange | orange | f
banana | banane | f
egg | œuf | m
sandwich | sandwich | m | sandwiches | sandwichs
cake | gâteau | m
tomato | tomate | f
carrot | carotte | f
potato | pomme de terre | f
strawberry | fraise | f""")
FOOD = nouns("""
bread | pain | m
cheese | fromage | m
meat | viande | f
fish | poisson | m
rice | riz | m
soup | soupe | f
chocolate | chocolat | m
butter | beurre | m
salad | salade | f
chicken | poulet | m
ice cream | glace | f
sugar | sucre | m""")
DRINK = nouns("""
water | eau | f
coffee | café | m
tea | thé | m
milk | lait | m
wine | vin | m
orange juice | jus d'orange | m
beer | bière | f""")
CLOTHES = nouns("""
shirt | chemise | f
dress | robe | f
coat | manteau | m
hat | chapeau | m
skirt | jupe | f
sweater | pull | m
jacket | veste | f
scarf | écharpe | f
tie | cravate | f""")
CLOTHES_PL = nouns("""
shoe | chaussure | f
glove | gant | m
sock | chaussette | f
boot | botte | f""")
OWN = nouns("""
book | livre | m
phone | téléphone | m
key | clé | f
bag | sac | m
pen | stylo | m
watch | montre | f
umbrella | parapluie | m
ticket | billet | m
suitcase | valise | f
wallet | portefeuille | m
passport | passeport | m
computer | ordinateur | m""")
READABLE = nouns("""
book | livre | m
letter | lettre | f
newspaper | journal | m
message | message | m
story | histoire | f
poem | poème | m""")
VEHICLE = nouns("""
car | voiture | f
bike | vélo | m""")
TRANSPORT = nouns("""
train | train | m
bus | bus | m
plane | avion | m
taxi | taxi | m
boat | bateau | m""")
OPENABLE = nouns("""
door | porte | f
window | fenêtre | f
box | boîte | f
suitcase | valise | f
bottle | bouteille | f""")
TABLEWARE = nouns("""
glass | verre | m
cup | tasse | f
plate | assiette | f
bottle | bouteille | f
knife | couteau | m
spoon | cuillère | f""")
FURNITURE = nouns("""
table | table | f
chair | chaise | f
bed | lit | m
desk | bureau | m""")
HOUSING = nouns("""
house | maison | f
apartment | appartement | m
room | chambre | f""")
GIFT = nouns("""
gift | cadeau | m
flower | fleur | f
book | livre | m
photo | photo | f
postcard | carte postale | f
letter | lettre | f""")
INSTRUMENT = nouns("""
piano | piano | m
guitar | guitare | f
violin | violon | m""")
ANIMAL = nouns("""
dog | chien | m
cat | chat | m
bird | oiseau | m
horse | cheval | m
cow | vache | f""")
PLACE = nouns("""
school | école | f
station | gare | f
bank | banque | f
hospital | hôpital | m
hotel | hôtel | m
restaurant | restaurant | m
market | marché | m
park | parc | m
beach | plage | f
museum | musée | m
library | bibliothèque | f
post office | poste | f
airport | aéroport | m
office | bureau | m
church | église | f
pool | piscine | f
supermarket | supermarché | m
pharmacy | pharmacie | f
bakery | boulangerie | f
theater | théâtre | m""")
# Places one is "in" (dans).
INSIDE = nouns("""
garden | jardin | m
kitchen | cuisine | f
living room | salon | m
bathroom | salle de bains | f
street | rue | f
car | voiture | f
train | train | m
house | maison | f""")
MEETING = nouns("""
movie | film | m
lesson | leçon | f
exam | examen | m
game | match | m
question | question | f
song | chanson | f
trip | voyage | m
party | fête | f""")

# Profession and social nouns with a definite article; the gender is fixed.
PEOPLE = nouns("""
doctor | médecin | m
teacher | professeur | m
policeman | policier | m
neighbor | voisin | m
baker | boulanger | m
waiter | serveur | m
nurse | infirmière | f
boss | patron | m
man | homme | m
woman | femme | f
boy | garçon | m
girl | fille | f
lawyer | avocat | m
singer | chanteur | m""")
FAMILY = nouns("""
mother | mère | f
father | père | m
brother | frère | m
sister | sœur | f
grandmother | grand-mère | f
grandfather | grand-père | m
uncle | oncle | m
aunt | tante | f
son | fils | m
daughter | fille | f
husband | mari | m
wife | femme | f""")
FAMILY_PL = nouns("""
parent | parent | m
friend | ami | m
child | enfant | m
brother | frère | m
sister | sœur | f
neighbor | voisin | m""")
NAMES = [('Paul', 'm'), ('Tom', 'm'), ('Lucas', 'm'), ('Peter', 'm'),
         ('Marie', 'f'), ('Anna', 'f'), ('Julie', 'f'), ('Sophie', 'f')]
FR_NAMES = {'Peter': 'Pierre'}

# (English, French without the article, preposition phrase "in", "from")
CITIES = [('Paris', 'Paris'), ('London', 'Londres'), ('Rome', 'Rome'),
          ('Lyon', 'Lyon'), ('Berlin', 'Berlin'), ('Madrid', 'Madrid'),
          ('Brussels', 'Bruxelles'), ('Nice', 'Nice')]
COUNTRIES = [('France', 'en France', 'de France', 'la France'),
             ('Italy', 'en Italie', "d'Italie", "l'Italie"),
             ('Spain', 'en Espagne', "d'Espagne", "l'Espagne"),
             ('Germany', 'en Allemagne', "d'Allemagne", "l'Allemagne"),
             ('England', 'en Angleterre', "d'Angleterre", "l'Angleterre"),
             ('Canada', 'au Canada', 'du Canada', 'le Canada'),
             ('Japan', 'au Japon', 'du Japon', 'le Japon'),
             ('the United States', 'aux États-Unis', 'des États-Unis',
              'les États-Unis')]
LANGUAGES = [('French', 'français'), ('English', 'anglais'),
             ('Spanish', 'espagnol'), ('Italian', 'italien'),
             ('German', 'allemand')]
SUBJECTS = [('history', "l'histoire"), ('math', 'les mathématiques'),
            ('music', 'la musique'), ('science', 'les sciences')]
SPORTS = [('soccer', 'au football'), ('tennis', 'au tennis'),
          ('cards', 'aux cartes'), ('chess', 'aux échecs'),
          ('basketball', 'au basket')]

# Adjectives of people: (English, French).  The first list holds states that
# change; the second lasting qualities.
STATES = [('happy', 'heureux'), ('sad', 'triste'), ('tired', 'fatigué'),
          ('sick', 'malade'), ('busy', 'occupé'), ('calm', 'calme'),
          ('ready', 'prêt'), ('late', 'en retard'), ('early', 'en avance'),
          ('alone', 'seul'), ('free', 'libre'), ('angry', 'en colère'),
          ('worried', 'inquiet'), ('nervous', 'nerveux'),
          ('surprised', 'surpris'), ('disappointed', 'déçu'),
          ('jealous', 'jaloux'), ('quiet', 'silencieux')]
QUALITIES = [('tall', 'grand'), ('short', 'petit'), ('nice', 'gentil'),
             ('rich', 'riche'), ('poor', 'pauvre'), ('young', 'jeune'),
             ('old', 'vieux'), ('strong', 'fort'), ('smart', 'intelligent'),
             ('funny', 'drôle'), ('shy', 'timide'), ('serious', 'sérieux'),
             ('lazy', 'paresseux'), ('polite', 'poli'), ('proud', 'fier'),
             ('famous', 'célèbre'), ('brave', 'courageux'),
             ('careful', 'prudent'), ('curious', 'curieux'),
             ('patient', 'patient')]
# Adjectives that do not take "very".
ABSOLUTE = {'ready', 'late', 'early', 'alone', 'free'}

# Adjectives of things: English, French, True if it stands before the noun.
BIG, SMALL = ('big', 'grand', True), ('small', 'petit', True)
NEW, OLD = ('new', 'nouveau', True), ('old', 'vieux', True)
BEAUTIFUL = ('beautiful', 'beau', True)
GOOD, BAD = ('good', 'bon', True), ('bad', 'mauvais', True)
PRETTY = ('pretty', 'joli', True)
RED, BLUE = ('red', 'rouge', False), ('blue', 'bleu', False)
GREEN, WHITE = ('green', 'vert', False), ('white', 'blanc', False)
BLACK, YELLOW = ('black', 'noir', False), ('yellow', 'jaune', False)
GRAY, BROWN = ('gray', 'gris', False), ('brown', 'marron', False)
EXPENSIVE, HEAVY = ('expensive', 'cher', False), ('heavy', 'lourd', False)
LIGHT = ('light', 'léger', False)
CLEAN, DIRTY = ('clean', 'propre', False), ('dirty', 'sale', False)
EMPTY, FULL = ('empty', 'vide', False), ('full', 'plein', False)
OPEN, CLOSED = ('open', 'ouvert', False), ('closed', 'fermé', False)
BROKEN = ('broken', 'cassé', False)
INTERESTING = ('interesting', 'intéressant', False)
EASY, DIFFICULT = ('easy', 'facile', False), ('difficult', 'difficile', False)
LONG, SHORT = ('long', 'long', True), ('short', 'court', False)
HOT, COLD = ('hot', 'chaud', False), ('cold', 'froid', False)
BORING = ('boring', 'ennuyeux', False)
IMPORTANT = ('important', 'important', False)
WARM = ('warm', 'chaud', False)
COLORS = [RED, BLUE, GREEN, WHITE, BLACK, YELLOW, GRAY, BROWN]

NUMBERS = {2: ('two', 'deux'), 3: ('three', 'trois'), 4: ('four', 'quatre'),
           5: ('five', 'cinq'), 6: ('six', 'six'), 7: ('seven', 'sept'),
           8: ('eight', 'huit'), 9: ('nine', 'neuf'), 10: ('ten', 'dix'),
           11: ('eleven', 'onze'), 12: ('twelve', 'douze'),
           13: ('thirteen', 'treize'), 14: ('fourteen', 'quatorze'),
           15: ('fifteen', 'quinze'), 16: ('sixteen', 'seize'),
           18: ('eighteen', 'dix-huit'),
           20: ('twenty', 'vingt'), 30: ('thirty', 'trente'),
           40: ('forty', 'quarante'), 50: ('fifty', 'cinquante'),
           60: ('sixty', 'soixante'), 100: ('a hundred', 'cent')}
DAYS = [('Monday', 'lundi'), ('Tuesday', 'mardi'), ('Wednesday', 'mercredi'),
        ('Thursday', 'jeudi'), ('Friday', 'vendredi'), ('Saturday', 'samedi'),
        ('Sunday', 'dimanche')]
MONTHS = [('January', 'janvier'), ('February', 'février'), ('March', 'mars'),
          ('April', 'avril'), ('May', 'mai'), ('June', 'juin'),
          ('July', 'juillet'), ('August', 'août'), ('September', 'septembre'),
          ('October', 'octobre'), ('November', 'novembre'),
          ('December', 'décembre')]
SEASONS = [('summer', 'été', 'en été'), ('winter', 'hiver', 'en hiver'),
           ('spring', 'printemps', 'au printemps'),
           ('fall', 'automne', 'en automne')]

# Adverbials by the tenses that they go with.
PAST = [('yesterday', 'hier'), ('yesterday', 'hier'),
        ('last night', 'hier soir'), ('this morning', 'ce matin'),
        ('last week', 'la semaine dernière'),
        ('yesterday morning', 'hier matin'),
        ('two days ago', 'il y a deux jours'),
        ('last Saturday', 'samedi dernier'), ('last Sunday', 'dimanche dernier'),
        ('an hour ago', 'il y a une heure'),
        ('three days ago', 'il y a trois jours')]
LONGPAST = [('last year', "l'année dernière"), ('last month', 'le mois dernier'),
            ('last summer', "l'été dernier"),
            ('two years ago', 'il y a deux ans'),
            ('ten years ago', 'il y a dix ans')]
FUTURE = [('tomorrow', 'demain'), ('tomorrow', 'demain'),
          ('tonight', 'ce soir'), ('tomorrow morning', 'demain matin'),
          ('next week', 'la semaine prochaine'),
          ('this weekend', 'ce week-end'), ('on Monday', 'lundi'),
          ('on Saturday', 'samedi'), ('on Friday', 'vendredi'),
          ('this afternoon', 'cet après-midi'), ('soon', 'bientôt')]
LONGFUTURE = [('next year', "l'année prochaine"),
              ('next month', 'le mois prochain'),
              ('next summer', "l'été prochain"), ('one day', 'un jour')]
HABIT = [('every day', 'tous les jours'), ('every morning', 'tous les matins'),
         ('every evening', 'tous les soirs'), ('on Sundays', 'le dimanche'),
         ('in the morning', 'le matin'), ('in the evening', 'le soir'),
         ('on Saturdays', 'le samedi'), ('every week', 'toutes les semaines')]
NOW = [('now', 'maintenant'), ('right now', 'en ce moment'),
       ('today', "aujourd'hui")]
MID = [('often', 'souvent'), ('always', 'toujours'), ('sometimes', 'parfois'),
       ('often', 'souvent')]
CLOCK = [('at %s o\'clock', 'à %s heures')]
