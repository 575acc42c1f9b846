#include "task/json.h"
#include "base/str.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_KEYS 12 /* up to here comparing each with each beats sorting */

/* ---- scan: is it JSON, and where does each value stand ---- */

struct scan {
    const unsigned char *text;
    size_t len, at;
    struct json_span *spans;
    uint32_t count;
    uint32_t open[JSON_MAX_DEPTH]; /* the spans of the containers around at */
    int depth;
    const char *wrong; /* what is wrong at byte at, once it is */
};

static bool wrong(struct scan *scan, const char *what)
{
    scan->wrong = what;
    return false;
}

/** The byte at i, -1 behind the end. */
static int byte_at(const struct scan *scan, size_t i)
{
    return i < scan->len ? scan->text[i] : -1;
}

static void skip_space(struct scan *scan)
{
    while (scan->at < scan->len) {
        unsigned char c = scan->text[scan->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return;
        scan->at++;
    }
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool scan_digits(struct scan *scan)
{
    if (!is_digit(byte_at(scan, scan->at)))
        return wrong(scan, "a digit is missing in a number");
    while (is_digit(byte_at(scan, scan->at)))
        scan->at++;
    return true;
}

static bool scan_number(struct scan *scan)
{
    if (byte_at(scan, scan->at) == '-')
        scan->at++;
    if (byte_at(scan, scan->at) == '0' && is_digit(byte_at(scan, scan->at + 1)))
        return wrong(scan, "a number has a leading zero");
    if (!scan_digits(scan))
        return false;
    if (byte_at(scan, scan->at) == '.') {
        scan->at++;
        if (!scan_digits(scan))
            return false;
    }
    int c = byte_at(scan, scan->at);
    if (c != 'e' && c != 'E')
        return true;
    scan->at++;
    c = byte_at(scan, scan->at);
    if (c == '+' || c == '-')
        scan->at++;
    return scan_digits(scan);
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t n = strlen(word);
    if (scan->len - scan->at < n || memcmp(scan->text + scan->at, word, n) != 0)
        return wrong(scan, "no JSON value starts here");
    scan->at += n;
    return true;
}

/** The length of the UTF-8 sequence at at, 0 if it is none (RFC 3629: no overlong form, no
 * surrogate, <= U+10FFFF). */
static size_t utf8_length(const struct scan *scan)
{
    int c = byte_at(scan, scan->at);
    int second = byte_at(scan, scan->at + 1);
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    int least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    int most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most)
        return 0;
    for (size_t i = 2; i < n; i++) {
        int next = byte_at(scan, scan->at + i);
        if (next < 0x80 || next > 0xbf)
            return 0;
    }
    return n;
}

/** The code unit of four hexadecimal digits at i, -1 if they are not. */
static int hex4(const struct scan *scan, size_t i)
{
    int unit = 0;
    for (size_t end = i + 4; i < end; i++) {
        int c = byte_at(scan, i);
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/** at stands on a backslash. */
static bool scan_escape(struct scan *scan)
{
    int c = byte_at(scan, scan->at + 1);
    if (c != 'u') {
        if (c <= 0 || strchr("\"\\/bfnrt", c) == NULL)
            return wrong(scan, "a backslash is followed by a character that it can not escape");
        scan->at += 2;
        return true;
    }
    int unit = hex4(scan, scan->at + 2);
    if (unit < 0)
        return wrong(scan, "\\u is not followed by four hexadecimal digits");
    if (unit == 0)
        return wrong(scan, "\\u0000 is not allowed, PostgreSQL can not store it");
    if (unit >= 0xd800 && unit <= 0xdfff) {
        bool pair = unit <= 0xdbff && byte_at(scan, scan->at + 6) == '\\' &&
                    byte_at(scan, scan->at + 7) == 'u';
        int low = pair ? hex4(scan, scan->at + 8) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return wrong(scan, "a \\u surrogate stands alone");
        scan->at += 6;
    }
    scan->at += 6;
    return true;
}

/** Steps over what stands in a string as it is and in ASCII: nearly all of most messages. */
static void skip_plain(struct scan *scan)
{
    const unsigned char *at = scan->text + scan->at, *end = scan->text + scan->len;
    while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\')
        at++;
    scan->at = (size_t)(at - scan->text);
}

/** at stands on the opening quote. */
static bool scan_string(struct scan *scan)
{
    for (scan->at++; scan->at < scan->len;) {
        skip_plain(scan);
        int c = byte_at(scan, scan->at);
        if (c == '"') {
            scan->at++;
            return true;
        }
        if (c == -1)
            break;
        if (c == '\\') {
            if (!scan_escape(scan))
                return false;
        } else if (c < 0x20) {
            return wrong(scan, c == 0 ? "there is a NUL byte in a string"
                                      : "a control character in a string is not escaped");
        } else {
            size_t n = utf8_length(scan);
            if (n == 0)
                return wrong(scan, "a string is not valid UTF-8");
            scan->at += n;
        }
    }
    return wrong(scan, "the text ends inside a string");
}

static bool in_object(const struct scan *scan)
{
    return scan->text[scan->spans[scan->open[scan->depth - 1]].start] == '{';
}

/** Scans `"key" :` and leaves at on the value. */
static bool scan_key(struct scan *scan)
{
    skip_space(scan);
    if (byte_at(scan, scan->at) != '"')
        return wrong(scan, "a key in quotes is missing");
    if (!scan_string(scan))
        return false;
    skip_space(scan);
    if (byte_at(scan, scan->at) != ':')
        return wrong(scan, "a colon is missing behind a key");
    scan->at++;
    return true;
}

static bool scan_scalar(struct scan *scan)
{
    int c = byte_at(scan, scan->at);
    if (c == '"')
        return scan_string(scan);
    if (c == '-' || is_digit(c))
        return scan_number(scan);
    if (c == 't')
        return scan_word(scan, "true");
    if (c == 'f')
        return scan_word(scan, "false");
    if (c == 'n')
        return scan_word(scan, "null");
    if (c == 0xef && byte_at(scan, scan->at + 1) == 0xbb)
        return wrong(scan, "there is a byte order mark");
    return wrong(scan,
                 c == -1 ? "the text ends where a value is missing" : "no JSON value starts here");
}

/** Scans a scalar, or enters a container; *ret_entered says that its first value comes next. */
static bool scan_value(struct scan *scan, bool *ret_entered)
{
    skip_space(scan);
    *ret_entered = false;
    uint32_t span = scan->count++;
    scan->spans[span].start = (uint32_t)scan->at;
    int c = byte_at(scan, scan->at);
    if (c != '{' && c != '[') {
        if (!scan_scalar(scan))
            return false;
        scan->spans[span].end = (uint32_t)scan->at;
        return true;
    }
    if (scan->depth == JSON_MAX_DEPTH)
        return wrong(scan, "values are nested deeper than 32 levels");
    scan->open[scan->depth++] = span;
    scan->at++;
    skip_space(scan);
    if (byte_at(scan, scan->at) == (c == '{' ? '}' : ']'))
        return true; /* leave_containers closes it */
    *ret_entered = true;
    return c == '[' || scan_key(scan);
}

/** After a value: closes what closes, then steps over a comma (and the next key) if there is one.
 */
static bool leave_containers(struct scan *scan)
{
    while (scan->depth > 0) {
        skip_space(scan);
        int c = byte_at(scan, scan->at);
        bool object = in_object(scan);
        if (c == ',') {
            /* an empty container stands here only before its closing bracket, so this follows a
             * value */
            scan->at++;
            return !object || scan_key(scan);
        }
        if (c != (object ? '}' : ']'))
            return wrong(scan, c == -1  ? "the text ends inside an object or array"
                               : object ? "a comma or } is missing"
                                        : "a comma or ] is missing");
        scan->at++;
        scan->spans[scan->open[--scan->depth]].end = (uint32_t)scan->at;
    }
    return true;
}

static bool scan_document(struct scan *scan)
{
    do {
        bool entered = false;
        if (!scan_value(scan, &entered))
            return false;
        if (!entered && !leave_containers(scan))
            return false;
    } while (scan->depth > 0);
    skip_space(scan);
    return scan->at == scan->len || wrong(scan, "there is more text behind the value");
}

/* ---- the tree ---- */

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** A key that object holds twice, NULL if none. */
static const char *duplicate_key(const cJSON *object)
{
    const char *few[FEW_KEYS];
    size_t count = 0;
    const cJSON *child;
    cJSON_ArrayForEach(child, object)
    {
        for (size_t i = 0; i < count && count < FEW_KEYS; i++)
            if (str_same(few[i], child->string))
                return child->string;
        if (count < FEW_KEYS)
            few[count] = child->string;
        count++;
    }
    if (count <= FEW_KEYS)
        return NULL;
    FREE_AUTO const char **keys = xcalloc(count, sizeof *keys);
    size_t n = 0;
    cJSON_ArrayForEach(child, object) keys[n++] = child->string;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            return keys[i];
    return NULL;
}

/** Gives each node its span, in document order, which is the order of the scan. Recursion is
 * bounded by the scan. */
static enum rc attach_spans(cJSON *node, const struct json_path *path, int *next, struct err *err)
{
    node->valueint = (*next)++;
    if (cJSON_IsObject(node)) {
        const char *twice = duplicate_key(node);
        if (twice != NULL) {
            struct json_path at = {.up = path, .key = twice};
            char text[JSON_PATH_SIZE];
            return err_set(err, RC_REJECT, ERR_FAILED, json_path_text(&at, text),
                           "write each key once", "%s stands there twice.", text);
        }
    }
    int index = 0;
    for (cJSON *child = node->child; child != NULL; child = child->next, index++) {
        struct json_path at = {.up = path, .key = child->string, .index = index};
        enum rc rc = attach_spans(child, &at, next, err);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

/* ---- the tree's memory: one block for all of a tree, where cJSON would call malloc for each part ---- */

struct block {
    char *start, *at, *end;
};
/* Of the tree that this thread makes or frees: cJSON's hooks know no context. */
static _Thread_local struct block block;

static struct block block_of(const struct json *json)
{
    return (struct block){json->tree, json->tree, json->tree + json->tree_size};
}

static void *take_memory(size_t size)
{
    size_t room = (size_t)(block.end - block.at), whole = (size + 15) & ~(size_t)15;
    if (whole > room)
        return xmalloc(size);
    char *memory = block.at;
    block.at += whole;
    return memory;
}

static void give_memory(void *memory)
{
    char *at = memory;
    if (at < block.start || at >= block.end)
        free(memory);
}

static void use_block(void)
{
    cJSON_Hooks hooks = {.malloc_fn = take_memory, .free_fn = give_memory};
    cJSON_InitHooks(&hooks);
}

/** With what xmalloc gives a NULL never means "out of memory", so no message is rejected for that. */
static cJSON *make_tree(struct json *json, size_t len, size_t values)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, use_block);
    /* a node, a key and a string each, rounded up; keys and strings are no longer than the text */
    json->tree_size = values * (sizeof(cJSON) + 3 * 16) + len;
    json->tree = xmalloc(json->tree_size);
    block = block_of(json);
    cJSON *root = cJSON_ParseWithLength(json->text, len);
    block = (struct block){0};
    return root;
}

static void free_tree(const struct json *json)
{
    if (json->tree == NULL)
        return;
    block = block_of(json);
    cJSON_Delete(json->root);
    block = (struct block){0};
    free(json->tree);
}

enum rc json_parse(const char *text, size_t len, size_t max_bytes, struct json *ret_json,
                   struct err *err)
{
    if (len > max_bytes || len >= UINT32_MAX)
        return err_set(err, RC_REJECT, ERR_FAILED, "$", NULL,
                       "The text has %zu bytes, allowed are %zu.", len, max_bytes);
    /* every value takes two bytes (itself and a separator, or its two brackets), but for those
     * still open */
    struct json json = {.text = text,
                        .spans = xmalloc((len / 2 + JSON_MAX_DEPTH + 2) * sizeof *json.spans)};
    struct scan scan = {.text = (const unsigned char *)text, .len = len, .spans = json.spans};
    if (!scan_document(&scan)) {
        json_done(&json);
        return err_set(err, RC_REJECT, ERR_FAILED, "$", NULL,
                       "The text is not strict JSON: at byte %zu %s.", scan.at, scan.wrong);
    }
    json.root = make_tree(&json, len, scan.count);
    if (json.root == NULL) {
        json_done(&json);
        return err_set(err, RC_REJECT, ERR_FAILED, "$", "write very long numbers as strings",
                       "The JSON library can not read the text.");
    }
    struct json_path path = {0};
    int next = 0;
    enum rc rc = attach_spans(json.root, &path, &next, err);
    if (rc != RC_OK) {
        json_done(&json);
        return rc;
    }
    *ret_json = json;
    return RC_OK;
}

void json_done(struct json *json)
{
    free_tree(json);
    free(json->spans);
    *json = (struct json){0};
}

const char *json_raw(const struct json *json, const cJSON *node, size_t *ret_len)
{
    struct json_span span = json->spans[node->valueint];
    *ret_len = span.end - span.start;
    return json->text + span.start;
}

/** Copies at most JSON_EXCERPT_BYTES of text, whole characters, on one line; "..." tells that more
 * followed. */
static const char *excerpt(const char *text, size_t len, char buffer[JSON_EXCERPT_SIZE])
{
    size_t n = len;
    if (n > JSON_EXCERPT_BYTES)
        for (n = JSON_EXCERPT_BYTES; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
    for (size_t i = 0; i < n; i++)
        buffer[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i];
    memcpy(buffer + n, n < len ? "..." : "", n < len ? 4 : 1);
    return buffer;
}

const char *json_excerpt(const struct json *json, const cJSON *node, char buffer[JSON_EXCERPT_SIZE])
{
    size_t len;
    const char *raw = json_raw(json, node, &len);
    return excerpt(raw, len, buffer);
}

const char *json_type_name(const cJSON *node)
{
    return cJSON_IsString(node)   ? "a string"
           : cJSON_IsNumber(node) ? "a number"
           : cJSON_IsObject(node) ? "an object"
           : cJSON_IsArray(node)  ? "an array"
           : cJSON_IsNull(node)   ? "null"
                                  : "a boolean";
}

static bool is_word(const char *key)
{
    size_t n = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return n > 0 && key[n] == '\0' && n <= JSON_EXCERPT_BYTES;
}

const char *json_path_text(const struct json_path *path, char buffer[JSON_PATH_SIZE])
{
    if (path->up == NULL) {
        memcpy(buffer, "$", 2);
        return buffer;
    }
    json_path_text(path->up, buffer);
    size_t n = strlen(buffer), room = JSON_PATH_SIZE - n;
    char key[JSON_EXCERPT_SIZE];
    if (path->key == NULL)
        (void)snprintf(buffer + n, room, "[%d]", path->index);
    else if (is_word(path->key))
        (void)snprintf(buffer + n, room, ".%s", path->key);
    else
        (void)snprintf(buffer + n, room, "[\"%s\"]", excerpt(path->key, strlen(path->key), key));
    return buffer;
}
