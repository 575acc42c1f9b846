/**
 * What: the parts of a connection string of keywords with values, as libpq finds them.
 * Invariants: the parts are in the order of the text and do not overlap.
 * Threads: any.
 * Ownership: a part points into the caller's text.
 * Failure: none: each text has parts, also one that libpq refuses.
 */
#ifndef CONFIG_PART_H
#define CONFIG_PART_H

#include <stdbool.h>
#include <stddef.h>

/** A keyword and its value as they are in the text, with quotes and backslashes. */
struct conninfo_part {
    const char *name, *value; /* value: NULL: there is no = behind the name */
    size_t name_length, value_length;
};
/** The part at *at, which then is behind it, as libpq reads keywords; false: there is none. */
bool config_conninfo_next(const char **at, struct conninfo_part *ret_part);

#endif
