/* The executor's side of a command: starts its runner, feeds it, and judges its result. Begin with
 * action_command_run(): make the specification, spawn, attend, judge. The command itself is started
 * by the runner (runner.c), so the executor can die without leaving it alone. The reader's thread
 * stays in attend() until the runner has ended. The processes that a killed runner leaves are ended
 * by leftover.c. */
#include "action/leftover.h"
#include "action/secrets.h"
#include "action/settings.h"
#include "action/text.h"
#include "action/wire.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* BEATS: a few signs of life may be late before the runner takes the executor for frozen.
 * LAST_LINE: bytes of the last line of standard error that are shown with the failure. */
#define BEATS         5 /* in the time after which the runner takes us for gone */
#define LEAST_BEAT_MS 10
#define LAST_LINE     400

extern char **environ;

struct command {
    const struct action_command *row;
    pid_t runner;
    int socket;
    struct str send;
    size_t sent;
    struct str answer;
    int stop_sent; /* enum action_stop_how */
    int64_t beat_us;
};

static void add_text(struct str *to, const char *text)
{
    str_add(to, text, strlen(text) + 1);
}

/** Empty values are left out: a command can test whether its task has a step or a trace. */
static int add_variable(struct str *to, const char *name, const char *value)
{
    if (value == NULL || *value == '\0')
        return 0;
    str_text(to, name);
    str_text(to, "=");
    add_text(to, value);
    return 1;
}

static void make_spec(const struct action_command *row, const struct action_attempt *attempt,
                      const struct action_tie *tie, struct str *out)
{
    const struct message_action *action = action_of(attempt);
    const char *step = attempt->step < 0 ? "" : attempt->msg->steps[attempt->step].name;
    /* start_by_us: the runner does not start the command later than T1 after the record of the
     * attempt; behind that another executor may have adopted the task. */
    struct wire_spec spec = {.argc = row->argc + action->arg_count,
                             .start_by_us = tie->alive_us + tie->silence_ms * 1000LL,
                             .silence_ms = tie->silence_ms,
                             .kill_after_ms = row->kill_after_ms,
                             .output_limit = row->output_limit,
                             .cpu_s = row->cpu_s,
                             .memory = row->memory,
                             .open_files = row->open_files,
                             .processes = row->processes,
                             .file_limit = row->file_limit};
    STR_AUTO texts = {0};
    add_text(&texts, row->user);
    add_text(&texts, row->directory);
    for (int i = 0; i < row->argc; i++)
        add_text(&texts, row->argv[i]);
    for (int i = 0; i < action->arg_count; i++)
        add_text(&texts, action->args[i]);
    const struct {
        const char *name, *value;
    } variables[] = {{"PATH", row->path},
                     {"USER", row->user},
                     {"LOGNAME", row->user},
                     {"LOCKSTEP_QUEUE", attempt->queue},
                     {"LOCKSTEP_RUN", attempt->run},
                     {"LOCKSTEP_ORDER", attempt->order},
                     {"LOCKSTEP_SEQ", attempt->seq},
                     {"LOCKSTEP_OFFSET", attempt->offset},
                     {"LOCKSTEP_TASK", attempt->task},
                     {"LOCKSTEP_STEP", step},
                     {"LOCKSTEP_ATTEMPT", attempt->attempt},
                     {"LOCKSTEP_TOKEN", attempt->token},
                     {"TRACEPARENT", attempt->traceparent}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        spec.envc += add_variable(&texts, variables[i].name, variables[i].value);
    for (int i = 0; i < row->environment.count; i++)
        spec.envc +=
            add_variable(&texts, row->environment.items[i].name, row->environment.items[i].value);
    spec.input_bytes = action->input ? strlen(action->input) : 0;
    if (action->input != NULL)
        str_add(&texts, action->input, spec.input_bytes);
    spec.bytes = texts.len;
    str_add(out, (const char *)&spec, sizeof spec);
    str_add(out, texts.data, texts.len);
}

struct ends {
    int ours, runners; /* of the pair of sockets */
    int held[2];       /* -1: none */
};

static void close_fd(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

/* The runner's descriptors are above its fixed numbers. F_DUPFD_CLOEXEC with 10: posix_spawn
 * duplicates descriptors to fixed numbers one after the other, and would overwrite a source that is
 * one of them. A runner without one of them is not started: its end would not be seen, or another
 * executor would not see that its command runs. */
static int open_ends(const struct action_tie *tie, struct ends *ends)
{
    int pair[2], error = 0;
    *ends = (struct ends){.ours = -1, .runners = -1, .held = {-1, -1}};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    ends->ours = pair[0];
    ends->runners = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
    error = ends->runners < 0 ? errno : 0;
    (void)close(pair[1]);
    for (int i = 0; i < 2 && error == 0; i++) {
        if (tie->held[i] < 0)
            continue;
        ends->held[i] = fcntl(tie->held[i], F_DUPFD_CLOEXEC, 10);
        error = ends->held[i] < 0 ? errno : 0;
    }
    return error;
}

static void close_ends(struct ends *ends)
{
    close_fd(ends->runners);
    close_fd(ends->held[0]);
    close_fd(ends->held[1]);
}

/* Starts this same program again, even if an upgrade has replaced its file meanwhile: so both ends
 * always have the same struct wire_spec. */
static int spawn_runner(struct command *command, const struct action_tie *tie)
{
    struct ends ends;
    int error = open_ends(tie, &ends);
    if (error != 0) {
        close_ends(&ends);
        close_fd(ends.ours);
        return error;
    }
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawnattr_init(&how);
    /* The threads of an executor block signals, and a child inherits the mask and the ignored
     * signals (execve(2)). */
    (void)posix_spawnattr_setsigmask(&how, &none);
    (void)posix_spawnattr_setsigdefault(&how, &all);
    /* A group of its own: Ctrl-C at the executor's terminal must not kill the runner before its
     * command. */
    (void)posix_spawnattr_setpgroup(&how, 0);
    (void)posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETPGROUP);
    (void)posix_spawn_file_actions_adddup2(&files, ends.runners, WIRE_FD);
    for (int i = 0; i < 2; i++)
        if (ends.held[i] >= 0)
            (void)posix_spawn_file_actions_adddup2(&files, ends.held[i], WIRE_HELD + i);
    /* Also descriptors of other threads that were opened without FD_CLOEXEC a moment ago. */
    (void)posix_spawn_file_actions_addclosefrom_np(&files, WIRE_HELD + 2);
    char name[] = RUNNER_NAME;
    char *const argv[] = {name, NULL};
    /* The runner is known before leftover_end() may see it as a child: the lock covers both steps.
     */
    leftover_lock();
    error = posix_spawn(&command->runner, "/proc/self/exe", &files, &how, argv, environ);
    leftover_unlock(error == 0 ? command->runner : 0);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&how);
    /* The executor must not hold the runner's end, or the runner's death gives no end of file. */
    close_ends(&ends);
    command->socket = ends.ours;
    if (error != 0)
        close_fd(ends.ours);
    else
        (void)fcntl(ends.ours, F_SETFL, O_NONBLOCK);
    return error;
}

