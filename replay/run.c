/* run: the story of a replay: range -> read a segment -> look, or step.
 *
 * Begin with run(): begin, then step for each segment, then finish. A step is one transaction
 * (lockstep.replay_step): it inserts or reopens the rows and moves the cursor of the replay
 * together, so an interrupted replay continues behind its last step and does nothing twice
 * (tests/e2e/replay_interrupted.sh). replay_preview() walks the same way and writes nothing.
 * Executors run the tasks; range.c finds the offsets, reading.c the segments, report.c the
 * counts. */
#include "replay/reading.h"
#include "replay/report.h"

#include "base/clock.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "base/utf8.h"
#include "db/notification.h"
#include "db/sqlstate.h"
#include "task/uuid.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOCK_MS   5000 /* the server may take a moment to notice that its last holder is gone */
#define AGAIN_MS  20
#define ROOM_MS   500               /* a notification comes before */
#define REPORT_US (5 * 1000 * 1000) /* a wait that lasts longer is reported */

static bool cancelled(const struct replay_options *options)
{
    return options->cancelled != NULL && options->cancelled(options->context);
}

static void sleep_ms(int ms)
{
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L},
                    NULL);
}

/** Whether the range has had a record of this run before, from the beginning of the run on: the
 * meaning of a gap before this segment depends on it (replay_judge.sql, p_seen). NULL: no record of
 * it was met, by this session. */
static const char *seen(struct reading *reading)
{
    const struct met *met = reading_met(reading);
    return met == NULL ? NULL : met->cut ? "false" : "true";
}

/* count() reads the rows of both statements by the names of one, so these must agree. */
_Static_assert((int)REPLAY_LOOK_ACTION == (int)REPLAY_STEP_ACTION &&
                   (int)REPLAY_LOOK_WHY == (int)REPLAY_STEP_WHY &&
                   (int)REPLAY_LOOK_RECORDS == (int)REPLAY_STEP_RECORDS &&
                   (int)REPLAY_LOOK_RUN_ID == (int)REPLAY_STEP_RUN_ID,
               "look and step say the same of a segment");
_Static_assert((int)REPLAY_LOOK_IS_MAKE == (int)REPLAY_STEP_IS_MAKE &&
                   (int)REPLAY_LOOK_IS_REOPEN == (int)REPLAY_STEP_IS_REOPEN &&
                   (int)REPLAY_LOOK_IS_SKIP == (int)REPLAY_STEP_IS_SKIP &&
                   (int)REPLAY_LOOK_IS_MISSING == (int)REPLAY_STEP_IS_MISSING &&
                   (int)REPLAY_LOOK_IS_DELETED == (int)REPLAY_STEP_IS_DELETED,
               "and in the same words");
/* Counts the answer of look or step about the segment, and remembers its run. */
static void count(struct reading *reading, struct replay_report *report,
                  const struct db_result *rows)
{
    const struct decoded *head = &reading->segment[0];
    bool tasks = reading_kind(reading) == SEGMENT_TASK;
    bool cut = false;
    for (int i = 0; i < db_rows(rows); i++) {
        const char *run = db_text(rows, i, REPLAY_LOOK_RUN_ID);
        struct replay_line line = {
            .order = tasks ? head->msg->order : 0,
            .action = (enum replay_look_action)db_word(rows, i, REPLAY_LOOK_ACTION),
            .why = (enum replay_look_why)db_word(rows, i, REPLAY_LOOK_WHY),
            .records = db_int(rows, i, REPLAY_LOOK_RECORDS)};
        /* The run of tasks may be an implicit one, which only the database knows by its id. */
        utf8_copy(line.run, sizeof line.run, *run && tasks ? run : head->run);
        cut = cut || line.why == REPLAY_LOOK_IS_NO_BEGINNING;
        /* The end of a run is not a message that a person would replay, and is not counted. */
        if (reading_kind(reading) != SEGMENT_END)
            report_add(report, &line);
    }
    reading_meet(reading, cut);
}

