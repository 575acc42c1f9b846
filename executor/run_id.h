/**
 * What: the id of a phase's run as commands take it, for log lines.
 * Invariants: asked of the database only where no message has named it.
 * Threads: control.
 * Ownership: the text is the phase's or in the caller's buffer.
 * Failure: "": the database does not say it.
 */
#ifndef EXECUTOR_RUN_ID_H
#define EXECUTOR_RUN_ID_H

struct db;
struct phase;

const char *run_id(struct db *db, const struct phase *phase, char buffer[37]);

#endif
