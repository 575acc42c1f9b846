/* Where the tasks come from, and how it is recorded in the run's row, so that a resumed publish
 * finds the same source. Only a regular file has a digest; a pipe cannot be read again, and a query
 * gives the rows of another moment. The comparison is in resume.c. */
#include "producer/origin.h"

#include <stdlib.h>

struct origin origin_of(const struct publish_options *options)
{
    return (struct origin){.path = options->path,
                           .query = options->query,
                           .format = options->format,
                           .stream = options->stream};
}

void origin_recall(struct origin *origin, bool stream, enum publish_format format)
{
    origin->stream = stream;
    /* An option counts more than the row: the copy from which a user resumes may have another
     * suffix. */
    if (origin->format == PUBLISH_AUTO)
        origin->format = format;
}

void origin_recall_source(struct origin *origin, const char *path, const char *query)
{
    origin->path = path;
    origin->query = query;
}

bool origin_is_known(const struct origin *origin)
{
    return origin->path != NULL || origin->query != NULL;
}

enum rc origin_open(struct origin *origin, const char *conninfo, size_t limit, struct err *err)
{
    if (origin->path != NULL)
        return staged_open_file(origin->path, origin->format, limit, &origin->staged, err);
    /* A session of its own: the user's SQL may fail, set parameters or take long, and the session
     * with the lock must answer meanwhile. */
    enum rc rc = db_open(conninfo, DB_QUERY, &origin->db, err);
    if (rc != RC_OK)
        return rc;
    return staged_open_query(origin->db, origin->query, limit, &origin->staged, err);
}

enum rc origin_digest_file(struct origin *origin, int64_t bytes, struct err *err)
{
    enum rc rc =
        staged_file_digest(origin->staged, bytes, origin->digest, &origin->digest_bytes, err);
    return rc == RC_NONE ? RC_OK : rc;
}

void origin_digest_read(struct origin *origin)
{
    (void)staged_digest(origin->staged, origin->digest, &origin->digest_bytes);
}

bool origin_is_piped(const struct origin *origin)
{
    return origin->query == NULL && origin->digest[0] == '\0';
}

/* The path is made absolute, because a resume may be started in another directory. */
const char *origin_describe(const struct origin *origin, char ret_path[4096],
                            const char **ret_source)
{
    *ret_source = origin->query;
    if (origin->query != NULL)
        return "query";
    if (origin_is_piped(origin))
        return "pipe";
    *ret_source = realpath(origin->path, ret_path) != NULL ? ret_path : origin->path;
    return "file";
}

enum rc origin_empty(const struct origin *origin, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_USAGE, staged_name(origin->staged),
                   "Give at least one task, e.g. {\"order\":100,\"sql\":\"SELECT 1\"}",
                   "there is no task in the %s", origin->stream ? "stream" : "source");
}

void origin_close(struct origin *origin)
{
    staged_close(origin->staged);
    origin->staged = NULL;
    db_close(origin->db);
    origin->db = NULL;
}
