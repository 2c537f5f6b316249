/* announce.h - what the log says of a run before its first update: data, vocabularies, model and machine, and
 * warnings about what will hardly work. */
#ifndef TRAIN_ANNOUNCE_H
#define TRAIN_ANNOUNCE_H

#include "train/run.h"

void announce(const Run *run);
/* Where the run goes on, after its state was loaded. */
void announce_resumption(const Run *run);

#endif
