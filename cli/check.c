/* check: the order of all checks, and those of PostgreSQL: server, schema, login, the session of
 * task SQL, and the list that the database makes of itself. A check that fails does not end the
 * command; the checks that depend on it get a line "skip". Commands, receivers, Kafka and queues
 * have files of their own (cli/check.h).
 *
 * Everything is read: check changes nothing, in the database as on Kafka, so it may run at any
 * time. A new check is a function that reports with check_report, called from
 * command_check or check_schema behind the checks that it needs; where one of those has failed, a
 * line "skip" takes its place. */
#include "cli/check.h"
#include "base/number.h"

#include "cli/commands.h"
#include "cli/exit.h"
#include "db/backend.h"
#include "db/migrate.h"
#include "db/sqlstate.h"
#include "reader/fitness.h"

#include "base/remedies_rights.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* FORMATTED: a text in a compound literal, which lives until the end of the block. */
#define LOGIN          db_login(check->cli->db)
#define FORMATTED(...) formatted((char[600]){0}, __VA_ARGS__)

static const char *formatted(char text[600], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static const char *formatted(char text[600], const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, 600, fmt, ap);
    va_end(ap);
    return text;
}

static void check_version(struct check *check, const struct db_result *server)
{
    int64_t major = db_int(server, 0, VIEW_SERVER_VERSION_NUM) / 10000;
    if (major < 14)
        check_report(check, TOPIC_FAIL, "version", "Use PostgreSQL 14 to 18.",
                     "PostgreSQL %s is too old", db_text(server, 0, VIEW_SERVER_VERSION));
    else if (major > 18)
        check_report(check, TOPIC_WARN, "version", "Tested with 14 to 18.", "PostgreSQL %s",
                     db_text(server, 0, VIEW_SERVER_VERSION));
    else
        check_report(check, TOPIC_OK, "version", NULL, "PostgreSQL %s",
                     db_text(server, 0, VIEW_SERVER_VERSION));
}

static void check_login(struct check *check, const struct db_result *server)
{
    const char *login = db_text(server, 0, VIEW_SERVER_LOGIN);
    /* A superuser passes every check of rights below, so it would hide what another login lacks. */
    if (db_bool(server, 0, VIEW_SERVER_SUPERUSER))
        check_report(check, TOPIC_WARN, "rights",
                     "A login role that is a member of lockstep_executor is enough.",
                     "%s is a superuser", login);
    else if (db_bool(server, 0, VIEW_SERVER_IS_EXECUTOR))
        check_report(check, TOPIC_OK, "rights", NULL, "%s is a member of lockstep_executor", login);
    else if (*db_text(server, 0, VIEW_SERVER_GROUPS) != '\0')
        check_report(check, TOPIC_OK, "rights", NULL, "%s is a member of %s", login,
                     db_text(server, 0, VIEW_SERVER_GROUPS));
    else
        check_report(check, TOPIC_WARN, "rights", FORMATTED(REMEDY_GRANT_ONE(login)),
                     "%s is a member of no group role of Lockstep", login);
}

/* Two servers can have a database of the same name, so the moment at which the server has started
 * is compared, too. */
static bool same_database(const struct db_result *ours, const struct db_result *theirs)
{
    return strcmp(db_text(ours, 0, VIEW_SERVER_DATABASE),
                  db_text(theirs, 0, VIEW_SERVER_DATABASE)) == 0 &&
           strcmp(db_text(ours, 0, VIEW_SERVER_STARTED), db_text(theirs, 0, VIEW_SERVER_STARTED)) ==
               0;
}

/* The session of task SQL: the rights that a reader asks for, and no more. */
static void judge_task_session(struct check *check, struct db *db, const struct db_result *theirs,
                               const struct db_result *rights)
{
    struct err err;
    const char *login = db_text(theirs, 0, VIEW_SERVER_LOGIN);
    bool fit = fitness_check(db, &err) == RC_OK;
    if (fit && (db_bool(theirs, 0, VIEW_SERVER_MAY_FORGE) ||
                *db_text(rights, 0, VIEW_TASK_RIGHTS_WRITABLE) != '\0'))
        check_report(check, TOPIC_WARN, "task SQL",
                     "A plain login role that is a member of lockstep_task only.",
                     "%s may change lockstep's own tables: tasks can forge their completion",
                     login);
    else if (!db_bool(theirs, 0, VIEW_SERVER_IS_TASK))
        check_report(check, TOPIC_FAIL, "task SQL", FORMATTED(REMEDY_GRANT_TASK(login)),
                     "%s is no member of lockstep_task", login);
    else if (!fit)
        check_failed(check, "task SQL", &err);
    else
        check_report(check, TOPIC_OK, "task SQL", NULL, "%s, a member of lockstep_task", login);
}

