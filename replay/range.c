/* range: from the options of a replay to offsets. Begin with reading_range(). It asks the broker
 * for the ends of the log and the offset of a time, and changes nothing; reading.c then reads
 * from offsets only. The range does not move afterwards, while producers continue to write:
 * "latest" is the end at this moment. */
#include "replay/reading.h"
#include "replay/report.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "kafka/place.h"

#include <stdio.h>
#include <string.h>

/* For each question to the broker. */
#define KAFKA_MS 10000

struct log {
    struct kafka_admin *admin;
    int64_t low, high;
};

bool replay_place_parse(const char *text, struct replay_place *ret_place)
{
    static const enum replay_bound bounds[] = {[KAFKA_EARLIEST] = REPLAY_EARLIEST,
                                               [KAFKA_LATEST] = REPLAY_LATEST,
                                               [KAFKA_OFFSET] = REPLAY_OFFSET};
    enum kafka_place place;
    int64_t offset = 0;
    if (!kafka_place_parse(text, &place, &offset))
        return false;
    *ret_place = (struct replay_place){bounds[place], offset};
    return true;
}

static enum rc ask_log(const struct replay_options *options, struct log *log, struct err *err)
{
    enum rc rc = kafka_admin_open(options->kafka, &log->admin, err);
    return rc == RC_OK ? kafka_watermarks(log->admin, options->topic, options->partition, KAFKA_MS,
                                          &log->low, &log->high, err)
                       : rc;
}

static enum rc place_offset(const struct replay_options *options, const struct log *log,
                            const struct replay_place *place, int64_t *ret_offset, struct err *err)
{
    enum rc rc = RC_OK;
    switch (place->bound) {
    case REPLAY_EARLIEST:
        *ret_offset = log->low;
        break;
    case REPLAY_LATEST:
        *ret_offset = log->high;
        break;
    case REPLAY_OFFSET:
        *ret_offset = place->value;
        break;
    case REPLAY_TIME:
        rc = kafka_offset_at(log->admin, options->topic, options->partition, place->value, KAFKA_MS,
                             ret_offset, err);
        if (rc == RC_NONE) { /* nothing is that young */
            *ret_offset = log->high;
            rc = RC_OK;
        }
        break;
    }
    return rc;
}

/* A message that names no run belongs to the implicit run of its offset. For an implicit run that
 * was read before the topic was accepted, the offsets lead to messages of another one. */
static enum rc learn_implicit(struct reading *reading, const struct db_result *row, struct err *err)
{
    reading->implicit = db_bool(row, 0, REPLAY_RUN_IMPLICIT);
    if (!reading->implicit || db_bool(row, 0, REPLAY_RUN_CURRENT))
        return RC_OK;
    return err_set(err, RC_REJECT, ERR_USAGE, reading->options->queue,
                   "If the topic has its messages, name their offsets: --from-offset, --to-offset.",
                   "run %s has only messages that name no run, and was read before the topic was "
                   "accepted as it is now",
                   reading->run);
}

/* A run lies where its row says; a run without a row is searched in the whole topic. A run's row
 * may be lost with its database; replays exist for that case, too. */
static enum rc place_run(struct reading *reading, const struct log *log, struct err *err)
{
    const struct replay_options *options = reading->options;
    DB_RESULT_AUTO *row = NULL;
    /* In lower case, because it is compared with the ids of messages as text. */
    (void)snprintf(reading->run, sizeof reading->run, "%s", options->run);
    for (char *c = reading->run; *c != '\0'; c++)
        *c = ascii_lower(*c);
    enum rc rc = db_run(options->db, &sql_replay_run,
                        (const char *const[]){DB_INT(options->queue_id), options->run}, &row, err);
    /* The whole log, if nothing is known of the run. */
    reading->from = log->low;
    reading->to = log->high;
    if (rc == RC_NONE)
        return RC_OK;
    if (rc != RC_OK)
        return rc;
    reading->known = true;
    rc = learn_implicit(reading, row, err);
    reading->from = db_int(row, 0, REPLAY_RUN_FIRST_OFFSET);
    /* the record that ends an implicit run belongs to the next one */
    if (!db_null(row, 0, REPLAY_RUN_END_OFFSET))
        reading->to = db_int(row, 0, REPLAY_RUN_END_OFFSET) + !reading->implicit;
    return rc;
}

