/**
 * What: the interface of the three readers of staged work, for staged.c. Private to staged*.c.
 * Invariants: next sets ret_text->line before it returns RC_OK or RC_REJECT.
 * Threads: as staged.h.
 * Ownership: close ends what open made.
 * Failure: as staged_next; a reader that cannot continue after a RC_REJECT says RC_NONE from then
 *   on.
 */
#ifndef PRODUCER_STAGED_READER_H
#define PRODUCER_STAGED_READER_H

#include "db/db.h"
#include "producer/source.h"

struct staged_text {
    int64_t line;
    const char *text; /* to be parsed as one JSON value */
    size_t len;
};

struct staged_reader {
    enum rc (*next)(void *state, int timeout_ms, struct staged_text *ret_text, struct err *err);
    void (*close)(void *state);
    void *state;
};

/** The file readers borrow the source, the reader of a query borrows the session. */
void staged_jsonl(struct source *source, struct staged_reader *ret_reader);
void staged_csv(struct source *source, struct staged_reader *ret_reader);
MUST_CHECK enum rc staged_query(struct db *db, const char *query, struct staged_reader *ret_reader,
                                struct err *err);

#endif
