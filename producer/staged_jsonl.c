/* JSON Lines: a line is a task. A line that is longer than a message is dropped while it is read,
 * so that memory stays bounded, and reported with its length. */
#include "base/str.h"
#include "producer/staged_reader.h"
#include "task/message.h"

#include <stdlib.h>
#include <string.h>

struct jsonl {
    struct source *source;
    int64_t line;    /* the line that the window begins with */
    size_t scanned;  /* bytes of the window known to hold no line feed */
    size_t taken;    /* bytes of the window handed out at the last call */
    size_t skipping; /* bytes dropped so far of a line that is too long; 0 = none is */
    bool ended;
};

/* RC_OK: *ret_text is a line without its end; RC_NONE: more must be read. `scanned` remembers where
 * the search for a line feed ended, so that a long line is not searched from its beginning after
 * each read. */
static enum rc find_line(struct jsonl *jsonl, struct staged_text *ret_text)
{
    size_t len;
    const char *bytes = source_bytes(jsonl->source, &len);
    const char *end =
        len > jsonl->scanned ? memchr(bytes + jsonl->scanned, '\n', len - jsonl->scanned) : NULL;
    if (end == NULL && !(jsonl->ended && len > 0)) {
        jsonl->scanned = len;
        return RC_NONE;
    }
    size_t line_len = end != NULL ? (size_t)(end - bytes) : len;
    jsonl->taken = end != NULL ? line_len + 1 : len;
    jsonl->scanned = 0;
    while (line_len > 0 && (bytes[line_len - 1] == '\r'))
        line_len--;
    *ret_text = (struct staged_text){jsonl->line++, bytes, line_len};
    return RC_OK;
}

static bool is_blank(const struct staged_text *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->text[i] != ' ' && text->text[i] != '\t' && text->text[i] != '\r')
            return false;
    return true;
}

static enum rc too_long(size_t len, struct err *err)
{
    return err_set(err, RC_REJECT, ERR_USAGE, "$",
                   "Keep large data in a table and pass its key: one task is one line.",
                   "the line has %zu bytes, at most %d are allowed", len,
                   MESSAGE_MAX_BYTES - MESSAGE_TAG_BYTES);
}

/** Forgets what the window holds of a line that is too long already. */
static void skip(struct jsonl *jsonl)
{
    jsonl->skipping += jsonl->scanned;
    source_take(jsonl->source, jsonl->scanned);
    jsonl->scanned = 0;
}

static enum rc jsonl_next(void *state, int timeout_ms, struct staged_text *ret_text,
                          struct err *err)
{
    struct jsonl *jsonl = state;
    source_take(jsonl->source, jsonl->taken);
    jsonl->taken = 0;
    for (;;) {
        enum rc rc = find_line(jsonl, ret_text);
        if (rc == RC_OK && jsonl->skipping > 0) {
            size_t len = jsonl->skipping + ret_text->len;
            jsonl->skipping = 0;
            return too_long(len, err);
        }
        if (rc == RC_OK && ret_text->len > MESSAGE_MAX_BYTES)
            return too_long(ret_text->len, err);
        if (rc == RC_OK && !is_blank(ret_text))
            return RC_OK;
        source_take(jsonl->source, jsonl->taken);
        jsonl->taken = 0;
        if (rc == RC_OK)
            continue;
        if (jsonl->skipping > 0 || jsonl->scanned > MESSAGE_MAX_BYTES)
            skip(jsonl);
        if (jsonl->ended && jsonl->skipping > 0) {
            size_t len = jsonl->skipping;
            jsonl->skipping = 0;
            ret_text->line = jsonl->line;
            return too_long(len, err);
        }
        if (jsonl->ended)
            return RC_NONE;
        rc = source_more(jsonl->source, timeout_ms, err);
        if (rc == RC_NONE)
            jsonl->ended = true;
        else if (rc != RC_OK)
            return rc;
    }
}

void staged_jsonl(struct source *source, struct staged_reader *ret_reader)
{
    struct jsonl *jsonl = xcalloc(1, sizeof *jsonl);
    jsonl->source = source;
    jsonl->line = 1;
    *ret_reader = (struct staged_reader){jsonl_next, free, jsonl};
}
