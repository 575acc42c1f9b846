/* From an error to the parameters of lockstep.fail. Begin with failure_make(); failure_again() is
 * for a database that refuses the error itself. attempt.c and outside.c send the parameters, each
 * with its own statement. */
#include "reader/failure.h"

#include "base/utf8.h"
#include "db/diag.h"
#include "db/sqlstate.h"
#include "reader/work.h"

#include <string.h>

/* The error as it is, a fixed text, and the fixed text as a permanent failure. */
#define MOST_TRIES 3

static const char *or_null(const char *text)
{
    return text != NULL && *text != '\0' ? text : NULL;
}

static void add_part(struct str *to, const char *text)
{
    if (or_null(text) == NULL)
        return;
    str_text(to, to->len > 0 ? "\n" : "");
    str_text(to, text);
}

void failure_make(struct failure *failure, const struct work *work, const struct err *why,
                  bool permanent)
{
    const struct db_diag *diag = work->end.diag;
    bool whole = diag != NULL && diag->code[0] != '\0' && strcmp(diag->code, why->code) == 0;
    *failure = (struct failure){.permanent = permanent,
                                .sqlstate = or_null(why->code),
                                .error = why->message,
                                .detail = or_null(why->detail),
                                .hint = or_null(why->hint)};
    add_part(&failure->context, why->context);
    if (whole) {
        failure->raised = why->raised;
        if (why->kind != ERR_TIMEOUT) { /* that one is said in our words */
            failure->error = diag->message.data;
            failure->detail = or_null(diag->detail.data);
            failure->hint = or_null(diag->hint.data);
        }
        add_part(&failure->context, diag->place.data);
        add_part(&failure->context, diag->inside.data);
        add_part(&failure->context, diag->context.data);
    }
    failure->where = or_null(failure->context.data);
}

void failure_replace(struct failure *failure, const char *error, const char *detail)
{
    if (error != NULL)
        failure->error = error;
    failure->detail = detail;
}

/* Raised by lockstep.fail and lockstep.complete when the token is no longer the task's. A task may
 * raise the same SQLSTATE by itself, so it counts only as an answer to a statement of ours. */
bool failure_stale(enum rc rc, const struct err *refused)
{
    return rc != RC_OK && rc != RC_LOST && sqlstate_is(refused, SQLSTATE_STALE_TOKEN);
}

bool failure_barred(const struct err *why)
{
    return sqlstate_barred(why) || sqlstate_other_schema(why);
}

/* A text of a task may hold anything, and an attempt whose failure cannot be recorded would be
 * tried without end. So each refusal leaves out more, and the last try is permanent: then
 * lockstep.fail reads no policy from the message. */
bool failure_again(struct failure *failure, enum rc rc, const struct err *refused)
{
    if (rc != RC_REJECT || failure_stale(rc, refused) || ++failure->tries == MOST_TRIES)
        return false;
    utf8_format(failure->refused, sizeof failure->refused,
                "the attempt failed; its error text could not be recorded (SQLSTATE %s)",
                refused->code);
    failure->error = failure->refused;
    failure->detail = failure->hint = failure->where = NULL;
    failure->permanent = failure->permanent || failure->tries > 1;
    return true;
}

void failure_done(struct failure *failure)
{
    str_done(&failure->context);
}
