/* The tags of messages, checked by the rules of a claim (sql/functions/claim/claim_judge.sql),
 * without a database: for commands that check a file before it is published. Begin with
 * tags_check(): find the run, check the sequence, check the order or the counts. The rules exist
 * twice on purpose: the claim decides inside its transaction, this file before anything is sent. A
 * change there needs the same change here. */
#include "task/tags.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct run {
    char id[37]; /* "": the implicit run */
    int64_t next_seq, order, previous_order, tasks, phases, rejected;
    bool ended;
};

struct tags {
    struct run *runs;
    int count;
    int open;      /* place of the implicit run that is open; -1: none is */
    int64_t loose; /* records without a run since the last message: a gap in seq may be theirs */
};

struct tags *tags_new(void)
{
    struct tags *tags = xcalloc(1, sizeof *tags);
    tags->open = -1;
    return tags;
}

void tags_free(struct tags *tags)
{
    if (tags == NULL)
        return;
    free(tags->runs);
    free(tags);
}

/* A producer writes one run after the other, so the search begins with the newest. */
static struct run *find_run(struct tags *tags, const char *id)
{
    if (*id == '\0')
        return tags->open >= 0 ? &tags->runs[tags->open] : NULL;
    for (int i = tags->count - 1; i >= 0; i--)
        if (str_same(tags->runs[i].id, id))
            return &tags->runs[i];
    return NULL;
}

static struct run *add_run(struct tags *tags, const char *id)
{
    tags->runs = xrealloc(tags->runs, (size_t)tags->count + 1, sizeof *tags->runs);
    struct run *run = &tags->runs[tags->count];
    *run = (struct run){0};
    memcpy(run->id, id, strlen(id) + 1);
    if (*id == '\0')
        tags->open = tags->count;
    tags->count++;
    return run;
}

/** Completes an error that has its message already: the reason is its code, and the object is the
 * field. */
static enum rc refuse(struct err *err, const char *reason, const char *field, const char *hint)
{
    err->kind = ERR_FAILED;
    err_code(err, reason);
    (void)strcpy(err->object, field);
    (void)strcpy(err->hint, hint);
    return RC_REJECT;
}

/* The sequence within a run: dense from 0. A gap is a loss, unless as many records without a
 * readable run came since the last message: these may have been the missing ones. */
static enum rc check_seq(struct tags *tags, struct run *run, bool known, int64_t seq,
                         struct err *err)
{
    STR_AUTO hint = {0};
    str_format(&hint, "Write \"seq\": %" PRId64, run->next_seq);
    if (seq < run->next_seq) {
        (void)err_set(err, RC_REJECT, ERR_FAILED, "", NULL,
                      "seq %" PRId64 " of the run was there before", seq);
        return refuse(err, "duplicate", "$.seq", hint.data);
    }
    /* Duplicates first: a copy of a run that has ended is one mistake, not two. */
    if (run->ended) {
        (void)err_set(err, RC_REJECT, ERR_FAILED, "", NULL,
                      "the run has ended before this message");
        return refuse(err, "late", "$.run", "write the end behind all messages of its run");
    }
    int64_t gap = seq - run->next_seq, next = run->next_seq;
    bool lost = gap > tags->loose;
    /* Set even when messages are lost, so that one gap is reported once. */
    run->next_seq = seq;
    run->rejected += lost ? 0 : gap;
    if (lost && !known) {
        (void)err_set(err, RC_REJECT, ERR_FAILED, "", NULL,
                      "the first message of the run has seq %" PRId64 " and not 0", seq);
        return refuse(err, "unknown_run", "$.seq", hint.data);
    }
    if (lost) {
        (void)err_set(err, RC_REJECT, ERR_FAILED, "", NULL,
                      "messages are lost: after seq %" PRId64 " comes seq %" PRId64, next - 1, seq);
        return refuse(err, "loss", "$.seq", hint.data);
    }
    return RC_OK;
}

/** The reason why the message does not continue its run, NULL if it does. Either it belongs to the
 * newest phase, with the same previous order, or it begins the next one and names the newest as its
 * previous order. */
static const char *misfit(const struct run *run, const struct message *msg)
{
    if (run->phases == 0)
        return msg->previous_order != 0 ? "hole" : NULL;
    if (msg->order == run->order)
        return msg->previous_order != run->previous_order ? "contradiction" : NULL;
    if (msg->previous_order == run->order)
        return NULL;
    return msg->order < run->order ? "late" : "hole";
}

