#include "console/field.h"

#include "base/ascii.h"
#include "base/number.h"
#include "db/parameter.h"

#include <string.h>

#define RUN_STATES                                                                                 \
    "Publishing|Published|Running|Paused|Completed|PartiallyCompleted|Failed|Cancelled"
#define ID_MOST     INT64_MAX
#define NAME_MOST   250
#define REASON_MOST 2000
#define TEXT_MOST   1000000

static const struct field fields[] = {
    {"run", FIELD_UUID, 0, 0, NULL, NULL, "the id of a run"},
    {"task", FIELD_INT, 1, ID_MOST, NULL, NULL, "the id of a task"},
    {"queue", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "the name of a queue"},
    {"job", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "the name of a job"},
    {"rejected", FIELD_INT, 1, ID_MOST, NULL, NULL, "the id of a rejected message"},
    {"alert", FIELD_INT, 1, ID_MOST, NULL, NULL, "the id of an alert"},
    {"executor", FIELD_UUID, 0, 0, NULL, NULL, "the id of an executor"},
    {"pid", FIELD_INT, 1, INT32_MAX, NULL, NULL, "the process id of a session with PostgreSQL"},
    {"token", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "the name of a token"},
    {"limit", FIELD_INT, 1, 1000, NULL, "50", "how many items at most"},
    {"after", FIELD_CURSOR, 0, 0, NULL, NULL, "`next` of the answer before"},
    {"run_status", FIELD_WORDS, 0, 0, RUN_STATES, NULL, "states of runs"},
    {"status", FIELD_WORDS, 0, 0,
     "Pending|Processing|Error|Failed|Completed|Cancelled|Paused|Terminated|PartiallyCompleted",
     NULL, "states of tasks"},
    {"outcome", FIELD_WORDS, 0, 0, "fired|skipped|missed|error", NULL, "what became of the times"},
    {"alert_status", FIELD_WORD, 0, 0, "open|closed", NULL, "open or closed ones"},
    {"name", FIELD_TEXT, 0, NAME_MOST, NULL, NULL, "what the name contains"},
    {"text", FIELD_TEXT, 0, NAME_MOST, NULL, NULL, "what the text contains"},
    {"kind", FIELD_TEXT, 0, NAME_MOST, NULL, NULL, "kinds of events, with commas between"},
    {"event", FIELD_INT, 1, ID_MOST, NULL, NULL, "the number of an event: it and those before it"},
    {"order", FIELD_INT, INT64_MIN, ID_MOST, NULL, NULL, "the order of a phase"},
    {"since", FIELD_TIME, 0, 0, NULL, NULL, "nothing before this time"},
    {"until", FIELD_TIME, 0, 0, NULL, NULL, "nothing after this time"},
    {"closed", FIELD_BOOL, 0, 0, NULL, "false", "closed ones, too"},
    {"count", FIELD_INT, 1, 1000, NULL, "5", "how many"},
    {"buckets", FIELD_INT, 1, 2000, NULL, "200", "how many columns of time"},
    {"minutes", FIELD_INT, 1, 1440, NULL, "60", "how many minutes back"},
    {"runs_count", FIELD_INT, 1, 100, NULL, "10", "of how many runs"},
    {"reason", FIELD_TEXT, 1, REASON_MOST, NULL, NULL, "why; it is recorded"},
    {"max_readers", FIELD_INT, 0, 1000, NULL, NULL, "readers over all executors"},
    {"readers", FIELD_INT, 0, 1000, NULL, NULL,
     "readers of this executor; without it: all that it was started with"},
    {"response", FIELD_TEXT, 0, TEXT_MOST, NULL, NULL, "the response of the task"},
    {"error", FIELD_TEXT, 1, REASON_MOST, NULL, NULL, "the error of the task"},
    {"parameters", FIELD_JSON, 0, 0, NULL, NULL, "parameters of the job, an object"},
    {"tasks", FIELD_JSON, 0, 0, NULL, NULL, "an array of tasks, each as a message"},
    {"policy", FIELD_JSON, 0, 0, NULL, NULL, "what is to be changed, an object"},
    {"runs", FIELD_IDS, 0, 0, NULL, NULL, "ids of runs"},
    {"filter", FIELD_JSON, 0, 0, NULL, NULL,
     "queue, status and name of the runs that are meant, an object"},
    {"action", FIELD_WORD, 0, 0, "cancel|pause|resume|retry", NULL, "what to do with them"},
    {"level", FIELD_WORD, 0, 0, "monitor|operator", NULL, "what it may do"},
    {"value", FIELD_TEXT, 0, TEXT_MOST, NULL, NULL, "the corrected message"},
    {"days", FIELD_INT, 1, 3650, NULL, NULL, "after so many days it expires; without it: never"},
    {"title", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "a name for people"},
};

