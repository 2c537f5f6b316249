/* translate_lines.h - translate lines already in memory: the way from `bleu --model` and others into `translate`.
 *
 * The decoding defaults are those of the translate command; several models form an ensemble.
 *
 * Owner   on success *outputs is a heap array of `count` NUL-terminated lines (no newline inside), in the order of the
 *         sources; the caller releases each line and the array with mem_free. On failure nothing is handed out.
 * Fails   what loading a model and translating can fail with; the status is recorded
 */
#ifndef CLI_TRANSLATE_LINES_H
#define CLI_TRANSLATE_LINES_H

#include <stddef.h>
#include "base/options.h"
#include "base/status.h"
#include "base/strview.h"

/* `threads` 0: as many as there are cores. `beam_size` 1: greedy. An empty source gives an empty line. */
Status translate_lines(const StrList *models, const StrView *sources, size_t count, int threads,
                       int beam_size, char ***outputs);

#endif
