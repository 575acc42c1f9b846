/* A database for each test: a copy of a template that one test has migrated for all. PostgreSQL
 * copies a template faster than it runs the migrations, and a test can leave in its copy what it
 * likes. The template's name has a hash of the schema's scripts, so a changed schema makes a new
 * one. Sessions, SQL and waiting are here, too; topics are in tests/support/topic.c. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "db/migrate.h"
#include "db/session.h"
#include "tests/support/locks.h"
#include "tests/support/own.h"
#include "tests/support/support.h"

#define LOCK_WAIT_MS 5000

static struct database {
    struct database *next;
    const char *name, *conninfo;
} * databases; /* the newest first */

const char *support_cluster(void)
{
    return support_environment("LOCKSTEP_TEST_PG");
}

static struct db *open_session(const char *conninfo, enum db_role role)
{
    struct err err;
    struct db *db = NULL;

    assert_ok(db_open(conninfo, role, &db, &err), &err);
    return db;
}

/** At exit: no assertion counts any more, so a failure is only said. */
static void drop_databases(void)
{
    struct err err;
    struct db *db = NULL;

    if (db_open(support_cluster(), DB_CLI, &db, &err) != RC_OK) {
        (void)fprintf(stderr, "support: databases not dropped: %s\n", err.message);
        return;
    }
    while (databases != NULL) {
        struct database *database = databases;
        STR_AUTO sql = {0};

        databases = database->next;
        str_format(&sql, "DROP DATABASE %s WITH (FORCE)", database->name);
        if (db_script(db, sql.data, NULL, &err) != RC_OK) {
            (void)fprintf(stderr, "support: %s not dropped: %s\n", database->name, err.message);
        }
        free(database);
    }
    db_close(db);
}

/** A database of this test's own: empty, or a copy. */
static const char *new_database(const char *template)
{
    struct db *db = open_session(support_cluster(), DB_CLI);
    struct database *database = xcalloc(1, sizeof *database);
    STR_AUTO conninfo = {0};

    database->name = support_name("ls");
    support_exec(db, "CREATE DATABASE %s TEMPLATE %s STRATEGY file_copy", database->name, template);
    db_close(db);
    str_format(&conninfo, "%s dbname=%s", support_cluster(),
               database->name); /* the last dbname counts */
    database->conninfo = support_keep(conninfo.data);
    if (databases == NULL) {
        (void)atexit(drop_databases);
    }
    database->next = databases;
    databases = database;
    return database->conninfo;
}

const char *support_empty_database(void)
{
    return new_database("template1");
}

/** Named after the texts of the schema that is linked into this test. */
static void name_template(char *name, size_t size)
{
    uint64_t hash = 14695981039346656037U; /* FNV-1a */

    for (int i = 0; i < SQL_SCRIPT_COUNT; i++) {
        for (const char *c = sql_scripts[i].checksum; *c != '\0'; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211U;
        }
    }
    (void)snprintf(name, size, "template_%016" PRIx64, hash);
}

static void migrate_new(const char *name)
{
    STR_AUTO conninfo = {0};
    struct err err;
    int applied;

    str_format(&conninfo, "%s dbname=%s_new", support_cluster(), name);
    struct db *db = open_session(conninfo.data, DB_MIGRATE);
    assert_ok(migrate_up(db, false, NULL, &applied, &err), &err);
    locks_install(db);
    db_close(db);
}

