/* golden_spans.h - PyTorch's padded [.., queries, keys] fields as rows of spans, which hold nothing beyond a
 * length.
 *
 * Row b * queries + q attends to the keys of sentence b: all of them, the first valid_lens[b], or the first
 * valid_lens[b, q].
 */
#ifndef GOLDEN_SPANS_H
#define GOLDEN_SPANS_H

#include "golden/reference.h"
#include "autograd/ops.h"

typedef enum { ANYTHING_OUTSIDE, ZERO_OUTSIDE } Outside; /* what stands beyond the lengths in the file */

Spans *golden_spans(Reference *reference, Tape *tape, int batch, int queries, int keys);
/* The numbers of a field [batch, heads, queries, keys] inside the spans, as [heads, total]. Without heads the
 * field may leave that dimension out. */
Field golden_inside(Reference *reference, const char *section, const char *name, const Spans *spans,
                    int heads, Outside outside);
/* A new tensor [rows, last dimension] with a field of "in". */
Tensor *golden_input(Reference *reference, Tape *tape, const char *name);
/* The field "name" of "grad" is the gradient of x. */
void golden_gradient(Reference *reference, const char *name, const Tensor *x);
/* y is the field "out", whose gradient is "d_out": checks y and fills its gradient. */
void golden_output(Reference *reference, Tensor *y);

#endif
