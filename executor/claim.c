/* claim: messages at the head of the buffer become tasks of this executor, in the transaction that
 * moves the queue's cursor. claim() at the end of the file is the story. The queue's row decides
 * everything: lockstep.claim locks it, and its next_offset says which message is next for all
 * executors. This file decides only whether a claim is worth its round trip now (due), which
 * messages it names (segment), and the reaction to the verdict (follow). Records become messages in
 * stream.c; claimed tasks start in execute.c when their phase is open. */
#include "executor/claim.h"

#include "executor/assignment.h"
#include "executor/beside.h"
#include "executor/event.h"
#include "executor/gate.h"
#include "executor/lane.h"
#include "executor/lane_open.h"
#include "executor/late.h"
#include "executor/letters.h"
#include "executor/locks.h"
#include "executor/measure.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/queue.h"
#include "executor/receive.h"
#include "executor/refusal.h"
#include "executor/rejects.h"
#include "executor/requests.h"
#include "executor/segment.h"
#include "executor/trouble.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/db.h"
#include "db/elements.h"
#include "db/parameter.h"
#include "db/sqlstate.h"
#include "reader/work.h"
#include "scheduler/retention.h"
#include "task/message.h"
#include "task/uuid.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The phase of the buffer's head, or NULL when this executor has no task of it. */
static struct phase *head_phase(struct phases *phases, const struct buffered *head)
{
    struct phase *last = NULL; /* not the last of all: runs may be concurrent */
    for (struct phase *phase = phases->first; phase != NULL; phase = phase->next)
        if (phase_is_of(phase, head))
            last = phase;
    return last;
}

/* Short tasks are claimed in stretches: the executor that has the last closed phase claims the next
 * one, too, because a barrier between two executors takes longer than one inside an executor. */
static bool in_stretches(const struct lane *lane)
{
    return lane_depth(lane) > 1;
}

/* The head's phase follows a phase of which this executor has tasks. */
static bool behind_ours(const struct phases *phases, const struct buffered *head)
{
    for (const struct phase *phase = phases->first; phase != NULL; phase = phase->next)
        if (head->msg->previous_order == phase->order && strcmp(phase->run, head->run) == 0)
            return true;
    return false;
}

/* How many more tasks this lane should have. Tasks behind a barrier are claimed while readers still
 * have work before it; otherwise they would wait at the barrier for the claim. */
static int wanted(struct lane *lane, const struct buffered *head)
{
    int open = 0, closed = 0, have;
    const struct phase *last = head_phase(&lane->phases, head);
    for (const struct phase *phase = lane->phases.first; phase != NULL; phase = phase->next)
        *(phase->open ? &open : &closed) += phase->waiting.count + phase->running;
    if (last != NULL && !last->open)
        have = last->waiting.count;
    else if (last == NULL && closed < open && in_stretches(lane) &&
             behind_ours(&lane->phases, head))
        have = closed;
    else
        have = open;
    int want = lane_enough(lane) - have;
    return want > CLAIM_MOST ? CLAIM_MOST : want;
}

/* Both messages may be claimed by one statement: same run and phase, and no gap in seq. */
static bool same_segment(const struct buffered *a, const struct buffered *b)
{
    return b->msg != NULL && b->msg->type == a->msg->type && strcmp(a->run, b->run) == 0 &&
           a->msg->order == b->msg->order && a->msg->previous_order == b->msg->previous_order &&
           (a->seq < 0 ? b->seq < 0 : b->seq == a->seq + 1);
}

/* How many messages from the head on one claim may take, at most want. An end is claimed alone. */
static int segment(const struct stream *stream, int want)
{
    const struct buffered *head = stream_head(stream, 0);
    int n = 1;
    if (head->msg == NULL)
        return rejects_segment(stream, want);
    if (head->msg->type == MESSAGE_END)
        return 1;
    while (n < want && n < stream->buffer_count &&
           same_segment(stream_head(stream, n - 1), stream_head(stream, n)))
        n++;
    return n;
}

/* The head's run is paused, so its tasks are claimed without an owner (parked) and need no reader
 * until an operator resumes the run. */
static bool parking(const struct claims *claims, const struct buffered *head)
{
    return *claims->parked != 0 && head->msg != NULL && head->msg->type != MESSAGE_END &&
           strcmp(claims->parked, head->run) == 0;
}

