/* The table of all parameters, and one check for each type. A value that passes is written in the
 * form in which PostgreSQL's cast accepts it, so that no cast in a statement fails on a client's
 * text: the client gets a hint about its own parameter, not an error of SQL. Where a parameter
 * comes from is console/call.c's; its JSON Schema is console/openapi.c's. */
#include "console/field.h"

#include "base/ascii.h"
#include "base/number.h"
#include "db/parameter.h"

#include <string.h>
#include <time.h>

#define RUN_STATES                                                                                 \
    "Publishing|Published|Running|Paused|Completed|PartiallyCompleted|Failed|Cancelled"
#define ID_MOST       INT64_MAX
#define NAME_MOST     250
#define PASSWORD_MOST 1000
#define REASON_MOST   2000
#define SLUG_MOST     63
#define TOPIC_MOST    249          /* Kafka's limit for a topic's name */
#define RUN_MS_MOST   315360000000 /* ten years */
#define TEXT_MOST     1000000
/* Digits of the numbers in cursors, as in the patterns of console/openapi.c. An order may have as
 * many as a bigint has; 18 always fit one; 16 digits of microseconds reach the year 2286. */
#define NUMBER_DIGITS 19
#define PLACE_DIGITS  18
#define TIME_DIGITS   16

#define SLUG "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* name, type, least, most, words, initial, meaning; a route names its parameters by the first
 * column. */
