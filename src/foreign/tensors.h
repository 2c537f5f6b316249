/* tensors.h - the matrices of a model that another program wrote, as floats, and the readers of their
 * containers.
 *
 *   safetensors    F32, F16, BF16; other types are left out
 *   torch          pytorch_model.bin, the zip form and the form before torch 1.6. The pickle is read by
 *   torch_pickle.h,
 *                  which calls nothing
 *   npz            NumPy's arrays (f4, f2), and Marian's settings, a text
 *   marian         Marian's binary file of version 1: float32, float16, intgemm8
 *   ctranslate2    model.bin, versions 3 to 6: f32, f16, bf16, int8, int16
 *
 * Shapes  a vector is [1, n], a single number [1, 1]
 * Owner   foreign_tensors_free
 * Fails   STATUS_DATA for files that are damaged or hostile, and for types that are not read: by name
 */
#ifndef FOREIGN_TENSORS_H
#define FOREIGN_TENSORS_H

#include "base/hashmap.h"
#include "base/status.h"
#include "base/strview.h"

enum { FOREIGN_RANK = 4, FOREIGN_TENSORS = 20000 };

typedef struct {
    char *name;
    size_t rows, columns;
    float *data;    /* [rows, columns] */
    bool quantized; /* the file has bytes: data are whole numbers, -127 to 127, times a scale */
    float scale;    /* of all numbers, if one is enough; 0: one for each row */
    int type;       /* ForeignType in the file */
    bool used;      /* for the caller */
} ForeignTensor;

typedef struct {
    ForeignTensor *items;
    size_t count, capacity;
    HashMap *by_name;
    StrBuf settings; /* Marian's special:model.yml */
    int revision;    /* of CTranslate2's specification */
} ForeignTensors;

void foreign_tensors_free(ForeignTensors *tensors);
ForeignTensor *foreign_tensors_find(const ForeignTensors *tensors, const char *name); /* NULL: none */
/* A single number; `missing` if there is none of this name. */
double foreign_tensors_number(const ForeignTensors *tensors, const char *name, double missing);

typedef enum {
    FOREIGN_F32,
    FOREIGN_F16,
    FOREIGN_BF16,
    FOREIGN_I8,
    FOREIGN_I16,
    FOREIGN_I32,
    FOREIGN_TYPES
} ForeignType;
size_t foreign_type_size(ForeignType type);
/* Adds a tensor of `bytes` of this type, row after row. STATUS_DATA if its name is there already, if the
 * length does not
 * fit the shape, or if a number is not finite. The result is valid until the next one. */
Status foreign_tensors_add(ForeignTensors *tensors, StrView name, int rank, const uint64_t *shape,
                           ForeignType type, StrView bytes, ForeignTensor **added);

/* All begin with a zeroed ForeignTensors, and empty it if they fail. */
Status foreign_read_safetensors(ForeignTensors *tensors, StrView file);
Status foreign_read_torch(ForeignTensors *tensors, StrView file);
Status foreign_read_npz(ForeignTensors *tensors, StrView file);
Status foreign_read_marian(ForeignTensors *tensors, StrView file);
Status foreign_read_ctranslate2(ForeignTensors *tensors, StrView file);

#endif
