/* One attempt outside the pipeline; begin with attempt_run(). run_block() is the guarantee in five
 * statements: BEGIN, the task's SQL, complete with the token, COMMIT, or ROLLBACK. run_bare() is
 * the exception that the task asks for (transaction: false). Which tasks come here and not into the
 * pipeline, plan_make() decides; steps.c calls part_run() for each SQL step. */
#include "reader/attempt.h"

#include "base/ascii.h"
#include "base/clock.h"
#include "base/probe.h"
#include "db/diag.h"
#include "db/pipeline.h"
#include "db/sqlstate.h"
#include "db/task_session.h"
#include "reader/failure.h"
#include "reader/fitness.h"
#include "reader/risks.h"
#include "reader/state.h"
#include "reader/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum rc plan_text(struct plan *plan, const struct message *msg, int at, struct err *err)
{
    const struct message_statement *text = &msg->statements[at];
    struct statement *part = NULL;
    int count = 0;
    enum rc rc = statement_split(text->sql, &part, &count, err);
    if (rc == RC_OK && count > 1 && text->param_count > 0) {
        free(part);
        rc = err_set(err, RC_REJECT, ERR_USAGE, "$.sql", "Give an array of statements instead.",
                     "parameters need one statement, there are %d in this text", count);
    }
    if (rc != RC_OK)
        return rc;
    plan->statements = xrealloc(plan->statements, (size_t)(plan->count + count), sizeof *part);
    plan->texts = xrealloc(plan->texts, (size_t)(plan->count + count), sizeof *plan->texts);
    memcpy(plan->statements + plan->count, part, (size_t)count * sizeof *part);
    for (int i = 0; i < count; i++)
        plan->texts[plan->count++] = at;
    free(part);
    return RC_OK;
}

enum rc plan_make(struct plan *plan, const struct message *msg, int first, int count,
                  struct err *err)
{
    *plan = (struct plan){0};
    for (int i = first; i < first + count; i++) {
        enum rc rc = plan_text(plan, msg, i, err);
        if (rc != RC_OK) {
            steps_add_context(msg, steps_find(msg, i), err);
            return rc;
        }
    }
    for (int i = 0; i < plan->count; i++)
        plan->changes_session = plan->changes_session || plan->statements[i].changes_session;
    /* A time-out keeps a task out of the pipeline, because a cancel can be aimed only at a task
     * that is alone on the session. */
    plan->pipelined = plan->count == 1 && plan->statements[0].plain && msg->transaction &&
                      msg->timeout_us == 0 && msg->step_count == 0;
    return RC_OK;
}

bool plan_risky(const struct plan *plan, const struct work *work)
{
    return plan->changes_session || risks_meet(work->risks, plan);
}

