/* rejected redrive: rejected messages, corrected or as they are, become staged work, which is
 * published like any other: read --file, select the messages, write a temporary file, note in the
 * database which run has which messages, publish, settle the note. Run, seq and previous_order are
 * new; each message keeps its order.
 *
 * The order matters in three places. All lines are checked before the first is sent: a run is
 * published whole or not at all. The note is committed before the first message: if the command
 * dies, the next redrive of the same messages is refused until it is known whether the run is on
 * the topic. settle deletes a note only if it is certain that nothing came onto the topic. */
#include "base/number.h"
#include "cli/commands.h"
#include "cli/find.h"
#include "cli/publish.h"
#include "cli/width.h"
#include "control/redrive.h"

#include "base/log.h"
#include "base/probe.h"
#include "base/remedies.h"
#include "task/json.h"
#include "task/message_text.h"
#include "task/uuid.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_REPORTED 100

/* One line of --file. */
struct correction {
    int64_t id;
    int line;
    char *text; /* owned; without rejected_id */
};

struct redrive {
    struct cli *cli;
    struct correction *corrections; /* by id, when all are read */
    int correction_count;
    struct str
        ids;    /* array parameter: the ids that were asked for, then those that are published */
    FILE *work; /* staged work */
    int64_t queue_id;
    char queue[64], run[37];
    int64_t messages, faults, ends;
};

static enum rc usage(const char *object, const char *hint, const char *what, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_USAGE, object, hint, "%s", what);
}

/* ---- corrections */

/* The member rejected_id of a line, which is removed before the line is published. */
static enum rc find_id(const char *text, size_t len, int64_t *ret_id, struct err *err)
{
    struct json json;
    enum rc rc = json_parse(text, len, len, &json, err);
    if (rc != RC_OK)
        return rc;
    const cJSON *node = json.root->child;
    while (node != NULL && (node->string == NULL || strcmp(node->string, "rejected_id") != 0))
        node = node->next;
    size_t raw_len = 0;
    const char *raw = node != NULL ? json_raw(&json, node, &raw_len) : NULL;
    /* From the raw text: an id above 2^53 must not go through a double. */
    bool good = raw != NULL && int64_parse(raw, raw_len, ret_id) && *ret_id > 0;
    json_done(&json);
    return good ? RC_OK
                : usage("$.rejected_id", REMEDY_REJECTED_LIST,
                        "the line does not say which rejected message it corrects", err);
}

static enum rc add_correction(struct redrive *redrive, int number, const char *text, size_t len,
                              struct err *err)
{
    int64_t id;
    struct str rest = {0};
    enum rc rc = find_id(text, len, &id, err);
    if (rc == RC_OK)
        rc = message_without(&rest, text, len, (const char *const[]){"rejected_id", NULL}, err);
    if (rc != RC_OK) {
        str_done(&rest);
        return rc;
    }
    redrive->corrections = xrealloc(redrive->corrections, (size_t)redrive->correction_count + 1,
                                    sizeof *redrive->corrections);
    redrive->corrections[redrive->correction_count++] =
        (struct correction){.id = id, .line = number, .text = rest.data};
    return RC_OK;
}

