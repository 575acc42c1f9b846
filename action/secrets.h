/**
 * What: the secrets that the configuration adds to requests and to the environment of commands:
 *   [http:HOST] header.NAME, [command:NAME] env.NAME.
 * Invariants: a header goes to its host alone, and over http only if the configuration says so. The
 *   output of a server or a command is stored without it: secrets_hide. No message of this file
 *   holds a value.
 * Threads: read-only after loading, as action_settings.
 * Ownership: names and values are the configuration's; lists are freed with secrets_done.
 * Failure: RC_FATAL + ERR_CONFIG with file and line.
 */
#ifndef ACTION_SECRETS_H
#define ACTION_SECRETS_H

#include "action/running.h"

/** value belongs to the section of a host (header.NAME) or of a command (env.NAME): checked and
 * added. */
MUST_CHECK enum rc secrets_add_header(struct secrets *secrets, const struct config_value *value,
                                      struct err *err);
MUST_CHECK enum rc secrets_add_variable(struct secrets *secrets, const struct config_value *value,
                                        struct err *err);
void secrets_done(struct secrets *secrets);

/** The host that section "http:HOST" is about. */
MUST_CHECK enum rc secrets_host(struct secret_host *ret_host, const struct config *config,
                                const struct config_value *value, struct err *err);

/** The host's row for target "host:port"; NULL: none is. One with a port comes before one
 * without. */
const struct secret_host *secrets_of(const struct action_http *http, const char *target,
                                     bool encrypted);

bool secrets_have(const struct secrets *secrets, const char *name);

#define SECRETS_SHORTEST 6 /* bytes: a shorter value would be found everywhere */
/**
 * Makes each value in bytes, as it is, a row of '*' of the same length, also the word behind a
 * header's scheme ("Bearer"). A value that is cut off at the begin or the end of bytes is hidden,
 * too.
 */
void secrets_hide(const struct secrets *secrets, char *bytes, size_t len);

#endif
