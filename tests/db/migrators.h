/**
 * What: a migrator of a test, and several at once.
 * Invariants: each has a session of its own, which ends with it.
 * Threads: one for each migrator.
 * Ownership: the caller closes the sessions that it opens; migrate_together closes those of its
 *   crowd.
 * Failure: the test fails.
 */
#ifndef TESTS_DB_MIGRATORS_H
#define TESTS_DB_MIGRATORS_H

#include "db/migrate.h"
#include "tests/support/support.h"

#include <pthread.h>

#define SCRIPTS SQL_SCRIPT_COUNT

static struct db *open_at(const char *where, enum db_role role)
{
    struct db *db = NULL;
    struct err err;
    assert_ok(db_open(where, role, &db, &err), &err);
    return db;
}

static int up(struct db *db)
{
    struct err err;
    int applied = -1;
    assert_ok(migrate_up(db, false, NULL, &applied, &err), &err);
    return applied;
}

/* As if this function or view had been applied with another text. */
static void changed(struct db *db, const char *name)
{
    support_exec(db, "UPDATE lockstep.function_version SET checksum = 'x' WHERE name = '%s'", name);
}

struct migrator {
    struct db *db;
    pthread_t thread;
    enum rc rc;
    int applied;
    struct err err;
};

static void *migrate(void *context)
{
    struct migrator *migrator = context;
    migrator->rc = migrate_up(migrator->db, false, NULL, &migrator->applied, &migrator->err);
    return NULL;
}

static int migrate_together(struct migrator *crowd, int count)
{
    int applied = 0;
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, migrate, &crowd[i]), 0);
    for (int i = 0; i < count; i++)
        (void)pthread_join(crowd[i].thread, NULL);
    for (int i = 0; i < count; i++) {
        assert_ok(crowd[i].rc, &crowd[i].err);
        applied += crowd[i].applied;
        db_close(crowd[i].db);
    }
    return applied;
}

#endif
