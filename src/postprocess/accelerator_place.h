/* accelerator_place.h - puts the accelerator of a line into its translation. */
#ifndef POSTPROCESS_ACCELERATOR_PLACE_H
#define POSTPROCESS_ACCELERATOR_PLACE_H

#include "text/accelerators.h"
#include "postprocess/translation.h"

/* Puts the accelerator that was taken out of `line` into the text of every item: into the word with the
 * greatest attention to the source word that had it; without attention, or if the text does not have that
 * word, before the same letter of any word. A copied line gets it back where it was. */
void accelerator_place(const Accelerator *accelerator, StrView line, Translation *translation,
                       const Tokenizer *target);

/* Lines without their accelerators. */
typedef struct {
    const StrView *rest;       /* [count] */
    StrBuf *texts;             /* [count] of lines that have one; NULL: `rest` is the lines as they came */
    Accelerator *accelerators; /* [count] mark 0: none */
} AcceleratorLines;

/* Lines that are not valid UTF-8 have no accelerator; of ACCELERATOR_NONE no line has. `lines` must outlive
 * the result. */
AcceleratorLines accelerator_lines_take(const StrView *lines, int count, AcceleratorKind kind);
/* Puts the accelerators of all lines into their translations. */
void accelerator_lines_put(const AcceleratorLines *a, int count, Translation *out, const Tokenizer *target);
void accelerator_lines_free(AcceleratorLines *a, int count);

#endif
