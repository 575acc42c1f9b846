/**
 * What: the parameters of routes: their names, what each may hold, and how one is checked before it reaches PostgreSQL.
 * Invariants: one table (field.c) knows all of them, for the check and for the OpenAPI document.
 * Threads: any: it is constant.
 * Ownership: static; a checked value is the caller's string.
 * Failure: RC_REJECT: err->object is the field, the hint says what it may be.
 */
#ifndef CONSOLE_FIELD_H
#define CONSOLE_FIELD_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum field_type {
    FIELD_TEXT, /* least..most: its length in bytes */
    FIELD_INT,  /* least..most */
    FIELD_UUID,
    FIELD_WORD,   /* one of words */
    FIELD_WORDS,  /* some of words, with commas between; given to SQL as text[] */
    FIELD_TIME,   /* ISO 8601 with a zone */
    FIELD_CURSOR, /* `next` of an answer of the same list; given to SQL without the list's name */
    FIELD_BOOL,
    FIELD_JSON, /* an object or array of the body, as written */
    FIELD_IDS   /* an array of run ids in the body, given to SQL as JSON */
};

struct field {
    const char *name;
    enum field_type type;
    int64_t least, most;
    const char *words;   /* "a|b|c" */
    const char *initial; /* NULL: SQL NULL */
    const char *meaning;
};

const struct field *field_named(const char *name, size_t len);
/** Appends what SQL gets. list: the name of the route's list, for cursors. */
MUST_CHECK enum rc field_check(const struct field *field, const char *list, const char *text,
                               struct str *value, struct err *err);
#endif
