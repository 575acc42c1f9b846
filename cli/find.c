/* From the words that people type to rows: a queue by its name, a run by its id or the beginning of
 * one. An unknown name gets the nearest one as a hint; a beginning that fits several ids is
 * refused.
 *
 * All commands find their objects here, so that a name that is mistyped gets the same hint
 * everywhere. The names are those of this database alone. */
#include "cli/find.h"

#include "base/ascii.h"
#include "base/remedies.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

/* Reads the names only now, so that the usual call costs one statement. */
static enum rc unknown_queue(struct cli *cli, const char *name, struct err *err)
{
    DB_RESULT_AUTO *names = NULL;
    enum rc rc = db_run(cli->db, &sql_queue_names, NULL, &names, err);
    if (rc != RC_OK)
        return rc;
    const char *near = NULL;
    for (int row = 0; row < db_rows(names); row++)
        near = nearest_of(name, near, db_text(names, row, QUEUE_NAMES_NAME));
    char hint[200];
    if (near != NULL)
        (void)snprintf(hint, sizeof hint, "Did you mean \"%s\"?", near);
    else
        (void)snprintf(hint, sizeof hint, REMEDY_QUEUE_MISSING, name);
    return err_set(err, RC_REJECT, ERR_USAGE, name, hint, "there is no queue of this name");
}

/* The caller works on a copy: a queue that is deleted meanwhile is noticed by its next
 * statement. */
enum rc find_queue(struct cli *cli, const char *name, struct queue_row *ret_queue, struct err *err)
{
    DB_RESULT_AUTO *found = NULL;
    enum rc rc = db_run(cli->db, &sql_queue_find, (const char *const[]){name}, &found, err);
    if (rc == RC_NONE)
        return unknown_queue(cli, name, err);
    if (rc != RC_OK)
        return rc;
    struct queue_row queue = {.queue_id = db_int(found, 0, QUEUE_FIND_QUEUE_ID),
                              .partition = (int)db_int(found, 0, QUEUE_FIND_PARTITION),
                              .next_offset = db_int(found, 0, QUEUE_FIND_NEXT_OFFSET)};
    (void)snprintf(queue.name, sizeof queue.name, "%s", db_text(found, 0, QUEUE_FIND_NAME));
    (void)snprintf(queue.topic, sizeof queue.topic, "%s", db_text(found, 0, QUEUE_FIND_TOPIC));
    (void)snprintf(queue.cluster_id, sizeof queue.cluster_id, "%s",
                   db_text(found, 0, QUEUE_FIND_CLUSTER_ID));
    *ret_queue = queue;
    return RC_OK;
}

/* The row is not needed; it is read so that a mistyped name is an error and not an empty list. */
enum rc find_queue_filter(struct cli *cli, const char **ret_name, struct err *err)
{
    struct queue_row queue;
    *ret_name = cli_text(cli, "queue");
    return *ret_name ? find_queue(cli, *ret_name, &queue, err) : RC_OK;
}

_Static_assert((int)RUN_FIND_RUN_NO == (int)RUN_LATEST_RUN_NO &&
                   (int)RUN_FIND_RUN_ID == (int)RUN_LATEST_RUN_ID &&
                   (int)RUN_FIND_QUEUE == (int)RUN_LATEST_QUEUE,
               "a run is found by its id, or as the latest, with the same columns");
/* Of either statement: the assertion above keeps their columns the same. */
static void fill_run(struct run_row *run, const struct db_result *result)
{
    run->run_no = db_int(result, 0, RUN_FIND_RUN_NO);
    (void)snprintf(run->run_id, sizeof run->run_id, "%s", db_text(result, 0, RUN_FIND_RUN_ID));
    (void)snprintf(run->queue, sizeof run->queue, "%s", db_text(result, 0, RUN_FIND_QUEUE));
}

/* The lowest and the highest UUID that begin with text. The statement compares with both, which an
 * index serves; LIKE on a uuid would read every run. Hyphens may be missing. */
