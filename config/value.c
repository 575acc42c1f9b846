/* Checks and parses values by the type of their key. Durations and sizes need a unit, or the key's
 * own; nothing is negative. The rules of one value are here; rules about two of them are in load.c,
 * and the parts that use a value check whether the things that it names exist. */
#include "config/value.h"

#include "base/ascii.h"
#include "base/number.h"
#include "config/mask.h"
#include "config/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit time_units[] = {{"ms", 1},    {"s", 1000},    {"min", 60000},
                                         {"m", 60000}, {"h", 3600000}, {"d", 86400000},
                                         {NULL, 0}};
/* Powers of 1024, as in postgresql.conf (manual, 20.1.1). */
static const struct unit size_units[] = {{"B", 1},          {"kB", 1LL << 10}, {"MB", 1LL << 20},
                                         {"GB", 1LL << 30}, {"TB", 1LL << 40}, {NULL, 0}};

/* Digits, white space, a unit. *text is behind them then. bare: the unit where none is written. */
static bool parse_part(const char **text, const char *bare, const struct unit *units,
                       int64_t *ret_value)
{
    size_t digits = strspn(*text, "0123456789");
    const char *name = *text + digits + strspn(*text + digits, " \t");
    size_t len = strcspn(name, "0123456789 \t");
    int64_t number;
    /* No digits at all, or a number beyond int64. */
    if (!int64_parse(*text, digits, &number))
        return false;
    *text = name + len;
    if (len == 0) {
        name = bare;
        len = strlen(bare);
    }
    for (; units->name != NULL; units++)
        if (strlen(units->name) == len && memcmp(units->name, name, len) == 0) {
            /* The product would overflow, which is undefined in C. */
            if (number > INT64_MAX / units->factor)
                return false;
            *ret_value = number * units->factor;
            return true;
        }
    return false;
}

/* One part, or several, of which each has its unit: 1h30m. Never negative. */
static bool parse_unit(const char *text, const char *bare, const struct unit *units,
                       int64_t *ret_value)
{
    int64_t sum = 0;
    for (bool first = true; first || *text != '\0'; first = false) {
        int64_t part = 0;
        /* "1h30" is refused: the unit of a bare part behind another one is a guess. */
        bool last = text[strspn(text, "0123456789 \t")] == '\0';
        if (!parse_part(&text, first && last ? bare : "", units, &part) || part > INT64_MAX - sum)
            return false;
        sum += part;
    }
    *ret_value = sum;
    return true;
}

bool config_parse_duration(const char *text, const char *unit, int64_t *ret_ms)
{
    return parse_unit(text, unit, time_units, ret_ms);
}

bool config_parse_size(const char *text, int64_t *ret_bytes)
{
    return parse_unit(text, "B", size_units, ret_bytes);
}

bool config_parse_bool(const char *text, bool *ret_value)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (ascii_same(text, words[i])) {
            /* The words for off and on take turns in the list. */
            *ret_value = i % 2 == 1;
            return true;
        }
    return false;
}

/* Whether value is one of the words of "a|b|c". A value with a bar in it is none: it would match
 * two words at once. */
static bool is_choice(const char *choices, const char *value)
{
    size_t len = strcspn(value, "|");
    if (value[len] != '\0')
        return false;
    for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (len > 0 && strncmp(at, value, len) == 0 && (at[len] == '|' || at[len] == '\0'))
            return true;
    }
    return false;
}

static enum rc bad(const struct config_key *row, const char *key, const char *value,
                   const char *where, struct err *err)
{
    char hint[400] = "";
    if (row->type == CONFIG_CHOICE)
        (void)snprintf(hint, sizeof hint, "One of: %s", row->choices);
    else if (row->type == CONFIG_DURATION)
        (void)snprintf(hint, sizeof hint,
                       "A time with a unit (ms, s, min, h, d), from %" PRId64 " ms to %" PRId64
                       " ms.",
                       row->least, row->most);
    else if (row->type == CONFIG_SIZE)
        (void)snprintf(hint, sizeof hint,
                       row->most == 0 ? "A size with a unit (B, kB, MB, GB, TB)."
                                      : "A size with a unit (B, kB, MB, GB, TB), from %" PRId64
                                        " to %" PRId64 " bytes.",
                       row->least, row->most);
    else if (row->type == CONFIG_BOOL)
        (void)snprintf(hint, sizeof hint, "on or off");
    else if (row->type == CONFIG_PROGRAM)
        (void)snprintf(hint, sizeof hint,
                       "An absolute path, then fixed arguments: /usr/bin/program --option \"one "
                       "argument\". There is no shell.");
    return err_set(err, RC_FATAL, ERR_CONFIG, where, hint,
                   "%s = \"%s\" is no %s that is allowed here", key, value,
                   config_type_name(row->type));
}

static bool is_program(const char *value)
{
    char **words = NULL;
    int count = 0;
    bool good = config_words(value, &words, &count) && count > 0 && words[0][0] == '/';
    config_words_free(words);
    return good;
}

enum rc value_check(const struct config_key *row, const char *key, const char *value,
                    const char *where, struct err *err)
{
    int64_t number;
    bool yes, good = true;
    enum rc rc;
    switch (row->type) {
    case CONFIG_INT:
        rc = number_parse(where, key, value, (struct number_range){row->least, row->most}, &number,
                          err);
        if (rc == RC_OK)
            return RC_OK;
        /* number_parse() is for command lines, too, where it is an error of usage. */
        if (err != NULL)
            err->kind = ERR_CONFIG;
        return RC_FATAL;
    case CONFIG_DURATION:
        good = config_parse_duration(value, row->unit, &number) && number >= row->least &&
               number <= row->most;
        break;
    case CONFIG_SIZE:
        good = config_parse_size(value, &number) &&
               (row->most == 0 || (number >= row->least && number <= row->most));
        break;
    case CONFIG_BOOL:
        good = config_parse_bool(value, &yes);
        break;
    case CONFIG_CHOICE:
        good = is_choice(row->choices, value);
        break;
    case CONFIG_PROGRAM:
        good = is_program(value);
        break;
    /* Any text here; the part that uses it knows more. */
    case CONFIG_TEXT:
    case CONFIG_LIST:
    case CONFIG_CONNINFO:
    case CONFIG_URL:
    case CONFIG_SECRET:
        break;
    }
    return good ? RC_OK : bad(row, key, value, where, err);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/** A connection string is a secret if it has a part that would be masked. */
static bool is_masked(void (*mask)(const char *value, struct str *ret_text), const char *value)
{
    STR_AUTO masked = {0};
    mask(value, &masked);
    return masked.data != NULL && strcmp(masked.data, value) != 0;
}

/* librdkafka's names are not in our table, so its secrets are known by the ends of their names. */
bool value_is_secret(const struct config_key *row, const char *key, const char *value)
{
    if (row->type == CONFIG_CONNINFO)
        return is_masked(config_mask_conninfo, value);
    if (row->type == CONFIG_URL)
        return is_masked(config_mask_url, value);
    if (strcmp(row->section, "kafka") == 0)
        return ends_with(key, "password") || ends_with(key, "secret") ||
               ends_with(key, "key.pem") || strcmp(key, "sasl.jaas.config") == 0 ||
               strcmp(key, "sasl.oauthbearer.config") == 0;
    return row->type == CONFIG_SECRET;
}
