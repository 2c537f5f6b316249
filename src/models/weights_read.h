/* weights_read.h - the weights of a model file, straight to where the model wants them.
 *
 * The file is read once, a window of tensors at a time: while the next window is read and added to the
 * digest, threads check, round, expand and pack the tensors of this one. So beside the weights themselves
 * memory is needed for two windows, and for each thread for one weight.
 */
#ifndef MODELS_WEIGHTS_READ_H
#define MODELS_WEIGHTS_READ_H

#include "models/safetensors.h"
#include "autograd/params.h"

/* What a weight's tensor is called in a file of 8-bit weights, and its scales' (quantize.h). */
#define WEIGHTS_SCALE_SUFFIX ".scale"

/* dtype and shape of a parameter in a file whose weights have the precision `stored`. */
const char *weights_dtype(const Param *param, WeightFormat stored);
void weights_scale_shape(const Param *param, long long shape[2]);
size_t weights_bytes(const Param *param, WeightFormat stored); /* with its scales */

/* STATUS_DATA if a weight is too large for 8-bit arithmetic, and `format` is that. */
Status weights_check_depth(const ParamSet *params, WeightFormat format);

/* Fill `params`, declared and without memory, from a file of which only the header was read. `format` is what
 * they are packed in: then only what is not packed stays a float; WEIGHT_FLOAT32 takes the file's own
 * precision. `packed` false: all of them become floats, nothing is packed, and params->format tells what the
 * file has.
 * STATUS_DATA if names, dtypes, shapes or numbers are not those of the model, or the digest is wrong. */
Status weights_read(SafeFile *file, WeightFormat stored, ParamSet *params, WeightFormat format, bool packed);

#endif
