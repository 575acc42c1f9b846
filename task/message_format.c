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

static void add_key(struct str *out, const char *key)
{
    str_text(out, "\"");
    str_text(out, key);
    str_text(out, "\":");
}

static void add_int(struct str *out, const char *key, int64_t value)
{
    if (value < 0)
        return;
    add_key(out, key);
    str_int(out, value);
    str_text(out, ",");
}

static void add_run(struct str *out, const char *run, int64_t seq)
{
    if (run != NULL && run[0] != '\0') {
        add_key(out, "run");
        str_text(out, "\"");
        str_text(out, run);
        str_text(out, "\",");
    }
    add_int(out, "seq", seq);
}

void message_tag(struct str *out, const char *staged, size_t len, const char *run, int64_t seq,
                 int64_t previous_order)
{
    size_t start = 0; /* white space may stand before the '{' */
    while (start < len && staged[start] != '{')
        start++;
    str_add(out, "{", 1);
    add_run(out, run, seq);
    add_int(out, "previous_order", previous_order);
    if (start < len)
        str_add(out, staged + start + 1, len - start - 1);
}

void message_end(struct str *out, const char *run, int64_t seq, int64_t tasks, int64_t phases,
                 bool aborted)
{
    str_text(out, "{");
    add_run(out, run, seq);
    add_int(out, "tasks", tasks);
    add_int(out, "phases", phases);
    if (aborted)
        str_text(out, "\"aborted\":true,");
    str_text(out, "\"type\":\"end\"}");
}
