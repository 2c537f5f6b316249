/* weights_read.h - reads the weights of a model file directly into the model's memory.
 *
 * The file is read once, a window of tensors at a time: while the next window is read and added to the
 * digest, threads check, round, expand and pack the tensors of the current one. So in addition to the weights
 * reading needs memory for two windows and, for each thread, for one weight.
 */
#ifndef MODELS_WEIGHTS_READ_H
#define MODELS_WEIGHTS_READ_H

#include "models/safetensors.h"
#include "autograd/params.h"

/* Suffix of the tensor of a weight's scales in a file of 8-bit weights (quantize.h). */
#define WEIGHTS_SCALE_SUFFIX ".scale"

/* dtype and shape of a parameter in a file whose weights have the precision `stored`. */
const char *weights_dtype(const Param *param, WeightFormat stored);
void weights_scale_shape(const Param *param, long long shape[2]);
size_t weights_bytes(const Param *param, WeightFormat stored); /* with its scales */

/* STATUS_DATA if `format` is WEIGHT_INT8 and a weight is too large for 8-bit arithmetic. */
Status weights_check_depth(const ParamSet *params, WeightFormat format);

/* Fill `params`, declared and without memory, from a file of which only the header and the tensors before
 * number `first` were read. `packed`:
 * weights of products are packed in `format`, and only the other parameters stay floats; WEIGHT_FLOAT32
 * takes the file's own precision. Otherwise all parameters become floats, nothing is packed, and
 * params->format is set to the precision of the file.
 * STATUS_DATA if names, dtypes, shapes or numbers are not those of the model, or the digest is wrong. */
Status weights_read(SafeFile *file, size_t first, WeightFormat stored, ParamSet *params, WeightFormat format,
                    bool packed);

#endif
