/* message check FILE: judges messages as an executor would, before they are on a topic, with the
 * codec (task/message.h) and the order of tags (task/tags.h), and without a server. Each fault has
 * a line with an example of the right form. Facts that only a database or a configuration has are
 * not checked: whether a run is there, whether a command is registered.
 *
 * Three forms are read: values as they are on the topic (record), lines that publish reads
 * (staged), and lines of kcat -J, which have the headers, too. The exit code is 1 if a message is
 * wrong; warnings do not count. */
#include "base/number.h"
#include "cli/commands.h"
#include "cli/width.h"

#include "kafka/consumer.h"
#include "kafka/source.h"
#include "task/message.h"
#include "task/tags.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum form { FORM_RECORD, FORM_STAGED, FORM_KCAT };

struct checking {
    struct cli *cli;
    const char *file;
    enum form form;
    struct tags *tags;
    struct table *table; /* NULL: for people */
    int64_t line, messages, wrong, warned;
};

/* An example for each field: the codec's sentence names the fault, and the example shows the right
 * form. */
static const struct {
    const char *field, *example;
} examples[] = {
    {"order", "\"order\": 100"},
    {"previous_order",
     "\"previous_order\": 0 in the first phase, then the order of the phase before"},
    {"seq", "\"seq\": 0, then 1, 2, ... over all messages of the run, its end included"},
    {"run", "\"run\": \"7b1f0f5e-9b0a-4a53-8f43-2a8f3bb0c9de\""},
    {"type", "\"type\": \"sql\" (or command, http, external, end)"},
    {"sql", "\"sql\": \"CALL build($1)\""},
    {"params", "\"params\": [7, \"text\"], for several statements one array each"},
    {"steps", "\"steps\": [{\"name\": \"load\", \"sql\": \"CALL load()\"}]"},
    {"command", "\"command\": \"NAME\", a name of the executors' [commands]"},
    {"args", "\"args\": [\"--table\", \"orders\"]"},
    {"url", "\"url\": \"https://example.com/hook\""},
    {"headers", "\"headers\": {\"Content-Type\": \"text/plain\"}"},
    {"max_attempts", "\"max_attempts\": 3"},
    {"retry_intervals", "\"retry_intervals\": [1, 10, 60]"},
    {"retry_on", "\"retry_on\": [\"40\", \"55P03\"]"},
    {"timeout", "\"timeout\": 3600, in seconds"},
    {"not_before", "\"not_before\": \"2026-01-31T05:00:00+01:00\""},
    {"condition", "\"condition\": \"always\" (or success, failure)"},
    {"tasks", "\"tasks\": 4, as many as the run has"},
    {"phases", "\"phases\": 4, as many as the run has"},
    {"transaction", "\"transaction\": false"},
    {"aborted", "\"aborted\": true"},
};

/* The advice for a wrong path ("$.seq", "$.params[2]"): the codec's own, unless that is the general
 * one that fits every fault. */
static const char *advice(const struct err *err, char buffer[200])
{
    const char *name = strncmp(err->object, "$.", 2) == 0 ? err->object + 2 : "";
    size_t len = strcspn(name, ".[");
    if (*err->hint != '\0' && strcmp(err->hint, MESSAGE_ADVICE) != 0)
        return err->hint;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strlen(examples[i].field) == len && strncmp(examples[i].field, name, len) == 0) {
            (void)snprintf(buffer, 200, "Write %s", examples[i].example);
            return buffer;
        }
    return err->hint;
}