void plan_done(struct plan *plan)
{
    free(plan->statements);
    free(plan->texts);
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

/* A task has a time-out of PostgreSQL's only if it sets one. */
static bool sets_time_out(const struct message *msg)
{
    static const char name[] = "statement_timeout";
    for (int i = 0; i < msg->statement_count; i++)
        for (const char *at = msg->statements[i].sql; *at != '\0'; at++)
            if (ascii_same_start(at, name, sizeof name - 1))
                return true;
    return false;
}

/* The server may have any language, so the words of the message decide only where the SQLSTATE does
 * not. 57014 is the SQLSTATE of a cancel by pg_cancel_backend, of a cancel request and of
 * statement_timeout alike. The first two are not the task's fault and do not count as a failure
 * (tests/e2e/not_its_fault.sh). */
bool attempt_cancelled(const struct work *work, const struct err *why, bool ours)
{
    if (!sqlstate_is(why, SQLSTATE_QUERY_CANCELED))
        return false;
    bool interrupted = work->end.diag != NULL && work->end.diag->interrupted;
    return ours || (interrupted &&
                    (strstr(why->message, "user request") != NULL || !sets_time_out(work->msg)));
}

/* SQL that catches its cancel continues: to its end, to its next statement, or until its session is
 * closed. */
static const char caught_hint[] =
    "Let the task raise query_canceled (57014) again where it catches it.";

bool attempt_timed_out(const struct work *work, struct err *why)
{
    if (!work->timed_out || (why->code[0] != '\0' && !sqlstate_is(why, SQLSTATE_QUERY_CANCELED)))
        return false;
    struct err late = {0};
    (void)err_set(&late, RC_REJECT, ERR_TIMEOUT, "task", work->severed ? caught_hint : NULL,
                  "time-out: the attempt ran for longer than %g s",
                  (double)work->msg->timeout_us / 1e6);
    err_code(&late, sqlstate_text(SQLSTATE_QUERY_CANCELED));
    memcpy(late.context, why->context, sizeof late.context); /* where it was then */
    if (why->kind == ERR_TIMEOUT && why->hint[0] != '\0')
        memcpy(late.hint, why->hint, sizeof late.hint);
    *why = late;
    return true;
}

/* The effects of SQL that has caught its cancel are not kept. */
static enum rc in_time(const struct work *work, enum rc rc, struct err *why)
{
    if (rc != RC_OK || !work->timed_out)
        return rc;
    return err_set(why, RC_REJECT, ERR_TIMEOUT, "task", caught_hint, "time-out");
}

/* A server that is read-only refuses the record of the failure, too: then it was not the task. */
enum rc attempt_read_only(const struct work *work, enum rc rc, struct err *why)
{
    if (rc == RC_OK || !sqlstate_is(why, SQLSTATE_READ_ONLY_SQL_TRANSACTION))
        return rc;
    struct err said = {0};
    rc = err_set(&said, RC_REJECT, ERR_DB, "task", NULL,
                 "the task has made its transaction read-only, so its end could not be recorded");
    err_code(&said, sqlstate_text(SQLSTATE_READ_ONLY_SQL_TRANSACTION));
    if (work->end.diag != NULL)
        work->end.diag->code[0] = '\0'; /* the words are ours */
    *why = said;
    return rc;
}

enum rc attempt_fail(struct db *db, struct work *work, const struct err *why, bool permanent,
                     struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    struct failure failure;
    struct err refused;
    enum rc rc = failure_barred(why) ? fitness_check(db, err) : RC_OK;
    if (rc != RC_OK)
        return RC_LOST; /* perhaps it was not the task */
    failure_make(&failure, work, why, permanent);
    probe("fail.send");
    do
        rc = db_run(
            db, &sql_reader_fail,
            (const char *const[]){[READER_FAIL_P_TASK_ID] = DB_INT(work->task_id),
                                  [READER_FAIL_P_TOKEN] = work->token,
                                  [READER_FAIL_P_PERMANENT] = failure.permanent ? "true" : "false",
                                  [READER_FAIL_P_RAN_US] = DB_INT(work->end.ran_us),
                                  [READER_FAIL_P_SQLSTATE] = failure.sqlstate,
                                  [READER_FAIL_P_ERROR] = failure.error,
                                  [READER_FAIL_P_DETAIL] = failure.detail,
                                  [READER_FAIL_P_HINT] = failure.hint,
                                  [READER_FAIL_P_CONTEXT] = failure.where,
                                  [READER_FAIL_P_RAISED] = failure.raised ? "true" : "false"},
            &result, &refused);
    while (failure_again(&failure, rc, &refused));
    failure_done(&failure);
    probe("fail.answered");
    if (rc == RC_OK)
        work_ends(work, db_word(result, 0, READER_FAIL_STATUS) == READER_FAIL_IS_FAILED
                            ? OUTCOME_FAILED
                            : OUTCOME_ERROR);
    else if (failure_stale(rc, &refused))
        work_ends(work, OUTCOME_STALE);
    else if ((rc == RC_REJECT || rc == RC_FATAL) && !failure_barred(&refused))
        work_ends(work, OUTCOME_LOST); /* it cannot be recorded at all */
    else {
        *err = refused;
        return RC_LOST; /* the task is taken over when this session is given up */
    }
    return RC_OK;
}

/* Which statement of the task, or of its step, failed, and where in it. */
static void note_place(const struct work *work, const struct plan *plan, int i)
{
    struct db_diag *diag = work->end.diag;
    const char *sql = work->msg->statements[plan->texts[i]].sql;
    str_clear(&diag->place);
    if (plan->count > 1)
        str_format(&diag->place, "statement %d of %d", i + 1, plan->count);
    if (diag->position > 0) {
        str_text(&diag->place, plan->count > 1 ? "\n" : "");
        db_diag_place(&diag->place, sql, (size_t)(plan->statements[i].text - sql), diag->position);
    }
}

/* Only a text of one statement may have parameters. */
static enum rc run_statements(struct db *db, const struct work *work, const struct plan *plan,
                              struct err *err)
{
    enum rc rc = RC_OK;
    for (int i = 0; rc == RC_OK && i < plan->count; i++) {
        int count = 0;
        const char **params = attempt_params(work, plan->texts[i], &count);
        STR_AUTO text = {0};
        str_add(&text, plan->statements[i].text, plan->statements[i].len);
        rc = db_command(db, text.data, count, params, err);
        free(params);
        if (rc != RC_OK)
            note_place(work, plan, i);
        rc = in_time(work, rc, err);
    }
    return rc;
}

/* lockstep.complete and step_done raise if the token is no longer the row's. The error aborts the
 * transaction, and with it the effect: so an executor that was frozen and has been replaced changes
 * nothing (tests/e2e/token.sh, zombie.sh). */
static enum rc record_end(struct db *db, const struct work *work, struct part *part,
                          const char *started, struct err *why)
{
    DB_RESULT_AUTO *row = NULL;
    if (part->next == NULL)
        return db_run(db, &sql_reader_complete,
                      (const char *const[]){DB_INT(work->task_id), work->token, started}, NULL,
                      why);
    enum rc rc =
        db_run(db, &sql_reader_step_done,
               (const char *const[]){DB_INT(work->task_id), work->token, part->next}, &row, why);
    if (rc == RC_OK)
        part->continues = db_bool(row, 0, READER_STEP_DONE_GO_ON);
    return rc;
}

/* The role is reset before our own statements, because SET ROLE of the task would take the right to
 * call them away. *ret_ours is false during COMMIT: a deferred trigger that fails there is the
 * task's. */
static enum rc run_block(struct db *db, const struct work *work, struct part *part,
                         const struct plan *plan, bool *ret_ours, struct err *why)
{
    enum rc rc = db_script(db, "BEGIN", NULL, why);
    probe("block.begun");
    if (rc == RC_OK)
        rc = run_statements(db, work, plan, why);
    *ret_ours = rc == RC_OK;
    probe("block.ran");
    if (rc == RC_OK && plan->changes_session)
        rc = db_run(db, &sql_reader_reset_role, NULL, NULL, why);
    if (rc == RC_OK && plan_risky(plan, work))
        rc = db_run(db, &sql_reader_definitions_changed, (const char *const[]){"true"}, NULL, why);
    if (rc == RC_OK && work->wary) /* as begin_shown was; here, because the task may change it */
        rc = db_script(db, "SET LOCAL synchronous_commit = on", NULL, why);
    if (rc == RC_OK)
        rc = record_end(db, work, part, part->started, why);
    if (*ret_ours)
        rc = attempt_read_only(work, rc, why);
    probe("block.completed");
    if (rc == RC_OK) {
        *ret_ours = false;
        rc = db_command(db, "COMMIT", 0, NULL, why); /* what it raises is the task's, too */
        probe("block.committed");
        return rc;
    }
    struct err broke = {0};
    if (rc != RC_LOST && db_script(db, "ROLLBACK", NULL, &broke) != RC_OK) {
        *why = broke; /* the error of the task says nothing about its session */
        rc = RC_LOST;
    }
    return rc;
}

/* Once more what another session made the server undo in a statement of ours. */
static enum rc run_blocks(struct db *db, const struct work *work, struct part *part,
                          const struct plan *plan, struct err *why)
{
    bool ours = false;
    enum rc rc = run_block(db, work, part, plan, &ours, why);
    for (int i = 0; i < UNDONE_MOST && rc == RC_RETRY && ours && sqlstate_undone(why); i++)
        rc = run_block(db, work, part, plan, &ours, why);
    return rc;
}

/* Everything before this attempt is made durable first, and the record follows the effect, which
 * commits by itself. If the flush came later, a crash of the server could keep the effect and lose
 * the claim, and the message would be claimed and run once more (tests/e2e/flush.sh). The setting
 * that makes the record durable follows the task's statements, because they may change it. */
static enum rc run_bare(struct db *db, const struct work *work, struct part *part,
                        const struct plan *plan, struct err *why)
{
    DB_RESULT_AUTO *now = NULL;
    enum rc rc = db_run(db, &sql_session_flush, NULL, NULL, why);
    if (rc == RC_OK)
        rc = db_run(db, &sql_reader_now, NULL, &now, why);
    probe("bare.run");
    if (rc == RC_OK)
        rc = run_statements(db, work, plan, why);
    bool ours = rc == RC_OK;
    probe("bare.ran");
    if (rc == RC_OK && plan->changes_session)
        rc = db_run(db, &sql_reader_reset_role, NULL, NULL, why);
    if (rc != RC_LOST) { /* a statement that failed may have changed definitions before */
        enum rc noted = db_run(db, &sql_reader_definitions_changed, (const char *const[]){"false"},
                               NULL, rc == RC_OK ? why : NULL);
        rc = rc == RC_OK ? noted : rc;
    }
    if (rc == RC_OK)
        rc = db_script(db, "SET synchronous_commit = on", NULL, why);
    if (rc == RC_OK)
        rc = record_end(db, work, part,
                        part->started ? part->started : db_text(now, 0, READER_NOW_NOW), why);
    return ours ? attempt_read_only(work, rc, why) : rc;
}

enum rc part_run(struct db *db, const struct work *work, struct part *part, struct err *why)
{
    struct plan plan;
    enum rc rc = plan_make(&plan, work->msg, part->first, part->count, why);
    /* db_wary: until the session is clean our statements are sent by their text. The task may have
     * dropped the prepared ones, or may have prepared its own under their names. */
    part->continues = true;
    db_wary(db, true);
    if (rc == RC_OK)
        rc = part->transaction ? run_blocks(db, work, part, &plan, why)
                               : run_bare(db, work, part, &plan, why);
    bool reset = plan.changes_session || !part->transaction;
    if (rc == RC_OK && !reset && plan_risky(&plan, work))
        reset = db_clean(db, NULL) != RC_OK;
    if (rc == RC_OK && reset)
        rc = db_reset(db, why) == RC_OK ? RC_OK : RC_LOST; /* its record is kept */
    db_wary(db, false);
    plan_done(&plan);
    return rc;
}

/* If it ends the server or this executor now, its row shows, durably, that it was the one. So its
 * end is durable, too: else another task's crash of the server would undo it, and count it here. */
static enum rc begin_shown(struct db *db, struct work *work, bool *ret_stale, struct err *err)
{
    struct err why = {0};
    DB_RESULT_AUTO *row = NULL;
    enum rc rc =
        db_run(db, &sql_reader_action_begin,
               (const char *const[]){DB_INT(work->task_id), work->token, "false"}, &row, &why);
    *ret_stale = failure_stale(rc, &why);
    if (rc == RC_OK || *ret_stale)
        return RC_OK;
    *err = why;
    return RC_LOST;
}

/* Messages of the server belong to the attempt from now on. */
static void listen(struct work *work, struct db *db)
{
    struct db_diag *diag = work_diag(work);
    db_diag_clear(diag);
    db_set_diag(db, diag);
}

/* The order behind the SQL: no further cancel may arrive (reader_calm), then the end is judged,
 * then the session is reset, and only then the failure is recorded. A record on a session that the
 * task has changed could fail for that reason. */
enum rc attempt_run(struct reader_thread *reader, struct work *work, struct err *err)
{
    struct db *db = reader->db;
    struct err why = {0};
    const struct message *msg = work->msg;
    struct part whole = {.count = msg->statement_count, .transaction = msg->transaction};
    bool stale = false;
    enum rc rc = work->wary ? begin_shown(db, work, &stale, err) : RC_OK;
    work_ends(work, stale ? OUTCOME_STALE : OUTCOME_COMPLETED);
    if (rc != RC_OK || stale)
        return rc;
    listen(work, db);
    rc = msg->step_count > 0 ? steps_run(reader, work, &why) : part_run(db, work, &whole, &why);
    db_set_diag(db, NULL);
    enum calm calm = reader_calm(reader); /* and no cancel can hit the record of the end */
    bool ours = reader->cancelled || calm != CALM_ALWAYS;
    work_counts(work, work->end.diag->rows);
    work_ran(work, clock_boot_us() - work->alone_since_us, true);
    if (rc == RC_OK)
        return RC_OK;
    if (rc == RC_LOST) {
        *err = why;
        return rc;
    }
    if (!attempt_timed_out(work, &why) && attempt_cancelled(work, &why, ours)) {
        work_lost(work, ours ? LOSS_OWN : LOSS_CANCELLED);
        return reader->worn ? RC_OK : db_reset(db, err);
    }
    rc = reader->worn ? reader_disturbed(err) : db_reset(db, err);
    if (rc == RC_OK)
        return attempt_fail(db, work, &why, false, err);
    work_fails(work, &why);
    work_unrecorded(work); /* this session cannot; the next one does */
    return rc;
}