static int by_id(const void *left, const void *right)
{
    const struct correction *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int by_id_and_line(const void *left, const void *right)
{
    const struct correction *a = left, *b = right;
    int ids = by_id(a, b);
    return ids != 0 ? ids : a->line - b->line;
}

/* By id, so two corrections of one message are neighbours. Returns the first one in the file whose
 * message an earlier line corrects, or NULL. */
static const struct correction *sort_corrections(struct redrive *redrive)
{
    const struct correction *twice = NULL;
    if (redrive->correction_count == 0)
        return NULL;
    qsort(redrive->corrections, (size_t)redrive->correction_count, sizeof *redrive->corrections,
          by_id_and_line);
    for (int i = 1; i < redrive->correction_count; i++) {
        const struct correction *one = &redrive->corrections[i];
        if (one->id == one[-1].id && (twice == NULL || one->line < twice->line))
            twice = one;
    }
    return twice;
}

/* FILE:LINE becomes the object, so that an editor jumps to the line. */
static enum rc fail_at(const char *path, int line, enum rc rc, const struct err *why,
                       struct err *err)
{
    char object[160];
    (void)snprintf(object, sizeof object, "%.140s:%d", path, line);
    const char *before = err_before(why->object, why->message);
    return err_set(err, rc, ERR_USAGE, object, why->hint, "%s%s%s", before, *before ? ": " : "",
                   why->message);
}

static enum rc read_corrections(struct redrive *redrive, struct err *err)
{
    const char *path = cli_text(redrive->cli, "file");
    if (path == NULL)
        return RC_OK;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, path, "", "it cannot be opened: %s",
                       strerror(errno));
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int number = 0;
    struct err why;
    enum rc rc = RC_OK;
    while (rc == RC_OK && (len = getline(&line, &size, file)) >= 0) {
        number++;
        if ((size_t)len != strspn(line, " \t\r\n"))
            rc = add_correction(redrive, number, line, (size_t)len, &why);
    }
    /* Half of the corrections would let the other messages go as they are. */
    if (rc == RC_OK && !feof(file))
        rc = err_set(err, RC_REJECT, ERR_USAGE, path, "", "it cannot be read: %s", strerror(errno));
    else if (rc != RC_OK)
        rc = fail_at(path, number, rc, &why, err);
    /* This error is the earlier one: a line that failed above is not among the corrections. */
    const struct correction *twice = sort_corrections(redrive);
    if (twice != NULL) {
        rc = usage("$.rejected_id", "", "the message is corrected by an earlier line, too", &why);
        rc = fail_at(path, twice->line, rc, &why, err);
    }
    free(line);
    (void)fclose(file);
    return rc;
}

/* NULL: the message is published as it is. */
static struct correction *correction_of(struct redrive *redrive, int64_t id)
{
    const struct correction key = {.id = id};
    if (redrive->correction_count == 0)
        return NULL;
    return bsearch(&key, redrive->corrections, (size_t)redrive->correction_count, sizeof key,
                   by_id);
}

/* ---- which messages */

static bool has_filter(const struct cli *cli)
{
    return cli_has(cli, "all") || cli_has(cli, "run") || cli_has(cli, "reason-is");
}

/* *ret_named: there are ids. */
static enum rc ask_ids(struct redrive *redrive, bool *ret_named, struct err *err)
{
    const struct cli *cli = redrive->cli;
    bool filters = has_filter(cli);
    *ret_named = cli->argument_count > 0 || (redrive->correction_count > 0 && !filters);
    if (cli->argument_count > 0 && filters)
        return usage("rejected redrive", "", "name ids, or --all, --run, --reason-is; not both",
                     err);
    if (!*ret_named && !filters)
        return usage("rejected redrive", REMEDY_REJECTED_LIST,
                     "which messages? Name ids, --all, --run, --reason-is, or a --file", err);
    if (!cli_has(cli, "dry-run") &&
        (cli_text(cli, "reason") == NULL || *cli_text(cli, "reason") == '\0'))
        return usage("rejected redrive", "it is kept in the event log",
                     "a reason is needed: --reason TEXT", err);
    db_array_start(&redrive->ids);
    for (int i = 0; i < cli->argument_count; i++) {
        int64_t id = 0;
        const char *text = cli->arguments[i];
        enum rc rc = number_parse("rejected redrive", "ID", text, NUMBER_ID, &id, err);
        if (rc != RC_OK)
            return rc;
        db_array_int(&redrive->ids, id);
    }
    for (int i = 0; i < redrive->correction_count; i++)
        db_array_int(&redrive->ids, redrive->corrections[i].id);
    db_array_end(&redrive->ids);
    return RC_OK;
}

/* Unknown names are refused here; check_found and check_rows refuse rows that are missing, of
 * several queues, or redriven before. */
