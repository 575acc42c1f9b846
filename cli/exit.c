/* The table of exit codes, and how an error is printed for people. The codes are a promise to
 * scripts: a kind of error may get a new code, but no code changes its meaning. docs and --help
 * read the table.
 *
 * A row whose meaning is empty shares the code of the row above, so --help and the manual show each
 * code once. */
#include "cli/exit.h"

#include "cli/width.h"

const struct exit_code exit_codes[] = {
    {ERR_FAILED, 1, "a run or a check failed, or PostgreSQL or Kafka refused a request"},
    {ERR_DB, 1, ""},
    {ERR_KAFKA, 1, ""},
    {ERR_USAGE, 2, "the command line or the configuration is wrong"},
    {ERR_CONFIG, 2, ""},
    {ERR_DB_DOWN, 3, "PostgreSQL is not reachable"},
    {ERR_KAFKA_DOWN, 4, "Kafka is not reachable"},
    {ERR_SCHEMA, 5, "the schema is not current"},
    {ERR_TIMEOUT, 6, "timed out"},
    {ERR_HELD, 7, "held by another"},
    {ERR_CANCELLED, 8, "cancelled by the user"},
    /* 70: EX_SOFTWARE of sysexits.h. */
    {ERR_INTERNAL, 70, "internal error"},
    {ERR_INTERNAL, 70, NULL},
};

int exit_of(enum rc rc, const struct err *err)
{
    if (rc == RC_OK || rc == RC_NONE)
        return 0;
    for (const struct exit_code *row = exit_codes; row->meaning != NULL; row++)
        if (row->kind == err->kind)
            return row->code;
    return 70;
}

static void print_part(FILE *out, const char *name, const char *text)
{
    if (*text == '\0')
        return;
    (void)fprintf(out, "  %s: ", name);
    width_print(out, text, true);
    (void)fputc('\n', out);
}

void exit_report(FILE *out, const struct err *err, bool verbose)
{
    (void)fprintf(out, "lockstep: ");
    width_print(out, err->object, true);
    (void)fprintf(out, "%s", *err->object != '\0' ? ": " : "");
    width_print(out, err->message, true);
    (void)fputc('\n', out);
    print_part(out, "detail", err->detail);
    /* Context and SQLSTATE are for people who report a fault; the detail is for everyone. */
    if (verbose) {
        print_part(out, "context", err->context);
        print_part(out, "code", err->code);
    }
    print_part(out, "hint", err->hint);
}
