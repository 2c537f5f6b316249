/* modelfile.h - a model in one .safetensors file: weights under readable names, all else in the metadata.
 *
 * Metadata keys: format "attn-mt", format_version, config (JSON), source, target (segmenters as JSON; target absent if
 * joint), provenance (JSON), payload_sha256.
 * Fails   STATUS_DATA for a file that is not a sound model: reason and path; STATUS_RUNTIME for I/O
 */
#ifndef MODELS_MODELFILE_H
#define MODELS_MODELFILE_H

#include "models/seq2seq.h"

/* `weights` is a block of the model's layout (the average of weights, for instance); `provenance` a JSON object as text:
 * update, epoch, scores, program version, data digest. */
Status modelfile_save(const Seq2Seq *model, const real *weights, const char *provenance, const char *path);
/* Load for translation: parameters filled and packed. `provenance` may be NULL; otherwise text is added to it. */
Status modelfile_load(Seq2Seq **model, const char *path, WeightFormat format, StrBuf *provenance);

#endif
