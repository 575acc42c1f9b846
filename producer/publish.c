#include "producer/publish.h"

#include "producer/publishing.h"
#include "task/message.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static enum rc wrong_options(const char *option, const char *hint, const char *message,
                             struct err *err)
{
    return err_set(err, RC_FATAL, ERR_USAGE, option, hint, "%s", message);
}

static enum rc check_options(const struct publish_options *options, struct err *err)
{
    if (options->queue == NULL || options->queue[0] == '\0')
        return wrong_options("--queue", "lockstep queue list shows them", "No queue is named.",
                             err);
    if (options->resume != NULL)
        return wrong_options("--resume", "publish the rest as a run of its own",
                             "Resuming a run is not supported yet.", err);
    if ((options->path == NULL) == (options->query == NULL))
        return wrong_options("FILE", "name a file, - for standard input, or --query",
                             "Exactly one source is needed: a file or a query.", err);
    if (options->run != NULL && !uuid_valid(options->run))
        return wrong_options("--run", "leave it out, and one is made",
                             "The id of the run is not a UUID.", err);
    if (options->stream && options->dry_run)
        return wrong_options("--dry-run", "leave --stream out: a dry run reads everything first",
                             "A stream has no end to look ahead to.", err);
    return RC_OK;
}

static void name_run(struct publishing *p)
{
    if (p->options->run == NULL) {
        uuid_new(p->run);
        return;
    }
    for (int i = 0; i < 37; i++)
        p->run[i] = (char)tolower((unsigned char)p->options->run[i]);
}

/** Before a long source is read, so that a mistyped id costs nothing; sending_start decides. */
static enum rc check_run(const struct publishing *p, struct err *err)
{
    if (p->options->run == NULL)
        return RC_OK;
    const char *const params[] = {DB_INT(p->queue_id), p->run};
    enum rc rc = db_run(p->db, &sql_publish_exists, params, NULL, err);
    return rc == RC_NONE ? RC_OK : rc == RC_OK ? sending_exists(p, err) : rc;
}

static enum rc open_source(struct publishing *p, struct err *err)
{
    const struct publish_options *options = p->options;
    if (options->path != NULL)
        return staged_open_file(options->path, options->format, p->limit, &p->staged, err);
    enum rc rc = db_open(options->conninfo, DB_PRODUCER, &p->query_db, err);
    if (rc != RC_OK)
        return rc;
    return staged_open_query(p->query_db, options->query, p->limit, &p->staged, err);
}

static enum rc publish(struct publishing *p, struct err *err)
{
    enum rc rc = publishing_queue(p, err);
    if (rc == RC_OK)
        rc = check_run(p, err);
    if (rc == RC_OK)
        rc = publishing_topic(p, err);
    if (rc == RC_OK)
        rc = open_source(p, err);
    if (rc == RC_OK)
        rc = p->options->stream ? publish_stream(p, err) : publish_finite(p, err);
    if (rc != RC_OK)
        rc = failed_publish(p, rc, err);
    if (rc == RC_OK && p->ended)
        sending_finish(p);
    return rc;
}

/** What the waiting does not need: the next producer may come. */
static void close_sending(struct publishing *p)
{
    kafka_producer_close(p->producer);
    p->producer = NULL;
    staged_close(p->staged);
    p->staged = NULL;
    db_close(p->query_db);
    p->query_db = NULL;
    publishing_unlock(p);
}

enum rc publish_run(const struct publish_options *options, struct publish_result *ret_result,
                    struct err *err)
{
    *ret_result = (struct publish_result){.first_offset = -1, .last_offset = -1};
    enum rc rc = check_options(options, err);
    if (rc != RC_OK)
        return rc;
    struct publishing p = {.options = options, .result = ret_result, .total = -1};
    name_run(&p);
    rc = publish(&p, err);
    close_sending(&p);
    if (rc == RC_OK && options->wait && !options->dry_run)
        rc = publishing_wait(&p, err);
    str_done(&p.record);
    db_close(p.db);
    return rc;
}
