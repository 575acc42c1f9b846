/* How a run that was cut continues behind its last record on the topic. Begin with resume_settle()
 * and resume_verify(). The proof that the source is the same is a chain of digests: the records
 * that the topic has are made again from the source, and must lead to the digest that the row and
 * the topic give. Until then nothing is sent and nothing of the run is changed
 * (tests/e2e/publish_resume.sh). */
#include "producer/resume.h"

#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "producer/rows.h"
#include "producer/sending.h"
#include "producer/tail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct resume resume_of(const struct publish_options *options)
{
    return (struct resume){.wanted = options->resume != NULL};
}

void resume_done(struct resume *resume)
{
    free(resume->source);
    free(resume->name);
    *resume = (struct resume){0};
}

static enum rc wrong(const struct publishing *p, const char *hint, struct err *err, const char *fmt,
                     ...) __attribute__((format(printf, 4, 5)));
static enum rc wrong(const struct publishing *p, const char *hint, struct err *err, const char *fmt,
                     ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return err_set(err, RC_REJECT, ERR_USAGE, p->run.id, hint, "%s", text);
}

/** Refuses a run that has ended. The caller gets the reason and, where work is left, how to publish
 * it. */
static enum rc closed(const struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    char hint[100];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_SHOW, p->run.id);
    if (r->state == PUBLISH_RESUMABLE_IS_PUBLISHED)
        return wrong(p, hint, err,
                     "All of the run is published (its last seq is %" PRId64
                     "): there is nothing to resume.",
                     r->noted_seq);
    if (r->state == PUBLISH_RESUMABLE_IS_ABORTED)
        return wrong(p, "publish the work, or what is left of it, as a run of its own", err,
                     "The run was ended as aborted and cannot continue: %s",
                     r->why[0] != '\0' ? r->why : "its end says so.");
    return wrong(p, "publish the work as a run of its own", err,
                 "The run was cancelled and cannot continue: %s",
                 r->why[0] != '\0' ? r->why : "no reason was given.");
}

/** Takes from the row the settings that the options leave open, so that the records are made as
 * before: the format decides how a line is read, the name and the policy are in the first record.
 */
static void recall(struct publishing *p, struct db_result *row)
{
    struct resume *r = &p->resume;
    enum publish_format format = PUBLISH_AUTO;
    if (!db_null(row, 0, PUBLISH_RESUMABLE_PUBLISH_FORMAT))
        format = db_word(row, 0, PUBLISH_RESUMABLE_PUBLISH_FORMAT) == PUBLISH_RESUMABLE_IS_CSV
                     ? PUBLISH_CSV
                     : PUBLISH_JSONL;
    origin_recall(&p->origin,
                  db_word(row, 0, PUBLISH_RESUMABLE_PUBLISH_MODE) == PUBLISH_RESUMABLE_IS_STREAM,
                  format);
    if (r->source == NULL) /* it does not change, and path or query may point to it */
        r->source = xstrdup(db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_SOURCE));
    if (r->name == NULL && !db_null(row, 0, PUBLISH_RESUMABLE_NAME))
        r->name = xstrdup(db_text(row, 0, PUBLISH_RESUMABLE_NAME));
    run_recall(&p->run, r->name, db_text(row, 0, PUBLISH_RESUMABLE_ON_FAILURE));
}

static enum rc read_row(struct publishing *p, struct db_result *row, struct err *err)
{
    struct resume *r = &p->resume;
    /* The records of another queue are on another partition, so this queue's lock does not protect
     * them. */
    if (!db_bool(row, 0, PUBLISH_RESUMABLE_IS_OURS))
        return wrong(p, "name that queue", err, "The run belongs to queue %s, not to %s.",
                     db_text(row, 0, PUBLISH_RESUMABLE_QUEUE), p->target.queue);
    if (db_null(row, 0, PUBLISH_RESUMABLE_PUBLISH_MODE))
        return wrong(p, "the program that publishes it must continue it", err,
                     "The run was not begun by lockstep publish.");
    recall(p, row);
    int from = db_word(row, 0, PUBLISH_RESUMABLE_PUBLISH_FROM);
    r->from_file = from == PUBLISH_RESUMABLE_IS_FILE;
    r->from_query = from == PUBLISH_RESUMABLE_IS_QUERY;
    (void)snprintf(r->digest, sizeof r->digest, "%s",
                   db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_DIGEST));
    r->digest_bytes = db_int(row, 0, PUBLISH_RESUMABLE_PUBLISH_BYTES);
    r->noted_seq = db_int(row, 0, PUBLISH_RESUMABLE_PUBLISH_ACKED_SEQ);
    r->noted_offset = db_int(row, 0, PUBLISH_RESUMABLE_PUBLISH_ACKED_OFFSET);
    r->state = db_word(row, 0, PUBLISH_RESUMABLE_STATE);
    (void)snprintf(r->why, sizeof r->why, "%s", db_text(row, 0, PUBLISH_RESUMABLE_ERROR));
    r->own = db_bool(row, 0, PUBLISH_RESUMABLE_IS_OWN);
    (void)snprintf(r->publisher, sizeof r->publisher, "%s",
                   db_text(row, 0, PUBLISH_RESUMABLE_PUBLISHED_BY));
    if (!chain_parse(db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_CHAIN), &r->noted_chain))
        return wrong(p, "publish the work as a run of its own", err,
                     "publish_chain of the run's row is damaged.");
    return RC_OK;
}