static const char *kind_of(const struct message *msg)
{
    if (msg == NULL)
        return "reject";
    return msg->type == MESSAGE_END ? "end" : "task";
}

/* Retention waits while claims are slow, so it gets the time of each. */
static enum rc send_claim(struct executor *ex, const char *const *params,
                          struct db_result **ret_row, struct err *err)
{
    int64_t from_us = clock_boot_us();
    enum rc rc = run_beside(ex, &sql_executor_claim, params, ret_row, err);
    if (ex->services.retention != NULL)
        retention_claimed(ex->services.retention, clock_boot_us() - from_us);
    return rc;
}

/* Sends one claim. bare: without keys and headers, which only a rejected message needs; the verdict
 * "bare" says that the database wants them after all (ask_both).
 *
 * buffer_from makes the buffer safe to use: after a fail-over or a restore the cursor may be below
 * it, and messages between the two were claimed in a history that no longer exists. The database
 * then answers `behind` and claims nothing (tests/model/cursor.pml, mutant BUFFER_FROM;
 * tests/e2e/went_back.sh). */
static enum rc ask(struct lane *lane, int count, bool bare, struct db_result **ret_row,
                   struct err *err)
{
    const struct buffered *head = stream_head(&lane->stream, 0);
    const struct message *msg = head->msg;
    SEGMENT_AUTO segment = {0};
    const struct str *s = segment.arrays;
    bool end = msg != NULL && msg->type == MESSAGE_END;
    char implicit[37] = "";
    STR_AUTO raw = {0};
    ATTACHED_AUTO attached = {0};
    bool withheld = bare && msg != NULL && segment_has_attached(&lane->stream, count);
    bool nothing = msg == NULL && head->detail == DETAIL_NONE; /* only that a record was there */
    const char *run = head->run[0] && !nothing ? head->run : NULL;
    segment_fill(&segment, &lane->stream, &lane->phases, count);
    if (!withheld && !nothing && segment_has_attached(&lane->stream, count))
        attached_fill(&attached, &lane->stream, count);
    if (msg != NULL && head->run[0] == '\0')
        uuid_implicit_run(implicit, lane->queue.name, head->offset);
    if (msg == NULL && !head->tombstone && !nothing)
        db_bytea(&raw, head->value, head->value_len);
    const char *const params[] = {
        [EXECUTOR_CLAIM_P_QUEUE_ID] = DB_INT(lane->queue.id),
        [EXECUTOR_CLAIM_P_EXECUTOR_NO] = DB_INT(lane->ex->incarnation.executor_no),
        [EXECUTOR_CLAIM_P_BUFFER_FROM] = DB_INT(lane->stream.buffer_from),
        [EXECUTOR_CLAIM_P_KIND] = kind_of(msg),
        [EXECUTOR_CLAIM_P_RUN] = run,
        [EXECUTOR_CLAIM_P_IMPLICIT] = implicit[0] ? implicit : NULL,
        [EXECUTOR_CLAIM_P_ORDER] = msg ? DB_INT(msg->order) : NULL,
        [EXECUTOR_CLAIM_P_PREVIOUS] = msg ? DB_INT(msg->previous_order) : NULL,
        [EXECUTOR_CLAIM_P_OFFSETS] = s[SEGMENT_OFFSETS].data,
        [EXECUTOR_CLAIM_P_SEQS] = s[SEGMENT_SEQS].data,
        [EXECUTOR_CLAIM_P_PAYLOADS] = s[SEGMENT_PAYLOADS].data,
        [EXECUTOR_CLAIM_P_NAMES] = s[SEGMENT_NAMES].data,
        [EXECUTOR_CLAIM_P_MAX_ATTEMPTS] = s[SEGMENT_ATTEMPTS].data,
        [EXECUTOR_CLAIM_P_TRACEPARENTS] = s[SEGMENT_TRACES].data,
        [EXECUTOR_CLAIM_P_LAST_TIMESTAMP] =
            DB_INT(stream_head(&lane->stream, count - 1)->timestamp_ms),
        [EXECUTOR_CLAIM_P_LAST_DIGEST] = s[SEGMENT_DIGEST].data,
        [EXECUTOR_CLAIM_P_HELD] = s[SEGMENT_SHARED].data,
        [EXECUTOR_CLAIM_P_REASON] = msg ? NULL : head->why.code,
        [EXECUTOR_CLAIM_P_DETAIL] = msg ? NULL : head->why.message,
        [EXECUTOR_CLAIM_P_RAW] = msg ? NULL : raw.data,
        [EXECUTOR_CLAIM_P_KEYS] = attached.keys.data,
        [EXECUTOR_CLAIM_P_END_TASKS] = end && msg->end_tasks >= 0 ? DB_INT(msg->end_tasks) : NULL,
        [EXECUTOR_CLAIM_P_END_PHASES] =
            end && msg->end_phases >= 0 ? DB_INT(msg->end_phases) : NULL,
        [EXECUTOR_CLAIM_P_ABORTED] = end && msg->aborted ? "true" : "false",
        [EXECUTOR_CLAIM_P_HEADER_OFFSETS] = attached.offsets.data,
        [EXECUTOR_CLAIM_P_HEADER_NAMES] = attached.names.data,
        [EXECUTOR_CLAIM_P_HEADER_VALUES] = attached.values.data,
        [EXECUTOR_CLAIM_P_WITHHELD] = withheld ? "true" : "false",
        [EXECUTOR_CLAIM_P_SPECIAL] = segment_is_special(&lane->stream, count) ? "true" : "false",
        [EXECUTOR_CLAIM_P_PARKING] = parking(&lane->claims, head) ? "true" : "false",
        [EXECUTOR_CLAIM_P_IN_STRETCHES] = in_stretches(lane) ? "true" : "false"};
    return send_claim(lane->ex, params, ret_row, err);
}

