/**
 * What: a login role for each group of a test, in a database with one queue, one run and three
 *   tasks; the refusals of such a login.
 * Invariants: a test's logins and all that they own go with it.
 * Threads: the test's own.
 * Ownership: the caller closes the sessions.
 * Failure: the test fails.
 */
#ifndef TESTS_DB_ROLES_H
#define TESTS_DB_ROLES_H

#include "base/str.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

#define TOKEN "'aaaaaaaa-0000-4000-8000-000000000001'"
#define WRONG "'aaaaaaaa-0000-4000-8000-000000000002'"

/* A login role for each group, made for one test in a database of its own. */
struct house {
    struct db *admin;
    const char *names[8];
    int count;
};

static int setup(void **state)
{
    static struct house house;
    (void)support_database();
    house = (struct house){.admin = support_db()};
    support_exec(house.admin,
                 "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't'); "
                 "INSERT INTO lockstep.run (run_id, queue_id, on_failure, status) VALUES (" TOKEN
                 ", 1, 'stop', 'Running'); "
                 "INSERT INTO lockstep.phase (run_no, queue_id, \"order\", previous_order, "
                 "opened_at) VALUES (1, 1, 100, 0, now()); "
                 "INSERT INTO lockstep.task (phase_id, run_no, queue_id, \"order\", kafka_offset, "
                 "payload, token, executor_no, attempt_num) SELECT 1, 1, 1, 100, n, '{}', " TOKEN
                 ", 1, 1 FROM generate_series(1, 3) AS n");
    *state = &house;
    return 0;
}

static int teardown(void **state)
{
    struct house *house = *state;
    support_no_advisory_locks();
    for (int i = 0; i < house->count; i++)
        support_exec(house->admin, "DROP OWNED BY %s CASCADE; DROP ROLE %s", house->names[i],
                     house->names[i]);
    db_close(house->admin);
    return 0;
}

static void ignore(void *context, const char *severity, const char *message)
{
    (void)context, (void)severity, (void)message;
}

/** A session of a new login role that is a member of `group` and nothing else. */
static struct db *login(struct house *house, const char *group, enum db_role role)
{
    struct db *db = NULL;
    struct err err;
    const char *name = support_name("ls_login");
    house->names[house->count++] = name;
    support_exec(house->admin, "CREATE ROLE %s LOGIN; GRANT %s TO %s", name, group, name);
    assert_ok(db_open(support_conninfo_as(name), role, &db, &err), &err);
    support_on_notice(db, ignore, NULL); /* a ROLLBACK outside a transaction */
    return db;
}

/** The command must fail with this SQLSTATE; any earlier one of several may succeed. */
__attribute__((unused)) static void refused(struct db *db, const char *code, const char *sql)
{
    struct err err = {0};
    enum rc rc = db_script(db, sql, NULL, &err);
    if (rc == RC_OK || strcmp(err.code, code) != 0)
        print_error("%s\n  expected %s, got %s %s\n", sql, code, rc_name(rc), err.message);
    assert_int_not_equal(rc, RC_OK);
    assert_string_equal(err.code, code);
    assert_ok(db_script(db, "ROLLBACK", NULL, &err), &err);
}

#endif