static const struct field fields[] = {
    {"run", FIELD_UUID, 0, 0, NULL, NULL, "the id of a run"},
    {"new_run", FIELD_UUID, 0, 0, NULL, NULL,
     "the id of the run: the same tasks under the same id are one run; without it: a new one"},
    {"task", FIELD_INT, 1, ID_MOST, NULL, NULL, "the id of a task"},
    {"queue_name", FIELD_SLUG, 1, SLUG_MOST, NULL, NULL, "the name of the new queue"},
    {"topic", FIELD_TEXT, 1, TOPIC_MOST, NULL, NULL, "its topic; without it: the queue's name"},
    {"partition", FIELD_INT, 0, INT32_MAX, NULL, NULL,
     "of the topic; without it: the only one there is"},
    {"from_offset", FIELD_INT, 0, ID_MOST, NULL, NULL,
     "begin here; without it: at the log's begin"},
    {"accept_from", FIELD_PLACE, 0, ID_MOST, FIELD_PLACES, NULL,
     "continue here; without it: at the cursor"},
    {"from_end", FIELD_BOOL, 0, 0, NULL, "false", "begin at the end: what is there is not run"},
    {"create_topic", FIELD_BOOL, 0, 0, NULL, "false", "make the topic if there is none"},
    {"replication", FIELD_INT, 1, INT16_MAX, NULL, NULL,
     "of a topic that is made; without it: the cluster's"},
    {"dead_letters", FIELD_BOOL, 0, 0, NULL, NULL, "rejected messages go to TOPIC.rejected, too"},
    {"external_lease", FIELD_INT, 1, 3600000, NULL, NULL,
     "seconds that a worker of an external task may be silent"},
    {"retry_intervals", FIELD_TEXT, 1, NAME_MOST, NULL, NULL,
     "seconds until the next attempt, with commas between; the last one repeats"},
    {"retry_on", FIELD_TEXT, 1, NAME_MOST, NULL, NULL,
     "which errors are tried again: SQLSTATE classes or codes, all; -: not"},
    {"replay", FIELD_INT, 1, INT32_MAX, NULL, NULL, "the number of a replay"},
    {"schedule_definition", FIELD_OBJECT, 0, 0, NULL, NULL,
     "the schedule, with the fields of a file, also its name"},
    {"change", FIELD_OBJECT, 0, 0, NULL, NULL, "the fields that change; null: as never set"},
    {"rule", FIELD_OBJECT, 0, 0, NULL, NULL, "the rule, with the fields of a schedule"},
    {"publish", FIELD_BOOL, 0, 0, NULL, "false", "whether it may publish, too"},
    {"queue", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "the name of a queue"},
    {"job", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "the name of a job"},
    {"rejected", FIELD_INT, 1, ID_MOST, NULL, NULL, "the id of a rejected message"},
    {"alert", FIELD_INT, 1, ID_MOST, NULL, NULL, "the id of an alert"},
    {"executor", FIELD_UUID, 0, 0, NULL, NULL, "the id of an executor"},
    {"pid", FIELD_INT, 1, INT32_MAX, NULL, NULL, "the process id of a session with PostgreSQL"},
    {"token", FIELD_SLUG, 1, SLUG_MOST, NULL, NULL, "the name of a token"},
    {"limit", FIELD_INT, 1, 1000, NULL, "50", "how many items at most"},
    {"after", FIELD_AFTER_NUMBER, 0, 0, NULL, NULL, "`next` of the answer before"},
    {"after_place", FIELD_AFTER_PLACE, 0, 0, NULL, NULL, "`next` of the answer before"},
    {"after_name", FIELD_AFTER_NAME, 1, NAME_MOST, NULL, NULL, "`next` of the answer before"},
    {"run_status", FIELD_WORDS, 0, 0, RUN_STATES, NULL, "states of runs"},
    {"status", FIELD_WORDS, 0, 0,
     "Pending|Processing|Error|Failed|Completed|Cancelled|Paused|Terminated|PartiallyCompleted",
     NULL, "states of tasks"},
    {"outcome", FIELD_WORDS, 0, 0, "fired|skipped|missed|error", NULL, "what became of the times"},
    {"alert_status", FIELD_WORD, 0, 0, "open|closed", NULL, "open or closed ones"},
    {"name", FIELD_TEXT, 0, NAME_MOST, NULL, NULL, "what the name contains"},
    {"text", FIELD_TEXT, 0, NAME_MOST, NULL, NULL, "what the text contains"},
    {"kind", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "kinds of events, with commas between"},
    {"event", FIELD_INT, 1, ID_MOST, NULL, NULL, "the number of an event: it and those before it"},
    {"order", FIELD_INT, 1, ID_MOST, NULL, NULL, "the order of a phase"},
    {"since", FIELD_TIME, 0, 0, NULL, NULL, "nothing before this time"},
    {"until", FIELD_TIME, 0, 0, NULL, NULL, "nothing after this time"},
    {"count", FIELD_INT, 1, 1000, NULL, "5", "how many"},
    {"from_ms", FIELD_INT, 0, RUN_MS_MOST, NULL, NULL, "milliseconds after the start of the run"},
    {"to_ms", FIELD_INT, 0, RUN_MS_MOST, NULL, NULL, "milliseconds after the start of the run"},
    {"buckets", FIELD_INT, 1, 2000, NULL, "200", "how many columns of time"},
    {"runs_count", FIELD_INT, 1, 100, NULL, "10", "of how many runs"},
    {"reason", FIELD_TEXT, 1, REASON_MOST, NULL, NULL, "why; it is recorded"},
    {"max_readers", FIELD_INT, 0, 1000, NULL, NULL, "readers over all executors"},
    {"readers", FIELD_INT, 0, 1000, NULL, NULL,
     "readers of this executor; without it: all that it was started with"},
    {"parameters", FIELD_OBJECT, 0, 0, NULL, NULL, "parameters of the job"},
    {"tasks", FIELD_TASKS, 1, 100000, NULL, NULL, "tasks, each with the members of staged work"},
    {"policy", FIELD_OBJECT, 0, 0, "on_failure runs=run_order max_attempts=times lookahead=times",
     NULL, "what is to be changed"},
    {"on_failure", FIELD_WORD, 0, 0, "stop|continue|pause", NULL,
     "what a failed task does to its run"},
    {"run_order", FIELD_WORD, 0, 0, "serial|concurrent", NULL, "order between runs"},
    {"times", FIELD_INT, 1, 1000, NULL, NULL, "how many"},
    {"runs", FIELD_UUIDS, 0, 1000, NULL, NULL, "ids of runs"},
    {"filter", FIELD_OBJECT, 0, 0, "queue status=run_status name since until", NULL,
     "which runs are meant; of more than 1,000 the newest"},
    {"corrections", FIELD_OBJECTS, 1, 1000, NULL, NULL,
     "each with rejected_id, and with value, the corrected message, if it is not published as it "
     "is"},
    {"rejected_filter", FIELD_OBJECT, 0, 0, "queue run reason_is=rejected_reason", NULL,
     "which rejected messages are meant, 1,000 of one queue at most"},
    {"rejected_reason", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "the reason of their rejection"},
    {"action", FIELD_WORD, 0, 0, "cancel|pause|resume|retry", NULL, "what to do with them"},
    {"level", FIELD_WORD, 0, 0, "monitor|operator|ping", NULL, "what it may do"},
    {"report", FIELD_WORD, 0, 0, "ok|fail", "ok", "how it has ended; without it: ok"},
    {"report_detail", FIELD_TEXT, 0, REASON_MOST, NULL, NULL,
     "a text about its end, which is kept"},
    {"value", FIELD_TEXT, 0, TEXT_MOST, NULL, NULL, "the corrected message"},
    {"days", FIELD_INT, 1, 3650, NULL, NULL, "after so many days it expires; without it: never"},
    {"definition", FIELD_OBJECT, 0, 0, NULL, NULL, "the job, with the fields of a file"},
    {"definitions", FIELD_OBJECTS, 1, 10000, NULL, NULL,
     "the jobs, each with the fields of a file"},
    {"declared", FIELD_TEXT, 1, NAME_MOST, NULL, NULL,
     "a name for the list, as that of a file: by it the jobs are known the next time"},
    {"prune", FIELD_BOOL, 0, 0, NULL, "false",
     "delete jobs that were declared under this name and are no more"},
    {"force", FIELD_BOOL, 0, 0, NULL, "false",
     "overwrite changes that were made by hand, or elsewhere"},
    {"version", FIELD_INT, 1, INT32_MAX, NULL, NULL, "only if the job is of this version"},
    {"dry_run", FIELD_BOOL, 0, 0, NULL, "false", "only say what would be done"},
    {"preview", FIELD_BOOL, 0, 0, NULL, "false", "only say what would be done"},
    {"again", FIELD_BOOL, 0, 0, NULL, "false", "also if it was redriven before"},
    {"schedule", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "the name of a schedule of the job"},
    {"overlap", FIELD_WORD, 0, 0, "queue_one|allow|skip", "queue_one",
     "what to do while a run of the job is open"},
    {"at", FIELD_TIME, 0, 0, NULL, NULL, "as if it were this time; without it: now"},
    {"from_time", FIELD_TIME, 0, 0, NULL, NULL, "the first time"},
    {"to_time", FIELD_TIME, 0, 0, NULL, NULL, "the end, which is not part of it"},
    {"from", FIELD_PLACE, 0, ID_MOST, NULL, NULL, "begin here: an offset, a time, or a word"},
    {"to", FIELD_PLACE, 0, ID_MOST, NULL, NULL, "end before: an offset, a time, or a word"},
    {"mode", FIELD_WORD, 0, 0, "missing|failed|all", "missing", "which messages are run"},
    {"resume", FIELD_INT, 1, INT32_MAX, NULL, NULL, "the number of a replay that is continued"},
    {"login", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "a login of PostgreSQL"},
    {"password", FIELD_TEXT, 1, PASSWORD_MOST, NULL, NULL, "its password"},
    {"title", FIELD_TEXT, 1, NAME_MOST, NULL, NULL, "a name for people"},
};

