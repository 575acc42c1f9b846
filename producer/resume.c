#include "producer/publishing.h"
#include "producer/tail.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A publish that was broken off goes on: the source is read from its start again, and the records that it gives must be those
 * that the topic has; behind the last of them the sending begins. */

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
    return err_set(err, RC_REJECT, ERR_USAGE, p->run, hint, "%s", text);
}

static enum rc closed(const struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    char hint[100];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_SHOW, p->run);
    if (r->state == PUBLISH_RESUMABLE_IS_PUBLISHED)
        return wrong(p, hint, err,
                     "All of the run is published (its last seq is %" PRId64
                     "): there is nothing to resume.",
                     r->noted_seq);
    if (r->state == PUBLISH_RESUMABLE_IS_ABORTED)
        return wrong(p, "publish the work, or what is left of it, as a run of its own", err,
                     "The run was ended as aborted and cannot go on: %s",
                     r->why[0] != '\0' ? r->why : "its end says so.");
    return wrong(p, "publish the work as a run of its own", err,
                 "The run was cancelled and cannot go on: %s",
                 r->why[0] != '\0' ? r->why : "nobody said why.");
}

static enum rc read_row(struct publishing *p, struct db_result *row, struct err *err)
{
    struct resume *r = &p->resume;
    if (!db_bool(row, 0, PUBLISH_RESUMABLE_IS_OURS))
        return wrong(p, "name that queue", err, "The run belongs to queue %s, not to %s.",
                     db_text(row, 0, PUBLISH_RESUMABLE_QUEUE), p->options->queue);
    if (db_null(row, 0, PUBLISH_RESUMABLE_PUBLISH_MODE))
        return wrong(p, "whoever publishes it must go on with it", err,
                     "The run was not begun by lockstep publish.");
    p->stream = strcmp(db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_MODE), "stream") == 0;
    r->from_file = strcmp(db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_FROM), "file") == 0;
    r->from_query = strcmp(db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_FROM), "query") == 0;
    if (r->source == NULL) /* it does not change, and path or query may point to it */
        r->source = xstrdup(db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_SOURCE));
    if (p->options->format == PUBLISH_AUTO && !db_null(row, 0, PUBLISH_RESUMABLE_PUBLISH_FORMAT))
        p->format = strcmp(db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_FORMAT), "csv") == 0
                        ? PUBLISH_CSV
                        : PUBLISH_JSONL;
    (void)snprintf(r->digest, sizeof r->digest, "%s",
                   db_text(row, 0, PUBLISH_RESUMABLE_PUBLISH_DIGEST));
    r->digest_bytes = db_int(row, 0, PUBLISH_RESUMABLE_PUBLISH_BYTES);
    if (r->name == NULL && !db_null(row, 0, PUBLISH_RESUMABLE_NAME))
        p->name = r->name = xstrdup(db_text(row, 0, PUBLISH_RESUMABLE_NAME));
    (void)snprintf(p->on_failure, sizeof p->on_failure, "%s",
                   db_text(row, 0, PUBLISH_RESUMABLE_ON_FAILURE));
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
    const char *const params[] = {DB_INT(p->queue_id), p->run};
    enum rc rc = db_run(p->db, &sql_publish_resumable, params, &row, err);
    if (rc == RC_NONE)
        return wrong(p, REMEDY_RUN_LIST, err, "There is no such run in queue %s.",
                     p->options->queue);
    return rc == RC_OK ? read_row(p, row, err) : rc;
}

enum rc resume_find(struct publishing *p, struct err *err)
{
    struct resume *r = &p->resume;
    enum rc rc = find(p, err);
    if (rc == RC_OK && r->state != PUBLISH_RESUMABLE_IS_UNFINISHED)
        rc = closed(p, err);
    if (rc != RC_OK)
        return rc;
    if (p->options->stream && !p->stream)
        return wrong(p, "leave --stream out", err, "The run was not begun with --stream.");
    if (p->path == NULL && p->query == NULL && (r->from_file || r->from_query) && !r->own)
        return wrong(
            p,
            "let that login resume it, or name the source yourself: publish --resume RUN FILE, or "
            "--query SQL",
            err,
            "The run was published by %s: the source that it names is not read for another login.",
            r->publisher);
    if (p->path == NULL && p->query == NULL && r->from_file)
        p->path = r->source;
    if (p->path == NULL && p->query == NULL && r->from_query)
        p->query = r->source;
    return RC_OK;
}

enum rc resume_check_digest(const struct publishing *p, const char *digest, int64_t bytes,
                            struct err *err)
{
    const struct resume *r = &p->resume;
    if (!r->wanted || r->digest[0] == '\0' ||
        (strcmp(r->digest, digest) == 0 && r->digest_bytes == bytes))
        return RC_OK;
    return wrong(p,
                 "name the file as it was (the run is left as it is); or publish the work as a new "
                 "run, which closes this one as aborted",
                 err,
                 "The source is not the file that the run was begun from: that one had %" PRId64
                 " bytes with the digest %s, this one %" PRId64 " with %s.",
                 r->digest_bytes, r->digest, bytes, digest[0] != '\0' ? digest : "none");
}

