/**
 * What: the parameters of routes: their names, the values that each may have, and how one is
 *   checked before it reaches PostgreSQL.
 * Invariants: one table (field.c) knows all of them, for the check and for the OpenAPI document.
 * Threads: any: it is constant.
 * Ownership: static; a checked value is the caller's string.
 * Failure: RC_REJECT: err->object is the field, the hint describes its values.
 */
#ifndef CONSOLE_FIELD_H
#define CONSOLE_FIELD_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/** The words among the places of a topic. */
#define FIELD_PLACES "earliest|latest"

enum field_type {
    FIELD_TEXT, /* least..most: its length in characters */
    FIELD_INT,  /* least..most */
    FIELD_UUID,
    FIELD_SLUG,  /* letters, digits and . _ -, at most 63, a letter or digit first */
    FIELD_WORD,  /* one of words */
    FIELD_WORDS, /* some of words, with commas between; given to SQL as text[] */
    FIELD_TIME,  /* RFC 3339; given to SQL in UTC */
    /* `next` of an answer of the same list, given to SQL without the list's name: of rows by
     * number, by time and number, by name */
    FIELD_AFTER_NUMBER,
    FIELD_AFTER_PLACE,
    FIELD_AFTER_NAME,
    FIELD_BOOL,
    FIELD_PLACE,   /* of a topic: an offset, earliest or latest; without words: or a time */
    FIELD_OBJECT,  /* of the body, as written; words: its members, as those of a route; NULL: any */
    FIELD_OBJECTS, /* an array of objects in the body, as written */
    FIELD_TASKS,   /* an array of objects in the body, as written, or its lines as JSON Lines */
    FIELD_UUIDS    /* an array of 1 to most UUIDs in the body, as written */
};

struct field {
    const char *name;
    enum field_type type;
    int64_t least, most;
    const char *words;   /* "a|b|c", or the members of an object */
    const char *initial; /* NULL: SQL NULL */
    const char *meaning;
};

const struct field *field_named(const char *name, size_t len);
/** Its values in words. */
void field_describe(const struct field *field, struct str *text);
/** Whether the field is one of those that the body has as a string. */
bool field_is_text(const struct field *field);
bool field_is_uuid(const char *text);
/** Appends what SQL gets. name: of the parameter; list: of the route's list, for cursors. */
MUST_CHECK enum rc field_check(const struct field *field, const char *name, const char *list,
                               const char *text, struct str *value, struct err *err);
#endif
