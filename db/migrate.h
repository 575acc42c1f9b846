/**
 * What: the schema `lockstep`: numbered forward migrations, the functions and the views, embedded
 *   in the binary.
 * Invariants: a migration is applied once, in its own transaction, under one advisory lock, so any
 *   number of migrators may start at once; an applied migration keeps its checksum. A function or
 *   view is replaced when its text changed: in its place, so that its grants stay, or, with other
 *   parameters or columns, after it was dropped. One that this binary does not have is dropped. One
 *   of a newer release is neither replaced nor dropped: everything is refused then.
 * Threads: the session's own.
 * Ownership: borrows the session.
 * Failure: RC_FATAL with ERR_SCHEMA when the schema is older, newer, altered or of another line of
 *   development; the hint has the remedy.
 */
#ifndef DB_MIGRATE_H
#define DB_MIGRATE_H

#include "db/db.h"
#include <stdio.h>

enum migrate_state {
    MIGRATE_APPLIED,
    MIGRATE_PENDING,
    MIGRATE_CHANGED,
    MIGRATE_UNKNOWN,
    MIGRATE_NEWER, /* a function or view of a newer release */
    MIGRATE_OTHER  /* a migration of this number and another name: of another line of development */
};

struct migrate_item {
    int version;   /* 0: a function or view */
    char name[80]; /* as the database has it, if it does */
    enum migrate_state state;
    char applied_at[40]; /* "" if pending */
    char release[24];    /* of Lockstep, that made this function or view; "" if pending */
};

/** Lists the applied and the pending scripts; *ret_items is freed by the caller. */
MUST_CHECK enum rc migrate_list(struct db *db, struct migrate_item **ret_items, int *ret_count,
                                struct err *err);

/** Applies what is pending, and drops the functions and views that this version does not have.
 * show: prints the SQL there (NULL: not). dry_run: changes nothing, and counts all the same. */
MUST_CHECK enum rc migrate_up(struct db *db, bool dry_run, FILE *show, int *ret_changes,
                              struct err *err);

/** RC_OK when the schema is exactly what this binary was built with. */
MUST_CHECK enum rc migrate_validate(struct db *db, struct err *err);

#endif
