/* The fields about the life of a task: when it runs, after which outcome, how often, and with which
 * key. The database reads these fields again, from the text (sql/functions/claim/claim.sql,
 * fail.sql). So a text that passes here must be one that the casts there take, or a claim would
 * fail with the whole batch. PostgreSQL's timestamptz takes every instant of RFC 3339 that passes
 * here. */
#include "task/message_life.h"
#include "task/message_field.h"

#include "base/ascii.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_KEY     1000 /* bytes: an index takes about 2700 */
#define MOST_CLASSES    100
#define LONGEST_INSTANT 64

enum rc read_condition(struct reading *r, cJSON *node, const struct json_path *path)
{
    static const char *const wanted = "success, always or failure";
    if (!cJSON_IsString(node))
        return field_wrong_type(r, node, path, wanted);
    if (strcmp(node->valuestring, "success") == 0)
        return RC_OK;
    if (strcmp(node->valuestring, "always") != 0 && strcmp(node->valuestring, "failure") != 0)
        return field_wrong_type(r, node, path, wanted);
    /* success is the default, so only the others must be read by the claim. */
    r->msg->special = true;
    return RC_OK;
}

enum rc read_key(struct reading *r, cJSON *node, const struct json_path *path)
{
    enum rc rc = field_text(r, node, path);
    if (rc == RC_OK)
        rc = field_short_text(r, node, path, LONGEST_KEY);
    /* Characters first, as for other texts; the index counts bytes. */
    if (rc == RC_OK && strlen(node->valuestring) > LONGEST_KEY)
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "has %zu bytes, at most %d are allowed",
                           strlen(node->valuestring), LONGEST_KEY);
    r->msg->special = true;
    return rc;
}

/* So many digits, as a number; -1 if they are none. */
static int digits(const char **at, int count)
{
    int n = 0;
    for (; count > 0; count--, (*at)++) {
        if (!ascii_digit(**at))
            return -1;
        n = n * 10 + (**at - '0');
    }
    return n;
}

static bool skip(const char **at, char one, char other)
{
    bool there = **at != '\0' && (**at == one || **at == other);
    *at += there;
    return there;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* "Z", or hours and minutes that PostgreSQL takes. */
static bool good_zone(const char *at)
{
    if (skip(&at, 'Z', 'z'))
        return *at == '\0';
    if (!skip(&at, '+', '-'))
        return false;
    int hours = digits(&at, 2);
    bool colon = hours >= 0 && skip(&at, ':', ':');
    int minutes = colon ? digits(&at, 2) : -1;
    /* PostgreSQL's greatest displacement is 15:59. */
    return hours <= 15 && minutes >= 0 && minutes <= 59 && *at == '\0';
}

/* RFC 3339, section 5.6, of the years that it has and PostgreSQL knows. */
static bool good_instant(const char *at)
{
    if (strlen(at) > LONGEST_INSTANT)
        return false;
    /* There is no year 0 in PostgreSQL. A second of 60 is a leap second, which PostgreSQL takes as
     * the next minute; an hour of 24 is none in RFC 3339. */
    int year = digits(&at, 4);
    int month = year > 0 && skip(&at, '-', '-') ? digits(&at, 2) : -1;
    int day = month > 0 && skip(&at, '-', '-') ? digits(&at, 2) : -1;
    if (month > 12 || day < 1 || day > days_of(year, month) || !skip(&at, 'T', 't'))
        return false;
    int hour = digits(&at, 2);
    int minute = hour >= 0 && skip(&at, ':', ':') ? digits(&at, 2) : -1;
    int second = minute >= 0 && skip(&at, ':', ':') ? digits(&at, 2) : -1;
    if (hour > 23 || minute > 59 || second < 0 || second > 60)
        return false;
    if (skip(&at, '.', '.')) {
        if (!ascii_digit(*at))
            return false;
        while (ascii_digit(*at))
            at++;
    }
    return good_zone(at);
}

enum rc read_not_before(struct reading *r, cJSON *node, const struct json_path *path)
{
    enum rc rc = field_text(r, node, path);
    char value[JSON_EXCERPT_SIZE];
    if (rc == RC_OK && !good_instant(node->valuestring))
        return field_wrong(r, MESSAGE_BAD_FIELD, path,
                           "must be an instant as RFC 3339 writes it, such as "
                           "2026-01-31T05:00:00Z or 2026-01-31T05:00:00.5+01:00, not %s",
                           json_excerpt(r->json, node, value));
    r->msg->special = true;
    return rc;
}

/** The constraint on queue.retry_on has the same rule (guard_queue.sql), and so has enqueue_check.
 * A class of an SQLSTATE is its first two characters (PostgreSQL manual, appendix A). */
bool retry_on_valid(const char *entry, size_t len)
{
    size_t sign = len > 0 && entry[0] == '-';
    const char *what = entry + sign;
    len -= sign;
    if (len == 3 && strncmp(what, "all", 3) == 0)
        return true;
    for (size_t i = 0; i < len; i++)
        if (!ascii_digit(what[i]) && (what[i] < 'A' || what[i] > 'Z'))
            return false;
    return len == 2 || len == 5;
}

enum rc read_retry_on(struct reading *r, cJSON *node, const struct json_path *path)
{
    if (!cJSON_IsArray(node))
        return field_wrong_type(r, node, path, "an array of SQLSTATE classes and codes");
    int count = cJSON_GetArraySize(node);
    if (count < 1 || count > MOST_CLASSES)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path,
                           "must hold between 1 and %d entries, not %d", MOST_CLASSES, count);
    int index = 0;
    for (const cJSON *child = node->child; child != NULL; child = child->next, index++) {
        struct json_path at = {.up = path, .index = index};
        char value[JSON_EXCERPT_SIZE];
        if (!cJSON_IsString(child) ||
            !retry_on_valid(child->valuestring, strlen(child->valuestring)))
            return field_wrong(r, MESSAGE_BAD_FIELD, &at,
                               "must be a SQLSTATE class (40), a code (40001) or all, with - "
                               "before an error that is not retried, not %s",
                               json_excerpt(r->json, child, value));
    }
    return RC_OK;
}
