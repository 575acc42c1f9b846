/* The value of an option, checked by the form in its row (cli/command.h): a number with its range,
 * a duration, one of some words, or any text. The same form makes the argument's name in help
 * (option_argument) and the list of words (option_words), so help cannot promise another range.
 *
 * A new form of argument needs four places here: its check, its name in help, its list of words,
 * and the comment of struct option_spec. */
#include "cli/cli.h"

#include "base/ascii.h"
#include "base/nearest.h"
#include "config/parse.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The word of "a|b|c" that value is, in the list's spelling; NULL: none. */
static char *word_of(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (const char *at = choices; *at != '\0'; at += *at == '|') {
        size_t size = strcspn(at, "|");
        if (size == len && ascii_same_start(at, value, len))
            return strndup(at, size);
        at += size;
    }
    return NULL;
}

static enum rc refuse_word(const char *object, const char *name, const char *choices, bool numeric,
                           const char *value, struct err *err)
{
    STR_AUTO list = {0};
    FREE_AUTO char *words = xstrdup(choices);
    FREE_AUTO char *near_word = NULL;
    for (char *word = strtok(words, "|"); word != NULL; word = strtok(NULL, "|")) {
        const char *near = nearest_of(value, near_word, word);
        str_format(&list, "%s%s", list.len > 0 ? ", " : numeric ? "a number, " : "", word);
        /* nearest_of returns word itself if it is nearer than the one before, whose text must be
         * kept: words is cut by strtok. */
        if (near == word) {
            free(near_word);
            near_word = xstrdup(word);
        }
    }
    (void)err_set(err, RC_REJECT, ERR_USAGE, object, "", "%s must be one of %s, not \"%s\"", name,
                  list.data, value);
    if (near_word != NULL)
        (void)snprintf(err->hint, sizeof err->hint, "Did you mean %s?", near_word);
    return RC_REJECT;
}

/* Of "N:LEAST:MOST|word"; other where none is named. */
static struct number_range range_of(const char *argument, struct number_range other)
{
    struct number_range range;
    const char *least = argument + strcspn(argument, ":|");
    size_t len = *least == ':' ? strcspn(least + 1, ":") : 0;
    const char *most = least + 1 + len;
    if (*least == ':' && int64_parse(least + 1, len, &range.least) && *most == ':' &&
        int64_parse(most + 1, strcspn(most + 1, "|"), &range.most))
        return range;
    return other;
}

/* "N" or "N:..." or "N|...", but not "NAME". */
static bool begins(const char *argument, const char *kind)
{
    size_t len = strlen(kind);
    return strncmp(argument, kind, len) == 0 && strchr(":|", argument[len]) != NULL;
}

/* In the largest unit that leaves no rest, so that 3600000 is "1h". */
static const char *time_text(int64_t ms, char buffer[32])
{
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    size_t i = 0;
    while (ms == 0 ? i < 3 : ms % units[i].ms != 0)
        i++;
    (void)snprintf(buffer, 32, "%lld%s", (long long)(ms / units[i].ms), units[i].name);
    return buffer;
}

/* The value stays as it was typed; cli_int parses it again, in milliseconds. */
static enum rc check_time(const char *object, const char *name, const char *argument,
                          const char *value, struct err *err)
{
    int64_t ms;
    struct number_range range = range_of(argument, (struct number_range){0, INT_MAX});
    if (config_parse_duration(value, "s", &ms) && ms >= range.least && ms <= range.most)
        return RC_OK;
    char least[32], most[32];
    return err_set(err, RC_REJECT, ERR_USAGE, object,
                   "Write a time such as 90s, 5m, 1h30m or 2d; a bare number is seconds.",
                   "%s must be %s to %s, not \"%s\"", name, time_text(range.least, least),
                   time_text(range.most, most), value);
}

enum rc option_value(const struct cli *cli, const struct option_spec *spec, const char *value,
                     char **ret_value, struct err *err)
{
    const char *form = spec->argument ? spec->argument : "";
    const char *words = strchr(form, '|');
    bool numeric = begins(form, "N");
    char object[64], name[64];
    char *word = words != NULL ? word_of(numeric ? words + 1 : form, value) : NULL;
    int64_t number;
    enum rc rc = RC_OK;
    (void)cli_command_name(cli, object);
    (void)snprintf(name, sizeof name, "--%s", spec->name);
    /* "N|earliest|latest": a value with a digit is meant as a number, and gets the number's
     * error. */
    if (numeric && word == NULL && (words == NULL || strpbrk(value, "0123456789") != NULL))
        rc = number_parse(object, name, value, range_of(form, NUMBER_NOT_NEGATIVE), &number, err);
    else if (begins(form, "TIME"))
        rc = check_time(object, name, form, value, err);
    else if (words != NULL && word == NULL)
        rc = refuse_word(object, name, numeric ? words + 1 : form, numeric, value, err);
    if (rc == RC_OK)
        *ret_value = word != NULL ? word : xstrdup(value);
    return rc;
}

const char *option_argument(const struct option_spec *spec, char buffer[40])
{
    const char *form = spec->argument;
    bool numeric = begins(form, "N");
    if (strchr(form, '|') != NULL && !numeric)
        return "WORD";
    if (!numeric && !begins(form, "TIME"))
        return form;
    (void)snprintf(buffer, 40, "%.*s", (int)strcspn(form, ":|"), form);
    return buffer;
}

const char *option_words(const struct option_spec *spec, char buffer[200])
{
    const char *form = spec->argument ? spec->argument : "";
    const char *words = strchr(form, '|');
    if (words == NULL || strlen(form) > 150)
        return "";
    (void)snprintf(buffer, 200, "%s%s", begins(form, "N") ? "N" : "",
                   begins(form, "N") ? words : form);
    return buffer;
}
