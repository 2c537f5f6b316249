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
} DetectorOpening;

static Status open_detector(DetectorOpening *opening) {
    if (opening->count < 1) return status_fail(STATUS_USAGE, "no language given");
    TRY(check_strings("languages", opening->languages, opening->count));
    attn_mt_detector *detector = opening->result.object = mem_alloc(1, sizeof *detector);
    StrView *candidates = mem_alloc((size_t)opening->count, sizeof *candidates);
    for (int i = 0; i < opening->count; i++) {
        candidates[i] = sv(opening->languages[i]);
        strlist_add(&detector->languages, candidates[i]);
    }
    return detector_open(&detector->detector, candidates, opening->count);
}

static void open_in_scope(void *context) {
    DetectorOpening *opening = context;
    opening->result.status = open_detector(opening);
}

attn_mt_status attn_mt_detector_open(attn_mt_detector **detector, const char *const *languages, int count,
                                     attn_mt_error *error) {
    DetectorOpening opening = {.languages = languages, .count = count};
    attn_mt_status status;
    if (!detector) return fail_usage(error, "detector is NULL");
    *detector = scope_open(&status, 0, open_in_scope, &opening, &opening.result, error);
    return status;
}

typedef struct {
    const attn_mt_detector *detector;
    const char *text;
    attn_mt_detection *ranked;
    Status status;
} Detecting;

static void detect_in_scope(void *context) {
    Detecting *detecting = context;
    const attn_mt_detector *detector = detecting->detector;
    size_t count = detector->languages.count;
    Detection *detections = mem_alloc(count, sizeof *detections);
    detector_run(detector->detector, sv(detecting->text), detections);
    for (size_t i = 0; i < count; i++)
        detecting->ranked[i] =
            (attn_mt_detection){detector->languages.items[detections[i].candidate], detections[i].confidence};
    detecting->status = STATUS_OK;
}

attn_mt_status attn_mt_detect(const attn_mt_detector *detector, const char *text, attn_mt_detection *ranked,
                              attn_mt_error *error) {
    Detecting detecting = {.detector = detector, .text = text, .ranked = ranked};
    MemScope *scope;
    if (!detector) return fail_usage(error, "detector is NULL");
    if (!text) return fail_usage(error, "text is NULL");
    if (!ranked) return fail_usage(error, "ranked is NULL");
    attn_mt_status status = scope_run(&scope, 0, detect_in_scope, &detecting, &detecting.status, error);
    mem_scope_free(scope);
    return status;
}

static void close_in_scope(void *context) { detector_close(((attn_mt_detector *)context)->detector); }

void attn_mt_detector_close(attn_mt_detector *detector) {
    if (!detector) return;
    mem_scope_run(detector->scope, close_in_scope, detector);
    mem_scope_free(detector->scope);
}