/* The claimed messages become works of their phase, and leave the buffer. Other executors may have
 * claimed the head of the segment since the buffer was filled. The answer then has fewer ids than
 * the segment has messages, and they are those of its last messages. */
static void take(struct lane *lane, const struct db_result *row, int count)
{
    struct phase *phase = phases_get(&lane->phases, db_int(row, 0, EXECUTOR_CLAIM_PHASE_ID),
                                     db_int(row, 0, EXECUTOR_CLAIM_RUN_NO),
                                     stream_head(&lane->stream, 0)->msg->order);
    phase->previous_order = stream_head(&lane->stream, 0)->msg->previous_order;
    bool external = stream_head(&lane->stream, 0)->msg->type ==
                    MESSAGE_EXTERNAL; /* for workers: see next_task */
    const char *ids = db_text(row, 0, EXECUTOR_CLAIM_TASK_IDS),
               *tokens = db_text(row, 0, EXECUTOR_CLAIM_TOKENS);
    int64_t next_offset = db_int(row, 0, EXECUTOR_CLAIM_NEXT_OFFSET);
    phase_seen(&lane->phases, phase, db_bool(row, 0, EXECUTOR_CLAIM_IS_OPEN),
               db_int(row, 0, EXECUTOR_CLAIM_DEFINITIONS_CHANGES), lane->ex->turn.now_us);
    phase_share(phase, phase->shared || db_bool(row, 0, EXECUTOR_CLAIM_TOOK_SHARED));
    phase->claimed = true;
    (void)snprintf(phase->run, sizeof phase->run, "%s", stream_head(&lane->stream, 0)->run);
    event_raise(lane, EVENT_WORK_CLAIMED);
    int skip = count - elements_count(ids); /* the tasks are the last ones of the segment */
    for (int i = skip; i < count; i++) {
        struct buffered *buffered = stream_head(&lane->stream, i);
        char id[24], token[37];
        ids = elements_next(ids, id, sizeof id);
        tokens = elements_next(tokens, token, sizeof token);
        /* A task without a token has no owner: it is external, not due yet, or not to be run. The
         * orphans' part asks when it is due, and watches leases. */
        if (token[0] == '\0') {
            event_raise(lane, EVENT_WORK_UNOWNED);
            continue;
        }
        struct work *work =
            assignment_new(lane, phase,
                           &(struct work_row){.phase_id = phase->phase_id,
                                              .task_id = strtoll(id, NULL, 10),
                                              .run_no = phase->run_no,
                                              .offset = buffered->offset,
                                              .token = token,
                                              .attempt = 1,
                                              .msg = buffered_take_message(buffered)});
        phases_add(&lane->phases, phase, work, lane->ex->turn.now_us);
    }
    if (!phase->open && (external || phase->waiting.count == 0))
        phase_unowned(phase, true);
    stream_drop(&lane->stream, next_offset);
}

