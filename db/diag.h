/**
 * What: the diagnostics of the server (libpq: PG_DIAG_*) while SQL of a user runs on a session: its
 *   last error with all fields, notices and warnings, and how many rows the last command was
 *   about. They are for people: struct err decides.
 * Invariants: every text is UTF-8 and at most DB_DIAG_MAX bytes, however much the server sends;
 *   all lines are kept up to there.
 * Threads: the session's own.
 * Ownership: plain data with texts of its own; db_diag_free takes it (NULL is fine). The session
 *   borrows it from db_set_diag until it gets another.
 * Failure: none.
 */
#ifndef DB_DIAG_H
#define DB_DIAG_H

#include "db/db.h"

#define DB_DIAG_MAX 8192

struct db_diag {
    char code[6];                              /* the SQLSTATE of the error, "": there is none */
    struct str message, detail, hint, context; /* in the server's words */
    int position;      /* of the error in the command's text, in characters from 1; 0: not known */
    struct str place;  /* where in the task it was, set by the function that sent the command */
    struct str inside; /* the command of a function that it was in, with the line and a caret */
    struct str notices;
    /* the error is the server's word about a cancel or a time-out, not raised by SQL */
    bool interrupted;
    long left_out; /* notices for which there was no room */
    bool lexed;    /* one of the notices is about the text of a command, so maybe of the next one */
    /* of the last command in a pipeline, of all that db_command ran; -1: it is none that counts
     * them */
    int64_t rows;
};

struct db_diag *db_diag_new(void);
void db_diag_free(struct db_diag *diag);
/** Forgets all of it, and keeps the memory. */
void db_diag_clear(struct db_diag *diag);
/** Moves the notices of from behind those of to. */
void db_diag_move(struct db_diag *to, struct db_diag *from);
/** From now on the session adds notices and errors of the user's commands (pipeline.h) to diag;
 * NULL: to nothing. */
void db_set_diag(struct db *db, struct db_diag *diag);

/** Appends the line of sql with the place of the error, and a caret under it. position: in
 * characters from 1, from sql + offset on. */
void db_diag_place(struct str *str, const char *sql, size_t offset, int position);

#endif
