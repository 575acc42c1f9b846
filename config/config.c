#include "config/key.h"
#include "config/store.h"

#include "config/nearest.h"
#include "config/value.h"

#include "base/remedies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

const struct config_key *store_row(const char *section, const char *key, const char *where,
                                   struct err *err)
{
    int count;
    const struct config_key *rows = config_keys(&count);
    const char *near_key = NULL, *near_section = NULL;
    bool known = false;
    for (int i = 0; i < count; i++) {
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

/* The first place whose value is not before (section, key). */
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
    memmove(config->values + place + 1, config->values + place,
            (size_t)(config->count - place) * sizeof *config->values);
    config->count++;
    config->values[place] =
        (struct config_value){.row = row, .section = xstrdup(section), .key = xstrdup(key)};
    return &config->values[place];
}

enum rc config_set(struct config *config, const char *section, const char *key, const char *value,
                   enum config_origin origin, const char *where, struct err *err)
{
    const struct config_key *row = store_row(section, key, where, err);
    FREE_AUTO char *secret = NULL;
    enum rc rc = row != NULL ? RC_OK : RC_FATAL;
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

/* Where the key begins in "section.key"; the name of a queue, a command or a host may hold dots,
 * their keys hold none but env.NAME and header.NAME. */
static char *dot_before_key(char *text)
{
    char *dot = strchr(text, '.'), *colon = strchr(text, ':');
    if (dot == NULL || colon == NULL || colon > dot)
        return dot;
    char *pair = strstr(colon, strncmp(text, "http:", 5) == 0 ? ".header." : ".env.");
    return pair != NULL ? pair : strrchr(text, '.');
}

static void set_one(struct config *config, const char *setting)
{
    struct err err;
    FREE_AUTO char *copy = xstrdup(setting);
    char *equals = strchr(copy, '=');
    if (equals != NULL)
        *equals = '\0';
    char *dot = dot_before_key(copy);
    enum rc rc;
    if (equals == NULL || dot == NULL || dot == copy) {
        rc = err_set(&err, RC_FATAL, ERR_CONFIG, "-s", "Write: -s section.key=value",
                     "\"%s\" is no setting of the form section.key=value", copy);
    } else {
        *dot = '\0';
        char where[150];
        if (strcmp(copy, "kafka") == 0)
            (void)snprintf(where, sizeof where, "-X %s", dot + 1);
        else
            (void)snprintf(where, sizeof where, "-s %s.%s", copy, dot + 1);
        rc = config_set(config, copy, dot + 1, equals + 1, CONFIG_BY_SETTING, where, &err);
    }
    if (rc != RC_OK)
        config_fault(&config->faults, &err);
}

static void set_defaults(struct config *config)
{
    int count;
    const struct config_key *rows = config_keys(&count);
    for (int i = 0; i < count; i++) {
        if (rows[i].initial == NULL || strchr(rows[i].section, ':') != NULL)
            continue;
        struct err err;
        if (config_set(config, rows[i].section, rows[i].key, rows[i].initial, CONFIG_BY_DEFAULT,
                       "default", &err) != RC_OK)
            config_fault(&config->faults, &err);
    }
}

static const char *find_variable(char *const *list, const char *name)
{
    size_t len = strlen(name);
    for (; list != NULL && *list != NULL; list++)
        if (strncmp(*list, name, len) == 0 && (*list)[len] == '=')
            return *list + len + 1;
    return NULL;
}

/* The path to read: as asked, else $LOCKSTEP_CONFIG, else the first of the three places that is
 * there. "" if none. */
static void choose_path(const struct config_request *request, struct str *ret_path)
{
    const char *home = find_variable(request->environ, "HOME");
    const char *named =
        request->path ? request->path : find_variable(request->environ, "LOCKSTEP_CONFIG");
    str_text(ret_path, "");
    if (named != NULL && *named != '\0') {
        str_text(ret_path, named);
        return;
    }
    static const char *const places[] = {"lockstep.conf", "/.config/lockstep/lockstep.conf",
                                         "/etc/lockstep/lockstep.conf"};
    for (int i = 0; i < 3; i++) {
        if (i == 1 && home == NULL)
            continue;
        str_clear(ret_path);
        str_format(ret_path, "%s%s", i == 1 ? home : "", places[i]);
        if (access(ret_path->data, F_OK) == 0)
            return;
    }
    str_clear(ret_path);
}

/* Two keys that contradict each other. Where only one of them is set, the heartbeat follows by itself (executor/alive.c). */
static void check_together(struct config *config)
{
    static const char section[] = "executor";
    const struct config_value *heartbeat = config_find(config, section, "heartbeat");
    const struct config_value *frozen = config_find(config, section, "frozen_after");
    int64_t beat_ms = config_get_duration_ms(config, section, "heartbeat");
    int64_t frozen_ms = config_get_duration_ms(config, section, "frozen_after");
    if (heartbeat == NULL || frozen == NULL || heartbeat->origin == CONFIG_BY_DEFAULT ||
        frozen->origin == CONFIG_BY_DEFAULT || 4 * beat_ms <= frozen_ms)
        return;
    char hint[200];
    struct err err;
    (void)snprintf(hint, sizeof hint,
                   "Set heartbeat to at most %lldms, or frozen_after (%s) to at least %lldms.",
                   (long long)(frozen_ms / 4), frozen->where, (long long)(4 * beat_ms));
    (void)err_set(&err, RC_FATAL, ERR_CONFIG, heartbeat->where, hint,
                  "heartbeat must be at most a quarter of frozen_after (%s), not %s", frozen->value,
                  heartbeat->value);
    config_fault(&config->faults, &err);
}

/* The name is a part of addresses, and of the name of a cookie. */
static bool is_cluster_name(const char *name)
{
    size_t len = strlen(name);
    return len <= 40 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == len;
}

static void check_clusters(struct config *config)
{
    static const char prefix[] = "cluster:";
    for (int i = 0; i < config->count; i++) {
        const struct config_value *value = &config->values[i];
        const char *name = value->section + sizeof prefix - 1;
        struct err err;
        if (strncmp(value->section, prefix, sizeof prefix - 1) != 0)
            continue;
        if (!is_cluster_name(name))
            (void)err_set(&err, RC_FATAL, ERR_CONFIG, value->where, "As in [cluster:warehouse].",
                          "the name of [%s] must be 1 to 40 letters, digits, _ and -",
                          value->section);
        else if (*value->value == '\0')
            (void)err_set(&err, RC_FATAL, ERR_CONFIG, value->where, HINT_CLUSTER,
                          "[%s] has no conninfo", value->section);
        else
            continue;
        config_fault(&config->faults, &err);
    }
}

enum rc config_load(const struct config_request *request, struct config **ret_config,
                    struct err *err)
{
    struct config *config = xcalloc(1, sizeof *config);
    config->faults = (struct config_faults){.report = request->report, .context = request->context};
    STR_AUTO path = {0};
    choose_path(request, &path);
    config->path = xstrdup(path.data);
    set_defaults(config);
    struct err trouble;
    if (path.len > 0 && file_read(config, path.data, &trouble) != RC_OK)
        config_fault(&config->faults, &trouble);
    if (request->environ != NULL)
        environment_read(config, request->environ);
    for (int i = 0; i < request->set_count; i++)
        set_one(config, request->set[i]);
    check_together(config);
    check_clusters(config);
    enum rc rc = config_faults_end(&config->faults, err);
    config->faults.report = NULL;
    if (rc == RC_OK)
        *ret_config = config;
    else
        config_free(config);
    return rc;
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
