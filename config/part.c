/* As conninfo_parse() of libpq reads a connection string, but in place and without a judgement: a
 * text that libpq refuses has parts, too. Begin with config_conninfo_next(). */
#include "config/part.h"

#include "base/ascii.h"

static size_t spaces(const char *text)
{
    size_t n = 0;
    while (ascii_space(text[n]))
        n++;
    return n;
}

/** Up to white space, or to the closing quote; a backslash takes the next character with it. */
static size_t value_length(const char *text)
{
    bool quoted = *text == '\'';
    size_t n = quoted ? 1 : 0;
    while (text[n] != '\0' && (quoted ? text[n] != '\'' : !ascii_space(text[n])))
        n += text[n] == '\\' && text[n + 1] != '\0' ? 2 : 1;
    return quoted && text[n] != '\0' ? n + 1 : n;
}

/* A name ends at = or white space, and behind a closing quote the next
 * name may follow at once. */
bool config_conninfo_next(const char **at, struct conninfo_part *ret_part)
{
    const char *name = *at + spaces(*at);
    if (*name == '\0')
        return false;
    size_t length = 0;
    while (name[length] != '\0' && name[length] != '=' && !ascii_space(name[length]))
        length++;
    *ret_part = (struct conninfo_part){.name = name, .name_length = length};
    *at = name + length;
    const char *equals = *at + spaces(*at);
    if (*equals == '=') {
        ret_part->value = equals + 1 + spaces(equals + 1);
        ret_part->value_length = value_length(ret_part->value);
        *at = ret_part->value + ret_part->value_length;
    }
    return true;
}
