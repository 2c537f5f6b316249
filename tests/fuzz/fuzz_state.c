/* fuzz_state.c - training states with valid checksums and any counters and configuration: resuming is
 * refused, or the state is the same after loading and saving.
 *
 * Input: 144 bytes of counters, then the configuration (empty: the one of the run).
 */
#include <math.h>
#include "base/log.h"
#include "fuzz/small_model.h"
#include "models/safetensors.h"
#include "train/checkpoint.h"

#define STATE "last.state.safetensors"
enum { COUNTERS = 18, MOST = 16 };

typedef struct {
    Config config;
    Checkpoint checkpoint;
    Progress progress;
    SafeFile *sound;
} Run;

static Run *run(void) {
    static Run run;
    if (run.sound) return &run;
    log_set_level(LOG_QUIET);
    config_init(&run.config);
    Seq2Seq *model = small_model_new(&run.config);
    run.progress = (Progress){.best_bleu = -1, .best_loss = INFINITY};
    run.checkpoint =
        (Checkpoint){.dir = scratch(),
                     .config = &run.config,
                     .model = model,
                     .optimizer = optimizer_new(seq2seq_params(model), workers_new(1), WEIGHT_BF16X3, true),
                     .progress = &run.progress,
                     .data_sha256 = "digest",
                     .valid_sha256 = "valid digest"};
    require(checkpoint_save_state(&run.checkpoint) == STATUS_OK);
    require(safetensors_open(&run.sound, scratch_path(STATE).text) == STATUS_OK);
    return &run;
}

static bool write_state(const SafeFile *sound, const uint64_t *counters, const char *config) {
    SafeTensor tensors[MOST];
    const char *metadata[MOST][2];
    size_t count = safetensors_count(sound), pairs = 0;
    require(count <= MOST && safetensors_metadata_count(sound) < MOST);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = *safetensors_at(sound, i);
        if (strcmp(tensors[i].name, "counters") == 0) {
            require(tensors[i].bytes == COUNTERS * sizeof *counters);
            tensors[i].data = counters;
        }
    }
    for (size_t i = 0; i < safetensors_metadata_count(sound); i++) {
        safetensors_metadata_at(sound, i, &metadata[pairs][0], &metadata[pairs][1]);
        if (strstr(metadata[pairs][0], "er_sha256") || strstr(metadata[pairs][0], "load_sha256")) continue;
        if (config[0] && strcmp(metadata[pairs][0], "config") == 0) metadata[pairs][1] = config;
        pairs++;
    }
    return safetensors_write_unchecked(scratch_path(STATE).text, tensors, count,
                                       (const char *const(*)[2])metadata, pairs) == STATUS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Run *r = run();
    uint64_t counters[COUNTERS] = {0};
    size_t taken = size < sizeof counters ? size : sizeof counters;
    if (taken) memcpy(counters, data, taken);
    char *config = part_text((StrView){(const char *)data + taken, size - taken});
    if (write_state(r->sound, counters, config)) {
        Config saved;
        if (checkpoint_load_config(scratch(), &saved) != STATUS_OK) require(status_message()[0] != '\0');
        config_free(&saved);
        Status status = checkpoint_load_state(&r->checkpoint);
        require(status == STATUS_OK || strstr(status_message(), "cannot resume"));
        if (status == STATUS_OK) {
            SafeFile *again;
            require(r->progress.update >= 0 && r->progress.tokens >= 0 && r->progress.batch >= 0);
            require(checkpoint_save_state(&r->checkpoint) == STATUS_OK);
            require(safetensors_open(&again, scratch_path(STATE).text) == STATUS_OK);
            require(memcmp(safetensors_find(again, "counters")->data, counters, sizeof counters) == 0);
            safetensors_close(again);
        }
    }
    free(config);
    return 0;
}