static enum rc look(struct reading *reading, struct str arrays[ARRAYS],
                    struct replay_report *report, struct err *err)
{
    const struct replay_options *options = reading->options;
    const struct decoded *head = &reading->segment[0];
    DB_RESULT_AUTO *rows = NULL;
    reading_arrays(reading, arrays);
    const char *const params[] = {[REPLAY_LOOK_P_QUEUE_ID] = DB_INT(options->queue_id),
                                  [REPLAY_LOOK_P_MODE] = options->mode,
                                  [REPLAY_LOOK_P_KIND] = reading_kind_name(reading),
                                  [REPLAY_LOOK_P_RUN] = head->run[0] ? head->run : NULL,
                                  [REPLAY_LOOK_P_ORDER] =
                                      head->msg ? DB_INT(head->msg->order) : NULL,
                                  [REPLAY_LOOK_P_OFFSETS] = arrays[OFFSETS].data,
                                  [REPLAY_LOOK_P_SEQS] = arrays[SEQS].data,
                                  [REPLAY_LOOK_P_PAYLOADS] = arrays[PAYLOADS].data,
                                  [REPLAY_LOOK_P_SEEN] = seen(reading)};
    enum rc rc = db_run(options->db, &sql_replay_look, params, &rows, err);
    if (rc == RC_OK)
        count(reading, report, rows);
    return rc;
}

static void arrays_done(struct str arrays[ARRAYS])
{
    for (int i = 0; i < ARRAYS; i++)
        str_done(&arrays[i]);
}

/* A run without a row may still be in the topic. The range has been read to its end, so a run of
 * which nothing was found does not exist. */
static enum rc check_run(const struct reading *reading, const struct replay_report *report,
                         struct err *err)
{
    const struct replay_options *options = reading->options;
    if (options->run[0] == '\0' || reading->known || report->count > 0)
        return RC_OK;
    (void)err_set(err, RC_REJECT, ERR_USAGE, options->queue, REMEDY_RUN_LIST,
                  "there is no run %s in this queue, and no message of it in the topic",
                  options->run);
    err_code(err, sqlstate_text(SQLSTATE_NO_SUCH_THING));
    return RC_REJECT;
}

enum rc replay_preview(const struct replay_options *options, struct replay_report *ret_report,
                       struct err *err)
{
    struct reading reading = {.options = options};
    struct str arrays[ARRAYS] = {0};
    enum rc rc = reading_range(&reading, ret_report, err);
    int64_t from = reading.first;
    if (rc == RC_OK)
        rc = reading_pass_deleted(&reading, &from, ret_report, err);
    if (rc == RC_OK && from < reading.to) {
        rc = reading_start(&reading, from, err);
        while (rc == RC_OK && (rc = reading_next(&reading, err)) == RC_OK)
            rc = look(&reading, arrays, ret_report, err);
        rc = rc == RC_NONE ? RC_OK : rc;
        ret_report->readable = reading.end;
    } else {
        ret_report->readable = ret_report->to;
    }
    if (rc == RC_OK)
        rc = check_run(&reading, ret_report, err);
    arrays_done(arrays);
    reading_done(&reading);
    return rc;
}

/** The lock is tried again and again from here, because a lock call that waits in the server would
 * hold back vacuum. */
static enum rc lock(const struct replay_options *options, struct err *err)
{
    int64_t until_us = clock_boot_us() + LOCK_MS * 1000;
    for (;;) {
        DB_RESULT_AUTO *row = NULL;
        enum rc rc = db_run(options->db, &sql_replay_lock,
                            (const char *const[]){DB_INT(options->queue_id)}, &row, err);
        if (rc != RC_OK || db_bool(row, 0, REPLAY_LOCK_GRANTED))
            return rc;
        if (clock_boot_us() >= until_us)
            return err_set(err, RC_RETRY, ERR_HELD, options->queue, REMEDY_LOCK_LIST,
                           "another session is replaying this queue");
        sleep_ms(AGAIN_MS);
    }
}

