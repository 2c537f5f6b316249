/* fuzz_progress.c - the log of a run, train.jsonl: it is refused, or is the same after writing and reading,
 * and its curves are drawn.
 *
 * Input: the file.
 */
#include <limits.h>
#include "base/log.h"
#include "fuzz/scratch.h"
#include "train/progress.h"

static void write_lines(const Progress *progress, StrBuf *out) {
    for (size_t i = 0; i < progress->count; i++) progress_write_json(&progress->records[i], out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Progress progress = {0}, again = {0};
    log_set_level(LOG_QUIET);
    ScratchPath path = scratch_put("train.jsonl", (StrView){(const char *)data, size});
    Status status = progress_read(&progress, path.text, LLONG_MAX);
    require(status == STATUS_OK || status_message()[0]);
    if (status == STATUS_OK && progress.count > 0) {
        Config config;
        StrBuf first = {0}, second = {0};
        config_init(&config);
        require(progress_save(&progress, &config, scratch()) == STATUS_OK);
        require(progress_read(&again, path.text, LLONG_MAX) == STATUS_OK);
        write_lines(&progress, &first);
        write_lines(&again, &second);
        require(strcmp(strbuf_text(&first), strbuf_text(&second)) == 0);
        strbuf_free(&first);
        strbuf_free(&second);
        config_free(&config);
    }
    progress_free(&progress);
    progress_free(&again);
    return 0;
}
