#include "task/message.h"

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

/* What stands before a task's own members is put together on the stack: it is done for each task. */

static char *put(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}
#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static char *put_int(char *at, int64_t value)
{
    char buffer[INT64_TEXT_SIZE];
    const char *text = int64_text(buffer, value);
    return put(at, text, strlen(text));
}

/** Each with a comma behind it; what is -1, or no run, is left out. */
static char *put_run(char *at, const char *run, int64_t seq)
{
    if (run != NULL && run[0] != '\0') {
        at = PUT(at, "\"run\":\"");
        at = put(at, run, strnlen(run, UUID_LENGTH));
        at = PUT(at, "\",");
    }
    if (seq < 0)
        return at;
    at = put_int(PUT(at, "\"seq\":"), seq);
    return PUT(at, ",");
}

void message_tag(struct str *out, const char *staged, size_t len, const char *run, int64_t seq,
                 int64_t previous_order)
{
    char tags[MESSAGE_TAG_BYTES];
    size_t start = 0; /* white space may stand before the '{' */
    while (start < len && staged[start] != '{')
        start++;
    char *at = put_run(PUT(tags, "{"), run, seq);
    if (previous_order >= 0) {
        at = put_int(PUT(at, "\"previous_order\":"), previous_order);
        at = PUT(at, ",");
    }
    str_add(out, tags, (size_t)(at - tags));
    if (start < len)
        str_add(out, staged + start + 1, len - start - 1);
}

static void add_count(struct str *out, const char *key, int64_t count)
{
    if (count < 0)
        return;
    str_text(out, key);
    str_int(out, count);
    str_text(out, ",");
}

void message_end(struct str *out, const char *run, int64_t seq, int64_t tasks, int64_t phases,
                 bool aborted)
{
    char tags[MESSAGE_TAG_BYTES];
    char *at = put_run(PUT(tags, "{"), run, seq);
    str_add(out, tags, (size_t)(at - tags));
    add_count(out, "\"tasks\":", tasks);
    add_count(out, "\"phases\":", phases);
    if (aborted)
        str_text(out, "\"aborted\":true,");
    str_text(out, "\"type\":\"end\"}");
}
