/**
 * What: SQL of users in jobs: in a session of the tasks' login, and how it is tried there before a
 *   job is accepted, by command and by request.
 * Invariants: nothing of it runs in the session of the caller. A check cannot write.
 * Threads: any; the sessions are the caller's.
 * Ownership: tasks_open gives the session to the caller.
 * Failure: RC_REJECT + ERR_USAGE: a statement would be refused when it runs; err->object is the job
 *   and its field, err->code the SQLSTATE.
 */
#ifndef CONTROL_JOB_CHECK_H
#define CONTROL_JOB_CHECK_H

#include "db/db.h"

#include <stdbool.h>

#define TASKS_CHECK_MS "5000"
/** A session of the tasks' login with the server of db. tries: it cannot write, and no statement
 * takes longer than 5 s. */
MUST_CHECK enum rc tasks_open(const char *conninfo, const struct db *db, bool tries,
                              struct db **ret_tasks, struct err *err);
/** The server's error about a statement of the user's in that session, as an error in this field,
 * with a hint. */
enum rc tasks_refused(enum rc rc, const struct db *tasks, const char *field, struct err *err);

/** Tries the statements of jobs, in the form of a file for job apply. task_conninfo "": whose login
 * runs them is not known here; nothing is tried. */
MUST_CHECK enum rc job_check(struct db *db, const char *task_conninfo, const char *jobs,
                             struct err *err);

#endif