static enum rc halted(const struct replay_options *options, struct err *err)
{
    char hint[300];
    (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_EXPLAIN, options->queue);
    return err_set(err, RC_REJECT, ERR_FAILED, options->queue, hint,
                   "the queue is halted: its topic may not be what the rows came from");
}

static enum rc refuse(const struct replay_options *options, const struct db_result *row,
                      struct err *err)
{
    int verdict = db_word(row, 0, REPLAY_BEGIN_VERDICT);
    if (verdict == REPLAY_BEGIN_IS_HALTED)
        return halted(options, err);
    if (verdict == REPLAY_BEGIN_IS_OTHER) {
        char hint[300];
        (void)snprintf(hint, sizeof hint, REMEDY_REPLAY_OTHER, options->queue,
                       db_text(row, 0, REPLAY_BEGIN_REPLAY_ID), options->queue,
                       db_text(row, 0, REPLAY_BEGIN_REPLAY_ID));
        return err_set(err, RC_RETRY, ERR_HELD, options->queue, hint,
                       "replay %s of this queue is not finished",
                       db_text(row, 0, REPLAY_BEGIN_REPLAY_ID));
    }
    return err_set(err, RC_REJECT, ERR_USAGE, options->queue, REMEDY_REPLAY_LOG, "replay %d %s",
                   options->resume,
                   verdict == REPLAY_BEGIN_IS_ENDED ? "has ended" : "is none of this queue");
}

/* The row of the replay: a new one, or the one that is under way. From where it continues. A replay
 * that is continued has its range, mode and choice from its row; those of the options count for a
 * new one only. */
static enum rc begin(struct reading *reading, struct replay_report *report, char ret_mode[16],
                     int64_t *ret_cursor, struct err *err)
{
    const struct replay_options *options = reading->options;
    DB_RESULT_AUTO *row = NULL;
    bool resume = options->resume > 0;
    const char *const params[] = {
        [REPLAY_BEGIN_P_QUEUE_ID] = DB_INT(options->queue_id),
        [REPLAY_BEGIN_P_RESUME] = resume ? DB_INT(options->resume) : NULL,
        [REPLAY_BEGIN_P_MODE] = options->mode,
        [REPLAY_BEGIN_P_FROM_OFFSET] = DB_INT(reading->from),
        [REPLAY_BEGIN_P_TO_OFFSET] = DB_INT(reading->to),
        [REPLAY_BEGIN_P_RUN] = options->run[0] ? options->run : NULL,
        [REPLAY_BEGIN_P_ORDER] = options->order >= 0 ? DB_INT(options->order) : NULL,
        [REPLAY_BEGIN_P_REASON] = options->reason,
        [REPLAY_BEGIN_P_EARLIEST] = reading->from <= reading->low ? "true" : "false",
        [REPLAY_BEGIN_P_LATEST] = reading->latest ? "true" : "false"};
    enum rc rc = db_run(options->db, &sql_replay_begin, params, &row, err);
    if (rc != RC_OK)
        return rc;
    int verdict = db_word(row, 0, REPLAY_BEGIN_VERDICT);
    report->resumed = verdict == REPLAY_BEGIN_IS_RESUMED;
    if (!report->resumed && verdict != REPLAY_BEGIN_IS_BEGUN)
        return refuse(options, row, err);
    report->replay_id = (int)db_int(row, 0, REPLAY_BEGIN_REPLAY_ID);
    report->from = db_int(row, 0, REPLAY_BEGIN_CURSOR);
    *ret_cursor = report->resumed ? report->from : reading->first;
    report->wanted = report->to;
    report->to = db_int(row, 0, REPLAY_BEGIN_TO_OFFSET);
    (void)snprintf(ret_mode, 16, "%s", db_text(row, 0, REPLAY_BEGIN_MODE));
    reading_choose(reading, report->to, db_text(row, 0, REPLAY_BEGIN_RUN_ID),
                   db_null(row, 0, REPLAY_BEGIN_ORDER) ? -1 : db_int(row, 0, REPLAY_BEGIN_ORDER));
    return RC_OK;
}

