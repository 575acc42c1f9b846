/* ctest: timeout=120 long notsan
 * Servers in a bad shape: a lock table that is full, a pooler in between, a standby. Each test
 * starts its own (tests/db/private_server). */
#include "base/str.h"
#include "db/backend.h"
#include "db/migrate.h"
#include "phaselock/phaselock.h"
#include "phaselock/slot.h"
#include "tests/support/locks.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct server {
    char home[64], conninfo[256];
};

static void read_line(FILE *from, char *to, size_t size)
{
    to[0] = '\0';
    if (fgets(to, (int)size, from) != NULL)
        to[strcspn(to, "\n")] = '\0';
}

static void start(struct server *ret_server, const char *what)
{
    STR_AUTO command = {0};
    str_format(&command, "bash '%s/tests/db/private_server' %s", LOCKSTEP_SOURCE, what);
    FILE *pipe = popen(command.data, "r");
    assert_non_null(pipe);
    read_line(pipe, ret_server->home, sizeof ret_server->home);
    read_line(pipe, ret_server->conninfo, sizeof ret_server->conninfo);
    assert_int_equal(pclose(pipe), 0);
    assert_true(ret_server->conninfo[0] != '\0');
}

/* What a test started, for its teardown: also when it failed half way. */
static struct server servers[3];
static int server_count;

static int stop_servers(void **state)
{
    (void)state;
    int failed = 0;
    for (int i = 0; i < server_count; i++) {
        STR_AUTO command = {0};
        str_format(&command, "bash '%s/tests/db/private_server' stop %s", LOCKSTEP_SOURCE,
                   servers[i].home);
        failed |= system(command.data);
    }
    server_count = 0;
    return failed;
}

static const char *start_server(const char *what)
{
    start(&servers[server_count], what);
    return servers[server_count++].conninfo;
}

static struct db *session(const char *conninfo)
{
    struct err err;
    struct db *db = NULL;
    assert_ok(db_open(conninfo, DB_CONTROL, &db, &err), &err);
    return db;
}

/* ---- a full lock table */

static int held_by(struct db *watcher, struct db *db)
{
    return (int)support_int(
        watcher, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = %d",
        db_backend_pid(db));
}

static void fill_lock_table(struct db *hog)
{
    struct err err;
    assert_rc(db_script(hog, "SELECT pg_advisory_lock(99, g) FROM generate_series(1, 100000) AS g",
                        NULL, &err),
              RC_RETRY, &err);
    assert_string_equal(err.code, "53200");
}

/* The same call with 0, 1, 2, ... free places until it is granted: on the way it fails at each of
 * its steps, gets the error, and holds nothing. */
static void refused_until_there_is_room(struct db *hog, struct db *watcher, struct db *db,
                                        enum locks_mode mode, int wait_ms)
{
    struct err err;
    int freed = 0, refused = 0;
    fill_lock_table(hog);
    for (;;) {
        enum rc rc = mode == LOCKS_SHARED ? locks_shared(db, 7, wait_ms, &err)
                                          : locks_intent(db, 7, wait_ms, &err);
        if (rc == RC_OK)
            break;
        assert_rc(rc, RC_RETRY, &err);
        assert_string_equal(err.code, "53200");
        assert_non_null(strstr(err.hint, "max_locks_per_transaction"));
        assert_int_equal(held_by(watcher, db), 0);
        refused++;
        freed++;
        assert_true(freed < 50);
        support_exec(hog, "SELECT pg_advisory_unlock(99, %d)", freed);
    }
    assert_true(refused > 0);
    assert_int_equal(held_by(watcher, db), 1);
    assert_ok(locks_release(db, 7, mode, &err), &err); /* the session was not dropped */
    support_exec(hog, "SELECT pg_advisory_unlock_all()");
}

