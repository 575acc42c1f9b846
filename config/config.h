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

struct config_key;

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
    /* NULL: ./lockstep.conf, ~/.config/lockstep/, /etc/lockstep/; none there is fine */
    const char *path;
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

#endif
