/* bleu_tokenizers.h - the tokenizers of BLEU and TER.
 * mteval-v13a.pl and mteval-v14.pl (NIST), tercom; as in sacreBLEU 2.x
 *
 * Fails   never; text should be valid UTF-8
 */
#ifndef BLEU_BLEU_TOKENIZERS_H
#define BLEU_BLEU_TOKENIZERS_H

#include "base/strview.h"

typedef struct {
    const char *name; /* as in options and signatures */
    /* Sets `out` to the line with white space between words. */
    void (*apply)(StrView line, StrBuf *out);
} BleuTokenizer;

/* One row per tokenizer: its name and its function in bleu_tokenizers.c.
 *
 *   13a   spaces around ASCII punctuation, except around ' and -, and around . and , between digits
 *   intl  spaces around all Unicode symbols, and around punctuation unless a digit is on both sides;
 *         there is no padding, so a full stop after a final number stays with it
 *   char  every code point is a word
 *   none  no change: the line is tokenized already
 *   zh    every ideograph is a word; otherwise as 13a, without padding and XML entities
 */
#define BLEU_TOKENIZER_TABLE(ROW, BETWEEN)                                                                   \
    ROW("13a", tokenize_13a)                                                                                 \
    BETWEEN ROW("intl", tokenize_intl)                                                                       \
    BETWEEN ROW("char", tokenize_char)                                                                       \
    BETWEEN ROW("none", tokenize_none)                                                                       \
    BETWEEN ROW("zh", tokenize_zh)

#define BLEU_TOKENIZER_NAME(name_, function_) name_
#define BLEU_TOKENIZER_CHOICES                BLEU_TOKENIZER_TABLE(BLEU_TOKENIZER_NAME, "|")

/* In the order of BLEU_TOKENIZER_CHOICES; ends with a row without a name. */
extern const BleuTokenizer BLEU_TOKENIZERS[];

#define BLEU_TOKENIZER_ONE(name_, function_) +1
/* After the rows of the table: the pieces of a SentencePiece model. The other names are those that sacreBLEU
 * has for three models. */
enum { BLEU_TOKENIZER_PIECES = 0 BLEU_TOKENIZER_TABLE(BLEU_TOKENIZER_ONE, ) };
#define BLEU_PIECES_CHOICES "spm|flores101|flores200|spBLEU-1K"

/* The name of an index of BLEU_TOKENIZER_CHOICES "|" BLEU_PIECES_CHOICES. */
StrView bleu_tokenizer_name(int tokenizer);

/* The tokenizer for a language, an index into BLEU_TOKENIZERS: zh or char for languages without spaces
 * between words, otherwise 13a. */
int bleu_tokenizer_for(StrView language);

/* The words of TER with one space between them. `normalized` separates punctuation, `no_punct` removes it,
 * `asian` extends both to ideographs. */
void tokenize_tercom(StrView line, bool normalized, bool no_punct, bool asian, StrBuf *out);

#endif
