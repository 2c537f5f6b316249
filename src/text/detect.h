/* detect.h - which language is a text in? The only user of libexttextcat.
 *
 * libexttextcat brings a fingerprint of some 170 languages: the 400 most frequent groups of one to five
 * letters, in order. The distance of a text to a language is the number of places by which the text's own
 * groups are displaced in it, plus a penalty for each letter that the fingerprint does not have.
 *
 * Confidences are probabilities, measured by scripts/measure-detect: of texts with confidence 0.8 about 80 %
 * are in that language. They also count the languages that are not candidates, with a small weight. So a text
 * in a foreign language has low confidences, and they add up to less than 1.
 *
 * Owner   detector_close releases what detector_open makes; candidates are copied
 * Threads any number of threads may use one detector
 * Fails   STATUS_USAGE if the program was built without libexttextcat, or its fingerprints are not installed
 */
#ifndef TEXT_DETECT_H
#define TEXT_DETECT_H

#include "base/status.h"
#include "base/strview.h"

/* Below this confidence a guess is more likely wrong than right: the text is too short, or in another
 * language. */
#define DETECT_SURE 0.5

typedef struct Detector Detector;

/* For texts in one of `count` languages, in any spelling of languages.h. If there is no fingerprint of a
 * language, its confidence is always 0. */
Status detector_open(Detector **detector, const StrView *candidates, int count);
void detector_close(Detector *detector);
/* Does libexttextcat know the candidate? */
bool detector_knows(const Detector *detector, int candidate);

typedef struct {
    int candidate;     /* index */
    double confidence; /* 0 to 1 */
} Detection;

/* Writes all candidates to ranked[count], the most probable first; candidates of equal confidence keep their
 * order. Of a long text the first DETECT_BYTES count. A text without letters has confidences of 0. */
enum { DETECT_BYTES = 2000 };
void detector_run(const Detector *detector, StrView text, Detection *ranked);

/* Appends the codes of all languages that have a fingerprint and a code of two letters, separated by
 * spaces: "aa af am". */
Status detect_known_languages(StrBuf *codes);

#endif