/* An executor that takes over a dead executor's work ends its task sessions first. It needs the
 * right to end them, and must see when they began, because a pid may be used again. */
static void check_ending(struct check *check, struct db *tasks, const char *login)
{
    struct err err;
    DB_RESULT_AUTO *rights = NULL;
    if (db_run(check->cli->db, &sql_view_task_session,
               (const char *const[]){DB_INT(db_backend_pid(tasks)), login}, &rights, &err) != RC_OK)
        check_failed(check, "task sessions", &err);
    else if (!db_bool(rights, 0, VIEW_TASK_SESSION_MAY_END))
        check_report(
            check, TOPIC_FAIL, "task sessions", FORMATTED(REMEDY_GRANT_END(login, LOGIN)),
            "no right to end sessions of %s: a frozen executor's tasks would never be taken over",
            login);
    else if (!db_bool(rights, 0, VIEW_TASK_SESSION_SEEN))
        check_report(
            check, TOPIC_FAIL, "task sessions", FORMATTED(REMEDY_GRANT_END(login, LOGIN)),
            "it cannot be seen when a session of %s began: a dead executor's tasks wait a minute",
            login);
    else
        check_report(check, TOPIC_OK, "task sessions", NULL, "those of %s can be seen and ended",
                     login);
}

static void skip_task_sessions(struct check *check, const char *why)
{
    check_skipped(check, "task sessions", NULL,
                  "whether a dead executor's could be seen and ended, and the rights of their "
                  "login: %s",
                  why);
}

/* In a session of task_conninfo, which is one of our database. */
static void check_task_session(struct check *check, struct db *db, const struct db_result *server)
{
    struct err err;
    DB_RESULT_AUTO *rights = NULL;
    if (db_run(db, &sql_view_task_rights, NULL, &rights, &err) == RC_OK)
        judge_task_session(check, db, server, rights);
    else
        check_failed(check, "task SQL", &err);
    check_ending(check, db, db_text(server, 0, VIEW_SERVER_LOGIN));
    (void)check_rights(check, db_text(server, 0, VIEW_SERVER_LOGIN), true);
}

static void check_tasks(struct check *check, const struct db_result *ours)
{
    const char *conninfo = config_get_text(check->cli->config, "postgres", "task_conninfo");
    if (*conninfo == '\0') {
        check_report(check, TOPIC_WARN, "task SQL",
                     "[postgres] task_conninfo = a login role that is a member of lockstep_task",
                     "task_conninfo is not set: task SQL runs with the executor's rights");
        return;
    }
    struct err err;
    struct db *db = NULL;
    DB_RESULT_AUTO *server = NULL;
    enum rc rc = db_open(conninfo, DB_CLI, &db, &err);
    if (rc == RC_OK)
        rc = db_run(db, &sql_view_server, NULL, &server, &err);
    if (rc != RC_OK) {
        check_failed(check, "task SQL", &err);
        skip_task_sessions(check, "no session of task_conninfo");
    } else if (!same_database(ours, server)) {
        check_report(check, TOPIC_FAIL, "task SQL",
                     "conninfo and task_conninfo must name the same database.",
                     "task_conninfo leads to another database (%s)",
                     db_text(server, 0, VIEW_SERVER_DATABASE));
        skip_task_sessions(check, "task_conninfo leads to another database");
    } else
        check_task_session(check, db, server);
    db_close(db);
}

/* One line for all checks that need the schema, so that the list is not full of skips. */
static void skip_schema(struct check *check, const char *why)
{
    if (cli_has(check->cli, "security"))
        check_skipped(check, "security", NULL, "the rights of all roles: %s", why);
    else
        check_skipped(check, "queues", NULL,
                      "rights, task SQL, queues and their topics, executors, jobs, alerts: %s",
                      why);
}

static void check_schema(struct check *check, struct db *db, const struct db_result *server)
{
    struct err err;
    /* With another schema the statements of the later checks could fail for that reason alone. */
    if (migrate_validate(db, &err) != RC_OK) {
        bool lacks = sqlstate_is(&err, SQLSTATE_INSUFFICIENT_PRIVILEGE);
        if (lacks)
            utf8_copy(err.hint, sizeof err.hint,
                      db_bool(server, 0, VIEW_SERVER_LACKS_INHERIT)
                          ? FORMATTED(REMEDY_INHERIT(LOGIN))
                          : FORMATTED(REMEDY_GRANT_ONE(LOGIN)));
        check_failed(check, "schema", &err);
        skip_schema(check,
                    lacks ? "the login may not read the schema" : "the schema is not current");
        return;
    }
    check->schema = true;
    check_report(check, TOPIC_OK, "schema", NULL, "current, migration %d", SQL_MIGRATION_COUNT);
    if (cli_has(check->cli, "security")) {
        check_security(check, db_bool(server, 0, VIEW_SERVER_IS_EXECUTOR));
        return;
    }
    check_login(check, server);
    /* Only an executor has sessions of the tasks' login. */
    if (db_bool(server, 0, VIEW_SERVER_IS_EXECUTOR))
        check_tasks(check, server);
    else
        check_skipped(check, "task SQL", "Run it with an executor's configuration.",
                      "the tasks' login and sessions: %s runs no executors", LOGIN);
}