static enum rc select_rows(struct redrive *redrive, struct db_result **ret_rows, struct err *err)
{
    struct cli *cli = redrive->cli;
    struct run_row run = {0};
    const char *queue;
    bool named = false;
    enum rc rc = find_queue_filter(cli, &queue, err);
    if (rc == RC_OK && cli_text(cli, "run") != NULL)
        rc = find_run(cli, cli_text(cli, "run"), &run, err);
    if (rc == RC_OK)
        rc = ask_ids(redrive, &named, err);
    if (rc != RC_OK)
        return rc;
    const char *const params[] = {
        named ? redrive->ids.data : NULL, queue, run.run_no > 0 ? DB_INT(run.run_no) : NULL,
        cli_text(cli, "reason-is"), cli_has(cli, "again") ? "true" : "false"};
    return db_run(cli->db, &sql_redrive_select, params, ret_rows, err);
}

/* ---- from a message to a line of staged work */

static void fault(struct redrive *redrive, const struct db_result *rows, int row, const char *what,
                  const char *hint)
{
    STR_AUTO text = {0};
    /* All faults are counted, a hundred are printed. */
    if (redrive->faults++ >= MOST_REPORTED)
        return;
    str_format(&text, "rejected message %s (offset %s, %s): %s%s%s\n",
               db_text(rows, row, REDRIVE_SELECT_REJECTED_ID),
               db_text(rows, row, REDRIVE_SELECT_KAFKA_OFFSET),
               db_text(rows, row, REDRIVE_SELECT_REASON), what, *hint ? "\n  hint: " : "", hint);
    width_print(stderr, text.data, true);
}

/* Writes the line of one message, or reports its fault. */
static void stage(struct redrive *redrive, const struct db_result *rows, int row)
{
    static const char correct[] = "give its corrected text with --file";
    struct correction *correction =
        correction_of(redrive, db_int(rows, row, REDRIVE_SELECT_REJECTED_ID));
    const char *order = cli_text(redrive->cli, "order");
    STR_AUTO raw = {0};
    STR_AUTO line = {0};
    struct err why;
    if (correction == NULL && db_null(rows, row, REDRIVE_SELECT_RAW)) {
        fault(redrive, rows, row, "it has no value, there is nothing to publish", correct);
        return;
    }
    if (correction != NULL)
        str_text(&raw, correction->text);
    else
        redrive_bytes(db_text(rows, row, REDRIVE_SELECT_RAW), &raw);
    if (correction == NULL && message_says_end(raw.data ? raw.data : "", raw.len)) {
        redrive->ends++;
        return;
    }
    enum rc rc = redrive_line(raw.data ? raw.data : "", raw.len, order, &line, &why);
    if (rc != RC_OK) {
        STR_AUTO what = {0};
        const char *before = err_before(why.object, why.message);
        str_format(&what, "%s%s%s", before, *before ? ": " : "", why.message);
        fault(redrive, rows, row, what.data, correction == NULL ? correct : why.hint);
        return;
    }
    str_text(&line, "\n");
    (void)fwrite(line.data, 1, line.len, redrive->work);
    db_array_int(&redrive->ids, db_int(rows, row, REDRIVE_SELECT_REJECTED_ID));
    redrive->messages++;
}

/* All of them are of one queue, and none was redriven before. */
static enum rc check_rows(struct redrive *redrive, const struct db_result *rows, struct err *err)
{
    for (int i = 0; i < db_rows(rows); i++) {
        if (strcmp(db_text(rows, i, REDRIVE_SELECT_NAME), db_text(rows, 0, REDRIVE_SELECT_NAME)) !=
            0)
            return err_set(err, RC_REJECT, ERR_USAGE, db_text(rows, i, REDRIVE_SELECT_REJECTED_ID),
                           "Narrow it with --queue.",
                           "the messages are of several queues, %s and %s; a run is of one",
                           db_text(rows, 0, REDRIVE_SELECT_NAME),
                           db_text(rows, i, REDRIVE_SELECT_NAME));
        if (!db_null(rows, i, REDRIVE_SELECT_REDRIVEN_AT) && !cli_has(redrive->cli, "again"))
            return err_set(err, RC_REJECT, ERR_USAGE, db_text(rows, i, REDRIVE_SELECT_REJECTED_ID),
                           "Add --again if that is meant.",
                           "this message was redriven at %s as run %s",
                           db_text(rows, i, REDRIVE_SELECT_REDRIVEN_AT),
                           db_text(rows, i, REDRIVE_SELECT_REDRIVE_RUN));
    }
    return RC_OK;
}

