/* Turns errors into problem documents (RFC 9457, media type application/problem+json). One table of
 * statuses, one function that chooses the status of a failed statement. The handlers choose the
 * status of their own refusals and call problem_answer. */
#include "console/problem.h"

#include "console/answer.h"
#include "console/request.h"
#include "console/visitor.h"
#include "db/sqlstate.h"

#include <cjson/cJSON.h>
#include <string.h>

static const struct {
    int status;
    const char *title;
} titles[] = {
    {400, "Bad Request"},       {401, "Unauthorized"},           {403, "Forbidden"},
    {404, "Not Found"},         {405, "Method Not Allowed"},     {409, "Conflict"},
    {413, "Content Too Large"}, {415, "Unsupported Media Type"}, {421, "Misdirected Request"},
    {429, "Too Many Requests"}, {500, "Internal Server Error"},  {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

const char *problem_title(int status)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

static void add(cJSON *document, const char *name, const char *text)
{
    if (text != NULL && *text != '\0')
        (void)cJSON_AddStringToObject(document, name, text);
}

void problem_answer(struct http_request *request, const struct problem *problem)
{
    cJSON *document = cJSON_CreateObject();
    /* about:blank: the title is that of the status (RFC 9457, section 4.2.1). */
    add(document, "type", "about:blank");
    add(document, "title", problem_title(problem->status));
    (void)cJSON_AddNumberToObject(document, "status", problem->status);
    add(document, "detail", problem->detail);
    add(document, "hint", problem->hint);
    add(document, "field", problem->field);
    add(document, "code", problem->code);
    char *text = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    http_answer(request, problem->status, "application/problem+json", text, strlen(text));
    cJSON_free(text);
}

/* The order matters: a person's lost session is RC_LOST, too, and must be 401 so that the page
 * shows the sign-in; a cancelled statement and a held row are recognised by their kind, before
 * their SQLSTATEs are compared. An error that fits no line above is 503, because nothing is known
 * against the request. */
static int status_of(enum rc rc, const struct err *err)
{
    if (strcmp(err->code, VISITOR_LOST) == 0)
        return 401;
    if (err->kind == ERR_CANCELLED)
        return 504;
    if (rc == RC_LOST)
        return 503;
    if (err->kind == ERR_HELD)
        return 409;
    if (sqlstate_is(err, SQLSTATE_NO_SUCH_THING))
        return 404;
    if (err->kind == ERR_USAGE)
        return 400;
    if (sqlstate_is(err, SQLSTATE_INSUFFICIENT_PRIVILEGE))
        return 403;
    if (sqlstate_is(err, SQLSTATE_QUERY_CANCELED))
        return 504;
    if (sqlstate_is(err, SQLSTATE_DATA_EXCEPTION))
        return 400;
    if (strncmp(err->code, "LS", 2) == 0 || rc == RC_REJECT)
        return 409;
    return 503;
}

/* The server's message for a time-out has no hint: a read can ask for less, a change cannot. */
static const char *late_hint(struct http_request *request, const struct err *err)
{
    if (*err->hint != '\0')
        return err->hint;
    return strcmp(http_method(request), "GET") == 0
               ? "Ask for less: a smaller limit, a shorter time, a filter; or try again in a "
                 "moment."
               : "Its transaction was rolled back. Try again in a moment, or use the command line, "
                 "which waits longer.";
}

/* A refusal that begins with the field: "schedules[0].cron: ...", as lockstep.job_refuse raises it,
 * or with the job, and the schedule, that has it: "job load, schedule night: cron: ...". */
static const char *field_of(const struct err *err, char *to, size_t size)
{
    static const char of_names[] = "abcdefghijklmnopqrstuvwxyz0123456789_.[]";
    if (err->kind == ERR_USAGE) /* only then object is the name of a parameter */
        return err->object;
    const char *said = err->message, *behind_job = strstr(said, ": ");
    if (strncmp(said, "job ", 4) == 0 && behind_job != NULL)
        said = behind_job + 2;
    size_t length = strspn(said, of_names);
    if (!sqlstate_is(err, SQLSTATE_INVALID_PARAMETER_VALUE) || length >= size ||
        strncmp(said + length, ": ", 2) != 0)
        return NULL;
    memcpy(to, said, length);
    to[length] = '\0';
    return to;
}

void problem_answer_err(struct http_request *request, enum rc rc, const struct err *err)
{
    char field[128];
    struct problem problem = {.status = status_of(rc, err),
                              .detail = err->message,
                              .hint = err->hint,
                              .field = field_of(err, field, sizeof field),
                              .code = err->code};
    if (problem.status == 503)
        http_add_header(request, "Retry-After", "2");
    if (problem.status == 504)
        problem.hint = late_hint(request, err);
    problem_answer(request, &problem);
}
