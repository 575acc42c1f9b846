/* Removes members from the top level of a message's text, so that a redrive can leave out run, seq
 * and the other tags; all else stays as it was written. The text is cut and not written again from
 * a tree, so that numbers and escapes stay as their producer wrote them. */
#include "task/json.h"
#include "task/message.h"
#include "task/message_text.h"

#include <cjson/cJSON.h>
#include <stdint.h>
#include <string.h>

#define EDIT_MAX_BYTES (16 * 1000 * 1000)

static size_t skip_space(const char *text, size_t at)
{
    while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')
        at++;
    return at;
}

/* Behind the string that begins at its quote. The text is known to be JSON. */
static size_t skip_string(const char *text, size_t at)
{
    for (at++; text[at] != '"'; at++)
        at += text[at] == '\\';
    return at + 1;
}

/* Behind a value: at the comma or brace of the object around it. */
static size_t skip_value(const char *text, size_t at)
{
    int depth = 0;
    for (;;) {
        if (text[at] == '"') {
            at = skip_string(text, at);
            continue;
        }
        if (depth == 0 && (text[at] == ',' || text[at] == '}'))
            return at;
        depth += (text[at] == '{' || text[at] == '[') - (text[at] == '}' || text[at] == ']');
        at++;
    }
}

/** names ends with NULL. */
static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* On one line: a line break within a string is not JSON, so it is white space. */
static void add_line(struct str *out, const char *text, size_t len)
{
    size_t from = out->len;
    str_add(out, text, len);
    for (size_t i = from; i < out->len; i++)
        if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
}

enum rc message_without(struct str *out, const char *text, size_t len, const char *const *names,
                        struct err *err)
{
    struct json json;
    FREE_AUTO char *copy = xmalloc(len + 1); /* ended by a NUL, which stops every scan here */
    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    enum rc rc = json_parse(copy, len, EDIT_MAX_BYTES, &json, err);
    if (rc != RC_OK)
        return rc;
    if (!cJSON_IsObject(json.root)) {
        json_done(&json);
        return err_set(err, RC_REJECT, ERR_USAGE, "$", "", "it is not a JSON object");
    }
    bool first = true;
    size_t at = skip_space(copy, 0) + 1;
    str_text(out, "{");
    for (const cJSON *member = json.root->child; member != NULL; member = member->next) {
        size_t start = skip_space(copy, at);
        size_t end = skip_value(copy, skip_space(copy, skip_string(copy, start)) + 1);
        /* Cut along the parsed members, so that a name is compared with its escapes resolved. */
        at = end + 1;
        if (is_one_of(member->string, names))
            continue;
        if (!first)
            str_text(out, ", ");
        add_line(out, copy + start, end - start);
        first = false;
    }
    str_text(out, "}");
    json_done(&json);
    return RC_OK;
}

bool message_says_end(const char *text, size_t len)
{
    struct json json;
    struct err ignored;
    if (json_parse(text, len, EDIT_MAX_BYTES, &json, &ignored) != RC_OK)
        return false;
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json.root, "type"));
    bool says_end = str_same(type != NULL ? type : "", "end");
    json_done(&json);
    return says_end;
}