static void a_full_lock_table_is_told_and_leaves_nothing_locked(void **state)
{
    (void)state;
    struct err err;
    int applied;
    const char *conninfo = start_server("postgres max_connections=20 max_locks_per_transaction=10 "
                                        "max_worker_processes=0 max_wal_senders=0 "
                                        "wal_level=minimal autovacuum=off");
    struct db *hog = session(conninfo), *db = session(conninfo), *watcher = session(conninfo);
    assert_ok(migrate_up(hog, false, NULL, &applied, &err), &err);
    locks_install(hog);
    /* warm: plans and caches need locks of their own the first time */
    assert_ok(locks_shared(db, 1, 0, &err), &err);
    assert_ok(locks_release(db, 1, LOCKS_SHARED, &err), &err);
    assert_int_equal(held_by(watcher, db), 0); /* the watcher, too */
    assert_ok(phaselock_headroom(db, 100, &err), &err);
    assert_int_equal(held_by(watcher, db), 0);

    fill_lock_table(hog);
    assert_rc(phaselock_headroom(db, 100, &err), RC_RETRY, &err);
    assert_non_null(strstr(err.hint, "max_locks_per_transaction"));
    assert_rc(locks_life(db, 3, &err), RC_RETRY, &err);
    support_exec(hog, "SELECT pg_advisory_unlock_all()");

    refused_until_there_is_room(hog, watcher, db, LOCKS_SHARED, 0);
    refused_until_there_is_room(hog, watcher, db, LOCKS_SHARED, 50);
    refused_until_there_is_room(hog, watcher, db, LOCKS_INTENT, 50);
    db_close(hog);
    db_close(db);
    db_close(watcher);
}

static int64_t used(struct db *db)
{
    return support_int(db, "SELECT used FROM lockstep.lock_headroom()");
}

/* The locks of serializable transactions are in a table of their own. */
static void the_headroom_counts_no_locks_of_serializable_reads(void **state)
{
    (void)state;
    struct err err;
    int applied;
    const char *conninfo = start_server("postgres max_worker_processes=0 autovacuum=off");
    struct db *reader = session(conninfo), *watcher = session(conninfo);
    assert_ok(migrate_up(watcher, false, NULL, &applied, &err), &err);
    support_exec(reader, "CREATE TABLE public.wide AS SELECT g FROM generate_series(1, 1000) AS g");
    (void)used(watcher); /* warm: plans and caches need locks of their own */
    int64_t before = used(watcher);
    support_exec(reader, "BEGIN ISOLATION LEVEL SERIALIZABLE");
    support_exec(reader, "SELECT count(*) FROM public.wide");
    assert_true(support_int(watcher, "SELECT count(*) FROM pg_locks WHERE mode = 'SIReadLock'") >
                0);
    assert_int_equal(used(watcher), before);
    db_close(reader);
    db_close(watcher);
}

static void a_full_lock_table_leaves_the_slots_that_were_got(void **state)
{
    (void)state;
    struct err err;
    int applied, slot_nos[4], count = 0;
    const char *conninfo = start_server("postgres max_connections=20 max_locks_per_transaction=10 "
                                        "max_worker_processes=0 max_wal_senders=0 "
                                        "wal_level=minimal autovacuum=off");
    struct db *hog = session(conninfo), *db = session(conninfo), *watcher = session(conninfo);
    assert_ok(migrate_up(hog, false, NULL, &applied, &err), &err);
    support_exec(hog, "INSERT INTO lockstep.queue (name, topic) VALUES ('q', 't'); INSERT INTO "
                      "lockstep.executor (executor_id, host, pid, version, readers, queues) VALUES "
                      "(gen_random_uuid(), 'h', 1, 'v', 4, '{q}')");
    struct slot_reader readers[4];
    for (int i = 0; i < 4; i++)
        readers[i] = (struct slot_reader){db_backend_pid(db), db_backend_start(db)};
    assert_ok(slot_take(db, 1, 1, readers, 4, slot_nos, &count, &err), &err); /* warm */
    assert_ok(slot_release(db, 1, 1, slot_nos, 4, &err), &err);
    assert_int_equal(held_by(watcher, db), 0);

    fill_lock_table(hog);
    enum rc rc = RC_RETRY;
    for (int freed = 1; rc != RC_OK; freed++) {
        rc = slot_take(db, 1, 1, readers, 4, slot_nos, &count, &err);
        if (rc == RC_OK)
            break;
        assert_rc(rc, RC_RETRY, &err); /* all or nothing of one round */
        assert_int_equal(held_by(watcher, db), 0);
        assert_true(freed < 50);
        support_exec(hog, "SELECT pg_advisory_unlock(99, %d)", freed);
    }
    assert_int_equal(held_by(watcher, db), 4);
    assert_ok(slot_release(db, 1, 1, slot_nos, 4, &err), &err);
    db_close(hog);
    db_close(db);
    db_close(watcher);
}