static enum rc find(struct publishing *p, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    const char *const params[] = {DB_INT(p->target.queue_id), p->run.id};
    enum rc rc = db_run(p->session.db, &sql_publish_resumable, params, &row, err);
    if (rc == RC_NONE)
        return wrong(p, REMEDY_RUN_LIST, err, "There is no such run in queue %s.", p->target.queue);
    return rc == RC_OK ? read_row(p, row, err) : rc;
}

/** The source that the row names, unless the options name one. */
static enum rc find_source(struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    if (origin_is_known(&p->origin) || (!r->from_file && !r->from_query))
        return RC_OK;
    /* Only the login that published the run may let this process read a path or run a query from
     * the row. Otherwise a login could name a file in its run, and another login that resumes the
     * run would read that file with rights that the first does not have. */
    if (!r->own)
        return wrong(
            p,
            "let that login resume it, or name the source yourself: publish --resume RUN FILE, or "
            "--query SQL",
            err,
            "The run was published by %s: the source that it names is not read for another login.",
            r->publisher);
    origin_recall_source(&p->origin, r->from_file ? r->source : NULL,
                         r->from_query ? r->source : NULL);
    return RC_OK;
}

enum rc resume_find(struct publishing *p, struct err *err)
{
    enum rc rc = find(p, err);
    if (rc == RC_OK && p->resume.state != PUBLISH_RESUMABLE_IS_UNFINISHED)
        rc = closed(p, err);
    if (rc != RC_OK)
        return rc;
    if (p->options->stream && !p->origin.stream)
        return wrong(p, "leave --stream out", err, "The run was not begun with --stream.");
    return find_source(p, err);
}

enum rc resume_check_digest(const struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    const struct origin *origin = &p->origin;
    if (!r->wanted || r->digest[0] == '\0' ||
        (strcmp(r->digest, origin->digest) == 0 && r->digest_bytes == origin->digest_bytes))
        return RC_OK;
    return wrong(p,
                 "name the file as it was (the run is left as it is); or publish the work as a new "
                 "run, which closes this one as aborted",
                 err,
                 "The source is not the file that the run was begun from: that one had %" PRId64
                 " bytes with the digest %s, this one %" PRId64 " with %s.",
                 r->digest_bytes, r->digest, origin->digest_bytes,
                 origin->digest[0] != '\0' ? origin->digest : "none");
}

bool resume_is_open(const struct resume *resume)
{
    return resume->wanted && !resume->verified;
}

bool resume_is_behind(const struct resume *resume, const struct records *records)
{
    return resume_is_open(resume) && records->next.seq < records->committed.seq;
}

/** The predecessor committed the end and died before it noted that. No source is read again. */
static void all_there(struct publishing *p, const struct tail *tail)
{
    records_complete(&p->records);
    run_count(&p->run, tail->tasks, tail->phases);
    run_ended(&p->run);
    progress_notice(&p->progress, "all of run %s is on the topic: only the note of it was missing",
                    p->run.id);
}

/** From here on records are sent. The row gets the source that is used now, which may be a copy of
 * the first one, and the position that the topic has proved. */
static enum rc continue_run(struct publishing *p, struct err *err)
{
    const struct origin *origin = &p->origin;
    const struct records *records = &p->records;
    char path[4096], text[33];
    const char *source, *from = origin_describe(origin, path, &source);
    bool repeatable = origin->digest[0] != '\0';
    chain_format(&records->committed.chain, text);
    const char *const params[] = {[PUBLISH_RESUME_P_QUEUE_ID] = DB_INT(p->target.queue_id),
                                  [PUBLISH_RESUME_P_RUN] = p->run.id,
                                  [PUBLISH_RESUME_P_FROM] = from,
                                  [PUBLISH_RESUME_P_SOURCE] = source,
                                  [PUBLISH_RESUME_P_FORMAT] = staged_format_name(origin->staged),
                                  [PUBLISH_RESUME_P_DIGEST] = repeatable ? origin->digest : NULL,
                                  [PUBLISH_RESUME_P_BYTES] =
                                      repeatable ? DB_INT(origin->digest_bytes) : NULL,
                                  [PUBLISH_RESUME_P_SEQ] = DB_INT(records->committed.seq - 1),
                                  [PUBLISH_RESUME_P_OFFSET] = DB_INT(records->settled_offset),
                                  [PUBLISH_RESUME_P_RECORDS_DIGEST] = text};
    p->resume.verified = true;
    progress_notice(&p->progress, "run %s is resumed with seq %" PRId64, p->run.id,
                    records->committed.seq);
    return db_run(p->session.db, &sql_publish_resume, params, NULL, err);
}

