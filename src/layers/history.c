/* history.c - paths through the rows of earlier steps. */
#include "layers/history.h"

#include <string.h>

StepMemory *history_step_new(Tape *tape, int blocks, int rows, int size) {
    size_t numbers = (size_t)rows * (size_t)size;
    StepMemory *made = tape_alloc(tape, (size_t)blocks * sizeof *made);
    for (int b = 0; b < blocks; b++) {
        made[b].keys = tape_alloc(tape, 2 * numbers * sizeof(real));
        made[b].values = made[b].keys + numbers;
    }
    return made;
}

/* A history of `steps` steps with the list of the first steps; its path is not set. */
static History history_new(Tape *tape, const History *from, int steps, int rows, int **path) {
    const StepMemory **list = tape_alloc(tape, (size_t)steps * sizeof *list);
    *path = tape_alloc(tape, (size_t)rows * (size_t)steps * sizeof **path);
    for (int t = 0; t < from->steps; t++) list[t] = from->step[t];
    return (History){.steps = steps, .rows = rows, .step = list, .path = *path};
}

History history_append(Tape *tape, const History *history, const StepMemory *now, int rows) {
    int *path, steps = history->steps;
    History longer = history_new(tape, history, steps + 1, rows, &path);
    ((const StepMemory **)longer.step)[steps] = now;
    for (int r = 0; r < rows; r++) {
        for (int t = 0; t < steps; t++) *path++ = history->path[r * steps + t];
        *path++ = r;
    }
    return longer;
}

History history_select(Tape *tape, const History *history, const int *index, int rows) {
    int *path, steps = history->steps;
    History selected = history_new(tape, history, steps, rows, &path);
    for (int r = 0; r < rows; r++, path += steps)
        for (int t = 0; t < steps; t++) path[t] = history->path[index[r] * steps + t];
    return selected;
}

const real *const *history_rows(Tape *tape, const History *history, int block, bool values, int size) {
    int steps = history->steps, total = history->rows * steps;
    const real **base = tape_alloc(tape, (size_t)steps * sizeof *base),
               **row = tape_alloc(tape, (size_t)total * sizeof *row);
    for (int t = 0; t < steps; t++)
        base[t] = values ? history->step[t][block].values : history->step[t][block].keys;
    for (int r = 0, i = 0; r < history->rows; r++)
        for (int t = 0; t < steps; t++, i++) row[i] = base[t] + (size_t)history->path[i] * (size_t)size;
    return row;
}