/* ---- poolers: session locks are silently wrong behind one */

static void refused_behind_a_pooler(const char *mode)
{
    struct err err;
    struct db *db = NULL;
    STR_AUTO command = {0};
    str_format(&command, "pgbouncer %s \"%s\"", mode, support_cluster());
    const char *conninfo = start_server(command.data);
    for (enum db_role role = DB_CLI; role <= DB_MIGRATE; role++) {
        assert_rc(db_open(conninfo, role, &db, &err), RC_FATAL, &err);
        assert_null(db);
        assert_non_null(strstr(err.message, "pooler"));
        assert_non_null(strstr(err.hint, "PostgreSQL itself"));
    }
}

static void a_pooler_in_transaction_mode_is_refused(void **state)
{
    (void)state;
    refused_behind_a_pooler("transaction");
}

static void a_pooler_in_session_mode_is_refused(void **state)
{
    (void)state;
    refused_behind_a_pooler("session");
}

/* ---- several hosts */

static void a_host_that_is_unfit_behind_the_login_is_not_the_last_that_is_asked(void **state)
{
    (void)state;
    char standby[2][100], primary[2][100];
    struct err err;
    struct db *db = NULL;
    STR_AUTO both = {0};
    assert_int_equal(sscanf(start_server("standby"), "host=%99s port=%99s", standby[0], standby[1]),
                     2);
    assert_int_equal(
        sscanf(start_server("postgres"), "host=%99s port=%99s", primary[0], primary[1]), 2);
    str_format(&both,
               "host=%s,%s port=%s,%s user=lockstep_test dbname=postgres target_session_attrs=any",
               standby[0], primary[0], standby[1], primary[1]);
    assert_ok(db_open(both.data, DB_CONTROL, &db, &err), &err);
    assert_int_equal(support_int(db, "SELECT pg_is_in_recovery()::int"), 0);
    db_close(db);
    STR_AUTO alone = {0};
    str_format(&alone,
               "host=%s,%s port=%s user=lockstep_test dbname=postgres "
               "target_session_attrs=any",
               standby[0], standby[0], standby[1]);
    assert_rc(db_open(alone.data, DB_CONTROL, &db, &err), RC_RETRY, &err);
    assert_non_null(strstr(err.message, "standby"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_full_lock_table_is_told_and_leaves_nothing_locked,
                                  stop_servers),
        cmocka_unit_test_teardown(the_headroom_counts_no_locks_of_serializable_reads, stop_servers),
        cmocka_unit_test_teardown(a_full_lock_table_leaves_the_slots_that_were_got, stop_servers),
        cmocka_unit_test_teardown(a_pooler_in_transaction_mode_is_refused, stop_servers),
        cmocka_unit_test_teardown(a_pooler_in_session_mode_is_refused, stop_servers),
        cmocka_unit_test_teardown(
            a_host_that_is_unfit_behind_the_login_is_not_the_last_that_is_asked, stop_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