/** The parameters of a claim, once more from the record: replay_step makes the same rows of it. A
 * reject has its bytes instead of a message, and an implicit run the id that follows from its first
 * offset (task/uuid.c). */
static enum rc send_step(struct reading *reading, struct str arrays[ARRAYS], int replay_id,
                         struct db_result **ret_rows, struct err *err)
{
    const struct replay_options *options = reading->options;
    const struct decoded *head = &reading->segment[0];
    const struct message *msg = head->msg;
    bool end = msg != NULL && msg->type == MESSAGE_END;
    char implicit[37] = "";
    STR_AUTO raw = {0};
    if (msg != NULL && head->run[0] == '\0')
        uuid_implicit_run(implicit, options->queue, head->record.offset);
    if (msg == NULL && head->record.value != NULL)
        db_bytea(&raw, head->record.value, head->record.value_len);
    const char *const params[] = {
        [REPLAY_STEP_P_REPLAY_ID] = DB_INT(replay_id),
        [REPLAY_STEP_P_KIND] = reading_kind_name(reading),
        [REPLAY_STEP_P_RUN] = head->run[0] ? head->run : NULL,
        [REPLAY_STEP_P_IMPLICIT] = implicit[0] ? implicit : NULL,
        [REPLAY_STEP_P_ORDER] = msg ? DB_INT(msg->order) : NULL,
        [REPLAY_STEP_P_PREVIOUS] = msg ? DB_INT(msg->previous_order) : NULL,
        [REPLAY_STEP_P_OFFSETS] = arrays[OFFSETS].data,
        [REPLAY_STEP_P_SEQS] = arrays[SEQS].data,
        [REPLAY_STEP_P_PAYLOADS] = arrays[PAYLOADS].data,
        [REPLAY_STEP_P_NAMES] = arrays[NAMES].data,
        [REPLAY_STEP_P_MAX_ATTEMPTS] = arrays[ATTEMPTS].data,
        [REPLAY_STEP_P_TRACEPARENTS] = arrays[TRACES].data,
        [REPLAY_STEP_P_REASON] = msg ? NULL : head->why.code,
        [REPLAY_STEP_P_DETAIL] = msg ? NULL : head->why.message,
        [REPLAY_STEP_P_RAW] = raw.data,
        [REPLAY_STEP_P_KEYS] = arrays[KEYS].data,
        [REPLAY_STEP_P_HEADER_OFFSETS] = arrays[HEADER_OFFSETS].data,
        [REPLAY_STEP_P_HEADER_NAMES] = arrays[HEADER_NAMES].data,
        [REPLAY_STEP_P_HEADER_VALUES] = arrays[HEADER_VALUES].data,
        [REPLAY_STEP_P_END_TASKS] = end && msg->end_tasks >= 0 ? DB_INT(msg->end_tasks) : NULL,
        [REPLAY_STEP_P_END_PHASES] = end && msg->end_phases >= 0 ? DB_INT(msg->end_phases) : NULL,
        [REPLAY_STEP_P_ABORTED] = end && msg->aborted ? "true" : "false",
        [REPLAY_STEP_P_SEEN] = seen(reading)};
    return db_run(options->db, &sql_replay_step, params, ret_rows, err);
}

/* Enough phases wait to be opened, and executors make room. Waits for a notification of an opening,
 * or ROOM_MS, in case it was lost with a session. */
