/* Numbers for the metrics, taken where control has the result in hand: record.c counts attempts,
 * release.c barriers, rejects.c rejections, lag.c the end of the topic, and each turn the state of
 * each lane. No decision may depend on them, and each function does nothing if there is no
 * tally. */
#include "executor/counts.h"

#include "executor/assignment.h"
#include "executor/executor.h"
#include "executor/lane.h"
#include "executor/phase.h"
#include "executor/rejects.h"
#include "executor/trouble.h"

#include "base/clock.h"
#include "kafka/consumer.h"
#include "metrics/tally.h"
#include "reader/work.h"
#include "task/message.h"

/* The tally has the queues in the order of the lanes. */
#define FAILS_AGAIN_US (2 * 1000 * 1000)

static struct tally_queue *of(const struct lane *lane)
{
    struct tally *tally = lane->ex->options->tally;
    return tally != NULL ? tally_queue_at(tally, (int)(lane - lane->ex->lanes)) : NULL;
}

struct tally *counts_tally(const char *const *queues, int count)
{
    struct tally *tally = tally_new(queues, count);
    for (int i = 0; i < count; i++) {
        struct tally_queue *queue = tally_queue_at(tally, i);
        for (enum message_reason reason = MESSAGE_BAD_JSON; reason < MESSAGE_REASON_COUNT; reason++)
            tally_reason(queue, message_reason_name(reason));
        tally_reason(queue, REJECTS_TAGS);
    }
    return tally;
}

static void keep_statistics(void *context, const char *json, size_t len)
{
    tally_kafka(context, json, len);
}

void counts_begin(struct executor *ex)
{
    if (ex->options->tally != NULL)
        kafka_consumer_statistics(ex->services.consumer, keep_statistics, ex->options->tally);
}

static const char *type_of(const struct message *msg)
{
    static const char *const types[] = {[MESSAGE_SQL] = "sql",
                                        [MESSAGE_COMMAND] = "command",
                                        [MESSAGE_HTTP] = "http",
                                        [MESSAGE_EXTERNAL] = "external",
                                        [MESSAGE_END] = "end"};
    return msg->step_count > 0 ? "steps" : types[msg->type];
}

static int64_t later(int64_t a_us, int64_t b_us)
{
    return a_us > b_us ? a_us : b_us;
}

/* It could start when its phase was open and it was in hand. */
static int64_t waited_us(const struct work *work)
{
    const struct assignment *own = assignment_of(work);
    int64_t since_us = later(own->arrived_us, own->phase->opened_us);
    return own->head_since_us != 0 ? later(own->head_since_us - since_us, 0) : -1;
}

void counts_work(const struct lane *lane, const struct work *work)
{
    static const enum tally_outcome outcomes[] = {[OUTCOME_COMPLETED] = TALLY_COMPLETED,
                                                  [OUTCOME_ERROR] = TALLY_ERROR,
                                                  [OUTCOME_FAILED] = TALLY_FAILED,
                                                  [OUTCOME_STALE] = TALLY_STALE};
    struct tally_queue *queue = of(lane);
    if (queue == NULL)
        return;
    if (work->end.outcome <= OUTCOME_STALE)
        tally_task(queue, type_of(work->msg), outcomes[work->end.outcome], work->end.ran_us,
                   waited_us(work));
}

void counts_lost(const struct lane *lane)
{
    tally_lost(of(lane));
}

/* From the return of the last task of the phase to the answer that opened the next one. */
void counts_barrier(const struct lane *lane, const struct phase *phase)
{
    if (phase->back_us != 0)
        tally_barrier(of(lane), clock_boot_us() - phase->back_us);
}

void counts_rejected(const struct lane *lane, const char *reason)
{
    tally_rejected(of(lane), reason);
}

void counts_high(const struct lane *lane, int64_t offset)
{
    tally_high(of(lane), offset);
}

/* While the queue is set aside, and for a moment in which its next statement may fail, too. */
static bool fails(const struct lane *lane)
{
    const struct trouble *trouble = lane_trouble(lane);
    return trouble->wait_ms != 0 && !trouble->locked &&
           lane->ex->turn.now_us < trouble->until_us + FAILS_AGAIN_US;
}

/* The first reason counts: a queue that does not exist has no topic to check either. */
void counts_state(const struct lane *lane)
{
    const char *why = NULL;
    if (lane->queue.gone)
        why = "there is no such queue";
    else if (lane->queue.foreign)
        why = "the database is not the server that the queue knows";
    else if (lane->identity.unanswered[0] != '\0')
        why = "its topic cannot be read: Kafka does not answer, or refuses it";
    else if (!lane->queue.halted && !identity_known(&lane->identity))
        why = "its topic has not been seen yet";
    else if (fails(lane))
        why = "its statements fail: the log of the executor says why (queue_set_aside)";
    else if (lane->ex->readers.cut_off.count > 0 &&
             lane->ex->readers.cut_off.count >= lane->ex->readers.limit)
        why = "no reader can open a session: the login of the tasks is refused";
    tally_trouble(of(lane), why);
}

void counts_stop(const struct executor *ex)
{
    for (int i = 0; i < ex->lane_count; i++)
        tally_trouble(of(&ex->lanes[i]), "the executor has no sessions");
}