/** It has its name only when it is whole. One test makes it, the others wait for the lock. */
static void make_template(struct db *db, const char *name)
{
    STR_AUTO path = {0};

    str_format(&path, "%s/%s.lock", support_environment("LOCKSTEP_TEST_HOME"), name);
    int lock = open(path.data, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true(lock >= 0);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    if (support_int(db, "SELECT count(*) FROM pg_database WHERE datname = '%s'", name) == 0) {
        support_exec(db, "DROP DATABASE IF EXISTS %s_new", name);
        support_exec(db, "CREATE DATABASE %s_new", name);
        migrate_new(name);
        /* CREATE DATABASE and ALTER DATABASE refuse a template with sessions; a backend needs a
         * moment to notice that its client has closed. */
        support_await(db, 60000,
                      "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = '%s_new' AND "
                      "backend_type = 'client backend'",
                      name);
        /* A session in the template would make the copies of all other tests fail. */
        support_exec(db, "ALTER DATABASE %s_new ALLOW_CONNECTIONS false", name);
        support_exec(db, "ALTER DATABASE %s_new RENAME TO %s", name, name);
    }
    (void)close(lock);
}

const char *support_database(void)
{
    char template[40];
    struct db *db = open_session(support_cluster(), DB_CLI);

    name_template(template, sizeof template);
    if (support_int(db, "SELECT count(*) FROM pg_database WHERE datname = '%s'", template) == 0) {
        make_template(db, template);
    }
    db_close(db);
    return new_database(template);
}

const char *support_conninfo_as(const char *user)
{
    STR_AUTO conninfo = {0};

    assert_non_null(databases);
    str_format(&conninfo, "%s user=%s", databases->conninfo, user);
    return support_keep(conninfo.data);
}

struct db *support_db(void)
{
    if (databases == NULL) {
        (void)support_database();
    }
    struct db *db = open_session(databases->conninfo, DB_CLI);

    support_exec(db, "SET search_path = public"); /* for the tables of the tests themselves */
    return db;
}

static struct db_result *query(struct db *db, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
static struct db_result *query(struct db *db, const char *fmt, va_list args)
{
    struct err err;
    struct db_result *result = NULL;
    char *sql = NULL;
    enum rc rc;

    assert_true(vasprintf(&sql, fmt, args) >= 0);
    rc = db_script(db, sql, &result, &err);
    if (rc != RC_OK) {
        print_error("SQL: %s\n", sql);
    }
    free(sql);
    assert_ok(rc, &err);
    return result;
}

void support_exec(struct db *db, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    db_free(query(db, fmt, args));
    va_end(args);
}

int64_t support_int(struct db *db, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    DB_RESULT_AUTO *result = query(db, fmt, args);
    va_end(args);
    assert_true(db_rows(result) >= 1);
    return db_int(result, 0, 0);
}

const char *support_text(struct db *db, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    DB_RESULT_AUTO *result = query(db, fmt, args);
    va_end(args);
    assert_true(db_rows(result) >= 1);
    return support_keep(db_text(result, 0, 0));
}

static bool holds(struct db *db, const char *sql)
{
    struct err err;
    DB_RESULT_AUTO *result = NULL;

    assert_ok(db_script(db, sql, &result, &err), &err);
    assert_true(db_rows(result) >= 1);
    return db_bool(result, 0, 0);
}

/** Asks every 5 ms: a condition is waited for, never a time. */
static bool await(struct db *db, int timeout_ms, const char *sql)
{
    int64_t until_us = clock_boot_us() + (int64_t)timeout_ms * 1000;
    struct timespec pause = {.tv_nsec = 5000000};

    while (!holds(db, sql)) {
        if (clock_boot_us() > until_us) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

/* For conditions that are not SQL: while (support_again(&until_us)) waits at most 30 s. */
bool support_again(int64_t *until_us)
{
    struct timespec pause = {.tv_nsec = 20000000};

    if (*until_us == 0)
        *until_us = clock_boot_us() + 30000000;
    else
        (void)nanosleep(&pause, NULL);
    return clock_boot_us() < *until_us;
}

void support_await(struct db *db, int timeout_ms, const char *fmt, ...)
{
    va_list args;
    char *sql = NULL;
    bool held;

    va_start(args, fmt);
    assert_true(vasprintf(&sql, fmt, args) >= 0);
    va_end(args);
    held = await(db, timeout_ms, sql);
    if (!held) {
        print_error("not so within %d ms: %s\n", timeout_ms, sql);
    }
    free(sql);
    assert_true(held);
}

#define ADVISORY_LOCKS                                                                             \
    "FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND "  \
    "l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"

void support_no_advisory_locks(void)
{
    struct db *db = support_db();
    bool none = await(db, LOCK_WAIT_MS, "SELECT count(*) = 0 " ADVISORY_LOCKS);

    if (!none) {
        print_error(
            "advisory locks left behind: %s\n",
            support_text(db,
                         "SELECT coalesce(string_agg(format('%%s(%%s,%%s,%%s)%%s by %%s pid %%s', "
                         "l.mode, l.classid, l.objid, l.objsubid, "
                         "CASE WHEN l.granted THEN '' ELSE ' waited for' END, "
                         "a.application_name, l.pid), '; '), 'gone by now') " ADVISORY_LOCKS));
    }
    db_close(db);
    assert_true(none);
}

static struct {
    support_notice_fn *fn;
    void *context;
} notices;

/* libpq's notice receiver: it is called on the thread of the session that reads. */
static void on_notice(void *context, const PGresult *result)
{
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    (void)context;
    notices.fn(notices.context, severity ? severity : "", message ? message : "");
}

void support_on_notice(struct db *db, support_notice_fn *fn, void *context)
{
    notices.fn = fn;
    notices.context = context;
    (void)PQsetNoticeReceiver(db->conn, on_notice, NULL);
}
