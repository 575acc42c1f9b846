/* Finds run and seq of a record without parsing it: of records that are no messages, so that their
 * loss is counted in their run, and in readers that need nothing else. It reads the top level of a
 * text that may not be JSON: it searches for brackets, quotes and commas only, counts depth instead
 * of recursing, and takes any bytes in strings. A wrong run would make another producer's run fail,
 * so any contradiction means that nothing is known. */
#include "task/message.h"
#include "task/uuid.h"

#include "base/ascii.h"

#include <string.h>

struct peek {
    const char *at, *end;
};

struct slice {
    const char *text;
    size_t len;
};

static bool skip_to(struct peek *peek, char wanted)
{
    while (peek->at < peek->end && strchr(" \t\r\n", *peek->at) != NULL && *peek->at != '\0')
        peek->at++;
    if (peek->at == peek->end || *peek->at != wanted)
        return false;
    peek->at++;
    return true;
}

/** The inside of a string, escapes as written; at is behind its opening quote. */
static bool string_rest(struct peek *peek, struct slice *ret_slice)
{
    const char *start = peek->at;
    while (peek->at < peek->end && *peek->at != '"')
        peek->at += *peek->at == '\\' && peek->end - peek->at > 1 ? 2 : 1;
    if (peek->at == peek->end)
        return false;
    *ret_slice = (struct slice){start, (size_t)(peek->at - start)};
    peek->at++;
    return true;
}

/** A value of any kind; *ret_string: it is a string, and the slice is its inside. */
static bool any_value(struct peek *peek, struct slice *ret_slice, bool *ret_string)
{
    *ret_string = skip_to(peek, '"');
    if (*ret_string)
        return string_rest(peek, ret_slice);
    const char *start = peek->at;
    size_t depth = 0;
    while (peek->at < peek->end) {
        char c = *peek->at;
        struct slice inside;
        /* The comma or the bracket of the object around it is left for the caller. */
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            break;
        peek->at++;
        if (c == '"' && !string_rest(peek, &inside))
            return false;
        if (c == '{' || c == '[')
            depth++;
        if (c == '}' || c == ']')
            depth--;
    }
    size_t len = (size_t)(peek->at - start);
    while (len > 0 && ascii_space(start[len - 1]))
        len--;
    *ret_slice = (struct slice){start, len};
    return peek->at < peek->end;
}

/** Outputs of message_peek while they are gathered; spoilt: contradictory or not readable, no
 * account is better. */
struct found {
    char run[37];
    int64_t seq;
    bool spoilt;
};

static void note_member(struct found *found, struct slice key, struct slice value, bool string)
{
    if (memchr(key.text, '\\', key.len) != NULL)
        found->spoilt = true; /* may spell "run" */
    if (key.len != 3)
        return;
    if (memcmp(key.text, "run", 3) == 0) {
        char run[37] = "";
        if (value.len == 36)
            memcpy(run, value.text, 36);
        if (!string || !uuid_valid(run) || found->run[0] != '\0') {
            /* A second run, or one that is no UUID: a reader could take either. */
            found->spoilt = true;
            return;
        }
        for (int i = 0; i < 36; i++)
            found->run[i] = ascii_lower(run[i]);
    } else if (memcmp(key.text, "seq", 3) == 0) {
        int64_t seq;
        if (string || found->seq >= 0 || !int64_parse(value.text, value.len, &seq) || seq < 0 ||
            seq > MESSAGE_MOST_SEQ || value.text[0] == '-')
            found->spoilt = true;
        else
            found->seq = seq;
    }
}

/** True if the object was read to its end. */
static bool read_members(struct peek *peek, struct found *found)
{
    if (!skip_to(peek, '{'))
        return false;
    if (skip_to(peek, '}'))
        return true;
    do {
        struct slice key, value;
        bool string;
        if (!skip_to(peek, '"') || !string_rest(peek, &key) || !skip_to(peek, ':') ||
            !any_value(peek, &value, &string))
            return false;
        note_member(found, key, value, string);
    } while (skip_to(peek, ','));
    return skip_to(peek, '}');
}

enum rc message_peek(const char *bytes, size_t len, char ret_run[37], int64_t *ret_seq)
{
    if (bytes == NULL)
        return RC_NONE;
    /* message_parse() refuses a byte order mark; the run behind it can still be read. */
    if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        len -= 3;
    }
    struct peek peek = {bytes, bytes + (len < MESSAGE_MAX_BYTES ? len : MESSAGE_MAX_BYTES)};
    struct found found = {.seq = -1};
    /* A text that breaks off may have lost its run, so without one the record is not counted as one
     * of the implicit run. */
    bool whole = read_members(&peek, &found);
    if (found.spoilt || (!whole && found.run[0] == '\0'))
        return RC_NONE;
    memcpy(ret_run, found.run, sizeof found.run);
    *ret_seq = found.seq;
    return RC_OK;
}
