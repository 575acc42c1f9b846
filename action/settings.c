/* [commands], [command:NAME] and [http] as structs for attempts. Begin with action_settings_load():
 * each value of the configuration goes to the function of its section. All faults are reported
 * before it fails, so that a configuration is repaired in one go. The key table (config/keys.c) has
 * checked each value by itself; this file checks values that belong together. */
#include "action/secrets.h"
#include "config/faults.h"
#include "config/parse.h"

#include "base/ascii.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loading {
    const struct config *config;
    struct action_settings *settings;
    struct config_faults faults;
};

const struct action_command *action_command_find(const struct action_settings *settings,
                                                 const char *name)
{
    for (int i = 0; i < settings->command_count; i++)
        if (strcmp(settings->commands[i].name, name) == 0)
            return &settings->commands[i];
    return NULL;
}

const struct action_command *action_command_at(const struct action_settings *settings, int i)
{
    return i >= 0 && i < settings->command_count ? &settings->commands[i] : NULL;
}

enum limit_unit { LIMIT_INT, LIMIT_SIZE, LIMIT_SECONDS };

/** -1 where the key is empty: the command keeps the limit of the executor. Seconds are rounded up,
 * because a limit of 0 would kill at once. */
static int64_t limit_of(const struct config *config, const char *section, const char *key,
                        enum limit_unit unit)
{
    if (*config_get_text(config, section, key) == '\0')
        return -1;
    return unit == LIMIT_INT    ? config_get_int(config, section, key)
           : unit == LIMIT_SIZE ? config_get_size(config, section, key)
                                : (config_get_duration_ms(config, section, key) + 999) / 1000;
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void add_variables(struct loading *loading, const char *section, struct secrets *to)
{
    const struct config_value *value;
    struct err err;
    for (int i = 0; (value = config_at(loading->config, i)) != NULL; i++)
        if (strcmp(value->section, section) == 0 && begins(value->key, "env.") &&
            secrets_add_variable(to, value, &err) != RC_OK)
            config_fault(&loading->faults, &err);
}

/* A value of [http:HOST]; those of a section come one after the other. */
static void add_host(struct loading *loading, const struct config_value *value)
{
    struct action_http *http = &loading->settings->http;
    struct secret_host *host = http->host_count > 0 ? &http->hosts[http->host_count - 1] : NULL;
    struct err err;
    enum rc rc = RC_OK;
    if (host == NULL || strcmp(host->section, value->section) != 0) {
        http->hosts = xrealloc(http->hosts, (size_t)http->host_count + 1, sizeof *http->hosts);
        host = &http->hosts[http->host_count];
        rc = secrets_host(host, loading->config, value, &err);
        http->host_count += rc == RC_OK;
    }
    if (rc == RC_OK && begins(value->key, "header."))
        rc = secrets_add_header(&host->headers, value, &err);
    if (rc != RC_OK)
        config_fault(&loading->faults, &err);
}

/* The texts are those of the configuration and are not copied: settings and configuration live
 * together (shelf.c). */
static void add_command(struct loading *loading, const struct config_value *value)
{
    const struct config *config = loading->config;
    struct action_settings *settings = loading->settings;
    STR_AUTO section = {0};
    str_format(&section, "command:%s", value->key);
    const char *s = section.data;
    struct action_command command = {.name = value->key,
                                     .where = value->where,
                                     .user = config_get_text(config, s, "user"),
                                     .directory = config_get_text(config, s, "directory"),
                                     .path = config_get_text(config, s, "path"),
                                     .kill_after_ms =
                                         config_get_duration_ms(config, s, "kill_after"),
                                     .output_limit = config_get_size(config, s, "output_limit"),
                                     .cpu_s = limit_of(config, s, "cpu_limit", LIMIT_SECONDS),
                                     .memory = limit_of(config, s, "memory_limit", LIMIT_SIZE),
                                     .open_files = limit_of(config, s, "open_files", LIMIT_INT),
                                     .processes = limit_of(config, s, "processes", LIMIT_INT),
                                     .file_limit = limit_of(config, s, "file_limit", LIMIT_SIZE)};
    struct err err;
    if (!config_words(value->value, &command.argv, &command.argc))
        return; /* the key table has checked it */
    /* A relative path would depend on the directory in which the executor was started. */
    if (command.directory[0] != '/') {
        (void)err_set(&err, RC_FATAL, ERR_CONFIG, value->where, "Give an absolute path.",
                      "[%s] directory = \"%s\" is no absolute path", s, command.directory);
        config_fault(&loading->faults, &err);
    }
    add_variables(loading, s, &command.environment);
    settings->commands = xrealloc(settings->commands, (size_t)settings->command_count + 1,
                                  sizeof *settings->commands);
    settings->commands[settings->command_count++] = command;
}

/** A section for a command that does not exist would be ignored silently, with its limits. */
static void check_section(struct loading *loading, const struct config_value *value)
{
    struct err err;
    if (config_find(loading->config, "commands", value->section + strlen("command:")) != NULL)
        return;
    (void)err_set(&err, RC_FATAL, ERR_CONFIG, value->where,
                  "Register it: [commands] NAME = /absolute/program arguments",
                  "[%s] is about a command that [commands] does not name", value->section);
    config_fault(&loading->faults, &err);
}

static void add_allowed(struct loading *loading, const struct config_value *value)
{
    struct action_http *http = &loading->settings->http;
    for (const char *at = value->value; *at != '\0';) {
        /* Blanks and commas both separate, and an empty entry is none. */
        at += strspn(at, ", \t");
        size_t len = strcspn(at, ", \t");
        if (len == 0)
            break;
        http->allowed =
            xrealloc(http->allowed, (size_t)http->allowed_count + 1, sizeof *http->allowed);
        if (allow_parse(at, len, &http->allowed[http->allowed_count])) {
            http->allowed_count++;
        } else {
            struct err err;
            STR_AUTO entry = {0};
            str_add(&entry, at, len);
            (void)err_set(&err, RC_FATAL, ERR_CONFIG, value->where,
                          "Write host, host:port, host:*, *.example.com or [::1]:8080, with commas "
                          "between, without scheme and path.",
                          "[http] allow: \"%s\" is no host", entry.data);
            config_fault(&loading->faults, &err);
        }
        at += len;
    }
}

/** A scheme that libcurl knows for a proxy, and a host. */
static bool is_proxy(const char *text)
{
    static const char *const schemes[] = {"http",    "https",  "socks4",
                                          "socks4a", "socks5", "socks5h"};
    CURLU *url = curl_url();
    char *scheme = NULL;
    bool known = false;
    if (curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME) ==
            CURLUE_OK &&
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK)
        for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
            known = known || ascii_same(scheme, schemes[i]);
    curl_free(scheme);
    curl_url_cleanup(url);
    return known;
}