static void add_word(struct command *command, enum wire_word word)
{
    char c = (char)word;
    str_add(&command->send, &c, 1);
}

/* A word of being alive is added only when the earlier words are sent: else the runner does not
 * read, and they would pile up. */
static void beat(struct command *command, const struct action_tie *tie, int beat_ms)
{
    action_stop_late(tie);
    int how = tie->stop->how;
    int64_t now_us = clock_boot_us();
    if (how > command->stop_sent) {
        add_word(command, how == ACTION_KILL ? WIRE_KILL : WIRE_TERMINATE);
        command->stop_sent = how;
    }
    if (now_us - command->beat_us >= beat_ms * 1000LL && command->sent == command->send.len) {
        add_word(command, WIRE_ALIVE);
        command->beat_us = now_us;
    }
}

static void send_some(struct command *command)
{
    /* MSG_NOSIGNAL: a runner that has died is found by recv(), and is no reason for SIGPIPE. */
    ssize_t n = send(command->socket, command->send.data + command->sent,
                     command->send.len - command->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
        command->sent += (size_t)n;
    if (command->sent == command->send.len) {
        str_clear(&command->send);
        command->sent = 0;
    }
}

/* Until the runner has said all and is gone. The end of file, and not a length, ends the wait: only
 * then is the runner gone. judge() checks that the answer is whole. */
static void attend(struct command *command, const struct action_tie *tie)
{
    int beat_ms = tie->silence_ms / BEATS > LEAST_BEAT_MS ? tie->silence_ms / BEATS : LEAST_BEAT_MS;
    for (;;) {
        char bytes[16384];
        beat(command, tie, beat_ms);
        if (command->sent < command->send.len)
            send_some(command);
        bool more = command->sent < command->send.len;
        bool asked = command->stop_sent == ACTION_KILL; /* nothing can be added to that */
        struct pollfd fds[] = {
            {.fd = command->socket, .events = (short)(POLLIN | (more ? POLLOUT : 0))},
            {.fd = asked ? -1 : tie->stop->fd, .events = POLLIN}};
        (void)poll(fds, 2, beat_ms);
        if (fds[1].revents != 0)
            action_stop_drain(tie->stop);
        if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0)
            continue;
        ssize_t n = recv(command->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n > 0)
            str_add(&command->answer, bytes, (size_t)n);
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    (void)close(command->socket);
}

static void fail(struct action_result *result, bool permanent, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(struct action_result *result, bool permanent, const char *fmt, ...)
{
    char text[1000];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    result->outcome = ACTION_FAILED;
    result->permanent = permanent;
    str_text(&result->error, text);
}

/* The last line of standard error is usually the message of the error. */
static void add_last_line(struct action_result *result)
{
    size_t end = result->detail.len, start;
    while (end > 0 &&
           (result->detail.data[end - 1] == '\n' || result->detail.data[end - 1] == '\r'))
        end--;
    for (start = end; start > 0 && result->detail.data[start - 1] != '\n';)
        start--;
    if (start == end)
        return;
    size_t len = end - start;
    str_text(&result->error, ": ");
    if (len > LAST_LINE) {
        while (len > LAST_LINE || ((unsigned char)result->detail.data[start] & 0xc0) == 0x80) {
            start++;
            len--;
        }
        str_text(&result->error, "...");
    }
    str_add(&result->error, result->detail.data + start, len);
}

static void judge_status(const struct action_command *row, int status, struct action_result *result)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFEXITED(status))
        fail(result, false, "command %s: exit code %d", row->name, WEXITSTATUS(status));
    else
        fail(result, false, "command %s: killed by signal %d (%s)%s", row->name, WTERMSIG(status),
             strsignal(WTERMSIG(status)),
             WTERMSIG(status) == SIGXCPU && row->cpu_s >= 0 ? ", its cpu_limit" : "");
    add_last_line(result);
}

