/* A model's parameters as its own files have them: names, shapes, and where each parameter lies in them.
 *
 * Files may keep several parameters in one tensor (q, k and v), a weight as [in, out], or each expert's
 * part of a parameter in a tensor of its own. Which ones do is in parameter_names.def; reading and writing
 * go by the list that is made of it. */
#pragma once

#include "model/model.h"

enum { FILE_TENSOR_NAME = 96, FILE_TENSOR_PARTS = 3 };

/* How the parameters make up the tensor: parameter_names.def. */
typedef enum FileForm { FILE_FORM_ROWS, FILE_FORM_TRANSPOSED, FILE_FORM_HEADS } FileForm;

typedef struct FileTensor {
    char name[FILE_TENSOR_NAME];
    const char *bare; /* the end of `name` that files of the model without its head have */
    FileForm form;
    int n_parts;
    int part[FILE_TENSOR_PARTS];     /* indices of Model.params */
    int64_t rows[FILE_TENSOR_PARTS]; /* of each part; a vector is one column */
    int64_t
        first_row; /* of an expert: where it begins in the parameter; its tensors follow each other */
    int64_t cols;
    int64_t head_rows; /* of HEADS: rows of one head */
    int n_dims;
    int64_t dim[2];
} FileTensor;

typedef struct FileTensors {
    FileTensor *tensors;
    int n;
} FileTensors;

/* Every parameter of the model is in one of them. ST_UNSUPPORTED: the table has no name for one. */
Status file_tensor_list(FileTensors *out, const Model *model);
void file_tensor_free(FileTensors *list);

/* What a tensor of a file is by its name. */
typedef enum FileNameKind {
    FILE_NAME_UNKNOWN,
    FILE_NAME_BUFFER,    /* nothing that is learned */
    FILE_NAME_HEAD,      /* of the language model; not of those that tie it to the embedding */
    FILE_NAME_PARAMETER, /* of some model of this architecture */
} FileNameKind;

typedef struct FileName {
    FileNameKind kind;
    int64_t layer, expert; /* -1: of none */
} FileName;
FileName file_tensor_identify(Architecture architecture, const char *name);

int64_t file_tensor_elements(const FileTensor *tensor);

/* Where the elements of a row of a part are in the tensor: at first, first + step, ... */
typedef struct FileRow {
    int64_t first, step;
} FileRow;
FileRow file_tensor_row(const FileTensor *tensor, int part, int64_t row);
