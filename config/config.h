/**
 * What: the configuration: one key table (config/keys.c), read from defaults, a file, the
 *   environment and the command line. The table makes the checks, `config list`, `config show`
 *   and the reference in docs/reference/configuration.md.
 * Invariants: default < file < environment LOCKSTEP_SECTION_KEY < -X/-s < named option; each
 *   value remembers where it comes from. Every value in a struct config has been checked
 *   against its type. A file that holds a password and can be read by others is refused.
 * Threads: read-only after config_load and config_set, then any thread.
 * Ownership: config_load gives the configuration to the caller, config_free takes it; texts
 *   live as long as it.
 * Failure: RC_FATAL + ERR_CONFIG; err->object is "FILE:LINE", a variable's name or "-s".
 *   Everything that is wrong is given to the report function, err holds the first.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/err.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum config_type {
    CONFIG_TEXT,
    CONFIG_INT,
    CONFIG_BOOL,     /* on/off, true/false, yes/no, 1/0 */
    CONFIG_DURATION, /* 200ms, 5s, 2min, 1h, 1d; a bare number has the key's unit */
    CONFIG_SIZE,     /* 64MB: B, kB, MB, GB, TB of 1024; a bare number is bytes */
    CONFIG_CHOICE,   /* one of the words of `choices` */
    CONFIG_LIST,     /* words with commas between */
    CONFIG_PROGRAM,  /* an absolute path and fixed arguments */
    CONFIG_CONNINFO, /* a libpq connection string; its password is masked */
    CONFIG_URL,      /* of a server; a password in it is masked */
    CONFIG_SECRET
};

/** A row of the key table. section "queue:" stands for every [queue:NAME], "command:" alike; key
 * "*" for any name. */
struct config_key {
    const char *section, *key;
    enum config_type type;
    const char *initial; /* NULL: none */
    const char *unit;    /* of a bare number: "ms", "s", "B"; "" if none */
    const char *choices; /* "a|b|c" */
    int64_t least,
        most; /* of CONFIG_INT; in ms of CONFIG_DURATION; in bytes of CONFIG_SIZE, 0, 0: any */
    const char *meaning;
};
const struct config_key *config_keys(int *ret_count);
const char *config_type_name(enum config_type type);

enum config_origin {
    CONFIG_BY_DEFAULT,
    CONFIG_BY_FILE,
    CONFIG_BY_ENVIRONMENT,
    CONFIG_BY_SETTING, /* -X, -s */
    CONFIG_BY_OPTION
};

struct config_value {
    const struct config_key *row;
    char *section, *key, *value;
    enum config_origin origin;
    char *where; /* "lockstep.conf:12", "LOCKSTEP_LOG_LEVEL", "--brokers" */
};

typedef void config_report_fn(void *context, const struct err *err);

struct config_request {
    const char
        *path; /* NULL: ./lockstep.conf, ~/.config/lockstep/, /etc/lockstep/; none there is fine */
    char *const *environ;   /* NULL: no environment */
    const char *const *set; /* "section.key=value" each, from -s; and "kafka.key=value" from -X */
    int set_count;
    config_report_fn *report; /* may be NULL */
    void *context;
};

struct config;
MUST_CHECK enum rc config_load(const struct config_request *request, struct config **ret_config,
                               struct err *err);
void config_free(struct config *config); /* NULL is fine */
/** The file that was read, "" if none. */
const char *config_path(const struct config *config);

/** Checks and stores; a value of a higher origin stays. */
MUST_CHECK enum rc config_set(struct config *config, const char *section, const char *key,
                              const char *value, enum config_origin origin, const char *where,
                              struct err *err);

/** NULL when neither set nor defaulted. */
const struct config_value *config_find(const struct config *config, const char *section,
                                       const char *key);
/** All values, in the order of sections and keys. NULL at the end. */
const struct config_value *config_at(const struct config *config, int index);

/** "" / 0 / false when not set. The key must be one of the table, of that type. */
const char *config_get_text(const struct config *config, const char *section, const char *key);
int64_t config_get_int(const struct config *config, const char *section, const char *key);
int64_t config_get_duration_ms(const struct config *config, const char *section, const char *key);
int64_t config_get_size(const struct config *config, const char *section, const char *key);
bool config_get_bool(const struct config *config, const char *section, const char *key);

/** [postgres] as one connection string: conninfo, and what is set beside it at the same or a higher
 * origin. */
void config_conninfo(const struct config *config, struct str *ret_conninfo);

/** The value for people's eyes: passwords are "***". */
void config_mask(const struct config_value *value, struct str *ret_text);
/** The same for a URL on its own. */
void config_mask_url(const char *url, struct str *ret_text);
/** The same for a connection string on its own. */
void config_mask_conninfo(const char *conninfo, struct str *ret_text);

/** Typed values from other places (options of commands) in the same words. False: not such a value,
 * or out of range. */
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
