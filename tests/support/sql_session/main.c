/*
 * A psql that stays, for the shell tests: sql of tests/support/shell.bash asks it. A psql for each
 * request costs a process and a session, and a script has hundreds of requests.
 *
 *   sql_session TURN   the descriptor of a pipe: no read is to wait there
 *
 * It says a line when that is so, and answers requests until its input ends or its parent does:
 *   request   CONNINFO NUL TEXT NUL
 *   answer    STATUS OUT_BYTES ERROR_BYTES NEWLINE OUT ERROR
 * OUT, ERROR and STATUS are those of psql -X -q -At -c TEXT. TEXT is one simple query, so that its
 * statements are one transaction; a refused statement has status 1, and a server that cannot be
 * reached or is lost has status 2.
 *
 * A request leaves nothing in its session, as if that had ended: neither a transaction nor a
 * setting, a lock, a temporary table or a plan. Another CONNINFO than the last one, and a session
 * that the server has ended, begin a new session. It does not know the meta-commands of psql and
 * COPY FROM STDIN.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <libpq-fe.h>

enum {
    STATUS_REFUSED = 1,
    STATUS_LOST = 2,
};

struct answer {
    FILE *out, *error;
    int status;
};

static void say_notice(void *answer, const char *message)
{
    fputs(message, ((struct answer *)answer)->error);
}

static void say_rows(FILE *out, const PGresult *rows)
{
    for (int row = 0; PQnfields(rows) > 0 && row < PQntuples(rows); row++) {
        for (int column = 0; column < PQnfields(rows); column++)
            fprintf(out, "%s%s", column > 0 ? "|" : "", PQgetvalue(rows, row, column));
        fputc('\n', out);
    }
}

static void say_copied(FILE *out, PGconn *session)
{
    char *line;
    int length;
    while ((length = PQgetCopyData(session, &line, 0)) > 0) {
        fwrite(line, 1, (size_t)length, out);
        PQfreemem(line);
    }
}

static void refuse(struct answer *answer, PGconn *session, const char *message)
{
    fputs(message, answer->error);
    answer->status = PQstatus(session) == CONNECTION_OK ? STATUS_REFUSED : STATUS_LOST;
}

static void ask(struct answer *answer, PGconn *session, const char *text)
{
    if (PQsendQuery(session, text) == 0) {
        refuse(answer, session, PQerrorMessage(session));
        return;
    }
    for (PGresult *result; (result = PQgetResult(session)) != NULL; PQclear(result)) {
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_TUPLES_OK)
            say_rows(answer->out, result);
        else if (status == PGRES_COPY_OUT)
            say_copied(answer->out, session);
        else if (status == PGRES_COPY_IN)
            PQputCopyEnd(session, "sql has no input for COPY: call psql");
        else if (status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY)
            refuse(answer, session, PQresultErrorMessage(result));
    }
}

/* A socket that can be read between two requests has the server's farewell, or its end. */
static int is_open(PGconn *session)
{
    struct pollfd socket = {.fd = PQsocket(session), .events = POLLIN};
    return PQstatus(session) == CONNECTION_OK && poll(&socket, 1, 0) == 0;
}

static void let_go(PGconn **session)
{
    PQfinish(*session);
    *session = NULL;
}

static PGconn *open_for(const char *conninfo)
{
    const char *const words[] = {"dbname", "fallback_application_name", NULL};
    const char *const values[] = {conninfo, "psql", NULL};
    return PQconnectdbParams(words, values, 1);
}

static void forget(PGconn **session)
{
    PGresult *result;
    if (PQtransactionStatus(*session) != PQTRANS_IDLE) {
        let_go(session);
        return;
    }
    result = PQexec(*session, "DISCARD ALL");
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        let_go(session);
    PQclear(result);
}

static void serve(PGconn **session, struct answer *answer, const char *conninfo, const char *text)
{
    if (*session == NULL)
        *session = open_for(conninfo);
    PQsetNoticeProcessor(*session, say_notice, answer);
    if (PQstatus(*session) != CONNECTION_OK) {
        fprintf(answer->error, "psql: error: %s", PQerrorMessage(*session));
        answer->status = STATUS_LOST;
        let_go(session);
        return;
    }
    ask(answer, *session, text);
    forget(session);
}

static void reply(PGconn **session, const char *conninfo, const char *text)
{
    struct answer answer = {0};
    char *out, *error;
    size_t out_bytes, error_bytes;
    answer.out = open_memstream(&out, &out_bytes);
    answer.error = open_memstream(&error, &error_bytes);
    if (answer.out == NULL || answer.error == NULL)
        abort();
    serve(session, &answer, conninfo, text);
    fclose(answer.out);
    fclose(answer.error);
    printf("%d %zu %zu\n", answer.status, out_bytes, error_bytes);
    fwrite(out, 1, out_bytes, stdout);
    fwrite(error, 1, error_bytes, stdout);
    fflush(stdout);
    free(out);
    free(error);
}

int main(int argc, char **argv)
{
    char *conninfo = NULL, *text = NULL, *last = NULL;
    size_t size[2] = {0};
    PGconn *session = NULL;
    /* Its input has more writers than the script: the daemons that this has started. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc != 2 || fcntl(atoi(argv[1]), F_SETFL, O_NONBLOCK) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (getdelim(&conninfo, &size[0], '\0', stdin) > 0 &&
           getdelim(&text, &size[1], '\0', stdin) > 0) {
        if (session != NULL && (strcmp(last, conninfo) != 0 || !is_open(session)))
            let_go(&session);
        free(last);
        last = strdup(conninfo);
        if (last == NULL)
            abort();
        reply(&session, conninfo, text);
    }
    free(conninfo);
    free(text);
    free(last);
    PQfinish(session);
}
