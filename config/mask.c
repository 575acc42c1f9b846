/* Masks passwords in connection strings and URLs, before they are shown. Where the form is
 * ambiguous more is hidden: a password may hold any character. Begin with config_mask(). Other
 * secrets are hidden as a whole, by the type or the name of their key (value_is_secret). */
#include "config/mask.h"
#include "config/config.h"
#include "config/key.h"
#include "config/value.h"

#include "base/ascii.h"

#include <string.h>

bool mask_is_uri(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0;
}

/* The length of a value in key=value form: quoted or up to white space. */
static size_t value_length(const char *text)
{
    if (*text != '\'')
        return strcspn(text, " \t\r\n");
    size_t n = 1;
    while (text[n] != '\0' && text[n] != '\'')
        n += text[n] == '\\' && text[n + 1] != '\0' ? 2 : 1;
    return text[n] == '\'' ? n + 1 : n;
}

/* The length of the word at `at`, 0: another one. In a URI each character may be written
 * as %NN. */
static size_t word_length(const char *at, const char *word, bool uri)
{
    size_t n = 0;
    for (; *word != '\0'; word++) {
        bool coded = uri && at[n] == '%' && ascii_xdigit(at[n + 1]) && ascii_xdigit(at[n + 2]);
        char c = coded ? ascii_byte(at + n + 1) : at[n];
        if (ascii_lower(c) != *word)
            return 0;
        n += coded ? 3 : 1;
    }
    return n;
}

/* After "password" or "sslpassword" and "=", with white space around: the start of the value, or
 * NULL. */
static const char *password_value(const char *at, bool uri)
{
    size_t len = word_length(at, "sslpassword", uri);
    if (len == 0)
        len = word_length(at, "password", uri);
    if (len == 0)
        return NULL;
    at += len + strspn(at + len, " \t");
    if (*at != '=')
        return NULL;
    return at + 1 + strspn(at + 1, " \t");
}

static void mask_keywords(const char *text, bool uri, struct str *ret_text)
{
    for (const char *at = text; *at != '\0';) {
        /* A keyword begins a word: "nopassword=" is another one. */
        bool starts = at == text || strchr(uri ? "?&" : " \t\r\n", at[-1]) != NULL;
        const char *value = starts ? password_value(at, uri) : NULL;
        if (value == NULL) {
            str_add(ret_text, at++, 1);
            continue;
        }
        str_add(ret_text, at, (size_t)(value - at));
        /* In a URI the value ends at the next parameter, in the other form at its quote. */
        size_t len = uri ? strcspn(value, "&") : value_length(value);
        str_text(ret_text, len > 0 ? "***" : "");
        at = value + len;
    }
}

/* Appends the URL up to a password, and stars for it; returns the rest, which begins with the @. */
static const char *mask_user(const char *url, const char *end, struct str *ret_text)
{
    const char *scheme = strstr(url, "://");
    const char *start = scheme != NULL && scheme < end ? scheme + 3 : url;
    const char *at = memrchr(start, '@', (size_t)(end - start));
    const char *colon = at ? memchr(start, ':', (size_t)(at - start)) : NULL;
    if (colon == NULL)
        return url;
    str_add(ret_text, url, (size_t)(colon + 1 - url));
    str_text(ret_text, "***");
    return at;
}

/* A password may hold any character, also one that should have been written as %NN: the last @ ends
 * it. */
void config_mask_url(const char *url, struct str *ret_text)
{
    str_text(ret_text, "");
    str_text(ret_text, mask_user(url, url + strlen(url), ret_text));
}

void config_mask_conninfo(const char *conninfo, struct str *ret_text)
{
    str_text(ret_text, "");
    if (!mask_is_uri(conninfo)) {
        mask_keywords(conninfo, false, ret_text);
        return;
    }
    const char *start = strstr(conninfo, "://") + 3;
    conninfo = mask_user(conninfo, start + strcspn(start, "/?"), ret_text);
    mask_keywords(conninfo, true, ret_text);
}

void config_mask(const struct config_value *value, struct str *ret_text)
{
    if (value->row->type == CONFIG_CONNINFO)
        config_mask_conninfo(value->value, ret_text);
    else if (value->row->type == CONFIG_URL)
        config_mask_url(value->value, ret_text);
    else
        str_text(ret_text,
                 value_is_secret(value->row, value->key, value->value) ? "***" : value->value);
}
