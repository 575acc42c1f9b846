/**
 * What: typed values as text: their check, for the configuration's own files.
 * Invariants: none.
 * Threads: any.
 * Ownership: borrows.
 * Failure: RC_FATAL + ERR_CONFIG with what would have been right.
 */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include "config/config.h"

/** where: "FILE:LINE", or what else the value came from. */
MUST_CHECK enum rc value_check(const struct config_key *row, const char *key, const char *value,
                               const char *where, struct err *err);

/** Whether this key holds a password, or a connection string with one in it. */
bool value_is_secret(const struct config_key *row, const char *key, const char *value);

#endif
