/* One connection string out of conninfo and the single settings of [postgres]. A setting of a
 * weaker source than conninfo is left out: conninfo on the command line replaces what the file
 * says, instead of being mixed with it. */
#include "config/conninfo.h"
#include "config/config.h"
#include "config/key.h"
#include "config/mask.h"
#include "config/part.h"

#include "base/ascii.h"

#include <string.h>

/* libpq's quoting: single quotes around, backslash before quote and backslash. */
static void add_keyword(struct str *str, const char *key, const char *value)
{
    str_format(str, "%s%s='", str->len > 0 ? " " : "", key);
    for (; *value != '\0'; value++) {
        if (*value == '\'' || *value == '\\')
            str_text(str, "\\");
        str_add(str, value, 1);
    }
    str_text(str, "'");
}

/* libpq ends the credentials at the first @ that is not behind a slash: a ? before it is a part of
 * the password. */
static bool has_parameters(const char *uri)
{
    const char *start = strstr(uri, "://") + 3, *at = start + strcspn(start, "@/");
    return strchr(*at == '@' ? at : start, '?') != NULL;
}

static void add_parameter(struct str *str, const char *key, const char *value)
{
    str_format(str, "%s%s=", has_parameters(str->data) ? "&" : "?", key);
    for (; *value != '\0'; value++)
        if (ascii_alnum(*value))
            str_add(str, value, 1);
        else
            str_format(str, "%%%02X", (unsigned)(unsigned char)*value);
}

/* The base: a URI and key=value as they are, a bare word as the database's name, as psql reads it.
 */
static void add_base(struct str *str, const char *conninfo)
{
    if (mask_is_uri(conninfo) || strchr(conninfo, '=') != NULL)
        str_text(str, conninfo);
    else if (*conninfo != '\0')
        add_keyword(str, "dbname", conninfo);
}

/* A last value that is not ended would take the next keyword into itself: an empty one, and one
 * with a backslash that has nothing behind it, which libpq leaves out. */
static void end_last_value(struct str *conninfo)
{
    struct conninfo_part part = {0};
    for (const char *at = conninfo->data; config_conninfo_next(&at, &part);) {
    }
    if (part.value == NULL || *part.value == '\'')
        return;
    size_t backslashes = 0;
    while (backslashes < part.value_length &&
           part.value[part.value_length - backslashes - 1] == '\\')
        backslashes++;
    size_t lone = backslashes % 2;
    if (lone > 0)
        str_cut(conninfo, conninfo->len - lone);
    if (part.value_length == lone)
        str_text(conninfo, "''");
}

void config_conninfo_add(struct str *conninfo, const char *key, const char *value)
{
    if (conninfo->data != NULL && mask_is_uri(conninfo->data)) {
        add_parameter(conninfo, key, value);
        return;
    }
    if (conninfo->len > 0)
        end_last_value(conninfo);
    add_keyword(conninfo, key, value);
}

static bool is_keyword(const struct config_value *value)
{
    return strcmp(value->section, "postgres") == 0 && value->row->type != CONFIG_CONNINFO;
}

/* Compared by source and not by key: host in the file does not belong to a database that the
 * command line names. */
bool config_conninfo_leaves_out(const struct config *config, const struct config_value *value)
{
    const struct config_value *base = config_find(config, "postgres", "conninfo");
    return is_keyword(value) && base != NULL && value->origin < base->origin;
}

void config_conninfo(const struct config *config, struct str *ret_conninfo)
{
    const struct config_value *base = config_find(config, "postgres", "conninfo");
    const char *conninfo = base ? base->value : "";
    str_clear(ret_conninfo);
    str_text(ret_conninfo, "");
    add_base(ret_conninfo, conninfo);
    const struct config_value *value;
    for (int i = 0; (value = config_at(config, i)) != NULL; i++) {
        if (is_keyword(value) && !config_conninfo_leaves_out(config, value))
            config_conninfo_add(ret_conninfo, value->key, value->value);
    }
}
