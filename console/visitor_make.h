/**
 * What: how a visitor is made, and its ages: for sessions.c and stream.c.
 * Invariants: a visitor of the console's login opens its PostgreSQL session when it first asks for
 *   something, and again when it was lost; that of a person cannot: it is lost for good.
 * Threads: any, but for the functions that need sessions.c's lock.
 * Ownership: counted: visitor_new and visitor_hold give, visitor_release takes.
 * Failure: see sessions.h.
 */
#ifndef CONSOLE_VISITOR_MAKE_H
#define CONSOLE_VISITOR_MAKE_H

#include "console/visitor.h"

#include <stdint.h>

/** conninfo: of the console's login, borrowed; LEVEL_NONE: no SET ROLE. */
struct visitor *visitor_new(const char *login, enum level level, const char *conninfo);
/** Takes db; with a new id and CSRF token. */
struct visitor *visitor_of_person(const char *login, struct db *db);
/** How old it is, by clock_boot_us. */
struct visitor_ages {
    int64_t since_us, used_us;
    int64_t checked_us; /* its groups were read last */
    bool lost;          /* its session is, for good */
};
struct visitor_ages visitor_ages(const struct visitor *visitor);
/** How many sessions it has opened: with another one it may see another state of the database, from
 * a backup. */
int visitor_opened(const struct visitor *visitor);
void visitor_checked(struct visitor *visitor, int64_t now_us);

/* With sessions.c's lock, or before others know it. */
void visitor_set_level(struct visitor *visitor, enum level level);
/** proof: the event log knows the token by it. */
void visitor_set_token(struct visitor *visitor, const char *token, const char *proof);
void visitor_touch(struct visitor *visitor, int64_t now_us);
/** It was looked up again: as new, with the level of `found`; the next use of its session takes
 * another level over. */
void visitor_renew(struct visitor *visitor, const struct visitor *found, int64_t now_us);

#endif
