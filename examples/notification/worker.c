/* worker CONNINFO QUEUE: prints invoices, in C with libpq. cc worker.c -I$(pg_config --includedir)
 * -lpq */
#include <libpq-fe.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(PGconn *db, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return;
    (void)fprintf(stderr, "%s", PQerrorMessage(db));
    exit(1);
}

static PGresult *run(PGconn *db, const char *sql, int count, const char *const *params)
{
    return PQexecParams(db, sql, count, NULL, params, NULL, NULL, 0);
}

static void say(PGconn *db, const char *command)
{
    PGresult *result = PQexec(db, command);
    check(db, result);
    PQclear(result);
}

static bool has_state(const PGresult *result, const char *beginning)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state != NULL && strncmp(state, beginning, strlen(beginning)) == 0;
}

/* Ends the transaction. The status is for good: another attempt would fail in the same way. */
static void report(PGconn *db, const char *task_id, const char *updated_at, const char *status,
                   const char *text)
{
    bool completed = strcmp(status, "Completed") == 0;
    PGresult *result =
        run(db, "SELECT lockstep.modify_task($1, $2, $3, response => $4, error => $5)", 5,
            (const char *const[]){task_id, updated_at, status, completed ? text : NULL,
                                  completed ? NULL : text});
    if (has_state(result, "LS001")) { /* no longer ours */
        (void)fprintf(stderr, "%s", PQresultErrorMessage(result));
        say(db, "ROLLBACK");
    } else {
        check(db, result);
        say(db, "COMMIT");
        (void)printf("task %s: %s, %s\n", task_id, status, text);
        (void)fflush(stdout);
    }
    PQclear(result);
}

/* The effect and the report are one transaction: both happen, or neither does. */
static void print_invoice(PGconn *db, const char *task_id, const char *updated_at,
                          const char *amount)
{
    say(db, "BEGIN");
    PGresult *result = run(db,
                           "INSERT INTO notification.invoice VALUES ($1, $2, now()) "
                           "ON CONFLICT (task_id) DO UPDATE SET printed_at = EXCLUDED.printed_at",
                           2, (const char *const[]){task_id, amount});
    /* Classes 22 and 23: the values of the message. The next task may be a good one. */
    if (has_state(result, "22") || has_state(result, "23")) {
        say(db, "ROLLBACK");
        say(db, "BEGIN");
        report(db, task_id, updated_at, "Failed",
               PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
    } else {
        check(db, result);
        report(db, task_id, updated_at, "Completed", "printed");
    }
    PQclear(result);
}

/* Until something may be new, or half a second has passed. */
static void wait_for_work(PGconn *db)
{
    struct pollfd fd = {.fd = PQsocket(db), .events = POLLIN};
    (void)poll(&fd, 1, 500);
    if (!PQconsumeInput(db))
        exit(1);
    for (PGnotify *news; (news = PQnotifies(db)) != NULL;)
        PQfreemem(news);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: worker CONNINFO QUEUE\n");
        return 2;
    }
    char name[64];
    (void)snprintf(name, sizeof name, "%d C", (int)getpid());
    PGconn *db = PQconnectdb(argv[1]);
    if (PQstatus(db) != CONNECTION_OK) {
        (void)fprintf(stderr, "%s", PQerrorMessage(db));
        return 1;
    }
    PQclear(PQexec(db, "LISTEN lockstep_external"));
    for (;;) {
        PGresult *task = run(db,
                             "SELECT task_id, updated_at, payload #>> '{input,amount}' "
                             "FROM lockstep.next_task($1, $2, ARRAY['invoice'])",
                             2, (const char *const[]){argv[2], name});
        check(db, task);
        if (PQntuples(task) == 1)
            print_invoice(db, PQgetvalue(task, 0, 0), PQgetvalue(task, 0, 1),
                          PQgetisnull(task, 0, 2) ? NULL : PQgetvalue(task, 0, 2));
        else
            wait_for_work(db);
        PQclear(task);
    }
}
