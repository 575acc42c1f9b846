/* claim: the head of the buffer becomes tasks of ours, in the transaction that moves the cursor. */
#include "executor/claim.h"

#include "executor/beside.h"
#include "executor/event.h"
#include "executor/gate.h"
#include "executor/headers.h"
#include "executor/lane.h"
#include "executor/lane_open.h"
#include "executor/late.h"
#include "executor/letters.h"
#include "executor/measure.h"
#include "executor/obey.h"
#include "executor/phase.h"
#include "executor/phases.h"
#include "executor/queue.h"
#include "executor/receive.h"
#include "executor/refusal.h"
#include "executor/rejects.h"
#include "executor/trouble.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "db/elements.h"
#include "db/sqlstate.h"
#include "task/uuid.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The phase that the buffer's head belongs to, if we have tasks of it. */
static struct phase *head_phase(struct lane *lane, const struct held *head)
{
    struct phase *last = NULL; /* not the last of all: runs may be concurrent */
    for (struct phase *phase = lane->phases; phase != NULL; phase = phase->next)
        if (phase_is_of(phase, head))
            last = phase;
    return last;
}

/* Of short tasks: while phases wait, who has the last one claims the next, for a barrier between
 * two executors takes longer. */
static bool in_stretches(const struct lane *lane)
{
    return lane_depth(lane) > 1;
}

static bool behind_ours(const struct lane *lane, const struct held *head)
{
    for (const struct phase *phase = lane->phases; phase != NULL; phase = phase->next)
        if (head->msg->previous_order == phase->order && strcmp(phase->run, head->run) == 0)
            return true;
    return false;
}

/* What comes behind a barrier is claimed while the readers have work: at the barrier they would
 * wait for the claim. */
static int wanted(struct lane *lane, const struct held *head)
{
    int open = 0, closed = 0, have;
    const struct phase *last = head_phase(lane, head);
    for (const struct phase *phase = lane->phases; phase != NULL; phase = phase->next)
        *(phase->open ? &open : &closed) += phase->waiting.count + phase->running;
    if (last != NULL && !last->open)
        have = last->waiting.count;
    else if (last == NULL && closed < open && in_stretches(lane) && behind_ours(lane, head))
        have = closed;
    else
        have = open;
    int want = lane_enough(lane) - have;
    return want > CLAIM_MOST ? CLAIM_MOST : want;
}

static bool same_segment(const struct held *a, const struct held *b)
{
    return b->msg != NULL && b->msg->type == a->msg->type && strcmp(a->run, b->run) == 0 &&
           a->msg->order == b->msg->order && a->msg->previous_order == b->msg->previous_order &&
           (a->seq < 0 ? b->seq < 0 : b->seq == a->seq + 1);
}

static int segment(struct lane *lane, int want)
{
    const struct held *head = stream_head(&lane->stream, 0);
    int n = 1;
    if (head->msg == NULL)
        return rejects_segment(lane, want);
    if (head->msg->type == MESSAGE_END)
        return 1;
    while (n < want && n < lane->stream.buffer_count &&
           same_segment(stream_head(&lane->stream, n - 1), stream_head(&lane->stream, n)))
        n++;
    return n;
}

enum { OFFSETS, SEQS, PAYLOADS, NAMES, ATTEMPTS, TRACES, HELD, DIGEST };

/* Array parameters of one statement, and the digest behind them. */
struct segment {
    struct str s[DIGEST + 1];
};

static void segment_done(struct segment *segment)
{
    for (int i = 0; i <= DIGEST; i++)
        str_done(&segment->s[i]);
}

static void fill_arrays(struct lane *lane, int count, struct str *s)
{
    for (int i = OFFSETS; i <= HELD; i++)
        db_array_start(&s[i]);
    for (int i = 0; i < count; i++) {
        const struct held *held = stream_head(&lane->stream, i);
        const struct message *msg = held->msg;
        db_array_int(&s[OFFSETS], held->offset);
        if (held->seq >= 0 && held->said != SAID_NOTHING)
            db_array_int(&s[SEQS], held->seq);
        else
            db_array_text(&s[SEQS], NULL, 0);
        if (msg == NULL || msg->type == MESSAGE_END) {
            db_array_text(&s[PAYLOADS], msg ? held->value : NULL, held->value_len);
            continue;
        }
        db_array_text(&s[PAYLOADS], held->value, held->value_len);
        db_array_text(&s[NAMES], msg->name, msg->name ? strlen(msg->name) : 0);
        if (msg->max_attempts > 0)
            db_array_int(&s[ATTEMPTS], msg->max_attempts);
        else
            db_array_text(&s[ATTEMPTS], NULL, 0);
        db_array_text(&s[TRACES], held->traceparent,
                      held->traceparent ? strlen(held->traceparent) : 0);
    }
    for (struct phase *phase = lane->phases; phase != NULL; phase = phase->next)
        if (phase->shared)
            db_array_int(&s[HELD], phase->phase_id);
    for (int i = OFFSETS; i <= HELD; i++)
        db_array_end(&s[i]);
    db_bytea(&s[DIGEST], stream_head(&lane->stream, count - 1)->digest, 16);
}

