/* Names on stderr the session that blocks a statement of the command. A thread sleeps for three
 * seconds, so a quick command never opens a second session; then it asks every second with a
 * session of its own, because the command's is busy.
 *
 * Only statements that lock rows or tables for long have it: controls of runs, and migrate up. The
 * thread's session reads pg_locks and pg_stat_activity (sql/session/waits.sql) and ends nothing:
 * the hint names the command for that. */
#include "cli/waiting.h"

#include "base/remedies.h"
#include "base/thread.h"
#include "config/conninfo.h"
#include "db/backend.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_MS 3000
#define AGAIN_MS 1000

struct waiting {
    struct thread thread;
    const struct cli *cli;
    struct str conninfo;
    /* The backend of the command's session, which the statement asks about. */
    int backend, reported; /* reported: the holder that was named last, 0: none */
};

static void report(struct waiting *waiting, const struct db_result *row)
{
    int holder = (int)db_int(row, 0, SESSION_WAITS_PID);
    /* Once for each holder: the line must not repeat every second. */
    if (holder == waiting->reported)
        return;
    waiting->reported = holder;
    cli_say(waiting->cli, "lockstep: waits for %s\n", db_text(row, 0, SESSION_WAITS_HOLDER));
    if (holder > 0)
        cli_say(waiting->cli, "  " REMEDY_WAITING "\n", holder);
}

/* A session that cannot be opened is no error of the command: then the holder stays unnamed. */
static void *watch(void *context)
{
    struct waiting *waiting = context;
    struct db *db = NULL;
    struct err ignored;
    bool stop = false;
    mailbox_wait(&waiting->thread.inbox, FIRST_MS);
    (void)thread_take(&waiting->thread, &stop);
    if (!stop && db_open(waiting->conninfo.data, DB_CLI, &db, &ignored) != RC_OK)
        return NULL;
    while (!stop) {
        DB_RESULT_AUTO *row = NULL;
        enum rc rc = db_run(db, &sql_session_waits, (const char *const[]){DB_INT(waiting->backend)},
                            &row, &ignored);
        if (rc == RC_OK)
            report(waiting, row);
        else if (rc == RC_LOST)
            break;
        mailbox_wait(&waiting->thread.inbox, AGAIN_MS);
        (void)thread_take(&waiting->thread, &stop);
    }
    db_close(db);
    return NULL;
}

/* NULL: no thread could be started, and the command runs without it. */
struct waiting *waiting_start(struct cli *cli)
{
    struct waiting *waiting = xcalloc(1, sizeof *waiting);
    struct err ignored;
    waiting->cli = cli;
    waiting->backend = db_backend_pid(cli->db);
    config_conninfo(cli->config, &waiting->conninfo);
    if (thread_start(&waiting->thread, "waiting", watch, waiting, &ignored) == RC_OK)
        return waiting;
    str_done(&waiting->conninfo);
    free(waiting);
    return NULL;
}

void waiting_stop(struct waiting *waiting)
{
    if (waiting == NULL)
        return;
    /* Also when the statement was fast: the stop wakes the thread from its first wait. */
    thread_stop(&waiting->thread);
    str_done(&waiting->conninfo);
    free(waiting);
}
