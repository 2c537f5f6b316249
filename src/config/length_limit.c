/* length_limit.c - see length_limit.h. */
#include "config/length_limit.h"

#include <math.h>
#include "base/log.h"
#include "config/config.h"

/* Factors are counted, and chosen, in halves. */
enum { MOST_HALVES = 2 * DECODE_MOST_FACTOR };

bool length_limit_is_open(const DecodeOptions *decode) {
    Config fresh;
    config_init(&fresh);
    bool open = decode->max_length_factor == fresh.decode.max_length_factor;
    config_free(&fresh);
    return open;
}

/* For each number of halves, how many pairs need more of them for their target to be complete. */
static void count_pairs(const DecodeOptions *decode, const Corpus *pairs,
                        long needing_more[MOST_HALVES + 1]) {
    for (int pair = 0; pair < pairs->count; pair++) {
        double source = fmax(corpus_source_length(pairs, pair), 1);
        double halves = ceil(2 * (corpus_target_length(pairs, pair) - decode->max_length_extra) / source);
        for (int h = 0; h <= MOST_HALVES && h < halves; h++) needing_more[h]++;
    }
}

void length_limit_fit(DecodeOptions *decode, const Corpus *pairs) {
    if (!length_limit_is_open(decode)) return;
    long needing_more[MOST_HALVES + 1] = {0}, most = pairs->count / 1000;
    count_pairs(decode, pairs, needing_more);
    double before = decode->max_length_factor, percent = 100.0 / pairs->count;
    int halves = (int)(2 * before);
    long cut = needing_more[halves];
    if (cut <= most) return;
    while (halves < MOST_HALVES && needing_more[halves] > most) halves++;
    decode->max_length_factor = fmin(ceil(1.25 * halves) / 2, DECODE_MOST_FACTOR);
    log_info("lengths  %.3g %% of the targets have more than %g tokens a source token and %d: "
             "decode.max_length_factor=%g",
             percent * (double)cut, before, decode->max_length_extra, decode->max_length_factor);
    if (needing_more[MOST_HALVES] > most)
        log_warn("%.3g %% have more than %d and %d: translate --max-length-factor lets them be as long",
                 percent * (double)needing_more[MOST_HALVES], DECODE_MOST_FACTOR, decode->max_length_extra);
}
