/* The fields of work outside the database: commands and requests. A field is copied when it is well
 * formed. Whether a command is registered and a host is allowed differs between executors, so that
 * is checked when the task runs (action/allow.c, action/settings.c). */
#include "task/message_field.h"

#include "base/ascii.h"
#include "task/header.h"
#include "task/message_action.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* LONGEST_URL is the length that RFC 9110 (4.1) recommends every server to support. */
#define LONGEST_URL    8000 /* bytes */
#define LONGEST_METHOD 20
#define MOST_HEADERS   100
#define MOST_ARGS      1000

enum rc read_command(struct reading *r, cJSON *node, const struct json_path *path)
{
    enum rc rc = field_text(r, node, path);
    if (rc == RC_OK)
        r->action->command = copy_text(node);
    return rc;
}

enum rc read_args(struct reading *r, cJSON *node, const struct json_path *path)
{
    struct message_action *action = r->action;
    if (!cJSON_IsArray(node))
        return field_wrong_type(r, node, path, "an array of strings");
    int count = cJSON_GetArraySize(node);
    if (count > MOST_ARGS)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path, "has %d elements, at most %d are allowed",
                           count, MOST_ARGS);
    action->args = xcalloc((size_t)count + 1, sizeof *action->args);
    for (cJSON *child = node->child; child != NULL; child = child->next) {
        struct json_path at = {.up = path, .index = action->arg_count};
        if (!cJSON_IsString(child))
            return field_wrong_type(r, child, &at, "a string");
        action->args[action->arg_count++] = copy_text(child);
    }
    return RC_OK;
}

/* For a command its standard input; for an external worker any JSON value, which is its own. */
enum rc read_input(struct reading *r, cJSON *node, const struct json_path *path)
{
    /* The worker gets it from the text of the message, as it was written. */
    if (r->msg->type == MESSAGE_EXTERNAL)
        return RC_OK;
    if (!cJSON_IsString(node))
        return field_wrong_type(r, node, path, "a string");
    r->action->input = copy_text(node);
    return RC_OK;
}

/* A URL with a blank or a control character could end the request line early, and another one
 * begin. So only printable ASCII is taken (RFC 3986, section 2). */
enum rc read_url(struct reading *r, cJSON *node, const struct json_path *path)
{
    enum rc rc = field_text(r, node, path);
    if (rc != RC_OK)
        return rc;
    const char *url = node->valuestring;
    if (!ascii_same_start(url, "http://", 7) && !ascii_same_start(url, "https://", 8))
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "must begin with http:// or https://");
    if (strlen(url) > LONGEST_URL)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path, "has %zu bytes, at most %d are allowed",
                           strlen(url), LONGEST_URL);
    for (const unsigned char *c = (const unsigned char *)url; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 0x7f)
            return field_wrong(r, MESSAGE_BAD_FIELD, path,
                               "must be plain ASCII without white space: write other characters "
                               "as %%XX, and a host in its xn-- form");
    r->action->url = copy_text(node);
    return RC_OK;
}

/* CONNECT makes a tunnel and TRACE returns the request with its headers, secrets of the
 * configuration included; neither is work. */
enum rc read_method(struct reading *r, cJSON *node, const struct json_path *path)
{
    enum rc rc = field_text(r, node, path);
    if (rc != RC_OK)
        return rc;
    const char *method = node->valuestring;
    if (method[strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] != '\0' ||
        strlen(method) > LONGEST_METHOD || strcmp(method, "CONNECT") == 0 ||
        strcmp(method, "TRACE") == 0)
        return field_wrong(r, MESSAGE_BAD_FIELD, path,
                           "must be a method in capitals, such as GET, POST, PUT, PATCH or DELETE");
    r->action->method = copy_text(node);
    return RC_OK;
}

/** A line break in a value would begin a header, or a request, of the task's own (RFC 9112, 11.1
 * and 11.2). */
static enum rc check_header(struct reading *r, const cJSON *node, const struct json_path *path)
{
    if (!header_name_valid(node->string))
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "is no name of a header");
    if (header_frames(node->string))
        return field_wrong(r, MESSAGE_BAD_FIELD, path,
                           "must not be set: it follows from url and body");
    if (!cJSON_IsString(node))
        return field_wrong_type(r, node, path, "a string");
    if (!header_value_valid(node->valuestring))
        return field_wrong(r, MESSAGE_BAD_FIELD, path, "must not hold control characters");
    return RC_OK;
}

enum rc read_headers(struct reading *r, cJSON *node, const struct json_path *path)
{
    struct message_action *action = r->action;
    if (!cJSON_IsObject(node))
        return field_wrong_type(r, node, path, "an object of strings");
    int count = cJSON_GetArraySize(node);
    if (count > MOST_HEADERS)
        return field_wrong(r, MESSAGE_OUT_OF_RANGE, path, "has %d members, at most %d are allowed",
                           count, MOST_HEADERS);
    action->headers = xcalloc((size_t)count + 1, sizeof *action->headers);
    for (cJSON *child = node->child; child != NULL; child = child->next) {
        struct json_path at = {.up = path, .key = child->string};
        enum rc rc = check_header(r, child, &at);
        if (rc != RC_OK)
            return rc;
        struct message_header *header = &action->headers[action->header_count++];
        header->name = xstrdup(child->string);
        header->value = copy_text(child);
    }
    return RC_OK;
}

enum rc read_body(struct reading *r, cJSON *node, const struct json_path *path)
{
    if (!cJSON_IsString(node))
        return field_wrong_type(r, node, path, "a string");
    r->action->body = copy_text(node);
    return RC_OK;
}

/** Also for an action that was read in part: the counts are those of the copies that were made. */
void message_action_done(struct message_action *action)
{
    for (int i = 0; i < action->arg_count; i++)
        free(action->args[i]);
    for (int i = 0; i < action->header_count; i++) {
        free(action->headers[i].name);
        free(action->headers[i].value);
    }
    free(action->args);
    free(action->headers);
    free(action->command);
    free(action->input);
    free(action->url);
    free(action->method);
    free(action->body);
    *action = (struct message_action){0};
}
