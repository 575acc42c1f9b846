/* Values by type, or the table's default. Values were checked when they were set, so nothing can
 * fail here; a name that the table does not have is a mistake of this program. */
#include "config/key.h"
#include "config/mask.h"
#include "config/parse.h"
#include "config/store.h"

#include "config/value.h"

#include <stdlib.h>
#include <string.h>

/* What is set, else the table's default, else "". A key that the table does not know is a bug of
 * ours. */
const char *config_get_text(const struct config *config, const char *section, const char *key)
{
    const struct config_value *value = config_find(config, section, key);
    if (value != NULL)
        return value->value;
    struct err err;
    const struct config_key *row = store_row(section, key, "config_get", &err);
    if (row == NULL)
        /* Not an error for the user: only the program can repair it. */
        abort();
    return row->initial ? row->initial : "";
}

/** 0 for an empty text. A key without a default is tested with config_get_text() before. */
int64_t config_get_int(const struct config *config, const char *section, const char *key)
{
    const char *text = config_get_text(config, section, key);
    int64_t number = 0;
    return int64_parse(text, strlen(text), &number) ? number : 0;
}

int64_t config_get_duration_ms(const struct config *config, const char *section, const char *key)
{
    struct err err;
    const struct config_key *row = store_row(section, key, "config_get", &err);
    int64_t ms = 0;
    return row && config_parse_duration(config_get_text(config, section, key), row->unit, &ms) ? ms
                                                                                               : 0;
}

int64_t config_get_size(const struct config *config, const char *section, const char *key)
{
    int64_t bytes = 0;
    return config_parse_size(config_get_text(config, section, key), &bytes) ? bytes : 0;
}

bool config_get_bool(const struct config *config, const char *section, const char *key)
{
    bool yes = false;
    return config_parse_bool(config_get_text(config, section, key), &yes) && yes;
}
