/**
 * What: connection strings, as libpq takes them: keywords with values, or a URI.
 * Invariants: of a keyword that is given twice the later one counts.
 * Threads: any.
 * Ownership: the caller's str holds the text.
 * Failure: none.
 */
#ifndef CONFIG_CONNINFO_H
#define CONFIG_CONNINFO_H

#include "base/str.h"

struct config;

/** [postgres] as one connection string: conninfo, with the single settings of the same or a higher
 * origin. */
void config_conninfo(const struct config *config, struct str *ret_conninfo);
/** Adds a keyword with its value, quoted as the string, keywords or a URI, needs it; it replaces
 * one that is there. */
void config_conninfo_add(struct str *conninfo, const char *key, const char *value);

#endif
