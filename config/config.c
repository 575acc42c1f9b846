/* The store of values: sorted by section and key, each with the place that set it. Begin with
 * config_set(), through which every source goes: the key must be in the table, the value must fit,
 * and the stronger source wins. */
#include "config/key.h"
#include "config/store.h"

#include "base/nearest.h"
#include "config/value.h"

#include "base/remedies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A row with a colon covers each section of that kind, but not one without a name. */
static bool is_section(const struct config_key *row, const char *section)
{
    size_t len = strlen(row->section);
    if (row->section[len - 1] == ':') /* [queue:NAME] */
        return strncmp(section, row->section, len) == 0 && section[len] != '\0';
    return strcmp(row->section, section) == 0;
}

/* "*": any key, "env.*": any that begins with env. */
static bool is_key(const struct config_key *row, const char *key)
{
    size_t len = strlen(row->key);
    if (len > 0 && row->key[len - 1] == '*')
        return strncmp(row->key, key, len - 1) == 0 && key[len - 1] != '\0';
    return strcmp(row->key, key) == 0;
}

/** The row that covers the key; NULL: none, and err has the nearest name. A misspelt key that is
 * ignored would be found in production. */
const struct config_key *store_row(const char *section, const char *key, const char *where,
                                   struct err *err)
{
    int count;
    const struct config_key *rows = config_keys(&count);
    const char *near_key = NULL, *near_section = NULL;
    bool known = false;
    for (int i = 0; i < count; i++) {
        /* Both nearest names are collected in one pass; which one is shown depends on whether the
         * section exists. */
        near_section = nearest_of(section, near_section, rows[i].section);
        if (!is_section(&rows[i], section))
            continue;
        known = true;
        if (is_key(&rows[i], key))
            return &rows[i];
        near_key = nearest_of(key, near_key, rows[i].key);
    }
    char hint[300];
    const char *near = known ? near_key : near_section;
    if (near != NULL && *near != '\0')
        (void)snprintf(hint, sizeof hint, "Did you mean \"%s\"?", near);
    else
        (void)snprintf(hint, sizeof hint, REMEDY_CONFIG_LIST);
    if (known)
        (void)err_set(err, RC_FATAL, ERR_CONFIG, where, hint, "unknown key \"%s\" in section [%s]",
                      key, section);
    else
        (void)err_set(err, RC_FATAL, ERR_CONFIG, where, hint, "unknown section [%s] (key \"%s\")",
                      section, key);
    return NULL;
}

static int compare(const struct config_value *value, const char *section, const char *key)
{
    int order = strcmp(value->section, section);
    return order != 0 ? order : strcmp(value->key, key);
}

/* The first place whose value is not before (section, key): where it is, or where it belongs. A
 * search by halves, because each config_get_ function does one. */
static int place_of(const struct config *config, const char *section, const char *key)
{
    int low = 0, high = config->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (compare(&config->values[middle], section, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct config_value *config_find(const struct config *config, const char *section,
                                       const char *key)
{
    int place = place_of(config, section, key);
    if (place < config->count && compare(&config->values[place], section, key) == 0)
        return &config->values[place];
    return NULL;
}

const struct config_value *config_at(const struct config *config, int index)
{
    return index >= 0 && index < config->count ? &config->values[index] : NULL;
}

static struct config_value *insert(struct config *config, const struct config_key *row,
                                   const char *section, const char *key)
{
    int place = place_of(config, section, key);
    config->values = xrealloc(config->values, (size_t)config->count + 1, sizeof *config->values);
    /* Insertion keeps the order; a configuration has some hundred values and is loaded once. */
    memmove(config->values + place + 1, config->values + place,
            (size_t)(config->count - place) * sizeof *config->values);
    config->count++;
    config->values[place] =
        (struct config_value){.row = row, .section = xstrdup(section), .key = xstrdup(key)};
    return &config->values[place];
}

/* The value is checked before its origin is compared, so that a wrong value in a file is reported
 * even if the command line replaces it. */
enum rc config_set(struct config *config, const char *section, const char *key, const char *value,
                   enum config_origin origin, const char *where, struct err *err)
{
    const struct config_key *row = store_row(section, key, where, err);
    FREE_AUTO char *secret = NULL;
    enum rc rc = row != NULL ? RC_OK : RC_FATAL;
    /* The file of a secret is read at once, so that a missing one is a fault of the start and not
     * of the first use. */
    if (rc == RC_OK && secret_is_elsewhere(row, key, value)) {
        rc = secret_read(value, where, &secret, err);
        value = secret;
    }
    if (rc == RC_OK)
        rc = value_check(row, key, value, where, err);
    if (rc != RC_OK)
        return rc;
    const struct config_value *old = config_find(config, section, key);
    if (old != NULL && old->origin > origin)
        return RC_OK;
    /* Twice in one file is a mistake. On a command line the later option counts, as usual. */
    if (old != NULL && old->origin == CONFIG_BY_FILE && origin == CONFIG_BY_FILE)
        return err_set(err, RC_FATAL, ERR_CONFIG, where, "Keep one of them.",
                       "\"%s\" in section [%s] was set before, at %s", key, section, old->where);
    struct config_value *stored =
        old ? &config->values[old - config->values] : insert(config, row, section, key);
    free(stored->value);
    free(stored->where);
    stored->value = xstrdup(value);
    stored->where = xstrdup(where);
    stored->origin = origin;
    return RC_OK;
}

void config_free(struct config *config)
{
    if (config == NULL)
        return;
    for (int i = 0; i < config->count; i++) {
        free(config->values[i].section);
        free(config->values[i].key);
        free(config->values[i].value);
        free(config->values[i].where);
    }
    free(config->values);
    free(config->path);
    free(config);
}

const char *config_path(const struct config *config)
{
    return config->path;
}
