/* schedule add, set, remove: one schedule of a job. The options make the object that a file for job
 * apply would have; the database checks it.
 *
 * An option that is not given leaves its field out of the object: schedule set then keeps the old
 * value. A new option is a row of cli/job_options.c and a row of `whens` or `texts` here. */
#include "cli/commands.h"
#include "cli/job.h"

#include "base/remedies.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list written as "06:00,18:30", from text up to its end, or to a blank. *ret_rest: behind that.
 * Numbers become numbers when numbers says so. */
static cJSON *list_of(const char *text, bool numbers, const char **ret_rest)
{
    cJSON *list = cJSON_CreateArray();
    while (*text != '\0' && *text != ' ') {
        size_t len = strcspn(text, ", ");
        char word[64];
        (void)snprintf(word, sizeof word, "%.*s", (int)len, text);
        char *end;
        long number = strtol(word, &end, 10);
        cJSON_AddItemToArray(list, numbers && *word != '\0' && *end == '\0'
                                       ? cJSON_CreateNumber((double)number)
                                       : cJSON_CreateString(word));
        text += len + (text[len] == ',');
    }
    *ret_rest = text + strspn(text, " ");
    return list;
}

/* "MON,FRI 06:00,18:00" as days and times; daily: times alone. */
static void add_times(cJSON *rule, const char *kind, const char *written)
{
    if (strcmp(kind, "daily") != 0)
        cJSON_AddItemToObject(rule, "days",
                              list_of(written, strcmp(kind, "monthly") == 0, &written));
    cJSON_AddItemToObject(rule, "times", list_of(written, false, &written));
}

/* The option that says when. A new field name for each kind but those with lists. */
static const struct when {
    const char *option, *kind, *field;
} whens[] = {{"cron", "cron", "expr"},     {"every", "interval", "every"}, {"daily", "daily", NULL},
             {"weekly", "weekly", NULL},   {"monthly", "monthly", NULL},   {"at", "once", "at"},
             {"after-job", "after", "job"}};

/* The rule that --rule or one of `whens` says; RC_NONE: none of them. */
static enum rc rule_of(const struct cli *cli, cJSON **ret_rule, struct err *err)
{
    const char *written = cli_text(cli, "rule"), *given = written != NULL ? "rule" : NULL;
    cJSON *rule = written != NULL ? cJSON_Parse(written) : cJSON_CreateObject();
    if (!cJSON_IsObject(rule)) {
        cJSON_Delete(rule);
        return err_set(err, RC_REJECT, ERR_USAGE, "--rule",
                       "Write --rule '{\"kind\": \"calendar\", \"freq_type\": 4, "
                       "\"freq_interval\": 1}'.",
                       "it is no JSON object");
    }
    for (size_t i = 0; i < sizeof whens / sizeof *whens; i++) {
        const char *value = cli_text(cli, whens[i].option);
        if (value == NULL)
            continue;
        /* Two rules in one schedule would leave it open which one fires. */
        if (given != NULL) {
            cJSON_Delete(rule);
            return err_set(err, RC_REJECT, ERR_USAGE, cli->arguments[1],
                           "Add a schedule for each rule.", "it has two rules: --%s and --%s",
                           given, whens[i].option);
        }
        given = whens[i].option;
        (void)cJSON_AddStringToObject(rule, "kind", whens[i].kind);
        if (whens[i].field != NULL)
            (void)cJSON_AddStringToObject(rule, whens[i].field, value);
        else
            add_times(rule, whens[i].kind, value);
    }
    *ret_rule = rule;
    return given != NULL ? RC_OK : RC_NONE;
}

/* The object that the options make; *ret_empty: they name nothing. The caller frees the text. */
static enum rc fields_of(const struct cli *cli, const char *name, bool *ret_ruled, bool *ret_empty,
                         char **ret_text, struct err *err)
{
    static const struct {
        const char *option, *field;
    } texts[] = {{"phase", "phase"},         {"on", "on"},
                 {"zone", "zone"},           {"not-before", "not_before"},
                 {"not-after", "not_after"}, {"misfire", "misfire"},
                 {"jitter", "jitter"},       {"catchup-window", "catchup_window"},
                 {"grace", "grace"}};
    cJSON *fields = NULL;
    enum rc rc = rule_of(cli, &fields, err);
    if (rc != RC_OK && rc != RC_NONE)
        return rc;
    *ret_ruled = rc == RC_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *value = cli_text(cli, texts[i].option);
        /* An option wins over the same field of --rule. */
        cJSON_DeleteItemFromObjectCaseSensitive(value != NULL ? fields : NULL, texts[i].field);
        if (value != NULL)
            (void)cJSON_AddStringToObject(fields, texts[i].field, value);
    }
    if (cli_has(cli, "enabled")) {
        cJSON_DeleteItemFromObjectCaseSensitive(fields, "enabled");
        (void)cJSON_AddBoolToObject(fields, "enabled", strcmp(cli_text(cli, "enabled"), "on") == 0);
    }
    /* Before the name is added, which is no change. */
    *ret_empty = cJSON_GetArraySize(fields) == 0;
    if (name != NULL) {
        cJSON_DeleteItemFromObjectCaseSensitive(fields, "name");
        (void)cJSON_AddStringToObject(fields, "name", name);
    }
    *ret_text = cJSON_PrintUnformatted(fields);
    cJSON_Delete(fields);
    return RC_OK;
}

/* Runs stmt. A refusal that names a field means a field of this schedule. */
static enum rc change(struct cli *cli, const struct sql_statement *stmt, const char *const *params,
                      struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = job_refused(db_run(cli->db, stmt, params, &row, err), err);
    if (rc == RC_OK)
        cli_say(cli, "lockstep: %s: version %s\n", cli->arguments[0],
                db_text(row, 0, SCHEDULE_ADD_VERSION));
    return rc;
}

enum rc command_schedule_add(struct cli *cli, struct err *err)
{
    FREE_AUTO char *fields = NULL;
    bool ruled, empty;
    enum rc rc = fields_of(cli, cli->arguments[1], &ruled, &empty, &fields, err);
    if (rc == RC_OK && !ruled)
        return err_set(err, RC_REJECT, ERR_USAGE, "schedule add", REMEDY_SCHEDULE_ADD,
                       "no rule is given: one of --cron, --every, --daily, --weekly, --monthly, "
                       "--at, --after-job, --rule");
    return rc == RC_OK ? change(cli, &sql_schedule_add,
                                (const char *const[]){cli->arguments[0], fields,
                                                      cli_text(cli, "if-version")},
                                err)
                       : rc;
}

/* A rule of another kind keeps of the old one only the fields that every kind has, as zone and
 * bounds (lockstep.schedule_set). */
enum rc command_schedule_set(struct cli *cli, struct err *err)
{
    FREE_AUTO char *fields = NULL;
    bool ruled, empty;
    enum rc rc = fields_of(cli, NULL, &ruled, &empty, &fields, err);
    if (rc == RC_OK && empty)
        return err_set(err, RC_REJECT, ERR_USAGE, "schedule set", REMEDY_SCHEDULE_SET,
                       "nothing is to change");
    return rc == RC_OK ? change(cli, &sql_schedule_set,
                                (const char *const[]){cli->arguments[0], cli->arguments[1], fields,
                                                      cli_text(cli, "if-version")},
                                err)
                       : rc;
}

/* Occurrences of the schedule stay in the job's history. */
enum rc command_schedule_remove(struct cli *cli, struct err *err)
{
    return change(
        cli, &sql_schedule_remove,
        (const char *const[]){cli->arguments[0], cli->arguments[1], cli_text(cli, "if-version")},
        err);
}
