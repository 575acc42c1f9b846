/* The run's row, from its first note to its end. run_start() is flushed before the first record is
 * sent, so that a record on the topic always has a row that names its publisher. The notes in
 * between only shorten the part of the topic that a successor must read again. rows.c writes the
 * end. */
#include "producer/run.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "producer/records.h"
#include "task/message.h"
#include "task/uuid.h"

#include <stdio.h>

/* About as many records as are sent in NOTE_EVERY_US are read again after a crash. A note that
 * could not be written may have waited for lock_timeout, so the next one is not tried at once. */
#define NOTE_EVERY_US 1000000
#define NOTE_AGAIN_US 30000000

struct run run_of(const struct publish_options *options)
{
    struct run run = {.name = options->name};
    const char *given = options->resume != NULL ? options->resume : options->run;
    if (given == NULL)
        uuid_new(run.id);
    else
        /* The topic has the id as text, and tail.c compares texts: a resume with an id in capital
         * letters must find the records. PostgreSQL prints a uuid in lower case, too. */
        for (int i = 0; i < 37; i++)
            run.id[i] = ascii_lower(given[i]);
    return run;
}

void run_recall(struct run *run, const char *name, const char *on_failure)
{
    if (name != NULL)
        run->name = name;
    (void)snprintf(run->on_failure, sizeof run->on_failure, "%s", on_failure);
}

void run_found(struct run *run)
{
    run->state = RUN_FOUND;
}

void run_taken(struct run *run)
{
    run->state = RUN_STARTED;
    run->note_due_us = clock_boot_us() + NOTE_EVERY_US;
}

static enum rc exists(const struct run *run, const struct target *target, struct err *err)
{
    char hint[200];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_THERE, run->id);
    return err_set(err, RC_REJECT, ERR_USAGE, run->id, hint,
                   "a run with this id exists in queue %s already", target->queue);
}

enum rc run_check_new(const struct run *run, const struct session *session,
                      const struct target *target, struct err *err)
{
    const char *const params[] = {DB_INT(target->queue_id), run->id};
    enum rc rc = db_run(session->db, &sql_publish_exists, params, NULL, err);
    return rc == RC_NONE ? RC_OK : rc == RC_OK ? exists(run, target, err) : rc;
}

/* RC_NONE of the statement: the row is there already. run_check_new() has asked before the lock,
 * for a quick answer; another publisher may have inserted the id since, so this statement decides.
 * before_offset is the first note: a successor that finds no later one reads from there. */
enum rc run_start(struct run *run, const struct session *session, const struct target *target,
                  const struct origin *origin, int64_t end_offset, struct err *err)
{
    char path[4096];
    const char *source, *from = origin_describe(origin, path, &source);
    bool repeatable = origin->digest[0] != '\0';
    const char *const params[] = {[PUBLISH_START_P_QUEUE_ID] = DB_INT(target->queue_id),
                                  [PUBLISH_START_P_RUN] = run->id,
                                  [PUBLISH_START_P_NAME] = run->name,
                                  [PUBLISH_START_P_ON_FAILURE] = run->on_failure,
                                  [PUBLISH_START_P_MODE] = origin->stream ? "stream" : "finite",
                                  [PUBLISH_START_P_FROM] = from,
                                  [PUBLISH_START_P_SOURCE] = source,
                                  [PUBLISH_START_P_FORMAT] = staged_format_name(origin->staged),
                                  [PUBLISH_START_P_DIGEST] = repeatable ? origin->digest : NULL,
                                  [PUBLISH_START_P_BYTES] =
                                      repeatable ? DB_INT(origin->digest_bytes) : NULL,
                                  [PUBLISH_START_P_BEFORE_OFFSET] = DB_INT(end_offset - 1)};
    /* A digest is noted only for a source that can be read again: a resume must find the same
     * bytes. */
    probe("publish.starting");
    enum rc rc = db_run(session->db, &sql_publish_start, params, NULL, err);
    if (rc == RC_NONE)
        return exists(run, target, err);
    if (rc != RC_OK)
        return rc;
    probe("publish.started");
    run_taken(run);
    return RC_OK;
}

void run_ending(struct run *run)
{
    run->state = RUN_ENDING;
}

void run_ended(struct run *run)
{
    run->state = RUN_ENDED;
}

bool run_is_started(const struct run *run)
{
    return run->state >= RUN_STARTED;
}

void run_count(struct run *run, int64_t tasks, int64_t phases)
{
    run->tasks = tasks;
    run->phases = phases;
}

static enum rc note(const struct run *run, const struct session *session,
                    const struct target *target, const struct records *records, struct err *err)
{
    char chain[33];
    chain_format(&records->committed.chain, chain);
    /* The row has the last seq, the position the next one. */
    const char *const params[] = {DB_INT(target->queue_id), run->id,
                                  DB_INT(records->committed.seq - 1),
                                  DB_INT(records->settled_offset), chain};
    probe("publish.noting");
    enum rc rc = db_run(session->db, &sql_publish_note, params, NULL, err);
    probe("publish.noted");
    return rc;
}

/* Before anything is committed there is nothing to note, but the lock is checked all the same: a
 * publisher that reads a slow source for an hour must learn that its session is gone. A server that
 * is well and cannot write the note, because another session holds the row or the disk is full, is
 * no reason to end a run. */
enum rc run_tick(struct run *run, const struct session *session, const struct target *target,
                 const struct records *records, int64_t now_us, struct err *err)
{
    if (!session->locked || now_us < run->note_due_us)
        return RC_OK;
    run->note_due_us = now_us + NOTE_EVERY_US;
    if (!run_is_started(run) || records->committed.seq == 0 || now_us < run->note_again_us)
        return session_check(session, err);
    enum rc rc = note(run, session, target, records, err);
    if (rc != RC_RETRY || err->kind != ERR_DB) {
        run->note_again_us = 0;
        return rc;
    }
    if (run->note_again_us == 0)
        log_err(LOG_WARN, "publish_note_failed", target->queue, err);
    run->note_again_us = clock_boot_us() + NOTE_AGAIN_US;
    return session_check(session, err);
}

int64_t run_due_us(const struct run *run)
{
    return run->note_due_us;
}
