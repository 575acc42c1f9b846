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

#include <stdbool.h>

struct config;
struct config_value;

/** [postgres] as one connection string: conninfo, with the single settings of the same or a higher
 * origin. */
void config_conninfo(const struct config *config, struct str *ret_conninfo);
/** Whether a value of [postgres] is left out there: conninfo comes from a stronger place. */
bool config_conninfo_leaves_out(const struct config *config, const struct config_value *value);
/** Adds a keyword with its value, quoted as the string, keywords or a URI, needs it; it replaces
 * one that is there. */
void config_conninfo_add(struct str *conninfo, const char *key, const char *value);

#endif
