/* From fork to exec, in the child. The runner has one thread, so the child may call any function.
 * Each failure is reported through a pipe that closes itself at a successful exec: so a command
 * that did not start is known from one that failed. */
#include "action/runner_child.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct failure { /* by the child, when it cannot become the command */
    int error;
    char step[40];
};

static _Noreturn void give_up(int report, const char *step)
{
    struct failure failure = {.error = errno};
    (void)snprintf(failure.step, sizeof failure.step, "%s", step);
    ssize_t written = write(report, &failure, sizeof failure);
    _exit(written == (ssize_t)sizeof failure ? 127 : 126);
}

static const char *text_after(const char *text)
{
    return text + strlen(text) + 1;
}

/** argv or envp for execve(): copies, ended by NULL; *at is behind the last text. */
static char **take_list(const char **at, int count)
{
    char **list = xcalloc((size_t)count + 1, sizeof *list);
    for (int i = 0; i < count; i++, *at = text_after(*at))
        list[i] = xstrdup(*at);
    return list;
}

/* Limits that the runner's user may only lower are lowered; one that cannot be set is an error, not
 * a surprise. */
static void limit(int report, int resource, int64_t value, int64_t hard, const char *name)
{
    struct rlimit old, new = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)hard};
    if (value < 0)
        return;
    if (getrlimit((__rlimit_resource_t)resource, &old) == 0 && old.rlim_max < new.rlim_max) {
        new.rlim_max = old.rlim_max;
        new.rlim_cur = new.rlim_cur < new.rlim_max ? new.rlim_cur : new.rlim_max;
    }
    if (setrlimit((__rlimit_resource_t)resource, &new) != 0)
        give_up(report, name);
}

static void limits(int report, const struct wire_spec *spec)
{
    /* SIGXCPU first, SIGKILL a second later. */
    limit(report, RLIMIT_CPU, spec->cpu_s, spec->cpu_s + 1, "cpu_limit");
    limit(report, RLIMIT_AS, spec->memory, spec->memory, "memory_limit");
    limit(report, RLIMIT_NOFILE, spec->open_files, spec->open_files, "open_files");
    limit(report, RLIMIT_NPROC, spec->processes, spec->processes, "processes");
    limit(report, RLIMIT_FSIZE, spec->file_limit, spec->file_limit, "file_limit");
    limit(report, RLIMIT_CORE, 0, 0, "no core file");
}

static void become(int report, const struct passwd *user)
{
    if (user == NULL)
        return;
    /* Nothing to change, and without root nothing could be. */
    if (user->pw_uid == geteuid() && user->pw_gid == getegid())
        return;
    /* In this order: a process that is not root any more may not change its groups (setgroups(2)).
     */
    if (initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
        setuid(user->pw_uid) != 0)
        give_up(report, "become its user");
}

static _Noreturn void become_command(const struct wire_spec *spec, const struct passwd *user,
                                     const char *directory, char **argv, char **env, pid_t runner,
                                     int report)
{
    sigset_t none;
    (void)sigemptyset(&none);
    for (int sig = 1; sig < NSIG; sig++)
        (void)signal(sig, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)umask(022);
    /* A session and group of its own: kill(-pid) reaches the group, and the command has no
     * terminal. */
    if (setsid() < 0)
        give_up(report, "begin a session");
    /* As root still, if the executor is: a hard limit above the user's could not be set later. */
    limits(report, spec);
    become(report, user);
    if (chdir(directory) != 0)
        give_up(report, "change to its directory");
    /* After the change of the user, which would clear it. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != runner)
        give_up(report, "be bound to its runner");
    (void)execve(argv[0], argv, env);
    give_up(report, "execute");
}

/* Descriptors 0 to 2 are the command's; report, which closes itself on success, is the only other
 * one. */
static int keep_only(const int pipes[3], int report)
{
    for (int i = 0; i < 3; i++) /* pipes are above 2 */
        if (dup2(pipes[i], i) < 0)
            give_up(report, "connect its pipes");
    if (report > 3) /* it is above 2, too */
        (void)syscall(SYS_close_range, 3U, (unsigned)report - 1U, 0U);
    (void)syscall(SYS_close_range, (unsigned)report + 1U, ~0U, 0U);
    return report;
}

static bool failed(struct child *child, const char *step)
{
    child->error = errno;
    (void)snprintf(child->step, sizeof child->step, "%s", step);
    return false;
}

static bool open_pipes(int in[2], int out[2], int err[2], int report[2])
{
    int *const pipes[] = {in, out, err, report};
    for (int i = 0; i < 4; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return false;
        for (int end = 0; end < 2; end++) /* out of the way of 0 to 2, should they be closed */
            if (pipes[i][end] <= 2)
                pipes[i][end] = fcntl(pipes[i][end], F_DUPFD_CLOEXEC, 10);
    }
    return true;
}

static void not_blocking(int fd)
{
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool child_start(const struct wire_spec *spec, const char *texts, struct child *child)
{
    int in[2], out[2], err[2], report[2];
    const char *user_name = texts, *directory = text_after(user_name), *at = text_after(directory);
    char **argv = take_list(&at, spec->argc), **env = take_list(&at, spec->envc);
    const struct passwd *user = NULL;
    errno = 0;
    if (*user_name != '\0' && (user = getpwnam(user_name)) == NULL) {
        errno = errno == 0 ? ENOENT : errno;
        return failed(child, "find its user");
    }
    if (!open_pipes(in, out, err, report))
        return failed(child, "open pipes");
    pid_t runner = getpid();
    child->pid = fork();
    if (child->pid < 0)
        return failed(child, "start a process");
    if (child->pid == 0)
        become_command(spec, user, directory, argv, env, runner,
                       keep_only((const int[]){in[0], out[1], err[1]}, report[1]));
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(err[1]);
    (void)close(report[1]);
    struct failure failure;
    ssize_t n;
    /* exec closes the writing end (O_CLOEXEC), so an end of file means that the command runs. */
    do
        n = read(report[0], &failure, sizeof failure);
    while (n < 0 && errno == EINTR);
    (void)close(report[0]);
    child->in = in[1];
    child->out = out[0];
    child->err = err[0];
    not_blocking(child->in);
    not_blocking(child->out);
    not_blocking(child->err);
    for (char **text = argv; *text != NULL; text++)
        free(*text);
    for (char **text = env; *text != NULL; text++)
        free(*text);
    free(argv);
    free(env);
    if (n != (ssize_t)sizeof failure)
        return true; /* it runs, or it was killed before exec, which waitpid then reports */
    (void)waitpid(child->pid, NULL, 0);
    child->error = failure.error;
    memcpy(child->step, failure.step, sizeof child->step);
    return false;
}