/* The rows come in the order of their ids. */
static bool has_row(const struct db_result *rows, int64_t id)
{
    int from = 0, to = db_rows(rows);
    while (from < to) {
        int middle = from + (to - from) / 2;
        int64_t found = db_int(rows, middle, REDRIVE_SELECT_REJECTED_ID);
        if (found == id)
            return true;
        if (found < id)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

/* A number that selects no row is an error: a typing error must not shorten the run silently. */
static enum rc check_found(const struct redrive *redrive, const struct db_result *rows,
                           struct err *err)
{
    const struct cli *cli = redrive->cli;
    for (int i = 0; i < cli->argument_count + redrive->correction_count; i++) {
        bool argument = i < cli->argument_count;
        int64_t id = argument ? 0 : redrive->corrections[i - cli->argument_count].id;
        if (argument)
            (void)int64_parse(cli->arguments[i], strlen(cli->arguments[i]), &id);
        if (!has_row(rows, id))
            return err_set(err, RC_REJECT, ERR_USAGE, DB_INT(id), REMEDY_REJECTED_LIST,
                           "there is no rejected message of this number%s",
                           cli_has(cli, "queue") || !argument ? " among those that are chosen"
                                                              : "");
    }
    if (db_rows(rows) == 0)
        return usage("rejected redrive", REMEDY_REJECTED_LIST, "there is nothing to redrive", err);
    return RC_OK;
}

/* The ids are collected again, because ends of runs are left out: the note names the messages that
 * are sent. */
static enum rc stage_all(struct redrive *redrive, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = select_rows(redrive, &rows, err);
    if (rc == RC_OK)
        rc = check_found(redrive, rows, err);
    if (rc == RC_OK)
        rc = check_rows(redrive, rows, err);
    if (rc != RC_OK)
        return rc;
    redrive->queue_id = db_int(rows, 0, REDRIVE_SELECT_QUEUE_ID);
    (void)snprintf(redrive->queue, sizeof redrive->queue, "%s",
                   db_text(rows, 0, REDRIVE_SELECT_NAME));
    str_clear(&redrive->ids);
    db_array_start(&redrive->ids);
    for (int i = 0; i < db_rows(rows); i++)
        stage(redrive, rows, i);
    db_array_end(&redrive->ids);
    /* All or nothing: a run with some of its messages missing would look complete. */
    if (redrive->faults > 0)
        return err_set(err, RC_REJECT, ERR_USAGE, redrive->queue,
                       "Correct them with --file, or leave them out.",
                       "%lld of %d message%s cannot become tasks as they are; nothing is published",
                       (long long)redrive->faults, db_rows(rows), NUMBER_S(db_rows(rows)));
    if (redrive->ends > 0)
        cli_say(
            redrive->cli, "lockstep: %lld end%s of runs %s left out: the new run gets its own\n",
            (long long)redrive->ends, NUMBER_S(redrive->ends), redrive->ends == 1 ? "is" : "are");
    if (redrive->messages == 0)
        return usage("rejected redrive", "", "there is nothing to redrive but ends of runs", err);
    if (fflush(redrive->work) != 0)
        return err_set(err, RC_FATAL, ERR_INTERNAL, "temporary file", "", "%s", strerror(errno));
    return RC_OK;
}

/* ---- the note: which run has which messages, before it is sent and after */

/* Committed before the first message is sent: a command that dies in between leaves a note, and the
 * next redrive of these messages is refused until it is known whether the run is on the topic. */
static enum rc begin(void *context, struct err *err)
{
    struct redrive *redrive = context;
    DB_RESULT_AUTO *row = NULL;
    const char *const params[] = {DB_INT(redrive->queue_id), redrive->ids.data, redrive->run,
                                  cli_has(redrive->cli, "again") ? "true" : "false",
                                  cli_text(redrive->cli, "reason")};
    enum rc rc = db_run(redrive->cli->db, &sql_redrive_begin, params, &row, err);
    probe("redrive.noted");
    if (rc != RC_OK || db_null(row, 0, REDRIVE_BEGIN_REJECTED_ID))
        return rc;
    char hint[100];
    (void)snprintf(hint, sizeof hint, REMEDY_RUN_SHOW, db_text(row, 0, REDRIVE_BEGIN_RUN));
    if (db_null(row, 0, REDRIVE_BEGIN_AT))
        return err_set(err, RC_RETRY, ERR_HELD, db_text(row, 0, REDRIVE_BEGIN_REJECTED_ID), hint,
                       "this message is being redriven as run %s, whose outcome is not known",
                       db_text(row, 0, REDRIVE_BEGIN_RUN));
    /* The rows were selected before redrive_begin settled the note of a command that died. With
     * --again a filter would also select all that was ever redriven. */
    return err_set(
        err, RC_REJECT, ERR_USAGE, db_text(row, 0, REDRIVE_BEGIN_REJECTED_ID),
        has_filter(redrive->cli)
            ? "Run the same command again: it leaves out the messages that were redriven."
            : "Add --again if that is meant.",
        "this message was redriven at %s as run %s", db_text(row, 0, REDRIVE_BEGIN_AT),
        db_text(row, 0, REDRIVE_BEGIN_RUN));
}

/* Settles the note, also after a failure: it is deleted only if it is certain that nothing came
 * onto the topic. */
static void settle(void *context)
{
    struct redrive *redrive = context;
    struct err err;
    const char *const params[] = {DB_INT(redrive->queue_id), redrive->run};
    probe("redrive.published");
    if (db_run(redrive->cli->db, &sql_redrive_settle, params, NULL, &err) != RC_OK)
        log_err(LOG_WARN, "redrive_not_settled", redrive->queue, &err); /* the next redrive does */
    probe("redrive.settled");
}

/* publish_run calls begin before the first message, and settle when the whole run is on the
 * topic. */
static enum rc publish(struct redrive *redrive, struct err *err)
{
    char path[40];
    /* tmpfile has no name, and the publisher opens its source by a path. */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(redrive->work));
    struct publish_options options = {.queue = redrive->queue,
                                      .path = path,
                                      .format = PUBLISH_JSONL,
                                      .run = redrive->run,
                                      .name = "redrive",
                                      .lock_wait_ms = PUBLISH_LOCK_WAIT_MS,
                                      .books = {redrive, begin, settle}};
    enum rc rc = publish_and_report(redrive->cli, &options, err);
    /* After a success the publisher has called settle itself, through books. */
    if (rc != RC_OK && !options.dry_run)
        settle(redrive);
    return rc;
}

enum rc command_rejected_redrive(struct cli *cli, struct err *err)
{
    struct redrive redrive = {.cli = cli, .work = tmpfile()};
    if (redrive.work == NULL)
        return err_set(err, RC_FATAL, ERR_INTERNAL, "temporary file",
                       "Make /tmp writable: the messages are kept there until they are published.",
                       "%s", strerror(errno));
    /* Chosen here and not by the publisher: the note must name the run before anything is sent. */
    uuid_new(redrive.run);
    enum rc rc = read_corrections(&redrive, err);
    if (rc == RC_OK)
        rc = stage_all(&redrive, err);
    if (rc == RC_OK)
        rc = publish(&redrive, err);
    for (int i = 0; i < redrive.correction_count; i++)
        free(redrive.corrections[i].text);
    free(redrive.corrections);
    str_done(&redrive.ids);
    (void)fclose(redrive.work);
    return rc;
}
