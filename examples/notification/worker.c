/* worker CONNINFO QUEUE: prints invoices, in C with libpq. cc worker.c -I$(pg_config --includedir)
 * -lpq */
#include <libpq-fe.h>
#include <poll.h>
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

/* The effect and the report are one transaction: both happen, or neither does. */
static void print_invoice(PGconn *db, const char *task_id, const char *updated_at,
                          const char *amount)
{
    PGresult *result;
    PQclear(PQexec(db, "BEGIN"));
    result = run(db,
                 "INSERT INTO notification.invoice VALUES ($1, $2, now()) "
                 "ON CONFLICT (task_id) DO UPDATE SET printed_at = EXCLUDED.printed_at",
                 2, (const char *const[]){task_id, amount});
    check(db, result);
    PQclear(result);
    result = run(db, "SELECT lockstep.modify_task($1, $2, 'Completed', response => 'printed')", 2,
                 (const char *const[]){task_id, updated_at});
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state != NULL && strcmp(state, "LS001") == 0) { /* no longer ours */
        (void)fprintf(stderr, "%s", PQresultErrorMessage(result));
        PQclear(PQexec(db, "ROLLBACK"));
    } else {
        check(db, result);
        PGresult *committed = PQexec(db, "COMMIT");
        check(db, committed);
        PQclear(committed);
        (void)printf("task %s: an invoice of %s\n", task_id, amount);
        (void)fflush(stdout);
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
                          PQgetvalue(task, 0, 2));
        else
            wait_for_work(db);
        PQclear(task);
    }
}
