/**
 * What: the lines of a replay's report, added up: one for each run, order, action and reason.
 * Threads: one.
 * Ownership: the report owns its lines; a line is copied.
 * Failure: none.
 */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include "replay/replay.h"

#include <stdint.h>

void report_add(struct replay_report *report, const struct replay_line *line);

/** A hash of names, for two tables: the slot of key, or the free one where it belongs. */
uint32_t replay_hash(const char *key, uint32_t seed);

#endif