static void all_there(struct publishing *p, const struct tail *tail)
{
    p->ended = true;
    p->seq = tail->next_seq;
    p->result->tasks = tail->tasks;
    p->result->phases = p->phases = tail->phases;
    publish_notice(p, "all of run %s is on the topic: only the note of it was missing", p->run);
}

static enum rc go_on(struct publishing *p, struct err *err)
{
    char path[4096], text[33];
    const char *source, *from = sending_source(p, path, &source);
    bool repeatable = p->digest[0] != '\0';
    chain_format(&p->resume.chain, text);
    const char *const params[] = {DB_INT(p->queue_id),
                                  p->run,
                                  from,
                                  source,
                                  staged_format_name(p->staged),
                                  repeatable ? p->digest : NULL,
                                  repeatable ? DB_INT(p->digest_bytes) : NULL,
                                  DB_INT(p->resume.seq - 1),
                                  DB_INT(p->settled_offset),
                                  text};
    p->resume.verified = true;
    publish_notice(p, "run %s is resumed with seq %" PRId64, p->run, p->resume.seq);
    return db_run(p->db, &sql_publish_resume, params, NULL, err);
}

/** What the tail says, before anything is read again. */
static enum rc judge(struct publishing *p, const struct tail *tail, struct err *err)
{
    if (tail->ended && !tail->aborted) {
        all_there(p, tail);
        return RC_OK;
    }
    if (tail->ended) { /* by a successor that could not note it */
        struct err why;
        const char *const params[] = {DB_INT(p->queue_id), p->run, DB_INT(tail->next_seq - 1),
                                      DB_INT(tail->last_offset), "found ended as aborted"};
        if (db_run(p->db, &sql_publish_abort, params, NULL, &why) != RC_OK)
            log_err(LOG_WARN, "publish_note_failed", p->options->queue, &why);
        p->resume.state = PUBLISH_RESUMABLE_IS_ABORTED;
        p->resume.why[0] = '\0';
        return closed(p, err);
    }
    if (tail->missing >= 0)
        return err_set(err, RC_REJECT, ERR_FAILED, p->run,
                       "its executors stop it, too; publish the work as a new run, which closes "
                       "this one as aborted",
                       "The topic has lost seq %" PRId64 " of the run: it cannot go on.",
                       tail->missing);
    return RC_OK;
}

enum rc resume_settle(struct publishing *p, struct err *err)
{
    struct resume *r = &p->resume;
    enum rc rc = find(p, err); /* once more: its producer may have ended it while we waited */
    if (rc == RC_OK && r->state != PUBLISH_RESUMABLE_IS_UNFINISHED)
        rc = closed(p, err);
    if (rc != RC_OK)
        return rc;
    (void)snprintf(p->result->run, sizeof p->result->run, "%s", p->run);
    struct tail tail = {.next_seq = r->noted_seq + 1, .chain = r->noted_chain};
    rc = tail_read(p, r->noted_offset + 1, p->run, &tail, err);
    probe("resume.settled");
    if (rc == RC_OK)
        rc = judge(p, &tail, err);
    if (rc != RC_OK)
        return rc;
    r->seq = p->committed = tail.next_seq;
    r->chain = p->committed_chain = tail.chain;
    p->settled_offset = tail.last_offset >= 0 ? tail.last_offset : r->noted_offset;
    p->result->last_offset = p->settled_offset;
    p->row_written = true;
    p->noted_us = clock_boot_us();
    if (p->ended || r->seq > 0)
        return RC_OK;
    return go_on(p, err);
}

enum rc resume_verify(struct publishing *p, struct err *err)
{
    const struct resume *r = &p->resume;
    if (!r->wanted || r->verified)
        return RC_OK;
    p->committed_phases = p->phases;
    if (p->seq == r->seq && chain_equal(&p->chain, &r->chain)) {
        probe("resume.verified");
        return go_on(p, err);
    }
    return wrong(p,
                 "name the source as it was (the run is left as it is); or publish the work as a "
                 "new run, which closes this one as aborted",
                 err,
                 "The source does not begin with the %" PRId64
                 " tasks of the run that are on the topic: it has changed.",
                 r->seq);
}

enum rc resume_close(struct publishing *p, struct err *err)
{
    struct resume *r = &p->resume;
    enum rc rc = publishing_lock(p, err);
    if (rc == RC_OK)
        rc = sending_open(p, err);
    if (rc == RC_OK)
        rc = sending_mark(p, err);
    if (rc == RC_OK)
        rc = publishing_takeover(p, true, err);
    if (rc == RC_OK)
        rc = find(p, err);
    if (rc != RC_OK || r->state == PUBLISH_RESUMABLE_IS_PUBLISHED)
        return rc;
    return err_set(
        err, RC_REJECT, ERR_FAILED, p->run,
        "Next time keep a copy of what goes into the pipe (tee); --resume RUN COPY goes on "
        "with that",
        "The run was read from a pipe, which nobody can read again, and no other source "
        "is named: it is %s after %" PRId64 " tasks.",
        r->state == PUBLISH_RESUMABLE_IS_CANCELLED ? "cancelled" : "ended as aborted",
        r->state == PUBLISH_RESUMABLE_IS_ABORTED ? r->noted_seq : (int64_t)0);
}