static enum rc wait_for_room(struct reading *reading, int64_t *since_us, struct err *err)
{
    const struct replay_options *options = reading->options;
    /* The payload is not read: the step that follows asks the database. */
    const char *channel, *payload;
    struct pollfd news = {.fd = db_socket(options->db), .events = POLLIN};
    int64_t now_us = clock_boot_us();
    (void)poll(&news, 1, ROOM_MS);
    enum rc rc;
    while ((rc = db_notification(options->db, &channel, &payload, err)) == RC_OK)
        ;
    if (rc != RC_NONE)
        return rc;
    if (*since_us == 0)
        *since_us = now_us;
    if (now_us - *since_us < REPORT_US || options->waiting == NULL)
        return RC_OK;
    /* Counted again: the wait is reported every five seconds. */
    *since_us = now_us;
    DB_RESULT_AUTO *row = NULL;
    rc = db_run(options->db, &sql_replay_waits, (const char *const[]){DB_INT(options->queue_id)},
                &row, err);
    if (rc == RC_OK)
        options->waiting(options->context, db_bool(row, 0, REPLAY_WAITS_PAUSED) ? REPLAY_WAIT_PAUSED
                                           : db_int(row, 0, REPLAY_WAITS_EXECUTORS) > 0
                                               ? REPLAY_WAIT_WORK
                                               : REPLAY_WAIT_NO_EXECUTOR);
    return rc;
}

/** A later phase runs now, and the promise of ordered phases holds for a replay, too. */
static enum rc blocked(const struct reading *reading, const struct db_result *rows, struct err *err)
{
    return err_set(err, RC_RETRY, ERR_HELD, reading->options->queue, NULL,
                   "order %lld of run %s cannot be run again now: its later order %s is at work; "
                   "wait for its end, or pause the queue",
                   (long long)reading->segment[0].msg->order, db_text(rows, 0, REPLAY_STEP_RUN_ID),
                   db_text(rows, 0, REPLAY_STEP_ORDER));
}

/* The same segment is sent until the database has taken or refused it. `busy` means that a gate
 * works on the phase for a moment, `lookahead` that executors must make room first. An undone
 * transaction has moved no cursor. */
static enum rc step(struct reading *reading, struct str arrays[ARRAYS],
                    struct replay_report *report, struct err *err)
{
    const struct replay_options *options = reading->options;
    int64_t since_us = 0;
    reading_arrays(reading, arrays);
    for (;;) {
        DB_RESULT_AUTO *rows = NULL;
        if (cancelled(options))
            return err_set(err, RC_RETRY, ERR_CANCELLED, options->queue, NULL, "cancelled");
        enum rc rc = send_step(reading, arrays, report->replay_id, &rows, err);
        /* Another failure may last: a row that is held, a full disk. A person then continues the
         * replay by its number. */
        if (rc == RC_RETRY && sqlstate_undone(err)) {
            sleep_ms(AGAIN_MS);
            continue;
        }
        if (rc != RC_OK)
            return rc;
        int action = db_rows(rows) > 0 ? db_word(rows, 0, REPLAY_STEP_ACTION) : -1;
        if (action == REPLAY_STEP_IS_REFUSED)
            return db_word(rows, 0, REPLAY_STEP_WHY) == REPLAY_STEP_IS_HALTED
                       ? halted(options, err)
                       : blocked(reading, rows, err);
        if (action != REPLAY_STEP_IS_WAIT) {
            count(reading, report, rows);
            probe("replay.step");
            return RC_OK;
        }
        if (db_word(rows, 0, REPLAY_STEP_WHY) == REPLAY_STEP_IS_BUSY)
            sleep_ms(AGAIN_MS);
        else if ((rc = wait_for_room(reading, &since_us, err)) != RC_OK)
            return rc;
    }
}

/** Ends the row of the replay. Runs on which it acted and whose end is neither in its range nor
 * still to be claimed are named, because a person may have to replay their rest. */
static enum rc finish(const struct replay_options *options, const char *state,
                      struct replay_report *report, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(options->db, &sql_replay_end,
                        (const char *const[]){DB_INT(report->replay_id), state}, &row, err);
    if (rc == RC_OK && *db_text(row, 0, REPLAY_END_OPEN_RUNS) != '\0')
        report->open_runs = xstrdup(db_text(row, 0, REPLAY_END_OPEN_RUNS));
    return rc;
}