void claim_went_back(struct lane *lane, int64_t next_offset)
{
    log_event(LOG_WARN, "cursor_went_back", "queue", lane->queue.name, "buffer_from",
              LOG_INT(lane->stream.buffer_from), "next_offset", LOG_INT(next_offset), NULL);
    stream_back(&lane->stream, next_offset);
    lane_restart(lane);
}

/* Does what the verdict of a claim demands. Returns whether another claim makes sense now. A
 * verdict without progress must leave something behind that makes the lane try again: a time
 * (busy), an event that unblocks claims (lookahead, others, paused), or a changed row (halted).
 * Otherwise the lane would sleep for ever. */
static bool follow(struct lane *lane, const struct db_result *row, int count)
{
    enum executor_claim_verdict verdict =
        (enum executor_claim_verdict)db_word(row, 0, EXECUTOR_CLAIM_VERDICT);
    int64_t next_offset = db_int(row, 0, EXECUTOR_CLAIM_NEXT_OFFSET);
    bool progress = true;
    claims_park(&lane->claims,
                verdict == EXECUTOR_CLAIM_IS_PARKED ? stream_head(&lane->stream, 0)->run : "");
    switch (verdict) {
    case EXECUTOR_CLAIM_IS_CLAIMED:
        take(lane, row, count);
        return true;
    case EXECUTOR_CLAIM_IS_BEHIND:
        claim_went_back(lane, next_offset);
        return false;
    case EXECUTOR_CLAIM_IS_ENDED:
        if (!db_null(row, 0, EXECUTOR_CLAIM_NOTE))
            log_event(LOG_INFO, "run_ended", "queue", lane->queue.name, "run",
                      *stream_head(&lane->stream, 0)->run ? stream_head(&lane->stream, 0)->run
                                                          : NULL,
                      "status", db_text(row, 0, EXECUTOR_CLAIM_NOTE), NULL);
        break;
    case EXECUTOR_CLAIM_IS_REJECTED:
        letters_wake(lane, RELAY_NEWS);
        rejects_log(lane, 1, 0);
        break;
    case EXECUTOR_CLAIM_IS_BUSY:
        claims_busy(&lane->claims, lane->ex->turn.now_us);
        progress = false;
        break;
    case EXECUTOR_CLAIM_IS_LOOKAHEAD:
        event_raise(lane, EVENT_LOOKAHEAD_FULL); /* perhaps no executor opens what waits */
        claims_block(&lane->claims, true);
        progress = false;
        break;
    case EXECUTOR_CLAIM_IS_OTHERS:
    case EXECUTOR_CLAIM_IS_PAUSED:
        claims_block(&lane->claims, true);
        progress = false;
        break;
    case EXECUTOR_CLAIM_IS_HALTED:
        queue_set_halted(&lane->queue);
        progress = false;
        log_event(LOG_ERROR, "queue_halted", "queue", lane->queue.name, "detail",
                  db_text(row, 0, EXECUTOR_CLAIM_NOTE), NULL);
        break;
    case EXECUTOR_CLAIM_IS_CANCELLED:
    case EXECUTOR_CLAIM_IS_PARKED:
    case EXECUTOR_CLAIM_IS_RESUMED:
    case EXECUTOR_CLAIM_IS_MOVED:
    case EXECUTOR_CLAIM_IS_BARE: /* ask_both has asked once more */
        break;
    }
    stream_drop(&lane->stream, next_offset);
    return progress;
}

/* All tasks that may start are with the readers, and the next two phases are in hand. The next
 * event is a barrier, and during a claim control could neither release S nor hand out the tasks of
 * the phase that opens. So the claim waits, but only for a moment: the tasks may be long. */
static bool poised(const struct phases *phases)
{
    int closed = 0;
    for (const struct phase *phase = phases->first; phase != NULL; phase = phase->next) {
        if (phase->open && phase->waiting.count > 0)
            closed = INT_MIN;
        closed += !phase->open && phase->waiting.count > 0;
    }
    return closed >= 2;
}

/* The head needs no reader: external workers run it, or its run is parked. */
static bool readerless(const struct claims *claims, const struct buffered *head)
{
    return parking(claims, head) || (head->msg != NULL && head->msg->type == MESSAGE_EXTERNAL);
}