/* What only a rejected message needs; no parameter where there is nothing. */
struct attached {
    struct str keys, offsets, names, values;
};

static void attached_done(struct attached *attached)
{
    str_done(&attached->keys);
    str_done(&attached->offsets);
    str_done(&attached->names);
    str_done(&attached->values);
}

static bool has_attached(struct lane *lane, int count)
{
    for (int i = 0; i < count; i++)
        if (stream_head(&lane->stream, i)->key != NULL ||
            stream_head(&lane->stream, i)->headers != NULL)
            return true;
    return false;
}

static void fill_attached(struct lane *lane, int count, struct attached *to)
{
    struct str *const arrays[] = {&to->keys, &to->offsets, &to->names, &to->values};
    for (int i = 0; i < 4; i++)
        db_array_start(arrays[i]);
    for (int i = 0; i < count; i++) {
        const struct held *held = stream_head(&lane->stream, i);
        db_array_bytes(&to->keys, held->key, held->key_len);
        headers_arrays(held, &to->offsets, &to->names, &to->values);
    }
    for (int i = 0; i < 4; i++)
        db_array_end(arrays[i]);
    if (strcmp(to->names.data, "{}") == 0) {
        str_done(&to->offsets);
        str_done(&to->names);
        str_done(&to->values);
    }
}

static bool special(struct lane *lane, int count)
{
    for (int i = 0; i < count; i++)
        if (stream_head(&lane->stream, i)->msg != NULL &&
            stream_head(&lane->stream, i)->msg->special)
            return true;
    return false;
}

/* As long as nobody resumes it, no reader is needed for what comes. */
static bool parking(const struct lane *lane, const struct held *head)
{
    return *lane->claims.parked != 0 && head->msg != NULL && head->msg->type != MESSAGE_END &&
           strcmp(lane->claims.parked, head->run) == 0;
}

static const char *kind_of(const struct message *msg)
{
    if (msg == NULL)
        return "reject";
    return msg->type == MESSAGE_END ? "end" : "task";
}

/* Retention waits while claims are slow, so it hears how long each took. */
static enum rc send_claim(struct executor *ex, const char *const *params,
                          struct db_result **ret_row, struct err *err)
{
    int64_t from_us = clock_boot_us();
    enum rc rc = run_beside(ex, &sql_executor_claim, params, ret_row, err);
    if (ex->retention != NULL)
        retention_claimed(ex->retention, clock_boot_us() - from_us);
    return rc;
}

static enum rc ask(struct lane *lane, int count, bool bare, struct db_result **ret_row,
                   struct err *err)
{
    const struct held *head = stream_head(&lane->stream, 0);
    const struct message *msg = head->msg;
    __attribute__((cleanup(segment_done))) struct segment segment = {0};
    const struct str *s = segment.s;
    bool end = msg != NULL && msg->type == MESSAGE_END;
    char implicit[37] = "";
    STR_AUTO raw = {0};
    __attribute__((cleanup(attached_done))) struct attached attached = {0};
    bool withheld = bare && msg != NULL && has_attached(lane, count);
    bool nothing = msg == NULL && head->said == SAID_NOTHING; /* but that it was there */
    const char *run = head->run[0] && !nothing ? head->run : NULL;
    fill_arrays(lane, count, segment.s);
    if (!withheld && !nothing && has_attached(lane, count))
        fill_attached(lane, count, &attached);
    if (msg != NULL && head->run[0] == '\0')
        uuid_implicit_run(implicit, lane->name, head->offset);
    if (msg == NULL && !head->tombstone && !nothing)
        db_bytea(&raw, head->value, head->value_len);
    const char *const params[] = {
        [EXECUTOR_CLAIM_P_QUEUE_ID] = DB_INT(lane->queue_id),
        [EXECUTOR_CLAIM_P_EXECUTOR_NO] = DB_INT(lane->ex->executor_no),
        [EXECUTOR_CLAIM_P_BUFFER_FROM] = DB_INT(lane->stream.buffer_from),
        [EXECUTOR_CLAIM_P_KIND] = kind_of(msg),
        [EXECUTOR_CLAIM_P_RUN] = run,
        [EXECUTOR_CLAIM_P_IMPLICIT] = implicit[0] ? implicit : NULL,
        [EXECUTOR_CLAIM_P_ORDER] = msg ? DB_INT(msg->order) : NULL,
        [EXECUTOR_CLAIM_P_PREVIOUS] = msg ? DB_INT(msg->previous_order) : NULL,
        [EXECUTOR_CLAIM_P_OFFSETS] = s[OFFSETS].data,
        [EXECUTOR_CLAIM_P_SEQS] = s[SEQS].data,
        [EXECUTOR_CLAIM_P_PAYLOADS] = s[PAYLOADS].data,
        [EXECUTOR_CLAIM_P_NAMES] = s[NAMES].data,
        [EXECUTOR_CLAIM_P_MAX_ATTEMPTS] = s[ATTEMPTS].data,
        [EXECUTOR_CLAIM_P_TRACEPARENTS] = s[TRACES].data,
        [EXECUTOR_CLAIM_P_LAST_TIMESTAMP] =
            DB_INT(stream_head(&lane->stream, count - 1)->timestamp_ms),
        [EXECUTOR_CLAIM_P_LAST_DIGEST] = s[DIGEST].data,
        [EXECUTOR_CLAIM_P_HELD] = s[HELD].data,
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
        [EXECUTOR_CLAIM_P_SPECIAL] = special(lane, count) ? "true" : "false",
        [EXECUTOR_CLAIM_P_PARKING] = parking(lane, head) ? "true" : "false",
        [EXECUTOR_CLAIM_P_IN_STRETCHES] = in_stretches(lane) ? "true" : "false"};
    return send_claim(lane->ex, params, ret_row, err);
}

