/* Masks passwords in connection strings and URLs, before they are shown. Where the form is
 * ambiguous more is hidden: a password may hold any character. Begin with config_mask(). Other
 * secrets are hidden as a whole, by the type or the name of their key (value_is_secret). */
#include "config/mask.h"
#include "config/config.h"
#include "config/key.h"
#include "config/part.h"
#include "config/value.h"

#include "base/ascii.h"

#include <string.h>

bool mask_is_uri(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0;
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

static size_t password_word(const char *at, bool uri)
{
    size_t len = word_length(at, "sslpassword", uri);
    return len > 0 ? len : word_length(at, "password", uri);
}

/* A word without a value is in no valid string: behind a password it is the rest of one whose
 * blanks are not quoted. */
static void mask_keywords(const char *text, struct str *ret_text)
{
    struct conninfo_part part;
    bool secret = false;
    const char *shown = text; /* up to here the text is copied */
    for (const char *at = text; config_conninfo_next(&at, &part);) {
        const char *hidden = part.value != NULL ? part.value : part.name;
        if (part.value != NULL)
            secret = part.name_length > 0 && password_word(part.name, false) == part.name_length;
        if (!secret || hidden == at)
            continue;
        str_add(ret_text, shown, (size_t)(hidden - shown));
        str_text(ret_text, "***");
        shown = at;
    }
    str_text(ret_text, shown);
}

/* The value of the next password among the parameters of a URI, up to end; NULL: there is none. */
static const char *next_password(const char *text, const char *end)
{
    for (const char *at = text + strcspn(text, "?&"); at < end; at += strcspn(at, "?&")) {
        size_t len = password_word(++at, true);
        if (len > 0 && at[len] == '=')
            return at + len + 1;
    }
    return NULL;
}

static void mask_parameters(const char *text, struct str *ret_text)
{
    const char *value;
    while ((value = next_password(text, text + strlen(text))) != NULL) {
        str_add(ret_text, text, (size_t)(value - text));
        size_t len = strcspn(value, "&");
        str_text(ret_text, len > 0 ? "***" : "");
        text = value + len;
    }
    str_text(ret_text, text);
}

/* Appends the URL up to a password, and stars for it; returns the rest, which begins with the @.
 * at: the @ that ends the credentials; NULL: there are none. */
static const char *mask_user(const char *url, const char *start, const char *at,
                             struct str *ret_text)
{
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
    const char *scheme = strstr(url, "://"), *start = scheme != NULL ? scheme + 3 : url;
    str_text(ret_text, "");
    str_text(ret_text, mask_user(url, start, strrchr(start, '@'), ret_text));
}

/* libpq looks for the @ up to the first slash. Without one there it may be behind a slash of the
 * password, but the @ of a parameter with a password ends no credentials. */
static const char *credentials_end(const char *start)
{
    const char *at = memrchr(start, '@', strcspn(start, "/"));
    if (at != NULL)
        return at;
    const char *end = start + strlen(start), *value = next_password(start, end);
    return memrchr(start, '@', (size_t)((value != NULL ? value : end) - start));
}

static void mask_uri(const char *uri, struct str *ret_text)
{
    const char *start = strstr(uri, "://") + 3, *at = credentials_end(start);
    const char *rest = mask_user(uri, start, at, ret_text);
    /* Such a parameter before the @ is one to its writer, and a part of the password to libpq. */
    if (rest == at && at != NULL && next_password(start, at) != NULL) {
        str_text(ret_text, "@***");
        rest += strcspn(rest, "&");
    }
    mask_parameters(rest, ret_text);
}

void config_mask_conninfo(const char *conninfo, struct str *ret_text)
{
    str_text(ret_text, "");
    if (mask_is_uri(conninfo))
        mask_uri(conninfo, ret_text);
    else
        mask_keywords(conninfo, ret_text);
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