static void report(struct checking *check, bool bad, const char *field, const char *reason,
                   const char *message, const char *write)
{
    check->wrong += bad;
    check->warned += !bad;
    if (check->table != NULL) {
        const char *cells[] = {check->line > 0 ? DB_INT(check->line) : NULL,
                               bad ? "wrong" : "warn",
                               *field ? field : NULL,
                               reason,
                               message,
                               *write ? write : NULL};
        table_row(check->table, cells);
        return;
    }
    STR_AUTO text = {0};
    const char *before = err_before(field, message);
    str_format(&text, "%s:", check->file);
    if (check->line > 0)
        str_format(&text, "%lld:", (long long)check->line);
    str_format(&text, " %s%s%s%s\n", bad ? "" : "warning: ", before, *before ? ": " : "", message);
    if (*write != '\0')
        str_format(&text, "  %s\n", write);
    width_print(stdout, text.data, true);
}

static void report_err(struct checking *check, const struct err *err)
{
    char buffer[200];
    report(check, true, err->object, err->code, err->message, advice(err, buffer));
}

/* A staged task has no tags yet: the publisher adds them. So only records are compared with each
 * other. */
static void check_value(struct checking *check, const char *value, size_t len)
{
    MESSAGE_AUTO *msg = NULL;
    struct err err = {0};
    bool staged = check->form == FORM_STAGED;
    enum rc rc = message_parse(value, len, staged ? MESSAGE_STAGED : MESSAGE_RECORD, &msg, &err);
    check->messages++;
    if (rc != RC_OK && !staged) {
        char run[37];
        int64_t seq = -1;
        /* A rejected message still occupies its seq: without this the next one would be reported as
         * a hole. */
        bool read = value != NULL && message_peek(value, len, run, &seq) == RC_OK;
        tags_rejected(check->tags, read ? run : NULL, seq);
    } else if (rc == RC_OK && !staged) {
        rc = tags_check(check->tags, msg, &err);
    }
    if (rc != RC_OK)
        report_err(check, &err);
}

