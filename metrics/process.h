/**
 * What: the metrics process_*, as other programs that Prometheus watches have them, from
 *   /proc/self.
 * Invariants: the start of the process is computed once and does not change. One descriptor, of
 *   /proc/self/fd, stays open and is counted.
 * Threads: any.
 * Ownership: appends to the caller's text.
 * Failure: a number that cannot be read is left out.
 */
#ifndef METRICS_PROCESS_H
#define METRICS_PROCESS_H

#include "base/str.h"

#include <stdint.h>

void process_text(struct str *text);

/** The memory of this process that is resident; 0: it cannot be read. */
int64_t process_resident_bytes(void);

#endif