static enum rc check_order(const struct run *run, const struct message *msg, struct err *err)
{
    STR_AUTO hint = {0};
    const char *reason = misfit(run, msg);
    if (reason == NULL)
        return RC_OK;
    if (run->phases == 0)
        (void)err_set(err, RC_REJECT, ERR_FAILED, "", NULL,
                      "order %" PRId64 " after %" PRId64 " follows nothing: no order was before it",
                      msg->order, msg->previous_order);
    else
        (void)err_set(err, RC_REJECT, ERR_FAILED, "", NULL,
                      "order %" PRId64 " after %" PRId64 " does not follow order %" PRId64
                      " after %" PRId64,
                      msg->order, msg->previous_order, run->order, run->previous_order);
    if (msg->order < run->order)
        str_format(&hint, "Write the messages of a run in ascending order.");
    else
        str_format(&hint, "Write \"previous_order\": %" PRId64,
                   run->phases == 0           ? 0
                   : msg->order == run->order ? run->previous_order
                                              : run->order);
    return refuse(err, reason, msg->order < run->order ? "$.order" : "$.previous_order", hint.data);
}

/* A message without a run id that begins a new implicit run: its previous order is 0, and it is not
 * one more task of the first phase of the open run. */
static bool begins(const struct run *open, const struct message *msg)
{
    return msg->previous_order == 0 && (open == NULL || open->phases == 0 ||
                                        msg->order != open->order || open->previous_order != 0);
}

static enum rc check_task(struct run *run, const struct message *msg, struct err *err)
{
    enum rc rc = check_order(run, msg, err);
    if (rc != RC_OK) {
        run->rejected++;
        return rc;
    }
    run->phases += run->phases == 0 || msg->order != run->order;
    run->order = msg->order;
    run->previous_order = msg->previous_order;
    run->tasks++;
    return RC_OK;
}

static enum rc check_end(struct tags *tags, struct run *run, const struct message *msg,
                         struct err *err)
{
    STR_AUTO hint = {0};
    run->ended = true;
    if (*msg->run == '\0')
        tags->open = -1;
    int64_t tasks = run->tasks + run->rejected;
    /* With rejected messages the number of phases is unknown: one of them may have been a phase
     * alone. */
    if (msg->aborted || *msg->run == '\0' ||
        (msg->end_tasks == tasks && (run->rejected > 0 || msg->end_phases == run->phases)))
        return RC_OK;
    (void)err_set(err, RC_REJECT, ERR_FAILED, "", NULL,
                  "the end counts %" PRId64 " tasks in %" PRId64 " phases, there were %" PRId64
                  " in %" PRId64,
                  msg->end_tasks, msg->end_phases, tasks, run->phases);
    str_format(&hint, "Write \"tasks\": %" PRId64 ", \"phases\": %" PRId64, tasks, run->phases);
    return refuse(err, "loss", msg->end_tasks != tasks ? "$.tasks" : "$.phases", hint.data);
}

enum rc tags_check(struct tags *tags, const struct message *msg, struct err *err)
{
    struct err ignored;
    struct run *run = find_run(tags, msg->run);
    bool known = run != NULL, end = msg->type == MESSAGE_END, implicit = *msg->run == '\0';
    err = err != NULL ? err : &ignored;
    if (implicit && end && !known) {
        (void)err_set(err, RC_REJECT, ERR_FAILED, "", NULL, "there is no run to end");
        return refuse(err, "hole", "$.type", "leave this end out, or give the run that it ends");
    }
    /* No run is added for it: a later message must not be judged by a run that never began. */
    if (implicit && !known && msg->previous_order != 0)
        return check_order(&(struct run){0}, msg, err);
    if (!known || (implicit && !end && begins(run, msg)))
        run = add_run(tags, msg->run);
    enum rc rc = implicit ? RC_OK : check_seq(tags, run, known, msg->seq, err);
    bool refused = rc != RC_OK && (str_same(err->code, "duplicate") || str_same(err->code, "late"));
    if (refused)
        return rc;
    tags->loose = 0;
    run->next_seq++;
    struct err second; /* a gap explains what does not fit behind it */
    enum rc then = end ? check_end(tags, run, msg, rc == RC_OK ? err : &second)
                       : check_task(run, msg, rc == RC_OK ? err : &second);
    return rc == RC_OK ? then : rc;
}

/** A record without a readable run may be the one that a later gap misses (loose); one with a run
 * and the next seq certainly is. */
void tags_rejected(struct tags *tags, const char *id, int64_t seq)
{
    struct run *run = id != NULL && *id != '\0' ? find_run(tags, id) : NULL;
    if (run != NULL && !run->ended && seq == run->next_seq) {
        run->next_seq++;
        run->rejected++;
    } else if (run == NULL) {
        tags->loose++;
    }
}

const char *tags_endless(const struct tags *tags, int index)
{
    for (int i = 0; i < tags->count; i++)
        if (*tags->runs[i].id != '\0' && !tags->runs[i].ended && index-- == 0)
            return tags->runs[i].id;
    return NULL;
}
