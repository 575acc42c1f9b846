/**
 * What: the functions of the commands, one line each; cli/commands.c is the table that names them.
 * Invariants: each runs at most once in a process.
 * Threads: the main thread.
 * Ownership: borrows struct cli.
 * Failure: as cli/cli.h.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

command_fn command_help, command_version, command_completion, command_man;
command_fn command_migrate_up, command_migrate_list, command_migrate_validate, command_migrate_get,
    command_migrate_roles;
/* --events: on or off. */
MUST_CHECK enum rc queue_set_events(struct cli *cli, const char *name, const char *events,
                                    struct err *err);
command_fn command_queue_create, command_queue_list, command_queue_show, command_queue_set,
    command_queue_pause, command_queue_resume, command_queue_delete;
command_fn command_publish, command_executor_run, command_executor_list;
command_fn command_executor_set, command_executor_drain;
command_fn command_run_cancel, command_run_end, command_run_pause, command_run_resume,
    command_run_retry;
command_fn command_task_cancel, command_task_retry, command_task_complete, command_task_fail;
command_fn command_run_explain, command_task_explain, command_queue_explain, command_queue_advise;
command_fn command_run_list, command_run_show, command_run_watch;
command_fn command_task_list, command_task_show;
command_fn command_rejected_list, command_rejected_show, command_rejected_redrive;
command_fn command_message_check;
command_fn command_replay;
command_fn command_schedule_next, command_schedule_explain, command_schedule_list,
    command_schedule_forecast, command_schedule_add, command_schedule_set, command_schedule_remove;
command_fn command_job_apply, command_job_list, command_job_show, command_job_export,
    command_job_test, command_job_run, command_job_enable, command_job_disable, command_job_set,
    command_job_delete, command_job_history, command_job_log, command_job_backfill,
    command_job_withdraw, command_job_import;
command_fn command_scheduler_run, command_monitor_list, command_monitor_check;
command_fn command_console_run, command_console_token, command_console_openapi, command_all_run;
command_fn command_monitor_run, command_monitor_ack, command_monitor_silence;
command_fn command_alert_list, command_alert_show, command_alert_ack;
command_fn command_lock_list, command_log, command_check, command_bench;
command_fn command_config_show, command_config_check, command_config_list;
command_fn command_dev_broker, command_dev_up, command_dev_down;

/** Before a daemon starts: refuses a login that may not call this function of the schema, which the
 * daemon would try again and again, as it does when the right is taken away later. */
MUST_CHECK enum rc rights_check(const struct cli *cli, const char *function, struct err *err);
/** Of an error for want of a right: says which group role the command needs. */
void rights_hint(const struct cli *cli, struct err *err);

#endif