/* libcurl would report it at each request, in words that quote the whole URL with its password. */
static void check_proxy(struct loading *loading, const struct config_value *value)
{
    struct err err;
    if (*value->value == '\0' || is_proxy(value->value))
        return;
    (void)err_set(&err, RC_FATAL, ERR_CONFIG, value->where,
                  "Write http://HOST:PORT or http://USER:PASSWORD@HOST:PORT with %NN for special "
                  "characters in them; other schemes are https, socks4, socks4a, socks5, socks5h.",
                  "[http] proxy is no URL of a proxy; it is not shown because of passwords in it");
    config_fault(&loading->faults, &err);
}

enum rc action_settings_load(const struct config *config, config_report_fn *report, void *context,
                             struct action_settings **ret_settings, struct err *err)
{
    struct action_settings *settings = xcalloc(1, sizeof *settings);
    struct loading loading = {
        .config = config, .settings = settings, .faults = {.report = report, .context = context}};
    const struct config_value *value;
    for (int i = 0; (value = config_at(config, i)) != NULL; i++) {
        if (strcmp(value->section, "commands") == 0)
            add_command(&loading, value);
        else if (begins(value->section, "command:"))
            check_section(&loading, value);
        else if (begins(value->section, "http:"))
            add_host(&loading, value);
        else if (strcmp(value->section, "http") == 0 && strcmp(value->key, "allow") == 0)
            add_allowed(&loading, value);
        else if (strcmp(value->section, "http") == 0 && strcmp(value->key, "proxy") == 0)
            check_proxy(&loading, value);
    }
    /* Defaults come from the key table, so nothing is missing here. */
    settings->http.ca_file = config_get_text(config, "http", "ca_file");
    settings->http.proxy = config_get_text(config, "http", "proxy");
    settings->http.connect_timeout_ms = config_get_duration_ms(config, "http", "connect_timeout");
    settings->http.timeout_ms = config_get_duration_ms(config, "http", "timeout");
    settings->http.response_limit = config_get_size(config, "http", "response_limit");
    enum rc rc = config_faults_end(&loading.faults, err);
    if (rc == RC_OK)
        *ret_settings = settings;
    else
        action_settings_free(settings);
    return rc;
}

void action_settings_free(struct action_settings *settings)
{
    if (settings == NULL)
        return;
    for (int i = 0; i < settings->command_count; i++) {
        /* Only the words are copies; all other texts are the configuration's. */
        config_words_free(settings->commands[i].argv);
        secrets_done(&settings->commands[i].environment);
    }
    for (int i = 0; i < settings->http.host_count; i++) {
        allow_done(&settings->http.hosts[i].host);
        secrets_done(&settings->http.hosts[i].headers);
    }
    free(settings->http.hosts);
    for (int i = 0; i < settings->http.allowed_count; i++)
        allow_done(&settings->http.allowed[i]);
    free(settings->commands);
    free(settings->http.allowed);
    free(settings);
}
