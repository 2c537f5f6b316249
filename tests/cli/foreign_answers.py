"""Compares translations with the answers of the program that owns the model, on all lines: convert_foreign.sh.

    foreign_answers.py lines ANSWERS TEXTS              the input of each line
    foreign_answers.py compare ANSWERS TEXTS KIND FILE  FILE: output of translate --json of these lines
                       [--except N,N...] [--allow N] [--tie X] [--tolerance X] [--first-step] [--no-end-first]

TEXTS has the texts of lines for answers that have pieces only. --except: lines that are treated otherwise on
purpose. --allow: so many of the lines that are no plain sentences (from line 11 on) may differ. --tie: a
greedy translation may part from the answer where the two next tokens differ by less than X in log p; FILE needs
all alternatives. --first-step: the log p of all tokens that the answers have the logits of. --no-end-first: the
program takes </s> out of the first step, which raises its scores.
"""
import argparse, json, math, sys

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=["lines", "compare"])
parser.add_argument("answers")
parser.add_argument("texts")
parser.add_argument("kind", nargs="?")
parser.add_argument("output", nargs="?")
parser.add_argument("--except", dest="skipped", default="")
parser.add_argument("--allow", type=int, default=0)
parser.add_argument("--tie", type=float, default=0)
parser.add_argument("--tolerance", type=float, default=1e-4)
parser.add_argument("--first-step", action="store_true")
parser.add_argument("--no-end-first", action="store_true")
options = parser.parse_args()


def read(path):
    return json.load(open(path, encoding="utf-8"))["lines"]


answers = read(options.answers)
texts = [line.get("text", line.get("input")) for line in (answers if "text" in answers[0] else read(options.texts))]
if options.what == "lines":
    sys.stdout.reconfigure(encoding="utf-8")
    print("".join(text + "\n" for text in texts), end="")
    sys.exit()


def text_of(answer):
    text = answer.get("text")
    if text is None:
        text = answer["output"]
        if "\u2581" in text:  # pieces
            text = text.replace(" ", "").replace("\u2581", " ")
    return text.strip(" ")


def score_of(answer):
    if "score" in answer:
        return answer["score"]
    return sum(answer["log_p"]) / len(answer["log_p"])


def first_probabilities(line):
    return {item["token"]: item["probability"] for item in line["alternatives"][0]}


def parts_at_tie(line, expected):
    """Is the first token that is not in the answer nearly as probable there as one that goes on with it?"""
    before = ""
    for token, alternatives in zip(line["tokens"], line["alternatives"]):
        if not begins(expected, before + token):
            log_p = {item["token"]: math.log(item["probability"]) for item in alternatives}
            others = [p for other, p in log_p.items() if begins(expected, before + other)]
            return bool(others) and log_p[token] - max(others) < options.tie
        before += token
    return False


def begins(expected, pieces):
    return expected.startswith(pieces.replace("\u2581", " ").lstrip(" "))


PLAIN = 11  # lines
failed = odd = steps = 0
skipped = {int(n) for n in options.skipped.split(",") if n}
output = [json.loads(line) for line in open(options.output, encoding="utf-8")]
assert len(output) == len(answers)
for number, (answer, line) in enumerate(zip(answers, output)):
    if number in skipped:
        continue
    hypotheses = answer[options.kind]
    if isinstance(hypotheses, dict):
        hypotheses = [hypotheses]
    expected = text_of(hypotheses[0]) if hypotheses else ""
    if line["translation"].strip(" ") != expected:
        if options.tie and number >= PLAIN and parts_at_tie(line, expected):
            continue
        odd += number >= PLAIN
        failed += number < PLAIN or odd > options.allow
        print(f"line {number}: '{line['translation']}' instead of '{expected}'")
        continue
    if not line["tokens"]:
        continue
    score = score_of(hypotheses[0])
    if options.no_end_first:
        score += math.log1p(-first_probabilities(line)["</s>"]) / (len(line["tokens"]) + 1)
    if abs(score - line["normalized_score"]) > options.tolerance:
        odd += number >= PLAIN
        failed += number < PLAIN or odd > options.allow
        print(f"line {number}: score {line['normalized_score']} instead of {score}")
    if options.first_step and "first_top" in answer:
        # The answers' softmax includes <pad>, which has a logit of 0.
        ours = sorted(first_probabilities(line).values(), reverse=True)
        whole = math.log(math.exp(answer["first_logsumexp"]) - 1)
        for (_, logit), probability in zip(answer["first_top"], ours):
            steps += 1
            if abs(logit - whole - math.log(probability)) > options.tolerance:
                failed += 1
                print(f"line {number}: log p {math.log(probability)} at the first step instead of {logit - whole}")
if options.first_step and steps == 0:
    failed += 1
    print("there are no logits of the first step")
sys.exit(1 if failed else 0)
