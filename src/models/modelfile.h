/* modelfile.h - a model in one .safetensors file: weights under readable names, all else in the metadata.
 *
 * Metadata  format "attn-mt", format_version, config (JSON), source and target (tokenizers as JSON;
 *           no target if they are one), provenance (JSON), shortlist (data/shortlist.h) of a model that has
 *           one, precision of a file whose weights are rounded (autograd/quantize.h), and the digests of
 *           safetensors.h
 * Fails     STATUS_DATA for a file that is not a sound model: reason and path; STATUS_RUNTIME for I/O
 */
#ifndef MODELS_MODELFILE_H
#define MODELS_MODELFILE_H

#include "models/seq2seq.h"

/* `weights` is a block of the model's layout (the average of weights, for instance); `provenance` a JSON
 * object as text: update, epoch, scores, program version, data digest. */
Status modelfile_save(const Seq2Seq *model, const real *weights, const char *provenance, const char *path);
/* A file of rounded weights, bf16 or int8, of a model that modelfile_load_exact loaded. */
Status modelfile_save_quantized(const Seq2Seq *model, WeightFormat precision, const char *provenance,
                                const char *path);
/* Would modelfile_save accept this model, and modelfile_load what it wrote? Nothing is written. */
Status modelfile_check(const Seq2Seq *model, const char *provenance, const char *path);

/* Load for translation: weights are packed, and only what is looked up or not multiplied stays a float
 * (params_allocate_packed). Files of rounded weights have a format of their own, whatever is asked for. Text
 * is added to `provenance`, which may be NULL; so below. */
Status modelfile_load(Seq2Seq **model, const char *path, WeightFormat format, StrBuf *provenance);
/* All weights as floats in one block, nothing packed; rounded ones as what they stand for. */
Status modelfile_load_floats(Seq2Seq **model, const char *path, StrBuf *provenance);
/* The same, but a file of rounded weights is refused: to train on, to average. */
Status modelfile_load_exact(Seq2Seq **model, const char *path, StrBuf *provenance);
/* Add the names of the languages that a provenance has; false, and nothing added, if it has none. */
bool modelfile_languages(StrView provenance, StrBuf *source, StrBuf *target);
/* "float32", "bf16" or "int8": of a file, or what it is translated with. */
const char *modelfile_precision(const Seq2Seq *model);

#endif
