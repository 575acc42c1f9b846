/**
 * What: values for people's eyes: passwords are "***".
 * Invariants: a masked text never shows a secret.
 * Threads: any.
 * Ownership: the text goes into the caller's str.
 * Failure: none.
 */
#ifndef CONFIG_MASK_H
#define CONFIG_MASK_H

#include "base/str.h"

#include <stdbool.h>

struct config_value;

/** A value of the configuration, masked as its type wants it. */
void config_mask(const struct config_value *value, struct str *ret_text);
/** A URL on its own. */
void config_mask_url(const char *url, struct str *ret_text);
/** Whether a connection string is a URI: the other form is keywords with values. */
bool mask_is_uri(const char *text);
/** A connection string on its own. */
void config_mask_conninfo(const char *conninfo, struct str *ret_text);

#endif