static bool bounds_of(const char *text, char low[33], char high[33])
{
    int digits = 0;
    for (; *text != '\0'; text++) {
        if (*text == '-')
            continue;
        if (!ascii_xdigit(*text) || digits == 32)
            return false;
        low[digits] = high[digits] = *text;
        digits++;
    }
    memset(low + digits, '0', (size_t)(32 - digits));
    memset(high + digits, 'f', (size_t)(32 - digits));
    low[32] = high[32] = '\0';
    return digits > 0;
}

/* Two of the rows are named, because two are enough to see how many characters are missing. */
enum rc find_ambiguous(const char *text, const struct db_result *found, int id, int beside,
                       const char *hint, const char *several, struct err *err)
{
    (void)err_set(err, RC_REJECT, ERR_USAGE, text, hint, "%s", several);
    (void)snprintf(err->detail, sizeof err->detail, "%s (%s), %s (%s)%s", db_text(found, 0, id),
                   db_text(found, 0, beside), db_text(found, 1, id), db_text(found, 1, beside),
                   db_rows(found) > 2 ? ", ..." : "");
    return RC_REJECT;
}

/* One statement finds a whole id and a beginning alike: the bounds of a whole id are the same. */
enum rc find_run(struct cli *cli, const char *text, struct run_row *ret_run, struct err *err)
{
    char low[33], high[33];
    const char *queue = NULL;
    if (!bounds_of(text, low, high))
        return err_set(err, RC_REJECT, ERR_USAGE, text, REMEDY_RUN_LIST,
                       "this is no UUID and no beginning of one");
    enum rc rc = find_queue_filter(cli, &queue, err);
    DB_RESULT_AUTO *found = NULL;
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_run_find, (const char *const[]){low, high, queue}, &found, err);
    if (rc != RC_OK)
        return rc;
    if (db_rows(found) == 0)
        return err_set(err, RC_REJECT, ERR_USAGE, text, REMEDY_RUN_LIST,
                       "there is no run with this id");
    if (db_rows(found) > 1)
        return find_ambiguous(text, found, RUN_FIND_RUN_ID, RUN_FIND_QUEUE,
                              "Type more of the id, or add --queue.", "several runs fit", err);
    fill_run(ret_run, found);
    return RC_OK;
}

enum rc find_run_argument(struct cli *cli, struct run_row *ret_run, struct err *err)
{
    bool latest = cli_has(cli, "latest");
    /* Both, or neither. */
    if (latest == (cli->argument_count == 1))
        return err_set(err, RC_REJECT, ERR_USAGE, "run", REMEDY_RUN_LIST,
                       latest ? "give an id or --latest, not both"
                              : "give a run's id, or --latest");
    if (!latest)
        return find_run(cli, cli->arguments[0], ret_run, err);
    const char *queue;
    DB_RESULT_AUTO *found = NULL;
    enum rc rc = find_queue_filter(cli, &queue, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, &sql_run_latest, (const char *const[]){queue}, &found, err);
    if (rc == RC_NONE)
        return err_set(err, RC_REJECT, ERR_USAGE, queue ? queue : "", REMEDY_QUEUE_LIST,
                       "there is no run yet");
    if (rc == RC_OK)
        fill_run(ret_run, found);
    return rc;
}

enum rc number_argument(struct cli *cli, const char *what, struct err *err)
{
    int64_t number;
    char object[64];
    enum rc rc = number_parse(cli_command_name(cli, object), "ID", cli->arguments[0], NUMBER_ID,
                              &number, err);
    if (rc != RC_OK)
        (void)snprintf(err->hint, sizeof err->hint, REMEDY_LIST, what);
    return rc;
}

/* Of the commands that have --limit: a person does not read more lines than that. */
const char *limit_of(const struct cli *cli)
{
    const char *limit = cli_text(cli, "limit");
    return limit ? limit : "100";
}
