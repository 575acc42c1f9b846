#include "executor/sessions.h"

#include "executor/lane.h"

#include "db/backend.h"
#include "reader/reader.h"
#include "reader/session.h"

#include <string.h>

static void session_add(struct str *s, int pid, const char *start, const char *kind)
{
    db_array_int(&s[0], pid);
    db_array_text(&s[1], start, strlen(start));
    db_array_text(&s[2], kind, strlen(kind));
}

static enum rc sessions_write(struct db *db, int executor_no, struct str *s, struct err *err)
{
    for (int i = 0; i < 3; i++)
        db_array_end(&s[i]);
    return db_run(db, &sql_executor_sessions,
                  (const char *const[]){DB_INT(executor_no), s[0].data, s[1].data, s[2].data}, NULL,
                  err);
}

enum rc session_note(struct db *db, int executor_no, const char *kind, struct err *err)
{
    struct str s[3] = {0};
    for (int i = 0; i < 3; i++)
        db_array_start(&s[i]);
    session_add(s, db_backend_pid(db), db_backend_start(db), kind);
    enum rc rc = sessions_write(db, executor_no, s, err);
    for (int i = 0; i < 3; i++)
        str_done(&s[i]);
    return rc;
}

enum rc sessions_note(struct executor *ex, struct err *err)
{
    struct str *s = ex->scratch;
    int count = 0;
    for (int i = 0; i < 3; i++)
        db_array_start(&s[i]);
    for (int i = 0; i < ex->reader_count; i++) {
        struct reader *reader = &ex->readers[i];
        char start[64];
        int pid = reader_pid(reader->thread);
        if (pid == reader->noted_pid)
            continue;
        reader_backend(reader->thread, &pid, start);
        reader->noted_pid = pid;
        session_add(s, pid, start, "reader");
        count++;
    }
    return count > 0 ? sessions_write(ex->control, ex->executor_no, s, err) : RC_OK;
}
