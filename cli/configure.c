/* config show, check, list: the configuration of this call, its faults, and the table of keys.
 * Secrets are masked by config/mask.c; the dispatcher in cli/cli.c has loaded the file before.
 *
 * None of them needs a server. config check runs only when the file has no fault, because the
 * loader reports them one by one (cli_config_wrong) and does not end at the first. */
#include "cli/commands.h"

#include "action/settings.h"
#include "config/conninfo.h"
#include "config/key.h"
#include "config/mask.h"
#include "scheduler/receiver.h"

#include <stdio.h>
#include <string.h>

enum rc command_config_show(struct cli *cli, struct err *err)
{
    /* The last two columns are shown with --origin. */
    static const char *const names[] = {"section", "key", "value", "origin", "where"};
    static const char *const origins[] = {"default", "file", "environment", "setting", "option"};
    bool origin = cli_has(cli, "origin");
    struct table_style style = cli_style(cli);
    style.wrap = true;
    struct table *table = table_new(stdout, style, "ttttt", names, origin ? 5 : 3, false);
    const struct config_value *value;
    for (int i = 0; (value = config_at(cli->config, i)) != NULL; i++) {
        STR_AUTO shown = {0};
        if (config_conninfo_leaves_out(cli->config, value)) {
            if (value->origin != CONFIG_BY_DEFAULT)
                cli_say(cli, "lockstep: left out: %s of %s, because conninfo comes from %s\n",
                        value->key, value->where,
                        config_find(cli->config, value->section, "conninfo")->where);
            continue;
        }
        config_mask(value, &shown);
        const char *cells[] = {value->section, value->key, shown.data, origins[value->origin],
                               value->where};
        table_row(table, cells);
    }
    return table_end(table, err);
}

/* Each value has been checked when the file was loaded. Here follow the rules between sections:
 * commands and hosts, and the receivers of alerts, which use both. */
enum rc command_config_check(struct cli *cli, struct err *err)
{
    const char *path = config_path(cli->config);
    struct action_settings *actions = NULL;
    struct receiver *receivers = NULL;
    int count = 0;
    enum rc rc = action_settings_load(cli->config, cli_config_wrong, cli, &actions, err);
    if (rc == RC_OK)
        rc = receivers_load(cli->config, actions, cli_config_wrong, cli, &receivers, &count, err);
    receivers_free(receivers, count);
    action_settings_free(actions);
    if (rc != RC_OK)
        return rc;
    cli_say(cli, "lockstep: %s: the configuration is right\n", *path ? path : "no file");
    return RC_OK;
}

enum rc command_config_list(struct cli *cli, struct err *err)
{
    static const char *const names[] = {"section", "key", "type", "default", "unit", "meaning"};
    int count;
    const struct config_key *rows = config_keys(&count);
    struct table_style style = cli_style(cli);
    style.wrap = true;
    /* Types and units need --wide: people look for the meaning. */
    style.shorts = "section,key,default,meaning";
    struct table *table = table_new(stdout, style, NULL, names, 6, false);
    for (int i = 0; i < count; i++) {
        STR_AUTO section = {0};
        str_format(&section, "%s%s", rows[i].section, strchr(rows[i].section, ':') ? "NAME" : "");
        const char *cells[] = {section.data,
                               rows[i].key,
                               rows[i].choices ? rows[i].choices : config_type_name(rows[i].type),
                               rows[i].initial,
                               *rows[i].unit ? rows[i].unit : NULL,
                               rows[i].meaning};
        table_row(table, cells);
    }
    return table_end(table, err);
}
