/**
 * What: publishes the rows of lockstep.outbox on the queues' topics <topic>.<kind>: dead letters,
 *   for one. On a thread and a session of its own that does nothing while there is nothing to
 *   relay.
 * Guarantee: of each queue and kind the records are on the topic in the order of their rows, each
 *   exactly once, even if executors, Kafka or the database fail.
 * Mechanism: one relay at a time per queue, in any executor. A row is numbered (relay_seq, dense
 *   per queue and kind) and flushed before its record is sent, and deleted after the record is
 *   committed to Kafka. The record carries number and uid of its row. The end of the topic shows
 *   which of the remaining rows were sent before.
 * Invariants: the advisory lock of the queue's relay only saves work. The transactional id
 *   "lockstep.<queue>.relay" makes it safe: the relay that takes the id fences its predecessor and
 *   settles the predecessor's transaction, and only then reads the end of the topic. Rows of one
 *   kind do not wait for another kind.
 *   In a copy of the database (lockstep.queue_is_copy) the rows wait until an operator accepts the
 *   server: a relay there would fence the publishers and the relay of the original.
 * Not its concern: the content of a row, and when it is written (sql/functions/enqueue/,
 *   letters.h).
 * Example: rows 1, 2 and 3 are numbered and flushed, and the relay dies in the commit of its
 *   Kafka transaction. Its successor takes the transactional id; the broker has then either
 *   committed or aborted that transaction. The successor reads the end of the topic: if record 3 is
 *   there, it deletes the three rows, else it sends them again.
 * Threads: relay_start, relay_wake, relay_stop from the thread that owns it. The relay's own thread
 *   has the rest.
 * Ownership: borrows the options' strings; relay_stop frees it.
 * Failure: never ends the executor. A topic that cannot be created or written, and a broker or a
 *   database that does not answer, are reported once (log, lockstep.relay.trouble), and the rows
 *   wait for the next try.
 */
#ifndef RELAY_RELAY_H
#define RELAY_RELAY_H

#include "base/err.h"
#include "db/db.h"
#include "kafka/kafka.h"
#include <stdbool.h>

struct relay;

/** The thread, idle. server: the only one that it writes to. executor_no: noted as the owner of its
 * session, for executors that end the sessions of a dead one. */
MUST_CHECK enum rc relay_start(const char *conninfo, const struct db_server *server,
                               const struct kafka_properties *kafka, int executor_no,
                               struct relay **ret_relay, struct err *err);

enum relay_word {
    /* rows of this executor: if another one is the relay of the queue, it is notified */
    RELAY_NEWS,
    /* by a notification: any executor without another relay for it may take the queue */
    RELAY_HEARD,
    RELAY_AGAIN /* by a notification, too: for the one that is the queue's relay now */
};

/** There may be something to relay for this queue. */
void relay_wake(struct relay *relay, int queue_id, enum relay_word word);

/** finish: rows that are known to wait are sent first, if that works at once; other executors are
 * notified of the rest. NULL is fine. */
void relay_stop(struct relay *relay, bool finish);

#endif