const struct field *field_named(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strncmp(fields[i].name, name, len) == 0 && fields[i].name[len] == '\0')
            return &fields[i];
    return NULL;
}

/* An array of words (FIELD_WORDS) is one text in a body, too. */
bool field_is_text(const struct field *field)
{
    return field->type != FIELD_INT && field->type != FIELD_BOOL && field->type != FIELD_PLACE &&
           field->type != FIELD_OBJECT && field->type != FIELD_OBJECTS &&
           field->type != FIELD_TASKS && field->type != FIELD_UUIDS;
}

void field_describe(const struct field *field, struct str *text)
{
    switch (field->type) {
    case FIELD_TEXT:
        str_format(text, "a text of %lld to %lld characters", (long long)field->least,
                   (long long)field->most);
        break;
    case FIELD_INT:
        str_format(text, "a whole number from %lld to %lld", (long long)field->least,
                   (long long)field->most);
        break;
    case FIELD_UUID:
        str_text(text, "a UUID, as 123e4567-e89b-12d3-a456-426614174000");
        break;
    case FIELD_SLUG:
        str_text(text, "a name of at most 63 letters, digits, and . _ -");
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
    case FIELD_AFTER_NUMBER:
    case FIELD_AFTER_PLACE:
    case FIELD_AFTER_NAME:
        str_text(text, "what `next` of the answer before says, of the same list");
        break;
    case FIELD_BOOL:
        str_text(text, "true or false");
        break;
    case FIELD_PLACE:
        str_format(text, "an offset, %sor earliest or latest",
                   field->words == NULL ? "a time, as 2026-11-23T08:00:00Z, " : "");
        break;
    case FIELD_OBJECT:
        str_text(text, "an object");
        break;
    case FIELD_OBJECTS:
    case FIELD_TASKS:
        str_text(text, "an array of objects");
        break;
    case FIELD_UUIDS:
        str_format(text, "an array of at most %lld UUIDs", (long long)field->most);
        break;
    }
}