static void take(struct lane *lane, const struct db_result *row, int count)
{
    struct phase *phase =
        phase_get(lane, db_int(row, 0, EXECUTOR_CLAIM_PHASE_ID),
                  db_int(row, 0, EXECUTOR_CLAIM_RUN_NO), stream_head(&lane->stream, 0)->msg->order);
    phase->previous_order = stream_head(&lane->stream, 0)->msg->previous_order;
    bool external = stream_head(&lane->stream, 0)->msg->type ==
                    MESSAGE_EXTERNAL; /* for workers: see next_task */
    const char *ids = db_text(row, 0, EXECUTOR_CLAIM_TASK_IDS),
               *tokens = db_text(row, 0, EXECUTOR_CLAIM_TOKENS);
    int64_t next_offset = db_int(row, 0, EXECUTOR_CLAIM_NEXT_OFFSET);
    phase_seen(lane, phase, db_bool(row, 0, EXECUTOR_CLAIM_IS_OPEN),
               db_int(row, 0, EXECUTOR_CLAIM_DEFINITIONS_CHANGES));
    phase_share(phase, db_bool(row, 0, EXECUTOR_CLAIM_TOOK_SHARED));
    phase->claimed = true;
    (void)snprintf(phase->run, sizeof phase->run, "%s", stream_head(&lane->stream, 0)->run);
    event_tell(lane, EVENT_WORK_CLAIMED);
    int skip = count - elements_count(ids); /* the tasks are the last ones of the segment */
    for (int i = skip; i < count; i++) {
        struct held *held = stream_head(&lane->stream, i);
        char id[24], token[37];
        ids = elements_next(ids, id, sizeof id);
        tokens = elements_next(tokens, token, sizeof token);
        /* Nobody's: external, not due yet, or not to be run. It is asked for to learn when it is
         * due, and to look after leases. */
        if (strcmp(token, "NULL") == 0) {
            event_tell(lane, EVENT_WORK_UNOWNED);
            continue;
        }
        struct work *work = work_new(lane, phase,
                                     &(struct work_row){.phase_id = phase->phase_id,
                                                        .task_id = strtoll(id, NULL, 10),
                                                        .run_no = phase->run_no,
                                                        .offset = held->offset,
                                                        .token = token,
                                                        .attempt = 1,
                                                        .msg = held_take(held)});
        phase_add(phase, work);
    }
    if (!phase->open && (external || phase->waiting.count == 0))
        phase_nobodys(phase, true);
    stream_drop(&lane->stream, next_offset);
}

void claim_went_back(struct lane *lane, int64_t next_offset)
{
    log_event(LOG_WARN, "cursor_went_back", "queue", lane->name, "buffer_from",
              LOG_INT(lane->stream.buffer_from), "next_offset", LOG_INT(next_offset), NULL);
    stream_back(&lane->stream, next_offset);
    lane_again(lane);
}

