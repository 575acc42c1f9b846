/* A crontab (crontab(5)): of a user, or, with the user as the sixth field, of the system. Lines are
 * settings, comments or jobs. The five fields of time go to the database as they are, whose kind
 * cron reads them; this file separates user, command and input, and gives the job a name.
 *
 * Nothing of the command is interpreted: quotes, redirections and && are the shell's, and stay in
 * the text that the field commands of the file has. */
#include "cli/import.h"

#include "base/ascii.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct crontab {
    struct import *import;
    const char *path;
    bool system; /* lines name a user */
    char zone[80];
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char *skip_blanks(char *text)
{
    while (is_blank(*text))
        text++;
    return text;
}

static char *skip_word(char *text)
{
    while (*text != '\0' && !is_blank(*text))
        text++;
    return text;
}

/* Blanks at the end, and the carriage return of a file from Windows. */
static void cut_end(char *text)
{
    size_t len = strlen(text);
    while (len > 0 && (is_blank(text[len - 1]) || text[len - 1] == '\r'))
        text[--len] = '\0';
}

/* NAME = value, as crontab(5) has it. */
static void set(struct crontab *tab, const char *place, char *line)
{
    char *sign = strchr(line, '='), *value = skip_blanks(sign + 1);
    char what[200];
    utf8_copy(what, sizeof what, line);
    *sign = '\0';
    cut_end(line);
    size_t len = strlen(value);
    if (len >= 2 && (*value == '"' || *value == '\'') && value[len - 1] == *value) {
        value[len - 1] = '\0';
        value++;
    }
    /* Valid for the lines below it, as in cronie. */
    if (strcmp(line, "CRON_TZ") == 0)
        utf8_copy(tab->zone, sizeof tab->zone, value);
    else if (strcmp(line, "MAILTO") == 0 || strcmp(line, "MAILFROM") == 0)
        import_lost(tab->import, place, what,
                    "mail is not sent: an alert, or a job that follows with \"on\": \"failure\", "
                    "notifies");
    else
        import_lost(tab->import, place, what,
                    tab->import->watch
                        ? "it stays with the command in the crontab"
                        : "the environment of a command is env.NAME in [command:NAME] of "
                          "lockstep.conf");
}

/* crontab(5): the first % that is not escaped ends the command, and the rest is its standard input,
 * in which each further % is a new line; \% is a %. *ret_input: NULL: none. */
static void split_input(char *command, char **ret_input)
{
    char *to = command;
    *ret_input = NULL;
    for (char *from = command; *from != '\0'; from++) {
        if (*from == '\\' && from[1] == '%') {
            *to++ = *++from;
        } else if (*from != '%') {
            *to++ = *from;
        } else if (*ret_input == NULL) {
            *to++ = '\0';
            *ret_input = to;
        } else {
            *to++ = '\n';
        }
    }
    *to = '\0';
}

/* A name for the job from its command: the first word that is neither a setting, nor an option, nor
 * a program that runs another one. It is a proposal, which import_job makes unique. */
static void name_of(const char *command, char name[64])
{
    static const char *const wrappers[] = {
        "cd",    "test",    "[",    "env",     "nice", "ionice", "nohup", "sudo",
        "flock", "timeout", "exec", "chronic", "time", "sh",     "bash",  "python3",
        "perl",  "/bin/sh", "&&",   "||",      ";",    "(",      "root",  "/bin/bash"};
    const char *at = command;
    while (*at != '\0') {
        at += strspn(at, " \t");
        size_t len = strcspn(at, " \t");
        char word[200];
        (void)snprintf(word, sizeof word, "%.*s", (int)(len < 199 ? len : 199), at);
        bool skip = *word == '-' || *word == '\0' || strchr(word, '=') != NULL ||
                    strspn(word, "0123456789]") == strlen(word);
        for (size_t i = 0; !skip && i < sizeof wrappers / sizeof *wrappers; i++)
            skip = strcmp(word, wrappers[i]) == 0;
        if (strcmp(word, "cd") == 0 ||
            strcmp(word, "flock") == 0) { /* and its directory, or lock */
            at += len;
            at += strspn(at, " \t");
            len = strcspn(at, " \t");
        } else if (!skip) {
            const char *slash = strrchr(word, '/');
            import_name(name, slash != NULL && slash[1] != '\0' ? slash + 1 : word);
            return;
        }
        at += len;
    }
    import_name(name, "cron");
}

/* A line of a job: five fields, or one word with @, then in a crontab of the system the user, then
 * the command. */
static enum rc line_job(struct crontab *tab, const char *place, char *line, struct err *err)
{
    char *end = line, *input, name[64], whole[400];
    utf8_copy(whole, sizeof whole, line);
    for (int field = 0; field < (*line == '@' ? 1 : 5); field++)
        end = skip_word(skip_blanks(end));
    char *command = skip_blanks(end);
    *end = '\0';
    if (tab->system) {
        char *user = command;
        end = skip_word(user);
        command = skip_blanks(end);
        *end = '\0';
        if (*command != '\0' && !tab->import->watch)
            import_lost(tab->import, place, user,
                        "the user of a command is user in [command:NAME] of lockstep.conf");
    }
    if (*command == '\0') {
        import_lost(tab->import, place, whole, "it names no command");
        return RC_OK;
    }
    split_input(command, &input);
    cut_end(command);
    name_of(command, name);
    cJSON *task = NULL, *schedules = cJSON_CreateArray();
    if (input != NULL) {
        task = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(task, "input", input);
    }
    cJSON_AddItemToArray(schedules,
                         import_cron(line, *tab->zone != '\0' ? tab->zone : tab->import->zone));
    const struct found found = {.place = place,
                                .text = command,
                                .name = name,
                                .enabled = true,
                                .task = task,
                                .schedules = schedules};
    return import_job(tab->import, &found, err);
}

enum rc import_crontab(struct import *import, const char *path, const char *text, struct err *err)
{
    struct crontab tab = {.import = import,
                          .path = path,
                          .system = cli_has(import->cli, "system") ||
                                    strcmp(path, "/etc/crontab") == 0 ||
                                    strncmp(path, "/etc/cron.d/", 12) == 0};
    enum rc rc = RC_OK;
    for (int number = 1; rc == RC_OK && *text != '\0'; number++) {
        size_t len = strcspn(text, "\n");
        STR_AUTO line = {0};
        char place[IMPORT_PLACE];
        str_add(&line, text, len);
        str_text(&line, " "); /* so that there is a text, which cut_end leaves as it was */
        text += len + (text[len] == '\n');
        import_place(place, path, number);
        char *begun = skip_blanks(line.data);
        cut_end(begun);
        bool sets = (ascii_alpha(*begun) || *begun == '_') && strchr(begun, '=') != NULL;
        if (*begun == '\0' || *begun == '#')
            continue;
        if (sets)
            set(&tab, place, begun);
        /* cron runs in the zone of its host, and no default is right here: a job at 02:00 would
         * move by hours. */
        else if (*tab.zone == '\0' && import->zone == NULL)
            return err_set(err, RC_REJECT, ERR_USAGE, place, "Write --zone Europe/Warsaw.",
                           "a crontab does not say in which time zone its times are");
        else
            rc = line_job(&tab, place, begun, err);
    }
    return rc;
}
