/* Reads the sections [alert:NAME] and reports every fault in them, not only the first: an operator
 * edits the file once. Registered commands and allowed hosts are checked here, at the start,
 * because an alert that cannot be sent would otherwise be noticed at night. scheduler/delivery.c
 * sends. */
#include "scheduler/receiver.h"

#include "base/ascii.h"
#include "base/str.h"
#include "config/faults.h"
#include "config/parse.h"
#include "task/message.h"

#include <stdlib.h>
#include <string.h>

#define KINDS "missed, stuck, failed, late, never, blocked, absent"

struct loading {
    const struct config *config;
    const struct action_settings *settings;
    struct config_faults faults;
};

/* File and line of the key; the name of the section when the key is not written there. */
static const char *where(const struct loading *loading, const char *section, const char *key)
{
    const struct config_value *value = config_find(loading->config, section, key);
    return value != NULL ? value->where : section;
}

/* A whole word of KINDS: "miss" is none. */
static bool is_kind(const char *word, size_t len)
{
    for (const char *at = KINDS; *at != '\0';) {
        size_t known = strcspn(at, ",");
        if (known == len && memcmp(at, word, len) == 0)
            return true;
        at += known;
        at += strspn(at, ", ");
    }
    return false;
}

/* A job's name, or a pattern of some. */
static bool is_pattern(const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!ascii_alnum(word[i]) && strchr("._-*", word[i]) == NULL)
            return false;
    /* The longest name of a job. */
    return len <= 63;
}

/* The words of a list with commas between and nothing else; NULL if there is none. */
static char *list_of(struct loading *loading, const char *section, const char *key,
                     bool is_right(const char *, size_t), const char *hint)
{
    STR_AUTO list = {0};
    for (const char *at = config_get_text(loading->config, section, key); *at != '\0';) {
        at += strspn(at, ", \t");
        size_t len = strcspn(at, ", \t");
        if (len > 0 && !is_right(at, len)) {
            struct err err;
            STR_AUTO word = {0};
            str_add(&word, at, len);
            (void)err_set(&err, RC_FATAL, ERR_CONFIG, where(loading, section, key), hint,
                          "[%s] %s: \"%s\" is not known", section, key, word.data);
            config_fault(&loading->faults, &err);
        }
        /* The database splits the list at commas and does not trim: blanks go here. */
        if (len > 0) {
            str_text(&list, list.len > 0 ? "," : "");
            str_add(&list, at, len);
        }
        at += len;
    }
    return list.data != NULL ? xstrdup(list.data) : NULL;
}

static int64_t remind_of(struct loading *loading, const char *section)
{
    const char *text = config_get_text(loading->config, section, "remind_every");
    int64_t ms = 0;
    if (strcmp(text, "off") == 0)
        return 0;
    /* The key table has no type for "a duration or off", so this function parses the text. */
    if (config_parse_duration(text, "s", &ms) && ms >= 1000)
        return ms;
    struct err err;
    (void)err_set(&err, RC_FATAL, ERR_CONFIG, where(loading, section, "remind_every"),
                  "Write off, or a time: 4h.",
                  "[%s] remind_every: \"%s\" is neither off nor a time of one second or more",
                  section, text);
    config_fault(&loading->faults, &err);
    return 0;
}

static void check_command(struct loading *loading, const char *section, struct receiver *receiver)
{
    const struct action_command *command =
        action_command_find(loading->settings, receiver->command);
    struct err err;
    if (command != NULL) {
        /* Part of the lease: the command may live so long after its time-out. */
        receiver->kill_after_ms = command->kill_after_ms;
        return;
    }
    (void)err_set(&err, RC_FATAL, ERR_CONFIG, where(loading, section, "command"),
                  "Register it: [commands] NAME = /absolute/program arguments",
                  "[%s] command: [commands] does not name \"%s\"", section, receiver->command);
    config_fault(&loading->faults, &err);
}

static void check_url(struct loading *loading, const char *section, const struct receiver *receiver)
{
    struct message msg = {.type = MESSAGE_HTTP, .action.url = (char *)(uintptr_t)receiver->url};
    char need[ACTION_NEED_SIZE];
    bool allowed = false;
    struct err err;
    /* The check of an HTTP task: a receiver may call no host that a task may not call. */
    (void)action_need(loading->settings, &msg, 0, need, &allowed);
    if (*need != '\0' && allowed)
        return;
    if (*need == '\0')
        (void)err_set(&err, RC_FATAL, ERR_CONFIG, where(loading, section, "url"),
                      "Write url = https://hooks.example.com/path",
                      "[%s] url: it is no URL of http or https", section);
    else
        (void)err_set(&err, RC_FATAL, ERR_CONFIG, where(loading, section, "url"),
                      "Allow it: [http] allow = HOST:PORT",
                      "[%s] url: [http] allow does not have %s", section, need + strlen("http:"));
    config_fault(&loading->faults, &err);
}

static void load(struct loading *loading, const char *section, struct receiver *receiver)
{
    const struct config *config = loading->config;
    const char *command = config_get_text(config, section, "command"),
               *url = config_get_text(config, section, "url");
    *receiver = (struct receiver){.name = section + strlen("alert:"),
                                  .command = *command != '\0' ? command : NULL,
                                  .url = *url != '\0' ? url : NULL,
                                  .hold_ms = config_get_duration_ms(config, section, "hold"),
                                  .timeout_ms = config_get_duration_ms(config, section, "timeout"),
                                  .remind_ms = remind_of(loading, section)};
    receiver->jobs =
        list_of(loading, section, "jobs", is_pattern,
                "Write names of jobs, with * for any text and commas between: load-*, backup");
    receiver->kinds = list_of(loading, section, "kinds", is_kind, "Write some of: " KINDS);
    if ((receiver->command != NULL) == (receiver->url != NULL)) {
        struct err err;
        (void)err_set(&err, RC_FATAL, ERR_CONFIG,
                      where(loading, section, receiver->command != NULL ? "command" : "kinds"),
                      "Write one: command = NAME of [commands], or url = https://host/path",
                      receiver->command != NULL ? "[%s] has both command and url"
                                                : "[%s] has neither command nor url",
                      section);
        config_fault(&loading->faults, &err);
    } else if (receiver->command != NULL) {
        check_command(loading, section, receiver);
    } else {
        check_url(loading, section, receiver);
    }
}

enum rc receivers_load(const struct config *config, const struct action_settings *settings,
                       config_report_fn *report, void *context, struct receiver **ret_receivers,
                       int *ret_count, struct err *err)
{
    struct loading loading = {
        .config = config, .settings = settings, .faults = {.report = report, .context = context}};
    struct receiver *receivers = NULL;
    int count = 0;
    const struct config_value *value;
    const char *section = "";
    for (int i = 0; (value = config_at(config, i)) != NULL; i++) {
        /* Values of one section follow each other, so a change of the name is a new section. */
        if (strncmp(value->section, "alert:", strlen("alert:")) != 0 ||
            strcmp(value->section, section) == 0)
            continue;
        section = value->section;
        receivers = xrealloc(receivers, (size_t)count + 1, sizeof *receivers);
        load(&loading, section, &receivers[count++]);
    }
    enum rc rc = config_faults_end(&loading.faults, err);
    if (rc != RC_OK) {
        receivers_free(receivers, count);
        return rc;
    }
    *ret_receivers = receivers;
    *ret_count = count;
    return RC_OK;
}

void receivers_free(struct receiver *receivers, int count)
{
    for (int i = 0; i < count; i++) {
        free(receivers[i].jobs);
        free(receivers[i].kinds);
    }
    free(receivers);
}
