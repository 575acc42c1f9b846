/* schedule next, explain: the times of rules that need not be stored. The database computes them,
 * by the functions that compute those of stored rules, so a rule that is tried here fires in the
 * same way later.
 *
 * next computes times, explain also describes the rule in words, with the changes of the clock that
 * it meets. Neither writes a row. */
#include "cli/commands.h"
#include "cli/width.h"

#include "base/remedies.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_DEFAULT 5
#define MOST_LINE     (64 * 1024)

/* An option wins over the same field of a rule in JSON. */
static void set_text(cJSON *object, const char *name, const char *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    (void)cJSON_AddStringToObject(object, name, value);
}

/* The command's argument as a rule: an object is one as it is, anything else is a cron expression.
 * The caller frees it. */
static enum rc rule_text(const struct cli *cli, char **ret_text, struct err *err)
{
    const char *written = cli->arguments[0], *zone = cli_text(cli, "zone");
    cJSON *rule = *written == '{' ? cJSON_Parse(written) : cJSON_CreateObject();
    if (rule == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, written,
                       "Write {\"kind\": \"daily\", \"times\": [\"06:00\"]}.", "it is not JSON");
    if (*written != '{') {
        set_text(rule, "kind", "cron");
        set_text(rule, "expr", written);
    }
    if (zone != NULL)
        set_text(rule, "zone", zone);
    if (cli_text(cli, "after") != NULL)
        set_text(rule, "after", cli_text(cli, "after"));
    *ret_text = cJSON_PrintUnformatted(rule);
    cJSON_Delete(rule);
    return RC_OK;
}

/* RC_REJECT + ERR_USAGE if rule is none. Says from when a rule counts that does not say so itself,
 * but for explain, whose warnings do. */
static enum rc check(struct cli *cli, const char *rule, bool explains, struct err *err)
{
    DB_RESULT_AUTO *result = NULL;
    enum rc rc =
        db_run(cli->db, &sql_schedule_answer, (const char *const[]){rule, "1"}, &result, err);
    if (rc != RC_OK)
        return rc;
    cJSON *answer = cJSON_Parse(db_text(result, 0, SCHEDULE_ANSWER_ANSWER));
    const char *why = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "message"));
    const char *hint = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "hint"));
    if (why != NULL)
        rc = err_set(err, RC_REJECT, ERR_USAGE, cli->arguments[0], hint != NULL ? hint : "", "%s",
                     why);
    const char *from =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "counted_from"));
    if (from != NULL && !explains)
        cli_say(cli, "lockstep: active_start_date is not given: the rule counts from %s\n", from);
    cJSON_Delete(answer);
    return rc;
}

/* Runs stmt with the rule of the command and --count. */
static enum rc ask(struct cli *cli, const struct sql_statement *stmt, struct db_result **ret_rows,
                   struct err *err)
{
    FREE_AUTO char *rule = NULL;
    enum rc rc = rule_text(cli, &rule, err);
    if (rc == RC_OK)
        rc = check(cli, rule, stmt == &sql_schedule_explain, err);
    if (rc == RC_OK)
        rc = db_run(cli->db, stmt,
                    (const char *const[]){rule, DB_INT(cli_int(cli, "count", COUNT_DEFAULT))},
                    ret_rows, err);
    return rc;
}

/* One rule a line, one answer a line: a line that is refused is answered, too, and does not end the
 * command. */