static enum rc check(const struct reading *reading, const struct log *log, struct err *err)
{
    const char *queue = reading->options->queue;
    /* high itself is allowed, as the first offset that is not replayed. */
    if (reading->to > log->high)
        return err_set(err, RC_REJECT, ERR_USAGE, queue,
                       "Give the first offset that is not replayed as the end, or \"latest\".",
                       "offset %lld is outside the log, which goes from %lld to %lld",
                       (long long)reading->to, (long long)log->low, (long long)log->high);
    if (reading->from > reading->to)
        return err_set(err, RC_REJECT, ERR_USAGE, queue, NULL,
                       "the range is empty: it begins at offset %lld and ends at %lld",
                       (long long)reading->from, (long long)reading->to);
    return RC_OK;
}

void reading_choose(struct reading *reading, int64_t to, const char *run, int64_t order)
{
    reading->to = to;
    (void)snprintf(reading->run, sizeof reading->run, "%s", run);
    reading->order = order;
}

/** The choice of a continued replay is in its row, but whether its run is implicit is in the row of
 * the run. */
enum rc reading_recall(struct reading *reading, struct err *err)
{
    const struct replay_options *options = reading->options;
    DB_RESULT_AUTO *row = NULL;
    if (reading->run[0] == '\0' || options->resume == 0)
        return RC_OK;
    enum rc rc = db_run(options->db, &sql_replay_run,
                        (const char *const[]){DB_INT(options->queue_id), reading->run}, &row, err);
    /* Of an earlier topic or not: its next step finds that out, and says how it is given up. */
    reading->implicit = rc == RC_OK && db_bool(row, 0, REPLAY_RUN_IMPLICIT);
    return rc == RC_NONE ? RC_OK : rc;
}

enum rc reading_range(struct reading *reading, struct replay_report *report, struct err *err)
{
    const struct replay_options *options = reading->options;
    struct log log = {0};
    reading->order = options->order;
    enum rc rc = ask_log(options, &log, err);
    if (rc == RC_OK && options->run[0] != '\0')
        rc = place_run(reading, &log, err);
    else if (rc == RC_OK) {
        rc = place_offset(options, &log, &options->from, &reading->from, err);
        if (rc == RC_OK)
            rc = place_offset(options, &log, &options->to, &reading->to, err);
    }
    kafka_admin_close(log.admin);
    if (rc == RC_OK)
        rc = check(reading, &log, err);
    if (rc != RC_OK)
        return rc;
    reading->first = reading->from;
    reading->low = log.low;
    if (reading->from < log.low)
        reading->from = reading->to < log.low ? reading->to : log.low;
    reading->latest = reading->to == log.high && options->to.bound != REPLAY_OFFSET;
    report->from = reading->from;
    report->to = reading->to;
    return RC_OK;
}

/* No error: the rest can be replayed. Retention may also pass the cursor of a replay that was
 * interrupted; one that continues by its number has not asked where the topic begins. */
enum rc reading_pass_deleted(struct reading *reading, int64_t *from, struct replay_report *report,
                             struct err *err)
{
    if (*from < reading->to && reading->options->resume > 0) {
        struct log log = {0};
        enum rc rc = ask_log(reading->options, &log, err);
        kafka_admin_close(log.admin);
        if (rc != RC_OK)
            return rc;
        reading->low = log.low;
    }
    int64_t upto = reading->to < reading->low ? reading->to : reading->low;
    if (*from >= upto)
        return RC_OK;
    struct replay_line deleted = {
        .action = REPLAY_LOOK_IS_SKIP, .why = REPLAY_LOOK_IS_DELETED, .records = upto - *from};
    utf8_copy(deleted.run, sizeof deleted.run, reading->run);
    report_add(report, &deleted);
    *from = report->from = upto;
    return RC_OK;
}
