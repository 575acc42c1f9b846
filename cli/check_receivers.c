/* check: the sections [alert:NAME]: whether a notice could be sent from this host, and whether a
 * monitor sends it. A host is resolved but not called: a check must not send a notice. */
#include "cli/check.h"

#include "base/remedies.h"
#include "db/sqlstate.h"
#include "scheduler/receiver.h"
#include "task/message.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define SUBJECT_SIZE 60

static void name_subject(const char *receiver, char subject[SUBJECT_SIZE])
{
    (void)snprintf(subject, SUBJECT_SIZE, "receiver %.40s", receiver);
}

/* HOST:PORT of action_need, in two; brackets of an IPv6 address are no part of it. */
static bool split(char *place, const char **ret_host, const char **ret_port)
{
    char *colon = strrchr(place, ':');
    if (colon == NULL)
        return false;
    *colon = '\0';
    size_t len = strlen(place);
    bool bracketed = len > 2 && place[0] == '[' && place[len - 1] == ']';
    if (bracketed)
        place[len - 1] = '\0';
    *ret_host = place + bracketed;
    *ret_port = colon + 1;
    return true;
}

/* receivers_load has checked that the host is allowed. Through a proxy the proxy resolves the
 * name. */
static void check_url(struct check *check, const struct action_settings *settings,
                      const struct receiver *receiver, const char *subject)
{
    struct message msg = {.type = MESSAGE_HTTP, .action.url = (char *)(uintptr_t)receiver->url};
    const struct addrinfo asked = {.ai_socktype = SOCK_STREAM};
    const char *proxy = config_get_text(check->cli->config, "http", "proxy");
    const char *host, *port;
    char need[ACTION_NEED_SIZE];
    bool allowed = false;
    struct addrinfo *found = NULL;
    (void)action_need(settings, &msg, 0, need, &allowed);
    if (strncmp(need, "http:", strlen("http:")) != 0 ||
        !split(need + strlen("http:"), &host, &port))
        return;
    /* This host may not resolve outside names at all. */
    if (*proxy != '\0') {
        check_report(check, TOPIC_OK, subject, NULL, "[alert:%s] host %s, through the proxy",
                     receiver->name, host);
        return;
    }
    int answer = getaddrinfo(host, port, &asked, &found);
    if (answer != 0)
        check_report(check, TOPIC_FAIL, subject,
                     "Correct url, or see that this host resolves the name.",
                     "[alert:%s] url: host %s: %s", receiver->name, host, gai_strerror(answer));
    else
        check_report(check, TOPIC_OK, subject, NULL, "[alert:%s] host %s is allowed and resolved",
                     receiver->name, host);
    if (found != NULL)
        freeaddrinfo(found);
}

static void wrong(void *check, const struct err *err)
{
    check_failed(check, "receivers", err);
}

void check_receivers(struct check *check, const struct action_settings *settings)
{
    struct receiver *receivers = NULL;
    int count = 0;
    struct err err;
    if (receivers_load(check->cli->config, settings, wrong, check, &receivers, &count, &err) !=
        RC_OK)
        return;
    for (int i = 0; i < count; i++) {
        const struct receiver *receiver = &receivers[i];
        char subject[SUBJECT_SIZE], where[100];
        name_subject(receiver->name, subject);
        (void)snprintf(where, sizeof where, "[alert:%.60s] command: ", receiver->name);
        if (receiver->command != NULL)
            check_command(check, subject, where, action_command_find(settings, receiver->command));
        else
            check_url(check, settings, receiver, subject);
    }
    receivers_free(receivers, count);
}

/* A row of each receiver that a monitor has named; check_list reports that its monitor has died. */
static bool is_known(const struct db_result *rows, const char *receiver)
{
    for (int i = 0; i < db_rows(rows); i++)
        if (strcmp(db_text(rows, i, ALERT_RECEIVERS_RECEIVER), receiver) == 0)
            return true;
    return false;
}

void check_served(struct check *check)
{
    const struct config_value *value;
    const char *section = "";
    DB_RESULT_AUTO *rows = NULL;
    struct err err;
    bool asked = false;
    for (int i = 0; (value = config_at(check->cli->config, i)) != NULL; i++) {
        if (strncmp(value->section, "alert:", strlen("alert:")) != 0 ||
            strcmp(value->section, section) == 0)
            continue;
        section = value->section;
        if (!asked && db_run(check->cli->db, &sql_alert_receivers, NULL, &rows, &err) != RC_OK) {
            if (!sqlstate_is(&err,
                             SQLSTATE_INSUFFICIENT_PRIVILEGE)) /* check_list has reported it */
                check_failed(check, "receivers", &err);
            return;
        }
        /* One statement for all sections, and none without a section. */
        asked = true;
        const char *receiver = section + strlen("alert:");
        char subject[SUBJECT_SIZE];
        name_subject(receiver, subject);
        if (!is_known(rows, receiver))
            check_report(check, TOPIC_WARN, subject, REMEDY_MONITOR_RUN,
                         "no monitor has read section [%s]: nothing is sent to it", section);
    }
}