/* What follows from a verdict. Returns whether another claim makes sense. */
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
            log_event(LOG_INFO, "run_ended", "queue", lane->name, "run",
                      *stream_head(&lane->stream, 0)->run ? stream_head(&lane->stream, 0)->run
                                                          : NULL,
                      "status", db_text(row, 0, EXECUTOR_CLAIM_NOTE), NULL);
        break;
    case EXECUTOR_CLAIM_IS_REJECTED:
        letters_wake(lane, RELAY_NEWS);
        rejects_tell(lane, 1, 0);
        break;
    case EXECUTOR_CLAIM_IS_BUSY:
        claims_busy(&lane->claims, lane->ex->now_us);
        progress = false;
        break;
    case EXECUTOR_CLAIM_IS_LOOKAHEAD:
        event_tell(lane, EVENT_LOOKAHEAD_FULL); /* nobody may be about to open what waits */
        claims_block(&lane->claims);
        progress = false;
        break;
    case EXECUTOR_CLAIM_IS_OTHERS:
    case EXECUTOR_CLAIM_IS_PAUSED:
        claims_block(&lane->claims);
        progress = false;
        break;
    case EXECUTOR_CLAIM_IS_HALTED:
        lane_halted(lane);
        progress = false;
        log_event(LOG_ERROR, "queue_halted", "queue", lane->name, "detail",
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

/* All that may start is with the readers, and the next two phases are in hand: what comes next is a
 * barrier, and a claim would keep control from giving S back and from handing out what opens. For a
 * moment only: the tasks may be long ones. */
static bool poised(struct lane *lane)
{
    int closed = 0;
    for (const struct phase *phase = lane->phases; phase != NULL; phase = phase->next) {
        if (phase->open && phase->waiting.count > 0)
            closed = INT_MIN;
        closed += !phase->open && phase->waiting.count > 0;
    }
    return claims_poised(&lane->claims, closed >= 2, lane->ex->now_us, lane->ex->round_us);
}

/* What takes no reader: workers do it, or nobody for now. */
static bool readerless(const struct lane *lane, const struct held *head)
{
    return parking(lane, head) || (head->msg != NULL && head->msg->type == MESSAGE_EXTERNAL);
}

static bool may_claim(struct lane *lane)
{
    const struct executor *ex = lane->ex;
    return lane->stream.buffer_count > 0 && identity_known(lane) && claims_may(&lane->claims) &&
           !lane->halted && !lane->paused && !ex->claims_paused && !ex->draining &&
           !obey_holds(lane, stream_head(&lane->stream, 0));
}

bool claims_more(struct lane *lane, const struct phase *phase)
{
    if (!phase->claimed || !may_claim(lane))
        return false;
    const struct held *head = stream_head(&lane->stream, 0);
    return phase_is_of(phase, head) && (readerless(lane, head) || wanted(lane, head) > 0);
}

/* How many of the head's kind to ask for now, 0: none. */
static int due(struct lane *lane, const struct held *head)
{
    bool tasks = head->msg != NULL && head->msg->type != MESSAGE_END;
    bool many = readerless(lane, head);
    int want = many || head->msg == NULL ? CLAIM_MOST : tasks ? wanted(lane, head) : 1;
    int most = claim_most(lane);
    if (most > 0 && want > most)
        want = most;
    bool worth = !tasks || many || most > 0 || want >= lane_worth(lane);
    return want > 0 && worth ? want : 0;
}

static bool may_claim_now(struct lane *lane)
{
    return may_claim(lane) && claims_may_now(&lane->claims, lane->ex->now_us);
}

bool claim_waits(struct lane *lane)
{
    return may_claim_now(lane) && due(lane, stream_head(&lane->stream, 0)) > 0;
}

/* Locks that only executors should take, or a row, are another session's: this queue waits, the
 * others continue, and what the queue has in hand is done. */
static enum rc locks_taken(struct lane *lane, const struct err *why, struct err *err)
{
    claims_taken(&lane->claims, lane->ex->now_us);
    log_err(LOG_WARN, "locks_taken", lane->name, why);
    lane_note_held(lane, lane->claims.taken_ms, why);
    return claim_unlock(lane->ex, err);
}

/* With what only a rejected message needs when it is one. */
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
    const struct held *head = stream_head(&lane->stream, 0);
    int want = poised(lane) ? 0 : due(lane, head);
    if (want == 0)
        return RC_OK;
    bool tasks = head->msg != NULL && head->msg->type != MESSAGE_END;
    DB_RESULT_AUTO *row = NULL;
    int count = segment(lane, want);
    bool many = head->msg == NULL && count > 1;
    enum rc rc = !tasks ? openings_told(lane, err) : RC_OK; /* before the run may end */
    probe("claim.send");
    if (rc == RC_OK)
        rc = many ? rejects_ask(lane, count, &row, err) : ask_both(lane, count, &row, err);
    probe("claim.answered");
    if (rc == RC_REJECT) {
        *ret_progress = true; /* less of it is claimed at once */
        return claim_refused(lane, count, err);
    }
    if (lane_row_held(rc, err)) {
        const struct err why = *err;
        return locks_taken(lane, &why, err);
    }
    claims_not_taken(&lane->claims);
    if (rc != RC_OK)
        return rc;
    *ret_progress = many ? rejects_follow(lane, row, count) : follow(lane, row, count);
    return RC_OK;
}