const struct field *field_named(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strncmp(fields[i].name, name, len) == 0 && fields[i].name[len] == '\0')
            return &fields[i];
    return NULL;
}

static void describe(const struct field *field, struct str *text)
{
    switch (field->type) {
    case FIELD_TEXT:
        str_format(text, "a text of %lld to %lld bytes", (long long)field->least,
                   (long long)field->most);
        break;
    case FIELD_INT:
        str_format(text, "a whole number from %lld to %lld", (long long)field->least,
                   (long long)field->most);
        break;
    case FIELD_UUID:
        str_text(text, "a UUID, as 123e4567-e89b-12d3-a456-426614174000");
        break;
    case FIELD_WORD:
        str_format(text, "one of %s", field->words);
        break;
    case FIELD_WORDS:
        str_format(text, "some of %s, with commas between", field->words);
        break;
    case FIELD_TIME:
        str_text(text, "a time, as 2026-11-23T08:00:00Z");
        break;
    case FIELD_CURSOR:
        str_text(text, "what `next` of the answer before says, of the same list");
        break;
    case FIELD_BOOL:
        str_text(text, "true or false");
        break;
    case FIELD_JSON:
        str_text(text, "an object or an array");
        break;
    case FIELD_IDS:
        str_text(text, "an array of UUIDs");
        break;
    }
}

static enum rc refuse(const struct field *field, struct err *err)
{
    STR_AUTO what = {0};
    describe(field, &what);
    return err_set(err, RC_REJECT, ERR_USAGE, field->name, "", "%s is %s", field->name, what.data);
}

static bool is_uuid(const char *text)
{
    for (int i = 0; i < 36; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-' : !ascii_xdigit(text[i]))
            return false;
    return text[36] == '\0';
}

static bool has_word(const char *words, const char *word, size_t len)
{
    for (const char *at = words; *at != '\0'; at += *at == '|') {
        size_t n = strcspn(at, "|");
        if (n == len && strncmp(at, word, len) == 0)
            return true;
        at += n;
    }
    return false;
}

static bool check_words(const struct field *field, const char *text, struct str *value)
{
    db_array_start(value);
    for (const char *at = text; *at != '\0'; at += *at == ',') {
        size_t n = strcspn(at, ",");
        if (!has_word(field->words, at, n))
            return false;
        db_array_text(value, at, n);
        at += n;
    }
    db_array_end(value);
    return *text != '\0';
}

/* PostgreSQL reads the time; here only that it is one, and not now() or infinity. "2026-11-23T08:00:00.123+01:00" */
static bool is_time(const char *text)
{
    static const char form[] = "dddd-dd-ddTdd:dd";
    size_t i;
    for (i = 0; form[i] != '\0'; i++)
        if (form[i] == 'd'   ? !ascii_digit(text[i])
            : form[i] == 'T' ? text[i] != 'T' && text[i] != ' '
                             : text[i] != form[i])
            return false;
    size_t rest = strspn(text + i, "0123456789:.+-Z");
    return text[i + rest] == '\0' && rest < 24;
}

static bool check_cursor(const char *list, const char *text, struct str *value)
{
    size_t len = strlen(list);
    if (strncmp(text, list, len) != 0 || text[len] != '.' || strlen(text) > 2 * NAME_MOST)
        return false;
    str_text(value, text + len + 1);
    return true;
}

static bool check(const struct field *field, const char *list, const char *text, struct str *value)
{
    size_t len = strlen(text);
    int64_t number;
    switch (field->type) {
    case FIELD_CURSOR:
        return check_cursor(list, text, value);
    case FIELD_WORDS:
        return check_words(field, text, value);
    case FIELD_TEXT:
        if ((int64_t)len < field->least || (int64_t)len > field->most)
            return false;
        break;
    case FIELD_INT:
        if (!int64_parse(text, len, &number) || number < field->least || number > field->most)
            return false;
        break;
    case FIELD_UUID:
        if (!is_uuid(text))
            return false;
        break;
    case FIELD_WORD:
        if (!has_word(field->words, text, len))
            return false;
        break;
    case FIELD_TIME:
        if (!is_time(text))
            return false;
        break;
    case FIELD_BOOL:
        if (!str_same(text, "true") && !str_same(text, "false"))
            return false;
        break;
    case FIELD_JSON:
    case FIELD_IDS:
        break;
    }
    str_text(value, text);
    return true;
}

enum rc field_check(const struct field *field, const char *list, const char *text,
                    struct str *value, struct err *err)
{
    str_clear(value);
    str_text(value, "");
    return check(field, list, text, value) ? RC_OK : refuse(field, err);
}
