/**
 * What: the short forms of values in a table: times, ids, numbers.
 * Invariants: a short form says less, never something else.
 * Threads: any.
 * Ownership: the caller's.
 * Failure: none; a value of another form stays as it is.
 */
#ifndef CLI_SHORT_H
#define CLI_SHORT_H

#include "base/str.h"

/** The zone of a time of PostgreSQL, "+02" of "2024-05-06 07:08:09.5+02": a part of cell. NULL: the
 * cell is not such a time. */
const char *short_zone(const char *cell);

/** A time of PostgreSQL without its zone: today's as HH:MM:SS, this year's as MM-DD HH:MM, else
 * YYYY-MM-DD HH:MM, or, if days, the date alone. now_s: seconds since 1970; whether it is today is
 * decided in the zone of the cell. */
void short_time(struct str *out, const char *cell, int64_t now_s, bool days);
/** Shortens "YYYY-MM-DD HH:MM" of short_time to the date; a zone behind it stays. */
void short_day(char *shown);

/** An interval of PostgreSQL without what is behind its seconds. */
void short_interval(struct str *out, const char *cell);

/** A number in at most so many columns: with fewer digits behind the point, then with a unit:
 * 12.3k, 4.5M. */
void short_number(struct str *out, const char *cell, int columns);

#define SHORT_ID 8
/** How many characters distinguish the count ids; at least SHORT_ID. A NULL among them is left
 * out. */
int short_id(const char *const *ids, int count);

#endif