/* "headers": ["name", "value", ...] as kcat -J has it. Of those only traceparent is read. */
static void check_headers(struct checking *check, const cJSON *headers)
{
    const cJSON *name = headers != NULL ? headers->child : NULL;
    for (; name != NULL && name->next != NULL; name = name->next->next) {
        const char *value = cJSON_GetStringValue(name->next);
        if (cJSON_IsString(name) && strcmp(name->valuestring, "traceparent") == 0 &&
            (value == NULL || !kafka_traceparent_valid(value, strlen(value))))
            report(check, false, "traceparent", "bad_header",
                   "the header traceparent is not as W3C Trace Context has it: it is left out",
                   "Write 00-, 32 and 16 lower-case hexadecimal digits, and two: "
                   "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    }
}

/* cJSON ends a string at its first NUL, and the bytes behind it would not be checked. U+0001 is
 * refused wherever a NUL is: in a message and in a traceparent. json_parse() cannot read the line:
 * kcat copies a key that is not UTF-8, and keys are not checked. */
static void replace_nuls(char *text, size_t len)
{
    static const char nul[] = "\\u0000";
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\0')
            text[i] = '\1';
        if (text[i] != '\\')
            continue;
        if (len - i >= sizeof nul - 1 && memcmp(text + i, nul, sizeof nul - 1) == 0)
            text[i + sizeof nul - 2] = '1';
        i++; /* the character that is escaped may be a backslash, too */
    }
}

/* A line of kcat -J: the record's value is in payload. */
static void check_envelope(struct checking *check, char *text, size_t len)
{
    replace_nuls(text, len);
    cJSON *envelope = cJSON_ParseWithLength(text, len);
    const cJSON *payload = cJSON_GetObjectItemCaseSensitive(envelope, "payload");
    const char *value = cJSON_GetStringValue(payload);
    if (payload == NULL || (value == NULL && !cJSON_IsNull(payload))) {
        check->messages++;
        report(
            check, true, "payload", "bad_json", "the line is none that kcat -J writes",
            "Each line is a record, as kcat -C -J writes it. For values alone leave out --form.");
    } else {
        check_value(check, value, value != NULL ? strlen(value) : 0);
        check_headers(check, cJSON_GetObjectItemCaseSensitive(envelope, "headers"));
    }
    cJSON_Delete(envelope);
}

static enum rc check_lines(struct checking *check, FILE *in, struct err *err)
{
    FREE_AUTO char *text = NULL;
    size_t size = 0;
    ssize_t got;
    while ((got = getline(&text, &size, in)) >= 0) {
        size_t len = (size_t)got, mark = 0;
        check->line++;
        while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
            len--;
        if (check->form == FORM_STAGED && check->line == 1 && len >= 3 &&
            memcmp(text, "\xef\xbb\xbf", 3) == 0)
            mark = 3; /* a byte order mark, which publish skips */
        /* An empty line is no record: a file usually ends with one. */
        if (strspn(text + mark, " \t\r") >= len - mark)
            continue;
        if (check->form == FORM_KCAT)
            check_envelope(check, text, len);
        else
            check_value(check, text + mark, len - mark);
    }
    if (ferror(in))
        return err_set(err, RC_REJECT, ERR_USAGE, check->file, "", "cannot be read: %s",
                       strerror(errno));
    return RC_OK;
}

/* A warning and no fault: the end may follow in another file. */
static void report_endless(struct checking *check)
{
    const char *run;
    check->line = 0;
    for (int i = 0; (run = tags_endless(check->tags, i)) != NULL; i++) {
        STR_AUTO text = {0};
        str_format(&text, "run %s has no end: the runs behind it wait for it", run);
        report(check, false, "", "no_end", text.data,
               "Write an end with the next seq and the counts: \"type\": \"end\", \"tasks\": N, "
               "\"phases\": N");
    }
}

/* Faults have been printed line by line; the error only counts them. */
static enum rc finish(struct checking *check, struct err *err)
{
    if (check->form != FORM_STAGED)
        report_endless(check);
    enum rc rc = check->table != NULL ? table_end(check->table, err) : table_check(stdout, err);
    if (rc == RC_OK && check->wrong > 0)
        return err_set(err, RC_REJECT, ERR_FAILED, check->file, "",
                       "%lld of %lld message%s %s wrong", (long long)check->wrong,
                       (long long)check->messages, NUMBER_S(check->messages),
                       check->wrong == 1 ? "is" : "are");
    if (rc == RC_OK && check->messages == 0)
        return err_set(err, RC_REJECT, ERR_FAILED, check->file, "", "there is no message");
    if (rc == RC_OK)
        cli_say(check->cli, "lockstep: %s: %lld message%s right\n", check->file,
                (long long)check->messages, check->messages == 1 ? " is" : "s are");
    return rc;
}

static enum form form_of(const struct cli *cli)
{
    const char *form = cli_text(cli, "form");
    if (form == NULL || strcmp(form, "record") == 0)
        return FORM_RECORD;
    return strcmp(form, "staged") == 0 ? FORM_STAGED : FORM_KCAT;
}

enum rc command_message_check(struct cli *cli, struct err *err)
{
    static const char *const names[] = {"line", "grade", "field", "reason", "message", "write"};
    bool input = strcmp(cli->arguments[0], "-") == 0;
    struct checking check = {
        .cli = cli, .file = input ? "stdin" : cli->arguments[0], .form = form_of(cli)};
    FILE *in = input ? stdin : fopen(cli->arguments[0], "r");
    if (in == NULL)
        return err_set(err, RC_REJECT, ERR_USAGE, check.file, "", "cannot be read: %s",
                       strerror(errno));
    check.tags = tags_new();
    if (cli->output != OUTPUT_TABLE)
        check.table = table_new(stdout, cli_style(cli), "isttt", names, 6, false);
    enum rc rc = check_lines(&check, in, err);
    if (rc == RC_OK)
        rc = finish(&check, err);
    else if (check.table != NULL && table_end(check.table, NULL) != RC_OK)
        rc = RC_REJECT; /* the file's error is the one to report */
    tags_free(check.tags);
    if (!input)
        (void)fclose(in);
    return rc;
}
