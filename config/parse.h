/**
 * What: typed values as the configuration writes them, also for values from other places (options
 *   of commands).
 * Invariants: ret_x is written on success only.
 * Threads: any.
 * Ownership: config_words gives the words to the caller; config_words_free takes them.
 * Failure: false: not such a value, or out of range.
 */
#ifndef CONFIG_PARSE_H
#define CONFIG_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/** 500ms, 90s, 5m or 5min, 1h30m, 2d; a bare number has the given unit. */
bool config_parse_duration(const char *text, const char *unit, int64_t *ret_ms);
bool config_parse_size(const char *text, int64_t *ret_bytes);
bool config_parse_bool(const char *text, bool *ret_value);
/**
 * The words of a CONFIG_PROGRAM, ended by NULL: white space parts them; "..." and '...' keep it; a
 * backslash keeps the next character, but within '...'. Nothing is expanded. False: a quote is not
 * closed. Freed by config_words_free (NULL is fine).
 */
bool config_words(const char *text, char ***ret_words, int *ret_count);
void config_words_free(char **words);

#endif
