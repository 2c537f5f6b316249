/* modelfile.h - a model in one .safetensors file: weights under readable names, all else in the metadata.
 *
 * Metadata  format "attn-mt", format_version, config (JSON), source and target (segmenters as JSON;
 *           no target if they are one), provenance (JSON), and the digests of safetensors.h
 * Fails     STATUS_DATA for a file that is not a sound model: reason and path; STATUS_RUNTIME for I/O
 */
#ifndef MODELS_MODELFILE_H
#define MODELS_MODELFILE_H

#include "models/seq2seq.h"

/* `weights` is a block of the model's layout (the average of weights, for instance); `provenance` a JSON
 * object as text: update, epoch, scores, program version, data digest. */
Status modelfile_save(const Seq2Seq *model, const real *weights, const char *provenance, const char *path);
/* Would modelfile_save accept this model? Nothing is written. */
Status modelfile_check(const Seq2Seq *model, const char *provenance, const char *path);
/* Load for translation: parameters filled and packed. Text is added to `provenance`, which may be NULL. */
Status modelfile_load(Seq2Seq **model, const char *path, WeightFormat format, StrBuf *provenance);

#endif
