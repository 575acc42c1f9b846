/* The list of sessions that another executor has to end when it takes over our tasks. A pid alone
 * may belong to another session by then, so the start of the backend is noted with it: pid and
 * start name a backend once. See sessions.h for when they are noted. */
#include "executor/sessions.h"

#include "executor/lane.h"

#include "db/backend.h"
#include "db/db.h"
#include "db/parameter.h"
#include "reader/reader.h"
#include "reader/session.h"

#include <string.h>

/* Sessions of this executor, as array parameters. */
struct noted {
    struct str pids, starts, kinds;
    int count;
};

static void noted_add(struct noted *noted, int pid, const char *start, const char *kind)
{
    if (noted->count++ == 0) {
        db_array_start(&noted->pids);
        db_array_start(&noted->starts);
        db_array_start(&noted->kinds);
    }
    db_array_int(&noted->pids, pid);
    db_array_text(&noted->starts, start, strlen(start));
    db_array_text(&noted->kinds, kind, strlen(kind));
}

/* Writes them, and forgets them. */
static enum rc noted_write(struct noted *noted, struct db *db, int executor_no, struct err *err)
{
    if (noted->count == 0)
        return RC_OK;
    db_array_end(&noted->pids);
    db_array_end(&noted->starts);
    db_array_end(&noted->kinds);
    enum rc rc = db_run(db, &sql_executor_sessions,
                        (const char *const[]){DB_INT(executor_no), noted->pids.data,
                                              noted->starts.data, noted->kinds.data},
                        NULL, err);
    str_done(&noted->pids);
    str_done(&noted->starts);
    str_done(&noted->kinds);
    return rc;
}

enum rc session_note(struct db *db, int executor_no, const char *kind, struct err *err)
{
    struct noted noted = {0};
    noted_add(&noted, db_backend_pid(db), db_backend_start(db), kind);
    return noted_write(&noted, db, executor_no, err);
}

/* A reader opens a new session by itself when it has lost one. Control learns of it by the pid,
 * before it assigns the next task: a slot that names the old backend is not used any more
 * (execute.c, slot_holds). */
enum rc sessions_note(struct executor *ex, struct err *err)
{
    struct noted noted = {0};
    for (int i = 0; i < ex->readers.count; i++) {
        struct reader *reader = &ex->readers.list[i];
        char start[64];
        int pid = reader_pid(reader->thread);
        if (pid == reader->noted_pid)
            continue;
        reader_backend(reader->thread, &pid, start);
        reader->noted_pid = pid;
        noted_add(&noted, pid, start, "reader");
    }
    return noted_write(&noted, ex->control.db, ex->incarnation.executor_no, err);
}
