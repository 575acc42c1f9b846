/* The sources of values, in the order in which a later one counts: defaults, a file, the
 * environment, -s and -X. Begin with config_load(). Each source goes through config_set()
 * (config.c), which checks one value; check_together() and check_clusters() then check values
 * against each other. */
#include "config/key.h"
#include "config/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/** One -s section.key=value or -X key=value of the command line. */
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
        /* The place in a message is the option that the user has written. */
        if (strcmp(copy, "kafka") == 0)
            (void)snprintf(where, sizeof where, "-X %s", dot + 1);
        else
            (void)snprintf(where, sizeof where, "-s %s.%s", copy, dot + 1);
        rc = config_set(config, copy, dot + 1, equals + 1, CONFIG_BY_SETTING, where, &err);
    }
    if (rc != RC_OK)
        config_fault(&config->faults, &err);
}

/* Only of sections with a fixed name: of [queue:NAME] and similar there are none before they are
 * named, and config_get_text() has their defaults. */
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

/** In the given list and not with getenv(): a caller chooses its environment. */
static const char *find_variable(char *const *list, const char *name)
{
    size_t len = strlen(name);
    for (; list != NULL && *list != NULL; list++)
        if (strncmp(*list, name, len) == 0 && (*list)[len] == '=')
            return *list + len + 1;
    return NULL;
}

/* The path to read: as asked, else $LOCKSTEP_CONFIG, else the first of the three places that is
 * there. "" if none. True: it is the one of the working directory, and was not asked for. */
static bool choose_path(const struct config_request *request, struct str *ret_path)
{
    const char *home = find_variable(request->environ, "HOME");
    const char *named =
        request->path ? request->path : find_variable(request->environ, "LOCKSTEP_CONFIG");
    str_text(ret_path, "");
    if (named != NULL && *named != '\0') {
        str_text(ret_path, named);
        return false;
    }
    /* From the most specific place to the most general one. Only one file is read: two would hide
     * which value counts. */
    static const char *const places[] = {"lockstep.conf", "/.config/lockstep/lockstep.conf",
                                         "/etc/lockstep/lockstep.conf"};
    for (int i = 0; i < 3; i++) {
        if (i == 1 && home == NULL)
            continue;
        str_clear(ret_path);
        str_format(ret_path, "%s%s", i == 1 ? home : "", places[i]);
        if (access(ret_path->data, F_OK) == 0)
            return i == 0;
    }
    str_clear(ret_path);
    return false;
}

/* Two keys that contradict each other. Where only one of them is set, the heartbeat follows by
 * itself (executor/alive.c). */
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
            (void)err_set(
                &err, RC_FATAL, ERR_CONFIG, value->where, "Write it as in [cluster:warehouse].",
                "the name of [%s] must be 1 to 40 letters, digits, _ and -", value->section);
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
    bool here = choose_path(request, &path);
    config->path = xstrdup(path.data);
    set_defaults(config);
    struct err trouble;
    if (path.len > 0 && file_read(config, path.data, here, &trouble) != RC_OK)
        config_fault(&config->faults, &trouble);
    if (request->environ != NULL)
        environment_read(config, request->environ);
    for (int i = 0; i < request->set_count; i++)
        set_one(config, request->set[i]);
    check_together(config);
    check_clusters(config);
    enum rc rc = config_faults_end(&config->faults, err);
    /* The callback's context may end with this call. */
    config->faults.report = NULL;
    if (rc == RC_OK)
        *ret_config = config;
    else
        config_free(config);
    return rc;
}