static enum rc refuse(const struct field *field, const char *name, struct err *err)
{
    STR_AUTO what = {0};
    field_describe(field, &what);
    return err_set(err, RC_REJECT, ERR_USAGE, name, field->meaning, "%s is %s", name, what.data);
}

/* Characters of UTF-8, as PostgreSQL's length() counts them: bytes that continue a character do not
 * count. The text is valid UTF-8 by now (console/request.c, or the JSON parser). */
static int64_t characters(const char *text)
{
    int64_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

bool field_is_uuid(const char *text)
{
    for (int i = 0; i < 36; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-' : !ascii_xdigit(text[i]))
            return false;
    return text[36] == '\0';
}

/* A whole word of a list "a|b|c". */
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

/* Written as a text[]. An empty list is refused: it would select nothing. */
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

/* Two digits, or four; -1: they are none. */
static int digits(const char *text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!ascii_digit(text[i]))
            return -1;
        value = value * 10 + text[i] - '0';
    }
    return value;
}

/* "Z", "+01:00"; in seconds. */
static bool read_zone(const char *text, int64_t *ret_s)
{
    *ret_s = 0;
    if ((*text == 'Z' || *text == 'z') && text[1] == '\0')
        return true;
    if ((*text != '+' && *text != '-') || strlen(text) != 6 || text[3] != ':')
        return false;
    int hours = digits(text + 1, 2), minutes = digits(text + 4, 2);
    *ret_s = (*text == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60;
}

/* RFC 3339: "2026-11-23T08:00:00.123+01:00"; a blank may stand for the T (section 5.6). The result
 * is in UTC with the offset +00, because PostgreSQL accepts neither the year 0 nor every offset
 * that RFC 3339 allows; years before 1 are written with BC. */
static bool check_time(const char *text, struct str *value)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    for (size_t i = 0; form[i] != '\0'; i++)
        if (form[i] == 'd'   ? !ascii_digit(text[i])
            : form[i] == 'T' ? text[i] != 'T' && text[i] != 't' && text[i] != ' '
                             : text[i] != form[i])
            return false;
    struct tm tm = {.tm_year = digits(text, 4) - 1900,
                    .tm_mon = digits(text + 5, 2) - 1,
                    .tm_mday = digits(text + 8, 2),
                    .tm_hour = digits(text + 11, 2),
                    .tm_min = digits(text + 14, 2),
                    .tm_sec = digits(text + 17, 2)};
    const struct tm given = tm;
    const char *fraction = text + sizeof form - 1;
    size_t len = *fraction == '.' ? 1 + strspn(fraction + 1, "0123456789") : 0;
    int64_t zone_s;
    if (len == 1 || !read_zone(fraction + len, &zone_s) || given.tm_hour > 23 ||
        given.tm_min > 59 || given.tm_sec > 60)
        return false;
    /* timegm normalises: February 30 becomes March 2, so a changed day or month shows a day that
     * does not exist. Second 60 is a leap second and becomes the next minute. */
    time_t at = timegm(&tm);
    if (given.tm_sec < 60 && (tm.tm_mday != given.tm_mday || tm.tm_mon != given.tm_mon))
        return false; /* there is no such day */
    at -= zone_s;
    (void)gmtime_r(&at, &tm);
    int year = tm.tm_year + 1900;
    str_format(value, "%04d-%02d-%02d %02d:%02d:%02d", year > 0 ? year : 1 - year, tm.tm_mon + 1,
               tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    /* Nine digits at most: PostgreSQL rounds to microseconds and accepts no text without end. */
    str_add(value, fraction, len < 10 ? len : 10);
    str_text(value, year > 0 ? "+00" : "+00 BC");
    return true;
}

/* 1 to most digits; 0: there are none, or more. */
static size_t count_digits(const char *text, size_t most)
{
    size_t len = strspn(text, "0123456789");
    return len <= most ? len : 0;
}

/* Not all numbers of 19 digits fit a bigint, and a pattern for those that do is long. A number that
 * is above the largest one means the same as that: there is nothing between them. */
static bool check_number(const char *text, struct str *value)
{
    char most[INT64_TEXT_SIZE];
    size_t count = count_digits(text, NUMBER_DIGITS);
    if (count == NUMBER_DIGITS && strcmp(text, int64_text(most, INT64_MAX)) > 0) {
        str_clear(value);
        str_int(value, INT64_MAX);
    }
    return count > 0 && text[count] == '\0';
}

/* A cursor is "LIST.NUMBER", "LIST.TIME_NUMBER" or "LIST.NAME". With the name of its list in front,
 * a cursor of another list cannot silently start at a wrong place. */
static bool check_after(const struct field *field, const char *list, const char *text,
                        struct str *value)
{
    size_t len = strlen(list), first = 0;
    if (strncmp(text, list, len) != 0 || text[len] != '.')
        return false;
    const char *at = text + len + 1;
    str_text(value, at);
    if (field->type == FIELD_AFTER_NAME)
        return *at != '\0' && characters(at) <= field->most;
    if (field->type == FIELD_AFTER_NUMBER)
        return check_number(at, value);
    first = count_digits(at, TIME_DIGITS);
    if (first == 0 || at[first] != '_')
        return false;
    at += first + 1;
    first = count_digits(at, PLACE_DIGITS);
    return first > 0 && at[first] == '\0';
}

static bool check_place(const struct field *field, const char *text, struct str *value)
{
    int64_t offset;
    if (!has_word(FIELD_PLACES, text, strlen(text)) &&
        !(int64_parse(text, strlen(text), &offset) && offset >= 0))
        return field->words == NULL && check_time(text, value);
    str_text(value, text);
    return true;
}

static bool check(const struct field *field, const char *list, const char *text, struct str *value)
{
    size_t len = strlen(text);
    int64_t number;
    switch (field->type) {
    case FIELD_AFTER_NUMBER:
    case FIELD_AFTER_PLACE:
    case FIELD_AFTER_NAME:
        return check_after(field, list, text, value);
    case FIELD_WORDS:
        return check_words(field, text, value);
    case FIELD_TEXT:
        if (characters(text) < field->least || characters(text) > field->most)
            return false;
        break;
    case FIELD_INT:
        if (!int64_parse(text, len, &number) || number < field->least || number > field->most)
            return false;
        break;
    case FIELD_UUID:
        if (!field_is_uuid(text))
            return false;
        break;
    case FIELD_SLUG:
        if (!ascii_alnum(*text) || len > SLUG_MOST || strspn(text, SLUG) != len)
            return false;
        break;
    case FIELD_WORD:
        if (!has_word(field->words, text, len))
            return false;
        break;
    case FIELD_TIME:
        return check_time(text, value);
    case FIELD_BOOL:
        if (!str_same(text, "true") && !str_same(text, "false"))
            return false;
        break;
    case FIELD_PLACE:
        return check_place(field, text, value);
    case FIELD_OBJECT:
    case FIELD_OBJECTS:
    case FIELD_TASKS:
    case FIELD_UUIDS:
        break;
    }
    str_text(value, text);
    return true;
}

enum rc field_check(const struct field *field, const char *name, const char *list, const char *text,
                    struct str *value, struct err *err)
{
    str_clear(value);
    str_text(value, "");
    return check(field, list, text, value) ? RC_OK : refuse(field, name, err);
}
