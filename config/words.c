/* Splits a command line without a shell: words, and quotes around white space. Nothing is expanded.
 * Quotes and backslashes mean the same as in a shell (POSIX, XCU 2.2), except that a backslash in
 * double quotes escapes every character. */
#include "config/parse.h"

#include "base/ascii.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void config_words_free(char **words)
{
    for (char **word = words; word != NULL && *word != NULL; word++)
        free(*word);
    free(words);
}

/* One word; *at is then behind it. False: a quote is not closed, or a backslash ends the text. */
static bool take_word(const char **at, struct str *word)
{
    char quote = '\0';
    str_text(word, "");
    for (; **at != '\0'; (*at)++) {
        char c = **at;
        if (quote == '\0' && ascii_space(c))
            return true;
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (quote != '\0' && c == quote) {
            quote = '\0';
        } else if (c == '\\' && quote != '\'') {
            (*at)++;
            if (**at == '\0')
                return false;
            str_add(word, *at, 1);
        } else {
            str_add(word, &c, 1);
        }
    }
    return quote == '\0';
}

bool config_words(const char *text, char ***ret_words, int *ret_count)
{
    char **words = xcalloc(1, sizeof *words);
    int count = 0;
    for (;;) {
        text += strspn(text, " \t\r\n\f\v");
        if (*text == '\0')
            break;
        struct str word = {0};
        bool good = take_word(&text, &word);
        /* The array is ended by NULL at each step, so that it can be freed at any. */
        words = xrealloc(words, (size_t)count + 2, sizeof *words);
        words[count++] = word.data;
        words[count] = NULL;
        if (!good) {
            config_words_free(words);
            return false;
        }
    }
    *ret_words = words;
    *ret_count = count;
    return true;
}