static enum rc answer_lines(struct cli *cli, const char *path, FILE *in, struct err *err)
{
    FREE_AUTO char *line = NULL;
    size_t size = 0;
    ssize_t len;
    enum rc rc = RC_OK;
    for (int number = 1; rc == RC_OK && (len = getline(&line, &size, in)) >= 0; number++) {
        DB_RESULT_AUTO *result = NULL;
        char object[160];
        if ((size_t)len == strspn(line, " \t\r\n"))
            continue;
        (void)snprintf(object, sizeof object, "%.140s:%d", path, number);
        /* A rule is small; the limit keeps a wrong file from being sent to the database line by
         * line. */
        if (len > MOST_LINE || strlen(line) != (size_t)len)
            return err_set(err, RC_REJECT, ERR_USAGE, object, "Write one rule a line, in JSON.",
                           len > MOST_LINE ? "the line is longer than 64 kB"
                                           : "the line contains a NUL byte");
        rc = db_run(cli->db, &sql_schedule_answer,
                    (const char *const[]){line, DB_INT(cli_int(cli, "count", COUNT_DEFAULT))},
                    &result, err);
        if (rc == RC_OK)
            (void)printf("%s\n", db_text(result, 0, SCHEDULE_ANSWER_ANSWER));
    }
    if (rc == RC_OK && ferror(in))
        return err_set(err, RC_REJECT, ERR_USAGE, path, "", "it cannot be read: %s",
                       strerror(errno));
    return rc == RC_OK ? table_check(stdout, err) : rc;
}

static enum rc answer_file(struct cli *cli, const char *path, struct err *err)
{
    bool input = strcmp(path, "-") == 0;
    FILE *in = input ? stdin : fopen(path, "r");
    if (in == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, path, "", "it cannot be opened: %s",
                       strerror(errno));
    enum rc rc = answer_lines(cli, input ? "stdin" : path, in, err);
    if (!input)
        (void)fclose(in);
    return rc;
}

/* A rule, or --file with many: a line of JSON for each, so that a test can compare them. */
enum rc command_schedule_next(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *times = NULL;
    const char *file = cli_text(cli, "file");
    if ((file != NULL) == (cli->argument_count > 0))
        return err_set(err, RC_REJECT, ERR_USAGE, "schedule next", REMEDY_SCHEDULE_NEXT,
                       file != NULL ? "a rule and --file are given" : "no rule is given");
    if (file != NULL)
        return answer_file(cli, file, err);
    enum rc rc = ask(cli, &sql_schedule_next, &times, err);
    if (rc == RC_OK && db_rows(times) == 0)
        cli_say(cli, "lockstep: the rule never fires after that time\n");
    return rc == RC_OK ? cli_print_list(cli, times, "at,local", err) : rc;
}

/* For people: the meaning of the rule, then a paragraph for each kind of row. */
static enum rc print_meaning(const struct db_result *rows, struct err *err)
{
    static const struct {
        enum schedule_explain_kind kind;
        const char *title;
    } parts[] = {{SCHEDULE_EXPLAIN_IS_MEANS, NULL},
                 {SCHEDULE_EXPLAIN_IS_WARNING, NULL},
                 {SCHEDULE_EXPLAIN_IS_NEXT, "next times"},
                 {SCHEDULE_EXPLAIN_IS_CLOCK_CHANGE, "clock changes"}};
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        bool begun = false;
        for (int i = 0; i < db_rows(rows); i++) {
            if (db_word(rows, i, SCHEDULE_EXPLAIN_KIND) != (int)parts[part].kind)
                continue;
            if (!begun && parts[part].title != NULL)
                (void)printf("\n%s\n", parts[part].title);
            begun = true;
            if (parts[part].title != NULL)
                (void)printf("  %s  ", db_text(rows, i, SCHEDULE_EXPLAIN_AT));
            else if (part > 0)
                (void)printf("  warning: ");
            width_print(stdout, db_text(rows, i, SCHEDULE_EXPLAIN_WORDS), false);
            (void)printf("\n");
        }
    }
    return table_check(stdout, err);
}

enum rc command_schedule_explain(struct cli *cli, struct err *err)
{
    DB_RESULT_AUTO *rows = NULL;
    enum rc rc = ask(cli, &sql_schedule_explain, &rows, err);
    if (rc != RC_OK || cli->output != OUTPUT_TABLE)
        return rc == RC_OK ? cli_print(cli, rows, err) : rc;
    return print_meaning(rows, err);
}
