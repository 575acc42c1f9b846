/**
 * What: answers to control about a reader's session, without waiting for the reader.
 * Invariants: an answer may be out of date at once: the reader opens its sessions by itself.
 * Threads: control.
 * Ownership: texts are copied.
 * Failure: none.
 */
#ifndef READER_SESSION_H
#define READER_SESSION_H

#include "base/err.h"

#include <stdbool.h>

struct reader_thread;

/** It has noticed that its session is gone, and no other one is ready for works: it is to be given
 * nothing. control's mailbox is poked when one is. */
bool reader_bereft(const struct reader_thread *reader);
/** The server reported at the end of a session of it that another session had crashed. */
bool reader_saw_crash(const struct reader_thread *reader);
/** It could not open a session, and tries again by itself; control's mailbox is poked when this
 * changes. It is to be given nothing. */
bool reader_cut_off(const struct reader_thread *reader);
/** Why it was cut off last. */
void reader_cut_off_why(struct reader_thread *reader, struct err *ret_why);
/** The pid of its backend, without waiting: to see that it has a new session. */
int reader_pid(const struct reader_thread *reader);
/** The backend that it uses: pid and start; the slot row names it. */
void reader_backend(struct reader_thread *reader, int *ret_pid, char ret_start[64]);

#endif