/** A successor ended the run as aborted, and could not note it. */
static enum rc found_aborted(struct publishing *p, const struct tail *tail, struct err *err)
{
    struct err why;
    if (row_abort(p->session.db, p->target.queue_id, p->run.id, tail->next_seq - 1,
                  tail->last_offset, "found ended as aborted", &why) != RC_OK)
        log_err(LOG_WARN, "publish_note_failed", p->target.queue, &why);
    p->resume.state = PUBLISH_RESUMABLE_IS_ABORTED;
    p->resume.why[0] = '\0';
    return closed(p, err);
}

/** Decides from the tail alone, before the source is read again, whether the run can continue. */
static enum rc judge(struct publishing *p, const struct tail *tail, struct err *err)
{
    if (tail->ended)
        return tail->aborted ? found_aborted(p, tail, err) : RC_OK;
    if (tail->missing >= 0)
        return err_set(err, RC_REJECT, ERR_FAILED, p->run.id,
                       "Publish the work as a new run, which closes this one as aborted.",
                       "the topic has lost seq %" PRId64 " of the run: it cannot continue",
                       tail->missing);
    return RC_OK;
}

/* Called under the lock and behind the fencing, so the row and the topic do not change any more.
 * The topic and not the row says how far the run has come: the note in the row is written once a
 * second and may be older. */
enum rc resume_settle(struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    enum rc rc = find(p, err); /* once more: its producer may have ended it while we waited */
    if (rc == RC_OK && r->state != PUBLISH_RESUMABLE_IS_UNFINISHED)
        rc = closed(p, err);
    if (rc != RC_OK)
        return rc;
    run_found(&p->run);
    struct tail tail = {.next_seq = r->noted_seq + 1, .chain = r->noted_chain};
    rc = tail_read(&p->target, &p->progress, r->noted_offset + 1, p->run.id, &tail, err);
    probe("resume.settled");
    if (rc == RC_OK)
        rc = judge(p, &tail, err);
    if (rc != RC_OK)
        return rc;
    /* The number of phases is not in the tail of an unfinished run: it is counted while the records
     * are made again (records_meet). */
    const struct position there = {tail.next_seq, tail.ended ? tail.phases : 0, tail.chain};
    records_recall(&p->records, &there, tail.last_offset >= 0 ? tail.last_offset : r->noted_offset);
    run_taken(&p->run);
    if (tail.ended)
        all_there(p, &tail);
    /* With no record on the topic there is nothing to compare, and the sending begins at once. */
    return tail.ended || there.seq > 0 ? RC_OK : continue_run(p, err);
}

/* The proof is complete when exactly as many records were made as the topic has, and their digests
 * agree. A source that ends earlier is shorter than the topic, and has changed, too. */
enum rc resume_verify(struct publishing *p, struct err *err)
{
    if (!resume_is_open(&p->resume))
        return RC_OK;
    if (records_meet(&p->records)) {
        probe("resume.verified");
        return continue_run(p, err);
    }
    return wrong(p,
                 "name the source as it was (the run is left as it is); or publish the work as a "
                 "new run, which closes this one as aborted",
                 err,
                 "The source does not begin with the %" PRId64
                 " tasks of the run that are on the topic: it has changed.",
                 p->records.committed.seq);
}

/** Nothing is changed: the run may be continued from a copy, or be ended. */
static enum rc no_source(const struct publishing *p, int64_t tasks, struct err *err)
{
    (void)wrong(p, NULL, err,
                "The run was read from a pipe, which cannot be read again, and no other source is "
                "named. It has %" PRId64 " tasks on the topic, and is left as it is.",
                tasks);
    (void)snprintf(err->hint, sizeof err->hint, REMEDY_RUN_PIPED, p->target.queue, p->run.id,
                   p->run.id);
    return RC_REJECT;
}

enum rc resume_without_source(struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    struct tail tail = {.next_seq = r->noted_seq + 1};
    /* which aborts the open transaction of its producer, or tail_read() would wait for that */
    enum rc rc = sending_fence(p, err);
    if (rc == RC_OK)
        rc = tail_read(&p->target, &p->progress, r->noted_offset + 1, p->run.id, &tail, err);
    if (rc == RC_OK && !tail.ended)
        return no_source(p, tail.next_seq, err);
    if (rc == RC_OK)
        rc = publishing_takeover(p, true, err);
    if (rc == RC_OK)
        rc = find(p, err);
    return rc != RC_OK || r->state == PUBLISH_RESUMABLE_IS_PUBLISHED ? rc : closed(p, err);
}
