/**
 * What: the shapes of answers: which members an answer has, of which types, as JSON Schema in the
 *   OpenAPI document.
 * Invariants: the table in shape.c names each object that several answers have, or that is part of
 *   another one; the table of routes (console/routes.c) has the shape of each answer. Both are
 *   written in the same words, with blanks between:
 *     name:type    a member that each such object has
 *     name~:type   a member that an object may lack
 *     +Shape       all members of that shape
 *   A type is text, int, number, bool, uuid, time, date, object (whose members are not described),
 *   the name of a shape, or the words that a text may be, (a|b|c). Behind it are, read from left to
 *   right, "?" if the value may be null, and "[]" if it is a list of such values. No member is
 *   described that no answer has, and none is left out: tests/support/answers.py compares.
 * Threads: any: it is constant.
 * Ownership: the schema belongs to the caller.
 * Failure: none.
 */
#ifndef CONSOLE_SHAPE_H
#define CONSOLE_SHAPE_H

#include <cjson/cJSON.h>

/** Adds to an empty schema what an object of these members is. */
void shape_describe(cJSON *schema, const char *members);
/** Adds all named shapes, for references. */
void shape_describe_all(cJSON *schemas);

#endif
