/* language_detection.c - the language of a text. */
#include "text/detect.h"

#include "base/mem.h"
#include "library/library_private.h"

struct attn_mt_detector {
    MemScope *scope;
    StrList languages;
    Detector *detector;
};

typedef struct {
    const char *const *languages;
    int count;
    OpenResult result;
} OpenCall;

static Status open_detector(OpenCall *call) {
    if (call->count < 1) return status_fail(STATUS_USAGE, "no language given");
    TRY(check_strings("languages", call->languages, call->count));
    attn_mt_detector *detector = call->result.object = mem_alloc(1, sizeof *detector);
    StrView *candidates = mem_alloc((size_t)call->count, sizeof *candidates);
    for (int i = 0; i < call->count; i++) {
        candidates[i] = sv(call->languages[i]);
        strlist_add(&detector->languages, candidates[i]);
    }
    return detector_open(&detector->detector, candidates, call->count);
}

static void open_in_scope(void *context) {
    OpenCall *call = context;
    call->result.status = open_detector(call);
}

attn_mt_status attn_mt_detector_open(attn_mt_detector **detector, const char *const *languages, int count,
                                     attn_mt_error *error) {
    OpenCall call = {.languages = languages, .count = count};
    attn_mt_status status;
    if (!detector) return fail_usage(error, "detector is NULL");
    *detector = scope_open(&status, 0, open_in_scope, &call, &call.result, error);
    return status;
}

typedef struct {
    const attn_mt_detector *detector;
    const char *text;
    attn_mt_detection *ranked;
    Status status;
} DetectCall;

static void detect_in_scope(void *context) {
    DetectCall *call = context;
    const attn_mt_detector *detector = call->detector;
    size_t count = detector->languages.count;
    Detection *detections = mem_alloc(count, sizeof *detections);
    detector_run(detector->detector, sv(call->text), detections);
    for (size_t i = 0; i < count; i++)
        call->ranked[i] =
            (attn_mt_detection){detector->languages.items[detections[i].candidate], detections[i].confidence};
    call->status = STATUS_OK;
}

attn_mt_status attn_mt_detect(const attn_mt_detector *detector, const char *text, attn_mt_detection *ranked,
                              attn_mt_error *error) {
    DetectCall call = {.detector = detector, .text = text, .ranked = ranked};
    MemScope *scope;
    if (!detector) return fail_usage(error, "detector is NULL");
    if (!text) return fail_usage(error, "text is NULL");
    if (!ranked) return fail_usage(error, "ranked is NULL");
    attn_mt_status status = scope_run(&scope, 0, detect_in_scope, &call, &call.status, error);
    mem_scope_free(scope);
    return status;
}

static void close_in_scope(void *context) { detector_close(((attn_mt_detector *)context)->detector); }

void attn_mt_detector_close(attn_mt_detector *detector) {
    if (!detector) return;
    mem_scope_run(detector->scope, close_in_scope, detector);
    mem_scope_free(detector->scope);
}
