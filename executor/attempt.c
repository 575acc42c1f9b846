#include "executor/attempt.h"

#include "base/clock.h"
#include "base/probe.h"
#include "db/pipeline.h"
#include "executor/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Raised by lockstep.fail when the token is no longer the task's. A task may raise it, too: that is no proof. */
#define STALE_TOKEN "LS001"

enum rc plan_make(struct plan *plan, const struct work *work, struct err *err)
{
    const struct message *msg = work->msg;
    *plan = (struct plan){0};
    for (int i = 0; i < msg->statement_count; i++) {
        struct statement *part = NULL;
        int count = 0;
        enum rc rc = statement_split(msg->statements[i].sql, &part, &count, err);
        if (rc == RC_OK && count > 1 && msg->statements[i].param_count > 0) {
            free(part);
            rc = err_set(err, RC_REJECT, ERR_USAGE, "$.sql", "Give an array of statements instead.",
                         "parameters need one statement, there are %d in this text", count);
        }
        if (rc != RC_OK)
            return rc;
        plan->statements = xrealloc(plan->statements, (size_t)(plan->count + count), sizeof *part);
        memcpy(plan->statements + plan->count, part, (size_t)count * sizeof *part);
        plan->count += count;
        free(part);
    }
    for (int i = 0; i < plan->count; i++)
        plan->changes_session = plan->changes_session || plan->statements[i].changes_session;
    plan->pipelined =
        plan->count == 1 && plan->statements[0].plain && msg->transaction && msg->timeout_us == 0;
    return RC_OK;
}

void plan_done(struct plan *plan)
{
    free(plan->statements);
    *plan = (struct plan){0};
}

const char **attempt_params(const struct work *work, int i, int *ret_count)
{
    const struct message_statement *stmt = &work->msg->statements[i];
    const char **params = xcalloc((size_t)stmt->param_count, sizeof *params);
    for (int k = 0; k < stmt->param_count; k++)
        params[k] = stmt->params[k].text;
    *ret_count = stmt->param_count;
    return params;
}

bool attempt_cancelled(const struct err *why, bool ours)
{
    return strcmp(why->code, "57014") == 0 && /* query_canceled */
           (ours || strstr(why->message, "user request") != NULL);
}

bool attempt_timed_out(const struct work *work, struct err *why)
{
    if (!work->timed_out || (why->code[0] != '\0' && strcmp(why->code, "57014") != 0))
        return false;
    *why = (struct err){0};
    (void)err_set(why, RC_REJECT, ERR_TIMEOUT, "task", NULL,
                  "time-out: the attempt ran for longer than %g s",
                  (double)work->msg->timeout_us / 1e6);
    (void)snprintf(why->code, sizeof why->code, "57014");
    return true;
}

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

enum rc attempt_fail(struct db *db, struct work *work, const struct err *why, bool permanent,
                     struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    const char *const params[] = {
        DB_INT(work->task_id), work->token,        permanent ? "true" : "false",
        DB_INT(work->ran_us),  or_null(why->code), why->message,
        or_null(why->detail),  or_null(why->hint), or_null(why->context)};
    struct err failed;
    probe("fail.send");
    enum rc rc = db_run(db, &sql_reader_fail, params, &result, &failed);
    probe("fail.answered");
    if (rc == RC_OK)
        work->outcome =
            strcmp(db_text(result, 0, 0), "Failed") == 0 ? OUTCOME_FAILED : OUTCOME_ERROR;
    else if (rc != RC_LOST && strcmp(failed.code, STALE_TOKEN) == 0)
        work->outcome = OUTCOME_STALE;
    else {
        *err = failed;
        return RC_LOST; /* it cannot be recorded here: the task is taken over when this session is
                           given up */
    }
    return RC_OK;
}

/* Statements of the plan belong to texts of the message in order; only a text of one statement may
 * have parameters. */
static enum rc run_statements(struct db *db, const struct work *work, const struct plan *plan,
                              struct err *err)
{
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < plan->count; i++) {
        int count = 0;
        const char **params =
            plan->count == work->msg->statement_count ? attempt_params(work, i, &count) : NULL;
        STR_AUTO text = {0};
        str_add(&text, plan->statements[i].text, plan->statements[i].len);
        rc = db_command(db, text.data, count, params, err);
        free(params);
    }
    return rc;
}

static enum rc run_block(struct db *db, const struct work *work, const struct plan *plan,
                         struct err *why)
{
    enum rc rc = db_script(db, "BEGIN", NULL, why);
    probe("block.begun");
    if (rc == RC_OK)
        rc = run_statements(db, work, plan, why);
    probe("block.ran");
    if (rc == RC_OK)
        rc = db_run(db, &sql_reader_complete,
                    (const char *const[]){DB_INT(work->task_id), work->token, NULL}, NULL, why);
    probe("block.completed");
    if (rc == RC_OK) {
        rc = db_script(db, "COMMIT", NULL, why);
        probe("block.committed");
        return rc;
    }
    if (rc != RC_LOST) {
        enum rc rolled = db_script(db, "ROLLBACK", NULL, NULL);
        rc = rolled == RC_OK ? rc : RC_LOST;
    }
    return rc;
}

/* The claim is made durable before, the record after: the effect commits by itself in between. */
static enum rc run_bare(struct db *db, const struct work *work, const struct plan *plan,
                        struct err *why)
{
    DB_RESULT_AUTO *started = NULL;
    enum rc rc = db_script(db, "SET synchronous_commit = on", NULL, why);
    if (rc == RC_OK)
        rc = db_run(db, &sql_session_flush, NULL, NULL, why);
    if (rc == RC_OK)
        rc = db_run(db, &sql_reader_now, NULL, &started, why);
    probe("bare.run");
    if (rc == RC_OK)
        rc = run_statements(db, work, plan, why);
    probe("bare.ran");
    if (rc == RC_OK)
        rc = db_run(
            db, &sql_reader_complete,
            (const char *const[]){DB_INT(work->task_id), work->token, db_text(started, 0, 0)}, NULL,
            why);
    return rc;
}

enum rc attempt_run(struct db *db, struct work *work, const struct plan *plan,
                    const _Atomic bool *cancelled, struct err *err)
{
    struct err why = {0};
    int64_t from_us = clock_boot_us();
    enum rc rc =
        work->msg->transaction ? run_block(db, work, plan, &why) : run_bare(db, work, plan, &why);
    work->ran_us = clock_boot_us() - from_us;
    if (rc == RC_OK) {
        work->outcome = OUTCOME_COMPLETED;
        return plan->changes_session || !work->msg->transaction ? db_reset(db, err) : RC_OK;
    }
    if (rc == RC_LOST) {
        *err = why;
        return rc;
    }
    rc = db_reset(db, err);
    if (rc == RC_OK && !attempt_timed_out(work, &why) && attempt_cancelled(&why, *cancelled)) {
        work->outcome = OUTCOME_LOST;
        return rc;
    }
    return rc == RC_OK ? attempt_fail(db, work, &why, false, err) : rc;
}