/* Nothing forbids a claim of this lane. Whether its readers need one is another question (due). */
static bool may_claim(struct lane *lane)
{
    const struct executor *ex = lane->ex;
    return lane->stream.buffer_count > 0 && identity_known(&lane->identity) &&
           claims_may(&lane->claims) && !lane->queue.halted && !lane->queue.paused &&
           !ex->drain.claims_paused && !ex->drain.draining &&
           !run_is_paused(&lane->paused, stream_head(&lane->stream, 0));
}

bool claims_more(struct lane *lane, const struct phase *phase)
{
    if (!phase->claimed || !may_claim(lane))
        return false;
    const struct buffered *head = stream_head(&lane->stream, 0);
    return phase_is_of(phase, head) && (readerless(&lane->claims, head) || wanted(lane, head) > 0);
}

/* How many messages of the head's kind to claim now; 0: a claim is not worth its round trip yet. */
static int due(struct lane *lane, const struct buffered *head)
{
    bool tasks = head->msg != NULL && head->msg->type != MESSAGE_END;
    bool many = readerless(&lane->claims, head);
    int want = many || head->msg == NULL ? CLAIM_MOST : tasks ? wanted(lane, head) : 1;
    int most = claims_most(&lane->claims, head->offset);
    if (most > 0 && want > most)
        want = most;
    bool worth = !tasks || many || most > 0 || want >= lane_worth(lane);
    return want > 0 && worth ? want : 0;
}

static bool may_claim_now(struct lane *lane)
{
    return may_claim(lane) && claims_may_now(&lane->claims, lane->ex->turn.now_us);
}

bool claim_waits(struct lane *lane)
{
    return may_claim_now(lane) && due(lane, stream_head(&lane->stream, 0)) > 0;
}

/* Another session holds a row of the queue, or locks that only executors should take. This queue
 * claims nothing for a while; its tasks in hand and the other queues continue. */
static enum rc locks_taken(struct lane *lane, const struct err *why, struct err *err)
{
    claims_taken(&lane->claims, lane->ex->turn.now_us);
    log_err(LOG_WARN, "locks_taken", lane->queue.name, why);
    lane_note_locked(lane, lane->claims.taken_ms, why);
    return locks_settle(lane->ex, err);
}

/* Sends keys and headers only when the database says that it must reject the message. */
static enum rc ask_both(struct lane *lane, int count, struct db_result **ret_row, struct err *err)
{
    enum rc rc = ask(lane, count, true, ret_row, err);
    if (rc != RC_OK || db_word(*ret_row, 0, EXECUTOR_CLAIM_VERDICT) != EXECUTOR_CLAIM_IS_BARE)
        return rc;
    db_free(*ret_row);
    *ret_row = NULL;
    return ask(lane, count, false, ret_row, err);
}

enum rc claim(struct lane *lane, bool *ret_progress, struct err *err)
{
    *ret_progress = false;
    if (!may_claim_now(lane))
        return RC_OK;
    const struct buffered *head = stream_head(&lane->stream, 0);
    int want = claims_poised(&lane->claims, poised(&lane->phases), lane->ex->turn.now_us,
                             lane->ex->control.round_us)
                   ? 0
                   : due(lane, head);
    if (want == 0)
        return RC_OK;
    bool tasks = head->msg != NULL && head->msg->type != MESSAGE_END;
    DB_RESULT_AUTO *row = NULL;
    int count = segment(&lane->stream, want);
    bool many = head->msg == NULL && count > 1;
    enum rc rc = !tasks ? openings_flush(&lane->gates.openings, lane->ex->control.db,
                                         lane->ex->incarnation.executor_no, err)
                        : RC_OK; /* an end may end the run */
    probe("claim.send");
    if (rc == RC_OK)
        rc = many ? rejects_ask(lane, count, &row, err) : ask_both(lane, count, &row, err);
    probe("claim.answered");
    /* The server refused the statement. The claim is undone, but a session-level lock that it took
     * is not: claim_refused() releases it. */
    if (rc == RC_REJECT) {
        *ret_progress = true; /* less of it is claimed at once */
        return claim_refused(lane, count, err);
    }
    if (lane_row_locked(rc, err)) {
        const struct err why = *err;
        return locks_taken(lane, &why, err);
    }
    claims_not_taken(&lane->claims);
    if (rc != RC_OK)
        return rc;
    *ret_progress = many ? rejects_follow(lane, row, count) : follow(lane, row, count);
    return RC_OK;
}
