/**
 * What: typed values as text: their check, for the configuration's own files.
 * Invariants: none.
 * Threads: any.
 * Ownership: borrows.
 * Failure: RC_FATAL + ERR_CONFIG with the values that are allowed.
 */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include "config/config.h"
#include "config/key.h"

/** where: "FILE:LINE", or another source of the value. */
MUST_CHECK enum rc value_check(const struct config_key *row, const char *key, const char *value,
                               const char *where, struct err *err);

/** Whether this key holds a password, or a connection string with one in it. */
bool value_is_secret(const struct config_key *row, const char *key, const char *value);

/* secret.c */
/** Whether the value names a file that has the secret: @/PATH or @$CREDENTIALS_DIRECTORY/NAME. */
bool secret_is_elsewhere(const struct config_key *row, const char *key, const char *value);
/** What such a file holds; given to the caller. The error names the file, never what is in it. */
MUST_CHECK enum rc secret_read(const char *value, const char *where, char **ret_text,
                               struct err *err);

#endif
