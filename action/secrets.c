/* Headers and variables that the configuration adds, and their hiding in answers. A server may echo
 * a header and a command its environment, so answers are searched for the values before they are
 * kept, also at the cut ends, where only a part of a value may be left. */
#include "action/secrets.h"

#include "base/ascii.h"
#include "base/memory.h"
#include "task/header.h"

#include <stdlib.h>
#include <string.h>

static enum rc refuse(const struct config_value *value, const char *hint, const char *what,
                      struct err *err)
{
    return err_set(err, RC_FATAL, ERR_CONFIG, value->where, hint, "[%s] %s: %s", value->section,
                   value->key, what);
}

static void add(struct secrets *secrets, const char *name, const char *value)
{
    secrets->items = xrealloc(secrets->items, (size_t)secrets->count + 1, sizeof *secrets->items);
    secrets->items[secrets->count++] = (struct secret){name, value};
}

void secrets_done(struct secrets *secrets)
{
    free(secrets->items);
    *secrets = (struct secrets){0};
}

bool secrets_have(const struct secrets *secrets, const char *name)
{
    for (int i = 0; secrets != NULL && i < secrets->count; i++)
        if (ascii_same(secrets->items[i].name, name))
            return true;
    return false;
}

/* Headers that the executor sets: those that frame the request or belong to the connection (RFC
 * 9110, 7.6.1), and the key by which a server recognises attempts of one task. */
static bool is_ours(const char *name)
{
    static const char *const names[] = {
        "TE", "Trailer", "Keep-Alive", "Proxy-Connection", "Idempotency-Key", "traceparent"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ascii_same(name, names[i]))
            return true;
    return header_frames(name);
}

enum rc secrets_add_header(struct secrets *secrets, const struct config_value *value,
                           struct err *err)
{
    const char *name = value->key + strlen("header.");
    if (!header_name_valid(name))
        return refuse(value, "header.Authorization = Bearer ...", "this is no name of a header",
                      err);
    if (is_ours(name))
        return refuse(value, "Leave it out.", "the executor sets this header itself", err);
    if (secrets_have(secrets, name))
        return refuse(value, "Keep one of them: names of headers are the same in any case.",
                      "the header is there before", err);
    if (*value->value == '\0' || !header_value_valid(value->value))
        return refuse(value, "A value is one line of text.",
                      *value->value == '\0' ? "the header has no value"
                                            : "its value has a control character in it",
                      err);
    add(secrets, name, value->value);
    return RC_OK;
}

enum rc secrets_add_variable(struct secrets *secrets, const struct config_value *value,
                             struct err *err)
{
    static const char *const ours[] = {"PATH", "USER", "LOGNAME", "TRACEPARENT"};
    const char *name = value->key + strlen("env.");
    /* Names as POSIX has them (XBD 8.1): a shell cannot read others. */
    bool good = *name != '\0' && !ascii_digit(*name);
    for (const char *c = name; *c != '\0'; c++)
        good = good && (ascii_alnum(*c) || *c == '_');
    if (!good)
        return refuse(value, "Letters, digits and _, as in env.API_TOKEN = ...",
                      "this is no name of a variable", err);
    bool set = strncmp(name, "LOCKSTEP_", strlen("LOCKSTEP_")) == 0;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        set = set || strcmp(name, ours[i]) == 0;
    if (set)
        return refuse(value, "[command:NAME] path and user set PATH, USER and LOGNAME.",
                      "the executor sets this variable itself", err);
    if (strpbrk(value->value, "\r\n") != NULL)
        return refuse(value, "A value is one line of text.", "its value is more than one line",
                      err);
    add(secrets, name, value->value);
    return RC_OK;
}

enum rc secrets_host(struct secret_host *ret_host, const struct config *config,
                     const struct config_value *value, struct err *err)
{
    const char *name = value->section + strlen("http:");
    struct allowed host;
    /* A pattern would send the secrets to hosts that the configuration does not name one by one. */
    if (strchr(name, '*') != NULL || !allow_parse(name, strlen(name), &host))
        return err_set(err, RC_FATAL, ERR_CONFIG, value->where,
                       "Write [http:api.example.com] or [http:api.example.com:8443], with one host "
                       "and no pattern.",
                       "[%s] names no host", value->section);
    *ret_host = (struct secret_host){.host = host,
                                     .section = value->section,
                                     .plain = config_get_bool(config, value->section, "plain")};
    return RC_OK;
}

const struct secret_host *secrets_of(const struct action_http *http, const char *target,
                                     bool encrypted)
{
    const struct secret_host *found = NULL;
    const char *colon = strrchr(target, ':');
    STR_AUTO host = {0};
    str_add(&host, target, (size_t)(colon - target));
    int port = (int)strtol(colon + 1, NULL, 10);
    for (int i = 0; i < http->host_count; i++) {
        const struct allowed *row = &http->hosts[i].host;
        /* A section with the port is more specific than one without. */
        if (allow_covers(row, host.data, port, encrypted) && (found == NULL || row->port != 0))
            found = &http->hosts[i];
    }
    return found;
}

/* Searches seen, the bytes before any value was hidden: a value may be in another one, or overlap
 * it. A value that is cut at the end of the kept bytes, or at their beginning (standard error keeps
 * its tail), is hidden by its parts. Short values are not searched for: a value of three letters
 * would blacken words that have nothing to do with it. */
static void hide(const char *value, size_t size, const char *seen, char *bytes, size_t len)
{
    const char *end = seen + len;
    if (size < SECRETS_SHORTEST)
        return;
    for (const char *at = seen; (at = memmem(at, (size_t)(end - at), value, size)) != NULL; at++)
        memset(bytes + (at - seen), '*', size);
    for (size_t part = size - 1; part >= SECRETS_SHORTEST; part--) {
        if (part > len)
            continue;
        if (memcmp(end - part, value, part) == 0)
            memset(bytes + len - part, '*', part);
        if (memcmp(seen, value + size - part, part) == 0)
            memset(bytes, '*', part);
    }
}

void secrets_hide(const struct secrets *secrets, char *bytes, size_t len)
{
    if (secrets == NULL || secrets->count == 0 || len == 0)
        return;
    char *seen = xmalloc(len);
    memcpy(seen, bytes, len);
    for (int i = 0; i < secrets->count; i++) {
        const char *value = secrets->items[i].value;
        /* "Bearer TOKEN": a server may repeat the token alone. */
        const char *word = strchr(value, ' ');
        hide(value, strlen(value), seen, bytes, len);
        if (word != NULL)
            hide(word + 1, strlen(word + 1), seen, bytes, len);
    }
    free(seen);
}
