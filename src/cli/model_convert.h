/* model_convert.h - a model of ours or of another program becomes a model file with a number format.
 *
 * Fails   as modelfile.h and foreign/import.h
 */
#ifndef CLI_MODEL_CONVERT_H
#define CLI_MODEL_CONVERT_H

#include "base/status.h"
#include "io/options.h"

/* The choices of --precision, in the order of PrecisionChoice. */
#define MODEL_PRECISION_CHOICES "auto|int8|bf16|float32"
typedef enum { PRECISION_AUTO, PRECISION_INT8, PRECISION_BF16, PRECISION_FLOAT32 } PrecisionChoice;

typedef struct {
    int precision;          /* a PrecisionChoice; auto: int8, but of another program's model only if it has
                             * 8 bits */
    char *sentencepiece[2]; /* of foreign_import */
} ModelConvertOptions;

/* --sentencepiece and --target-sentencepiece of a ModelConvertOptions. Each command explains its --precision
 * itself. */
extern const Option MODEL_CONVERT_OPTIONS[];

/* Writes the model at `path` to `output`. *program, if not NULL: the name of the other program, or NULL if
 * the model is ours; static memory. */
Status model_convert(const char *path, const ModelConvertOptions *options, const char *output,
                     const char **program);

#endif