/* cli_connect itself refuses poolers, other encodings than UTF8, and servers that do not answer.
 * Fails only for a wrong option, which is no finding. */
static enum rc check_postgres(struct check *check, struct err *err)
{
    DB_RESULT_AUTO *server = NULL;
    enum rc rc = cli_connect(check->cli, err);
    if (rc != RC_OK && err->kind == ERR_USAGE)
        return rc;
    if (rc == RC_OK)
        rc = db_run(check->cli->db, &sql_view_server, NULL, &server, err);
    if (rc != RC_OK) {
        check_failed(check, "PostgreSQL", err);
        check_skipped(check, "schema", NULL, "neither it nor the server's settings: no session");
        skip_schema(check, "no session");
        return RC_OK;
    }
    check_report(check, TOPIC_OK, "PostgreSQL", NULL, "database %s, UTF8, no pooler between",
                 db_text(server, 0, VIEW_SERVER_DATABASE));
    check_version(check, server);
    check_schema(check, check->cli->db, server);
    return RC_OK;
}

/* The words of the statement as grades of a finding. */
static enum topic_grade grade_of(const struct db_result *rows, int row)
{
    switch (db_word(rows, row, VIEW_CHECK_LIST_GRADE)) {
    case VIEW_CHECK_LIST_IS_OK:
        return TOPIC_OK;
    case VIEW_CHECK_LIST_IS_WARN:
        return TOPIC_WARN;
    default:
        return TOPIC_FAIL;
    }
}

/* The list that the database makes of its own state; the console's System page shows it, too. */
static void check_list(struct check *check)
{
    struct err err;
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = db_run(check->cli->db, &sql_view_check_list, NULL, &rows, &err);
    /* A missing right is no fault of the installation: the line is "skip" with the grant as its
     * hint. */
    if (rc != RC_OK && sqlstate_is(&err, SQLSTATE_INSUFFICIENT_PRIVILEGE))
        check_skipped(check, "database", FORMATTED(REMEDY_GRANT("lockstep_monitor", LOGIN)),
                      "durability, locks, halted queues, executors, jobs, alerts: %s may not ask",
                      LOGIN);
    else if (rc != RC_OK)
        check_failed(check, "database", &err);
    for (int i = 0; rc == RC_OK && i < db_rows(rows); i++)
        check_report(check, grade_of(rows, i), db_text(rows, i, VIEW_CHECK_LIST_SUBJECT),
                     db_text(rows, i, VIEW_CHECK_LIST_HINT), "%s",
                     db_text(rows, i, VIEW_CHECK_LIST_FINDING));
}

static enum rc check_all(struct check *check, struct err *err)
{
    const char *path = config_path(check->cli->config);
    check_report(check, TOPIC_OK, "configuration", NULL, "%s",
                 *path ? path : "no file: defaults, environment, options");
    bool security = cli_has(check->cli, "security");
    if (!security)
        check_actions(check);
    enum rc rc = check_postgres(check, err);
    if (rc != RC_OK || security)
        return rc;
    if (check->schema) {
        check_list(check);
        check_served(check);
    }
    check_kafka(check);
    return RC_OK;
}

enum rc command_check(struct cli *cli, struct err *err)
{
    static const char *const names[] = {"result", "subject", "finding", "hint"};
    struct check check = {.cli = cli};
    if (cli->output != OUTPUT_TABLE)
        check.table = table_new(stdout, cli_style(cli), "sttt", names, 4, false);
    struct err unwritten;
    enum rc made = check_all(&check, err);
    enum rc rc =
        check.table != NULL ? table_end(check.table, &unwritten) : table_check(stdout, &unwritten);
    if (made != RC_OK)
        return made;
    if (rc != RC_OK && rc != RC_NONE) {
        *err = unwritten;
        return rc;
    }
    int fails = check.counts[TOPIC_FAIL];
    int all = fails + check.counts[TOPIC_OK] + check.counts[TOPIC_WARN];
    /* Warnings do not fail the command: a deployment can use it as a gate. */
    if (fails > 0)
        return err_set(err, RC_REJECT, ERR_FAILED, "check", "", "%d of %d check%s failed", fails,
                       all, NUMBER_S(all));
    return RC_OK;
}
