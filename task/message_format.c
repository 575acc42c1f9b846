/* Writes tags and end messages. A task's own members are copied as they are; only the tags are put
 * before them, so a task costs one copy and no parsing. */
#include "task/message.h"
#include "task/message_text.h"

#include <string.h>

const char *message_reason_name(enum message_reason reason)
{
    static const char *const names[] = {
#define X(name, text) text,
        MESSAGE_REASONS(X)
#undef X
    };
    return names[reason];
}

void json_quote(struct str *out, const char *text, size_t len)
{
    size_t done = 0; /* text[done..i) needs no escape and is added at once */
    str_add(out, "\"", 1);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        str_add(out, text + done, i - done);
        done = i + 1;
        /* The short escapes of RFC 8259, section 7: each character, then the letter behind its
         * backslash. */
        static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
        const char *letter = c == 0 ? NULL : strchr(letters, c);
        if (letter != NULL)
            str_add(out, (const char[]){'\\', letter[1]}, 2);
        else
            str_format(out, "\\u%04x", c);
    }
    str_add(out, text + done, len - done);
    str_add(out, "\"", 1);
}

#define UUID_LENGTH 36

/* What comes before a task's own members is put together on the stack: it is done for each task. */

static char *put(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}
#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

/** With a comma behind it; nothing of -1. */
static char *put_number(char *at, const char *key, size_t key_len, int64_t value)
{
    char buffer[INT64_TEXT_SIZE];
    if (value < 0)
        return at;
    const char *text = int64_text(buffer, value);
    at = put(put(at, key, key_len), text, strlen(text));
    return PUT(at, ",");
}
#define PUT_NUMBER(at, key, value) put_number(at, "\"" key "\":", sizeof("\"" key "\":") - 1, value)

/** The opening brace, then run and seq with a comma behind each. An empty run and a seq of -1 are
 * left out. */
static char *put_start(char *at, const char *run, int64_t seq)
{
    at = PUT(at, "{");
    if (run != NULL && run[0] != '\0') {
        at = PUT(at, "\"run\":\"");
        at = put(at, run, strnlen(run, UUID_LENGTH));
        at = PUT(at, "\",");
    }
    return PUT_NUMBER(at, "seq", seq);
}

/* The task was parsed before, so its first brace is the one of the object, and MESSAGE_TAG_BYTES is
 * room for the longest tags. */
void message_tag(struct str *out, const char *staged, size_t len, const char *run, int64_t seq,
                 int64_t previous_order)
{
    char tags[MESSAGE_TAG_BYTES];
    size_t start = 0; /* white space may be before the '{' */
    while (start < len && staged[start] != '{')
        start++;
    char *at = PUT_NUMBER(put_start(tags, run, seq), "previous_order", previous_order);
    str_add(out, tags, (size_t)(at - tags));
    if (start < len)
        str_add(out, staged + start + 1, len - start - 1);
}

/** The name and the policy come before the tags, behind a brace of their own; tagged.data + 1 is
 * behind the other. */
void message_tag_first(struct str *out, const char *staged, size_t len, const char *run,
                       int64_t previous_order, const char *run_name, const char *on_failure)
{
    STR_AUTO tagged = {0};
    message_tag(&tagged, staged, len, run, 0, previous_order);
    str_text(out, "{");
    if (run_name != NULL) {
        str_text(out, "\"run_name\":");
        json_quote(out, run_name, strlen(run_name));
        str_text(out, ",");
    }
    str_format(out, "\"run_on_failure\":\"%s\",", on_failure);
    str_add(out, tagged.data + 1, tagged.len - 1);
}

void message_end(struct str *out, const char *run, int64_t seq, int64_t tasks, int64_t phases,
                 bool aborted)
{
    char end[2 * MESSAGE_TAG_BYTES];
    char *at = PUT_NUMBER(put_start(end, run, seq), "tasks", tasks);
    at = PUT_NUMBER(at, "phases", phases);
    /* Without counts the end of an aborted run is still valid: message_parse() requires them of
     * other ends only. */
    if (aborted)
        at = PUT(at, "\"aborted\":true,");
    at = PUT(at, "\"type\":\"end\"}");
    str_add(out, end, (size_t)(at - end));
}
