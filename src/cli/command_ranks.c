/* command_ranks.c - see command_ranks.h. */
#include "cli/command_ranks.h"

#include <signal.h>
#include <unistd.h>
#include "base/comm.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "models/safetensors.h"
#include "train/share.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number) {
    if (!stop_signal) stop_signal = number;
}

static void catch_signals(void) {
    static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
        sigemptyset(&action.sa_mask);
        if (sigaction(ENDING[i], NULL, &old) != 0 || old.sa_handler != SIG_IGN) /* nohup */
            sigaction(ENDING[i], &action, NULL);
    }
}

Status command_join_ranks(int *threads) {
    TRY(comm_start(&stop_signal));
    if (comm_size() == 1) return STATUS_OK;
    comm_introduce();
    catch_signals();
    comm_end_on_stop();
    CommPlace *places = comm_places(*threads);
    *threads = places[comm_rank()].threads;
    mem_free(places);
    return STATUS_OK;
}

/* Of the headers, which hold configuration, vocabularies and the digests of the weights. */
static Status digest_models(const StrList *paths, char hex[65]) {
    Sha256 hash;
    sha256_begin(&hash);
    for (size_t i = 0; i < paths->count; i++) {
        SafeFile *file;
        TRY(safetensors_open_header(&file, paths->items[i]));
        for (size_t m = 0; m < safetensors_metadata_count(file); m++) {
            const char *key, *value;
            safetensors_metadata_at(file, m, &key, &value);
            sha256_add_text(&hash, sv(key));
            sha256_add_text(&hash, sv(value));
        }
        safetensors_close(file);
    }
    sha256_end(&hash, hex);
    return STATUS_OK;
}

Status command_compare_models(const StrList *paths) {
    char hex[65] = "";
    if (comm_size() == 1) return STATUS_OK;
    TRY(comm_settle(digest_models(paths, hex)));
    return share_compare(hex, "model", "give every machine the same file");
}

Status command_settle_work(Status mine) {
    while (stop_signal) pause(); /* until the process is ended: comm_end_on_stop */
    return comm_settle(mine);
}
