/**
 * What: from typed words to rows: a queue by its name, a run by the beginning of its id.
 * Invariants: a prefix that fits several runs is refused, never guessed.
 * Threads: the main thread.
 * Ownership: results belong to the caller.
 * Failure: RC_REJECT + ERR_USAGE with the nearest name, or with the ids that fit.
 */
#ifndef CLI_FIND_H
#define CLI_FIND_H

#include "cli/cli.h"

struct queue_row {
    int64_t queue_id, next_offset;
    int partition;
    char name[64], topic[256], cluster_id[64];
};
MUST_CHECK enum rc find_queue(struct cli *cli, const char *name, struct queue_row *ret_queue,
                              struct err *err);

/** For options --queue that only filter: an unknown name is an error, NULL is fine. */
MUST_CHECK enum rc find_queue_filter(struct cli *cli, const char **ret_name, struct err *err);

struct run_row {
    int64_t run_no;
    char run_id[40], queue[64];
};
/** text: a UUID or its beginning; --queue narrows. */
MUST_CHECK enum rc find_run(struct cli *cli, const char *text, struct run_row *ret_run,
                            struct err *err);
/** The command's argument, or --latest. */
MUST_CHECK enum rc find_run_argument(struct cli *cli, struct run_row *ret_run, struct err *err);

/** Refuses text, which fits several rows: names two of them by id and beside. several: "several
 * runs fit". */
enum rc find_ambiguous(const char *text, const struct db_result *found, int id, int beside,
                       const char *hint, const char *several, struct err *err);

/** Whether the command's argument is a number > 0, of a "task", a "run", a "queue". */
MUST_CHECK enum rc number_argument(struct cli *cli, const char *what, struct err *err);

/** The value of --limit, or 100. */
const char *limit_of(const struct cli *cli);

#endif
