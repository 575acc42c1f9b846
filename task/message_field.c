/* The kinds of values that several fields share, each with the error that names the field by its
 * path. An integer is read from the text and not from cJSON's double, which holds 53 bits only. */
#include "task/message_field.h"

#include "base/utf8.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum rc field_wrong(struct reading *r, enum message_reason reason, const struct json_path *path,
                    const char *fmt, ...)
{
    char text[900], object[JSON_PATH_SIZE];
    va_list ap;
    va_start(ap, fmt);
    /* Cuts between characters: the message is stored in the database, which takes valid UTF-8 only.
     */
    utf8_vformat(text, sizeof text, fmt, ap);
    va_end(ap);
    json_path_text(path, object);
    (void)err_set(r->err, RC_REJECT, ERR_FAILED, object, MESSAGE_ADVICE, "%s %s", object, text);
    err_code(r->err, message_reason_name(reason));
    return RC_REJECT;
}

enum rc field_wrong_type(struct reading *r, const cJSON *node, const struct json_path *path,
                         const char *wanted)
{
    char value[JSON_EXCERPT_SIZE];
    json_excerpt(r->json, node, value);
    if (cJSON_IsNull(node))
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "must be %s, not null", wanted);
    return field_wrong(r, MESSAGE_BAD_FIELD, path, "must be %s, not %s: %s", wanted,
                       json_type_name(node), value);
}

/** Digits with a '-' before them at most: a spelling of an integer of any size. 1e3 and 1.0 are
 * none, as in a cast of text to bigint in PostgreSQL. */
static bool plain_integer(const char *raw, size_t len)
{
    size_t sign = len > 0 && raw[0] == '-';
    for (size_t i = sign; i < len; i++)
        if (raw[i] < '0' || raw[i] > '9')
            return false;
    return len > sign && !(sign == 1 && raw[1] == '0');
}

enum rc field_int(struct reading *r, const cJSON *node, const struct json_path *path, int64_t least,
                  int64_t most, int64_t *ret_value)
{
    if (!cJSON_IsNumber(node))
        return field_wrong_type(r, node, path, "an integer");
    size_t len;
    const char *raw = json_raw(r->json, node, &len);
    char value[JSON_EXCERPT_SIZE];
    if (!plain_integer(raw, len))
        return field_wrong(r, MESSAGE_BAD_FIELD, path,
                           "must be an integer written in plain digits, not %s",
                           json_excerpt(r->json, node, value));
    int64_t n = 0;
    if (!int64_parse(raw, len, &n) || n < least || n > most)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path,
                           "must be between %" PRId64 " and %" PRId64 ", not %s", least, most,
                           json_excerpt(r->json, node, value));
    *ret_value = n;
    return RC_OK;
}

enum rc field_bool(struct reading *r, const cJSON *node, const struct json_path *path,
                   bool *ret_value)
{
    if (!cJSON_IsBool(node))
        return field_wrong_type(r, node, path, "true or false");
    *ret_value = cJSON_IsTrue(node);
    return RC_OK;
}

/* There is another digit than 0 before the exponent. raw is a part of the record, without a NUL at
 * its end. */
static bool has_digits(const char *raw, size_t len)
{
    size_t i = 0;
    while (i < len && (raw[i] < '1' || raw[i] > '9') && raw[i] != 'e' && raw[i] != 'E')
        i++;
    return i < len && raw[i] >= '1' && raw[i] <= '9';
}

enum rc field_number(struct reading *r, const cJSON *node, const struct json_path *path,
                     double most, double *ret_value)
{
    if (!cJSON_IsNumber(node))
        return field_wrong_type(r, node, path, "a number of seconds");
    double n = node->valuedouble;
    size_t len;
    const char *raw = json_raw(r->json, node, &len);
    /* 1e-400 is 0 as a double. PostgreSQL's cast to float8 refuses it as out of range, and the
     * claim would fail. */
    bool vanished = n <= 0 && has_digits(raw, len);
    if (!isfinite(n) || n < 0 || n > most || vanished) {
        char value[JSON_EXCERPT_SIZE];
        if (vanished && n >= 0) /* it is not 0, and PostgreSQL's float8 does not take it for 0 */
            return field_wrong(r, MESSAGE_OUT_OF_RANGE, path, "is too small: %s; write 0",
                               json_excerpt(r->json, node, value));
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path,
                           "must be between 0 and %.0f seconds, not %s", most,
                           json_excerpt(r->json, node, value));
    }
    *ret_value = n;
    return RC_OK;
}

enum rc field_text(struct reading *r, const cJSON *node, const struct json_path *path)
{
    if (!cJSON_IsString(node))
        return field_wrong_type(r, node, path, "a string");
    /* White space alone is no name and no statement. */
    if (node->valuestring[strspn(node->valuestring, " \t\r\n")] == '\0')
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "must not be empty");
    return RC_OK;
}

enum rc field_short_text(struct reading *r, const cJSON *node, const struct json_path *path,
                         int most)
{
    if (!cJSON_IsString(node))
        return field_wrong_type(r, node, path, "a string");
    int count = 0;
    for (const char *c = node->valuestring; *c != '\0'; c++)
        /* Characters, as char_length() of PostgreSQL counts them: bytes that continue a character
         * are not counted. */
        count += ((unsigned char)*c & 0xc0) != 0x80;
    if (count > most)
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "has %d characters, at most %d are allowed",
                           count, most);
    return RC_OK;
}

/** The string of a node with its escapes resolved; it has no NUL, which the scan refuses. */
char *copy_text(const cJSON *node)
{
    return xstrdup(node->valuestring);
}
