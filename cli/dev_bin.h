/**
 * What: where the programs of PostgreSQL's server are, for `dev up` and `dev down`.
 * Invariants: data is served by the major of PostgreSQL that made it; new data is made by the
 *   newest one of this host.
 * Threads: any, without state.
 * Ownership: none.
 * Failure: RC_FATAL + ERR_CONFIG: there is none, or not the one that the data needs.
 */
#ifndef CLI_DEV_BIN_H
#define CLI_DEV_BIN_H

#include "base/err.h"

#include <stddef.h>

/** data: the data directory, which need not be there. ret_bin: the directory of the programs. */
MUST_CHECK enum rc dev_bin_find(const char *data, char *ret_bin, size_t size, struct err *err);

#endif
