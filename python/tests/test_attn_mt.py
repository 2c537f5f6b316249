"""Tests; the model is $ATTN_MT_TEST_MODEL, or that of docs/by-hand.md."""

import copy
import os
import pickle
import sys
import tempfile
import threading
import time
from pathlib import Path
from unittest import TestCase, main, mock

import attn_mt

BY_HAND = Path(__file__).resolve().parents[2] / "docs" / "by-hand.safetensors"
MODEL = os.environ.get("ATTN_MT_TEST_MODEL") or BY_HAND
TEXTS = ["go .", "i'm home .", "", "i lost .", "he's calm .", "go home .", "i won ."]


class TestTranslator(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.translator = attn_mt.Translator(MODEL)

    def test_threads_change_nothing(self):
        one = self.translator.translate(TEXTS, threads=1)
        for threads in (2, 3, 100):
            self.assertEqual([(t.text, t.score) for t in self.translator.translate(TEXTS, threads=threads)],
                             [(t.text, t.score) for t in one])
        self.assertEqual((one[2].text, self.translator.translate([])), ("", []))
        self.assertEqual(self.translator.translate(TEXTS[0])[0].text, one[0].text)

    def test_python_runs_during_a_call(self):
        inside, seen = [], []

        def work():
            inside.append(True)
            self.translator.translate(TEXTS * 50, threads=1)
            inside.clear()

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # other threads run only if this one gives the lock away
        try:
            thread = threading.Thread(target=work)
            thread.start()
            while thread.is_alive():
                seen += inside
                time.sleep(0.0001)
        finally:
            sys.setswitchinterval(interval)
        self.assertTrue(seen)

    def test_progress(self):
        fractions = []
        self.translator.translate(TEXTS, batch_size=1, threads=2, progress=fractions.append)
        self.assertEqual((fractions, fractions[-1]), (sorted(fractions), 1))

    def test_attention_and_candidates(self):
        best = self.translator.translate("go .", n_best=3, attention="words")[0]
        self.assertEqual(best.columns, ["go", ".", "</s>"])
        self.assertEqual((len(best.attention), len(best.attention[0])), (len(best.rows), 3))
        for row in best.attention:
            self.assertAlmostEqual(float(sum(row)), 1, places=4)
        self.assertEqual(len({best.text, *(other.text for other in best.alternatives)}), 3)
        self.assertEqual(best._repr_html_().count("<td title="), 3 * len(best.rows))
        self.assertEqual(self.translator.translate("<b>")[0]._repr_html_().count("<b>"), 0)
        with mock.patch("attn_mt.numpy", None):
            plain = self.translator.translate("go .", attention="words")[0]
        self.assertIs(type(plain.attention[0]), list)
        self.assertEqual([list(row) for row in best.attention], plain.attention)

    def test_explorer(self):
        page = self.translator.explore(["go .", "i'm home ."])
        self.assertRegex(page._repr_html_(), '^<iframe srcdoc="&lt;!DOCTYPE html&gt;[^"]*" style="[^"]*"></i')
        self.assertRaises(attn_mt.UsageError, self.translator.explore, [])

    def test_scores(self):
        best = self.translator.translate("go .")[0]
        worse, same = self.translator.score([("go .", "moi moi moi"), ("go .", best.text)])
        self.assertAlmostEqual(same.log_p, best.log_p, places=4)
        self.assertLess(worse.log_p, same.log_p)
        self.assertEqual(self.translator.score([]), [])

    def test_glossary_memory_confidence_names(self):
        with tempfile.TemporaryDirectory() as folder:
            terms, pairs = Path(folder, "terms.tsv"), Path(folder, "pairs.tsv")
            terms.write_text("go\tcalme\n")
            pairs.write_text("go home .\tva au lit\n")
            texts = ["go .", "go home !", "go home ."]
            found = self.translator.translate(texts, confidence=True, memory=pairs)
            with_terms = self.translator.translate("go .", glossary=[terms])[0]
        self.assertIn("calme", with_terms.text.split())
        self.assertEqual([t.from_memory for t in found], [False, False, True])
        self.assertEqual((found[2].text, found[1].match), ("va au lit", (8 / 9, "go home .", "va au lit")))
        self.assertTrue(0 < found[0].confidence < 1 and found[2].confidence is None)
        self.assertEqual(len(found[0].word_confidences), len(found[0].text.split()))
        self.assertEqual((found[0].tokens[-1], len(found[0].tokens)), ("</s>", len(found[0].token_log_p)))
        with mock.patch.dict(os.environ, ATTN_MT_MODELS=str(Path(MODEL).parent)):
            self.assertEqual(str(attn_mt.Translator(Path(MODEL).stem).translate("go .")[0]), found[0].text)

    def test_detection(self):
        try:
            detector = attn_mt.Detector(["fr", "German", "eng"])
        except attn_mt.UsageError as error:
            self.assertIn("libexttextcat", str(error))
            self.skipTest(str(error))
        language, confidence = detector.detect("Where did you put the keys of the house?")[0]
        self.assertEqual(language, "eng")
        self.assertTrue(0.9 < confidence <= 1)
        self.assertEqual(detector.detect("12"), [("fr", 0), ("German", 0), ("eng", 0)])
        with self.assertRaises(attn_mt.UsageError):
            attn_mt.Detector([])

    def test_errors(self):
        for kind in (attn_mt.FileError, OSError):
            self.assertRaisesRegex(kind, "cannot open '/nowhere'", attn_mt.Translator, "/nowhere")
        for options in ({"beam_size": -1}, {"attention": "letters"}, {"beam_size": 1, "n_best": 2}):
            self.assertRaises(attn_mt.UsageError, self.translator.translate, "a", **options)
        self.assertRaises(attn_mt.OutOfMemory, self.translator.translate, "a", memory_limit=9)
        self.assertRaises(attn_mt.UsageError, self.translator.translate, "a\0b")
        self.assertRaisesRegex(TypeError, "no option 'beam'", self.translator.translate, "a", beam=3)

    def test_parameters(self):
        for other in (copy.copy(self.translator), pickle.loads(pickle.dumps(self.translator))):
            self.assertEqual(other.get_params(), self.translator.get_params())
            other.set_params(n_best=2)
            self.assertEqual(other.fit().transform(TEXTS), self.translator.predict(TEXTS))
            self.assertEqual(len(other.translate("go .")[0].alternatives), 1)
        with other:
            self.assertEqual(other.source_language, self.translator.source_language)
        self.assertRaises(attn_mt.UsageError, other.translate, "a")


if __name__ == "__main__":
    main()
