/* One way to read tasks of each form: JSON Lines, CSV and queries each have a struct staged_reader
 * (staged_reader.h), which gives JSON texts. staged_check() is the only judge of a task, for all
 * forms, and may be called from several threads (checker.c): it reads only the limit. Reading is
 * separate from checking because parsing takes longer than reading. */
#include "producer/staged.h"

#include "base/ascii.h"
#include "base/str.h"
#include "producer/staged_reader.h"
#include "task/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct staged {
    struct source *source; /* NULL: a query */
    struct staged_reader reader;
    size_t limit;
    int64_t line;
    bool csv;
};

/** The option decides, else the name. The content is not examined: the first bytes of a pipe would
 * have to be awaited, and a wrong guess reports odd faults. */
static bool is_csv(const char *path, enum publish_format format)
{
    size_t len = strlen(path);
    if (format != PUBLISH_AUTO)
        return format == PUBLISH_CSV;
    return len > 4 && ascii_same(path + len - 4, ".csv");
}

enum rc staged_open_file(const char *path, enum publish_format format, size_t limit,
                         struct staged **ret_staged, struct err *err)
{
    struct source *source;
    enum rc rc = source_open(path, &source, err);
    if (rc != RC_OK)
        return rc;
    struct staged *staged = xcalloc(1, sizeof *staged);
    staged->source = source;
    staged->limit = limit;
    staged->csv = is_csv(path, format);
    if (staged->csv)
        staged_csv(source, &staged->reader);
    else
        staged_jsonl(source, &staged->reader);
    *ret_staged = staged;
    return RC_OK;
}

enum rc staged_open_query(struct db *db, const char *query, size_t limit,
                          struct staged **ret_staged, struct err *err)
{
    struct staged_reader reader;
    enum rc rc = staged_query(db, query, &reader, err);
    if (rc != RC_OK)
        return rc;
    struct staged *staged = xcalloc(1, sizeof *staged);
    staged->reader = reader;
    staged->limit = limit;
    *ret_staged = staged;
    return RC_OK;
}

void staged_close(struct staged *staged)
{
    if (staged == NULL)
        return;
    staged->reader.close(staged->reader.state);
    /* After the reader, which borrows the source. */
    source_close(staged->source);
    free(staged);
}

enum rc staged_check(const struct staged *staged, struct staged_task *task, struct err *err)
{
    MESSAGE_AUTO *msg = NULL;
    enum rc rc = message_parse(task->text, task->len, MESSAGE_STAGED, &msg, err);
    if (rc != RC_OK)
        return rc;
    task->order = msg->order;
    /* Checked behind the parser: a text that is no task gets the more useful error. */
    if (task->len > staged->limit)
        return err_set(err, RC_REJECT, ERR_USAGE, "$",
                       "Keep large data in a table and pass its key, or raise max.message.bytes of "
                       "the topic and -X message.max.bytes.",
                       "the task has %zu bytes, this topic takes %zu", task->len, staged->limit);
    return RC_OK;
}

enum rc staged_read(struct staged *staged, int timeout_ms, struct staged_task *ret_task,
                    struct err *err)
{
    /* A reader that fails before it has found a line leaves the line of the task before. */
    struct staged_text text = {.line = staged->line};
    enum rc rc = staged->reader.next(staged->reader.state, timeout_ms, &text, err);
    staged->line = text.line;
    if (rc == RC_OK)
        *ret_task = (struct staged_task){.line = text.line, .text = text.text, .len = text.len};
    return rc;
}

/** For a stream, which may not wait until a chunk is full. */
enum rc staged_next(struct staged *staged, int timeout_ms, struct staged_task *ret_task,
                    struct err *err)
{
    enum rc rc = staged_read(staged, timeout_ms, ret_task, err);
    return rc == RC_OK ? staged_check(staged, ret_task, err) : rc;
}

bool staged_may_wait(const struct staged *staged)
{
    /* A query blocks in libpq for its whole FETCH. */
    return staged->source != NULL;
}

int64_t staged_line(const struct staged *staged)
{
    return staged->line;
}

const char *staged_name(const struct staged *staged)
{
    return staged->source != NULL ? source_name(staged->source) : "query";
}

const char *staged_format_name(const struct staged *staged)
{
    return staged->source == NULL ? NULL : staged->csv ? "csv" : "jsonl";
}

bool staged_digest(const struct staged *staged, char ret_digest[33], int64_t *ret_bytes)
{
    return staged->source != NULL && source_digest(staged->source, ret_digest, ret_bytes);
}

enum rc staged_file_digest(const struct staged *staged, int64_t most, char ret_digest[33],
                           int64_t *ret_bytes, struct err *err)
{
    return staged->source != NULL
               ? source_file_digest(staged->source, most, ret_digest, ret_bytes, err)
               : RC_NONE;
}