/* Before the first step: an opening between a refusal for the lookahead and a LISTEN behind it
 * would not wake the replay. */
static enum rc listen(const struct replay_options *options, struct err *err)
{
    STR_AUTO text = {0};
    str_format(&text, "LISTEN lockstep_%d", options->queue_id);
    return db_script(options->db, text.data, NULL, err);
}

/* A session may outlive the replay; one that is lost holds nothing any more. */
static void unlock(const struct replay_options *options)
{
    STR_AUTO text = {0};
    struct err ignored;
    str_format(&text, "UNLISTEN lockstep_%d", options->queue_id);
    if (db_script(options->db, text.data, NULL, &ignored) != RC_LOST)
        (void)!db_run(options->db, &sql_replay_unlock,
                      (const char *const[]){DB_INT(options->queue_id)}, NULL, &ignored);
}

/** Only a range is done that was read to its end, or as far as executors had claimed it. */
static enum rc read_whole(const struct reading *reading, struct err *err)
{
    if (reading->end >= reading->to || reading->live)
        return RC_OK;
    return err_set(err, RC_RETRY, ERR_HELD, reading->options->queue,
                   "Wait for the end of the open transaction of a producer, which hides them.",
                   "the records from offset %lld to %lld cannot be read now",
                   (long long)reading->end, (long long)reading->to);
}

/* With the lock. */
static enum rc run(const struct replay_options *given, struct reading *read,
                   struct replay_report *ret_report, struct err *err)
{
    struct replay_options options = *given;
    struct reading reading = *read;
    struct str arrays[ARRAYS] = {0};
    char mode[16] = "";
    int64_t cursor = 0;
    reading.options = &options;
    reading.patient = true;
    enum rc rc = listen(&options, err);
    if (rc == RC_OK)
        rc = begin(&reading, ret_report, mode, &cursor, err);
    /* A copy of the options: a replay that is continued has the mode of its row. */
    options.mode = mode;
    if (rc == RC_OK)
        rc = reading_recall(&reading, err);
    if (rc == RC_OK)
        rc = reading_pass_deleted(&reading, &cursor, ret_report, err);
    ret_report->readable = reading.to;
    /* At the end of the range already: the replay was interrupted between its last step and
     * finish(). */
    if (rc == RC_OK && cursor < reading.to) {
        rc = reading_start(&reading, cursor, err);
        while (rc == RC_OK && (rc = reading_next(&reading, err)) == RC_OK)
            rc = step(&reading, arrays, ret_report, err);
        ret_report->readable = reading.end;
        rc = rc == RC_NONE ? read_whole(&reading, err) : rc;
    }
    if (rc == RC_OK)
        rc = finish(&options, "Completed", ret_report, err);
    arrays_done(arrays);
    reading_done(&reading);
    return rc;
}

/* The lock of replays comes behind the search for the range, which reads Kafka for seconds; begin()
 * checks under the lock whether another replay is under way. A replay by its number needs no range:
 * its row has it. */
enum rc replay_run(const struct replay_options *options, struct replay_report *ret_report,
                   struct err *err)
{
    struct reading reading = {.options = options};
    enum rc rc = options->resume > 0 ? RC_OK : reading_range(&reading, ret_report, err);
    if (rc == RC_OK)
        rc = lock(options, err);
    if (rc != RC_OK) {
        reading_done(&reading);
        return rc;
    }
    rc = run(options, &reading, ret_report, err);
    unlock(options);
    return rc;
}

/** Under the lock, so that no step of the replay is under way. Its finished steps stay. */
enum rc replay_abandon(const struct replay_options *options, struct replay_report *ret_report,
                       struct err *err)
{
    struct reading reading = {.options = options};
    char mode[16];
    int64_t cursor;
    enum rc rc = lock(options, err);
    if (rc != RC_OK)
        return rc;
    rc = begin(&reading, ret_report, mode, &cursor, err);
    if (rc == RC_OK)
        rc = finish(options, "Abandoned", ret_report, err);
    unlock(options);
    return rc;
}
