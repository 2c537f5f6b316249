/* library_private.h - what the files of the public library share. */
#ifndef LIBRARY_LIBRARY_PRIVATE_H
#define LIBRARY_LIBRARY_PRIVATE_H

#include "base/mem_scope.h"
#include "library/attn_mt.h"
#include "models/registry.h"
#include "postprocess/calibration.h"
#include "search/ensemble.h"
#include "translate/translator.h"

/* One or more models that translate together. */
typedef struct {
    StrList paths;
    Ensemble models;
    char *target_language; /* that attn_mt_open_name chose, of several; or NULL */
} ModelStep;

/* Each step translates what the one before has written. */
struct attn_mt_model {
    MemScope *scope; /* owns the model */
    ModelStep steps[REGISTRY_STEPS];
    int step_count;
    Calibration calibration;
};

static inline const ModelStep *last_step(const attn_mt_model *model) {
    return &model->steps[model->step_count - 1];
}

struct attn_mt_glossary {
    MemScope *scope;
    const attn_mt_model *model;
    Glossary *terms;
};

struct attn_mt_memory {
    MemScope *scope;
    Memory *pairs;
};

typedef struct {
    attn_mt_candidate *candidates;   /* [count] best first */
    attn_mt_matrix *matrices;        /* [count] or NULL */
    attn_mt_confidence *confidences; /* [count] or NULL */
    const char *const **tokens;      /* [count] of each candidate [tokens] */
    attn_mt_match match;             /* with a source of NULL: there is none */
    const char *pivot;               /* or NULL */
    int count;
} TextResult;

struct attn_mt_result {
    MemScope *scope;   /* owns the result */
    TextResult *texts; /* [count] */
    int count;
    const char *page; /* of attn_mt_explore; or NULL */
};

/* One call of attn_mt_translate or attn_mt_score. */
typedef struct {
    const attn_mt_model *model;
    attn_mt_options options;
    attn_mt_guide guide;
    StrView *texts, *references; /* [count]; references: translations to score, or NULL */
    int count;
    Workers *workers;
    struct {
        const Seq2Seq **views; /* [models of the step] with tokenizers of the call */
        Translator *translator;
    } steps[REGISTRY_STEPS];   /* those of the model */
    Translation *translations; /* [count] */
} Call;

/* The models whose translation is the result. */
static inline const Seq2Seq *last_view(const Call *call) {
    return call->steps[call->model->step_count - 1].views[0];
}

/* Copies what the result has of translations[text]. */
TextResult result_text(const Call *call, int text);

/* ---- scope.c ---- */

/* Calls `work` in a new scope, with the numbers of the C locale and a silent log. *status is the result of
 * the work. If it succeeds, *scope is the scope, otherwise NULL. `limit`: bytes; 0: no limit. */
attn_mt_status scope_run(MemScope **scope, size_t limit, void (*work)(void *context), void *context,
                         const Status *status, attn_mt_error *error);
/* What the work of scope_open makes: an object of this header that begins with its scope. */
typedef struct {
    void *object;
    Status status;
} OpenResult;

/* scope_run for an object that outlives the call. Returns the object, which owns the scope now; NULL: *status
 * tells why. `result` is part of the context. */
void *scope_open(attn_mt_status *status, size_t limit, void (*work)(void *context), void *context,
                 const OpenResult *result, attn_mt_error *error);
/* Fails if the kernel that the environment variable ATTN_MT_SIMD asks for is not there. */
Status scope_kernel_status(void);
/* ATTN_MT_USAGE with `message`; `error` may be NULL. */
attn_mt_status fail_usage(attn_mt_error *error, const char *message);
/* None of the strings [count] may be NULL; without any, the array may be NULL too. */
Status check_strings(const char *name, const char *const *strings, int count);
Status check_accelerator(int accelerator);

#endif
