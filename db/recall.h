/**
 * What: users' statements that come again are prepared: the second time a text is sent in a scope
 *   it is parsed and planned under a name, from then on only executed. For the files of db/ only;
 *   pipeline_send_recalled is its face.
 * Invariants: a table of fixed size, each text in the one place that its hash names. A statement
 *   prepared in one scope (a phase) is not used in the next one: a table may have been altered in
 *   between, and a prepared statement keeps the types that its parameters had.
 * Threads: the session's own.
 * Ownership: a recall belongs to its session; texts are copied when they are prepared.
 * Failure: as db.h.
 */
#ifndef DB_RECALL_H
#define DB_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECALL_SLOTS 64

struct recall {
    struct recalled {
        uint64_t hash;
        int64_t scope;
        char *text; /* NULL: seen once, not prepared */
        size_t len;
        unsigned id;
        int passed_over; /* other texts that wanted this place since it was last used */
    } slots[RECALL_SLOTS];
    unsigned last_id;
};

enum recall_advice {
    RECALL_PLAIN,   /* send it as it is */
    RECALL_PREPARE, /* prepare *ret_id, then execute it */
    RECALL_EXECUTE  /* execute *ret_id */
};

/** What to do with this text now. *ret_dropped: the id of a statement that is to be deallocated
 * first, 0: none. */
enum recall_advice recall(struct recall *recall, int64_t scope, const char *text, size_t len,
                          unsigned *ret_id, unsigned *ret_dropped);
/** The session has forgotten everything. */
void recall_clear(struct recall *recall);

#endif
