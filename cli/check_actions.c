/* check: whether this host can do what tasks do outside the database: registered commands with
 * their users and directories, and the files of [http]. Nothing is run and no host is called.
 *
 * It must run on the host of the executor, and with its configuration: another host has other
 * programs. */
#include "cli/check.h"

#include "action/settings.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a user may use a file, by its mode bits as the kernel reads them: owner, else group, else
 * others, and root always. The executor may run as another user than this command, so only root's
 * answer is sure. */
static bool may(const struct stat *info, const struct passwd *user, unsigned mode)
{
    gid_t groups[256];
    int count = 256;
    uid_t uid = user != NULL ? user->pw_uid : geteuid();
    /* root may execute a file that has any execute bit (capabilities(7), CAP_DAC_OVERRIDE). */
    if (uid == 0)
        return (info->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
    if (info->st_uid == uid)
        return (info->st_mode & (mode << 6)) != 0;
    bool member = false;
    if (user == NULL) {
        count = getgroups(256, groups);
        member = info->st_gid == getegid();
    } else if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0) {
        count = 0;
    }
    for (int i = 0; i < count; i++)
        member = member || groups[i] == info->st_gid;
    return (info->st_mode & (member ? mode << 3 : mode)) != 0;
}

void check_command(struct check *check, const char *subject, const char *where,
                   const struct action_command *command)
{
    struct stat program, directory;
    const struct passwd *user = NULL;
    if (*command->user != '\0' && (user = getpwnam(command->user)) == NULL)
        check_report(check, TOPIC_FAIL, subject, "Make the user, or name another one.",
                     "%sthere is no user %s on this host", where, command->user);
    else if (user != NULL && user->pw_uid != geteuid() && geteuid() != 0)
        check_report(check, TOPIC_FAIL, subject, "Run the executor as root, or leave user out.",
                     "%sonly root may run it as %s", where, command->user);
    else if (stat(command->argv[0], &program) != 0)
        check_report(check, TOPIC_FAIL, subject, "Install it, or correct [commands].", "%s%s: %s",
                     where, command->argv[0], strerror(errno));
    else if (!S_ISREG(program.st_mode) || !may(&program, user, 1))
        check_report(check, TOPIC_FAIL, subject,
                     "Make it executable (chmod +x), or correct [commands].",
                     "%s%s cannot be executed%s%s", where, command->argv[0], user ? " by " : "",
                     user ? command->user : "");
    else if (stat(command->directory, &directory) != 0 || !S_ISDIR(directory.st_mode))
        check_report(check, TOPIC_FAIL, subject, "Make it, or correct directory.",
                     "%s%s is no directory", where, command->directory);
    /* A program that every user may change runs with the executor's rights. */
    else if ((program.st_mode & S_IWOTH) != 0)
        check_report(check, TOPIC_WARN, subject, "Take that right away (chmod o-w).",
                     "%s%s can be changed by everybody", where, command->argv[0]);
    else
        check_report(check, TOPIC_OK, subject, NULL, "%s%s", where, command->argv[0]);
}

static void wrong(void *check, const struct err *err)
{
    check_failed(check, "actions", err);
}

void check_actions(struct check *check)
{
    struct action_settings *settings = NULL;
    const struct action_command *command;
    struct err err;
    if (action_settings_load(check->cli->config, wrong, check, &settings, &err) != RC_OK)
        return;
    for (int i = 0; (command = action_command_at(settings, i)) != NULL; i++) {
        char subject[60];
        (void)snprintf(subject, sizeof subject, "command %.40s", command->name);
        check_command(check, subject, "", command);
    }
    const char *ca_file = config_get_text(check->cli->config, "http", "ca_file");
    if (*ca_file != '\0' && access(ca_file, R_OK) != 0)
        check_report(check, TOPIC_FAIL, "http", "Correct [http] ca_file.", "%s: %s", ca_file,
                     strerror(errno));
    const char *allow = config_get_text(check->cli->config, "http", "allow");
    if (*allow != '\0')
        check_report(check, TOPIC_OK, "http", NULL, "tasks may call %s", allow);
    check_receivers(check, settings);
    action_settings_free(settings);
}
