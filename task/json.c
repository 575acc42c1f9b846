/* From bytes to a tree that can be trusted; begin with json_parse(). json_scan.c decides what is
 * JSON; cJSON only builds the tree, because it accepts more than RFC 8259 and turns integers into
 * doubles. So each node remembers where its text is, and numbers are read from there. */
#include "task/json.h"
#include "base/str.h"
#include "base/utf8.h"
#include "task/json_scan.h"
#include "task/message.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_KEYS 12 /* up to here comparing each with each beats sorting */

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
    /* Sorting bounds the time: comparing each pair of the 100,000 keys that fit into a message
     * takes many seconds. */
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

/** Whether PostgreSQL's numeric, and so jsonb, can hold the number: at most 131072 digits before
 * the point and 16383 behind it (manual, 8.1.2). A claim that met a larger one would fail with the
 * whole batch. */
static bool fits_numeric(const char *raw, size_t len)
{
    enum { MOST_BEFORE = 131072, MOST_BEHIND = 16383, MOST_EXPONENT = 1000 * 1000 };
    size_t before = 0, behind = 0, i = len > 0 && raw[0] == '-';
    for (; i < len && raw[i] >= '0' && raw[i] <= '9'; i++)
        before++;
    if (i < len && raw[i] == '.')
        for (i++; i < len && raw[i] >= '0' && raw[i] <= '9'; i++)
            behind++;
    int64_t exponent = 0;
    bool negative = i + 1 < len && raw[i + 1] == '-';
    for (; i < len; i++)
        if (raw[i] >= '0' && raw[i] <= '9' && exponent <= MOST_EXPONENT)
            exponent = exponent * 10 + (raw[i] - '0');
    if (negative)
        exponent = -exponent;
    return (int64_t)before + exponent <= MOST_BEFORE && (int64_t)behind - exponent <= MOST_BEHIND;
}

static enum rc too_large(const struct json_path *path, struct err *err)
{
    char text[JSON_PATH_SIZE];
    (void)err_set(err, RC_REJECT, ERR_FAILED, json_path_text(path, text), "Write it as a string.",
                  "%s is a number that PostgreSQL cannot hold: it has more than 131072 digits "
                  "before the decimal point, or more than 16383 behind it",
                  text);
    err_code(err, message_reason_name(MESSAGE_OUT_OF_RANGE));
    return RC_REJECT;
}

/** Gives each node its span, in document order, which is the order of the scan. Recursion is
 * bounded by the scan. */
static enum rc attach_spans(const struct json *json, cJSON *node, const struct json_path *path,
                            int *next, struct err *err)
{
    /* valueint is cJSON's rounded copy of a number, which is not read here: it becomes the index of
     * the span. */
    node->valueint = (*next)++;
    if (cJSON_IsNumber(node)) {
        size_t len;
        const char *raw = json_raw(json, node, &len);
        if (!fits_numeric(raw, len))
            return too_large(path, err);
    }
    if (cJSON_IsObject(node)) {
        const char *twice = duplicate_key(node);
        if (twice != NULL) {
            struct json_path at = {.up = path, .key = twice};
            char text[JSON_PATH_SIZE];
            return err_set(err, RC_REJECT, ERR_FAILED, json_path_text(&at, text),
                           "Write each key once.", "%s occurs twice", text);
        }
    }
    int index = 0;
    for (cJSON *child = node->child; child != NULL; child = child->next, index++) {
        struct json_path at = {.up = path, .key = child->string, .index = index};
        enum rc rc = attach_spans(json, child, &at, next, err);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

/* cJSON allocates each node, key and string by itself. One block for all of a message saves that
 * time (bench/notes/publish.md). */
struct block {
    char *start, *at, *end;
};
/* Of the tree that this thread makes or frees: cJSON's hooks know no context. */
static _Thread_local struct block block;

static struct block block_of(const struct json *json)
{
    return (struct block){json->tree, json->tree, json->tree + json->tree_size};
}

/** The hook of cJSON for memory. Rounds up to 16 bytes, the alignment of malloc; a request that
 * does not fit gets memory of malloc. */
static void *take_memory(size_t size)
{
    size_t room = (size_t)(block.end - block.at), whole = (size + 15) & ~(size_t)15;
    if (whole > room)
        return xmalloc(size);
    char *memory = block.at;
    block.at += whole;
    return memory;
}

/** The hook of cJSON for freeing: memory of the block ends with the block. */
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

/** xmalloc does not return without memory, so a NULL of cJSON never means "out of memory", and no
 * message is rejected for that. */
static cJSON *make_tree(struct json *json, size_t len, size_t values)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, use_block);
    /* a node, a key and a string each, rounded up; keys and strings are no longer than the text */
    json->tree_size = values * (sizeof(cJSON) + 3 * 16) + len;
    json->tree = xmalloc(json->tree_size);
    block = block_of(json);
    cJSON *root = cJSON_ParseWithLength(json->text, len);
    /* Other users of cJSON on this thread must not get memory of this tree. */
    block = (struct block){0};
    return root;
}

static void free_tree(const struct json *json)
{
    if (json->tree == NULL)
        return;
    /* The hook must know this tree again, to leave the nodes of its block alone. */
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
                       "the text has %zu bytes, allowed are %zu", len, max_bytes);
    /* every value takes two bytes (itself and a separator, or its two brackets), but for those
     * still open */
    struct json json = {.text = text,
                        .spans = xmalloc((len / 2 + JSON_MAX_DEPTH + 2) * sizeof *json.spans)};
    struct json_scan scan = {.text = (const unsigned char *)text, .len = len, .spans = json.spans};
    if (!json_scan(&scan)) {
        json_done(&json);
        return err_set(err, RC_REJECT, ERR_FAILED, "$", NULL,
                       "the text is not strict JSON: at byte %zu %s", scan.at, scan.wrong);
    }
    json.root = make_tree(&json, len, scan.count);
    if (json.root == NULL) {
        json_done(&json);
        return err_set(err, RC_REJECT, ERR_FAILED, "$", "Write very long numbers as strings.",
                       "the JSON library cannot read the text");
    }
    struct json_path path = {0};
    int next = 0;
    enum rc rc = attach_spans(&json, json.root, &path, &next, err);
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

/** Copies at most JSON_EXCERPT_BYTES of text, whole characters, on one line; "..." at its end: more
 * followed. */
static const char *excerpt(const char *text, size_t len, char buffer[JSON_EXCERPT_SIZE])
{
    size_t n = utf8_fit(text, len, JSON_EXCERPT_BYTES);
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

/** The key can be written behind a dot in a path, as in $.name. */
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
        utf8_format(buffer + n, room, "[\"%s\"]", excerpt(path->key, strlen(path->key), key));
    return buffer;
}