static void judge(const struct command *command, int runner_status, struct action_result *result)
{
    const struct action_command *row = command->row;
    const struct wire_result *wire = (const void *)command->answer.data;
    /* The attempt has failed and is tried again, although the command may have done its work: at
     * least once. */
    if (command->answer.len < sizeof *wire ||
        command->answer.len < sizeof *wire + wire->out_bytes + wire->err_bytes) {
        fail(result, false, "command %s: its runner ended (%s %d): whether it was done is unknown",
             row->name, WIFSIGNALED(runner_status) ? "signal" : "exit code",
             WIFSIGNALED(runner_status) ? WTERMSIG(runner_status) : WEXITSTATUS(runner_status));
        return;
    }
    char *out = command->answer.data + sizeof *wire;
    secrets_hide(&row->environment, out, wire->out_bytes);
    secrets_hide(&row->environment, out + wire->out_bytes, wire->err_bytes);
    action_text(&result->response, out, wire->out_bytes, wire->out_total);
    action_text_tail(&result->detail, out + wire->out_bytes, wire->err_bytes, wire->err_total);
    if (wire->left > 0)
        log_event(LOG_WARN, "command_left_processes", "command", row->name, "killed",
                  LOG_INT(wire->left), NULL);
    if (wire->end == WIRE_NOT_STARTED)
        /* E2BIG: the arguments are too long at each attempt. A missing program or a lack of
         * processes may be repaired. */
        fail(result, wire->error == E2BIG, "command %s: cannot %s (%s): %s", row->name, wire->step,
             strcmp(wire->step, "change to its directory") == 0 ? row->directory
             : strcmp(wire->step, "find its user") == 0 ||
                     strcmp(wire->step, "become its user") == 0
                 ? row->user
                 : row->argv[0],
             strerror(wire->error));
    else if (wire->end ==
             /* this process stood still: another executor may have the task, and it decides */
             WIRE_SILENCE)
        result->outcome = ACTION_STOPPED;
    else
        judge_status(row, wire->status, result);
}

void action_command_run(const struct action_command *row, const struct action_attempt *attempt,
                        const struct action_tie *tie, struct action_result *result)
{
    struct command command = {.row = row, .beat_us = clock_boot_us()};
    make_spec(row, attempt, tie, &command.send);
    probe("command.spawn");
    int error = spawn_runner(&command, tie);
    if (error != 0) {
        fail(result, false, "command %s: cannot start its runner: %s", row->name, strerror(error));
    } else {
        int status = 0;
        attend(&command, tie);
        while (waitpid(command.runner, &status, 0) < 0 && errno == EINTR) {
        }
        leftover_forget(command.runner);
        /* A runner that exits has reaped its command. Only a killed one leaves processes behind. */
        if (WIFSIGNALED(status))
            leftover_end();
        probe("command.ended");
        judge(&command, status, result);
    }
    str_done(&command.send);
    str_done(&command.answer);
}
