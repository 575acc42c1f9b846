/* The runner: a process of its own between executor and command. It starts the command, feeds it,
 * keeps its output, and ends it with all its processes: when the executor orders it, when the
 * executor is silent for too long, and when the executor is gone. Begin with action_runner_main();
 * run() is its loop. runner_child.c has the steps from fork to exec.
 *
 * Two signs show that the executor is dead: the kernel's parent-death signal, and the end of file
 * on the pair of sockets. Orphans of the command come to the runner (a child subreaper), also those
 * with a session of their own, so no process of the command can hide. Until the last of them is
 * reaped the runner keeps the executor's database sockets open: the server then sees the executor's
 * sessions as alive, and no other executor starts the next attempt while a process of this one
 * lives. */
#include "action/action.h"
#include "action/runner_child.h"
#include "action/wire.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPEC_PATIENCE_MS 10000
#define CHECK_AGAIN_MS   20
/* for the output that is still in the pipes when the last process is gone */
#define DRAIN_MS 200

struct runner {
    struct wire_spec spec;
    char *texts;
    const char *input;
    size_t input_sent;
    struct child child;
    int signals;
    struct str out;
    char err[STDERR_KEPT]; /* a ring */
    struct wire_result result;
    int64_t word_us, kill_at_us; /* 0: not set */
    bool ended;                  /* the command's own process is reaped */
    bool executor_gone, killing;
};

/** The specification comes from a process of this program; SPEC_PATIENCE_MS ends a runner whose
 * executor was stopped while it wrote. */
static bool read_all(int fd, void *to, size_t len)
{
    for (size_t done = 0; done < len;) {
        struct pollfd waits = {.fd = fd, .events = POLLIN};
        if (poll(&waits, 1, SPEC_PATIENCE_MS) == 0)
            return false;
        ssize_t n = read(fd, (char *)to + done, len - done);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool take_spec(struct runner *runner)
{
    struct wire_spec *spec = &runner->spec;
    if (!read_all(WIRE_FD, spec, sizeof *spec))
        return false;
    runner->texts = xmalloc(spec->bytes + 1);
    runner->texts[spec->bytes] = '\0';
    if (!read_all(WIRE_FD, runner->texts, spec->bytes))
        return false;
    runner->input = runner->texts + spec->bytes - spec->input_bytes;
    /* From here the silence counts. */
    runner->word_us = clock_boot_us();
    return true;
}

/* Signals the command's group and the children of this process. A signal cannot be sent to a whole
 * tree at once, and a process may fork in between. When children are killed, their children become
 * children of this process, their subreaper; so the caller repeats this until no child is left. */
static void kill_all(struct runner *runner, int sig)
{
    if (runner->child.pid > 0 && !runner->ended) {
        (void)kill(-runner->child.pid, sig);
        (void)kill(runner->child.pid, sig);
    }
    FILE *file = fopen("/proc/thread-self/children", "re");
    int pid;
    while (file != NULL && fscanf(file, "%d", &pid) == 1)
        (void)kill(pid, sig);
    if (file != NULL)
        (void)fclose(file);
}

/* False: no child is left. */
static bool reap(struct runner *runner)
{
    for (;;) {
        siginfo_t info = {0};
        /* WNOWAIT leaves the process a zombie, whose number, and that of its group, cannot be given
         * to another one (POSIX, waitid). */
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        if (info.si_pid == 0)
            return true;
        bool command = info.si_pid == runner->child.pid && !runner->ended;
        if (command) /* before its number may be given to another */
            (void)kill(-info.si_pid, SIGKILL);
        int status = 0;
        (void)waitpid(info.si_pid, &status, 0);
        if (command) {
            runner->ended = true;
            runner->result.status = status;
        } else if (runner->ended && !runner->killing && WIFSIGNALED(status)) {
            runner->result.left++;
        }
    }
}

static void terminate(struct runner *runner)
{
    if (runner->kill_at_us != 0 || runner->ended)
        return;
    runner->kill_at_us = clock_boot_us() + runner->spec.kill_after_ms * 1000;
    (void)kill(-runner->child.pid, SIGTERM);
    /* a stopped process receives SIGTERM only after this */
    (void)kill(-runner->child.pid, SIGCONT);
}

static void read_words(struct runner *runner)
{
    char words[256];
    ssize_t n = recv(WIRE_FD, words, sizeof words, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        runner->executor_gone = runner->killing = true;
        return;
    }
    if (n > 0)
        runner->word_us = clock_boot_us();
    for (ssize_t i = 0; i < n; i++) {
        if (words[i] == WIRE_TERMINATE)
            terminate(runner);
        else if (words[i] == WIRE_KILL)
            runner->killing = true;
    }
}

static void read_signals(struct runner *runner)
{
    struct signalfd_siginfo info;
    while (read(runner->signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD) /* the executor's death, or a person ends the runner */
            runner->killing = true;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void feed(struct runner *runner)
{
    ssize_t n = write(runner->child.in, runner->input + runner->input_sent,
                      runner->spec.input_bytes - runner->input_sent);
    if (n > 0)
        runner->input_sent += (size_t)n;
    bool broken = n < 0 && errno != EAGAIN && errno != EINTR; /* it has closed its input */
    if (broken || runner->input_sent == runner->spec.input_bytes)
        close_fd(&runner->child.in);
}

/* Output beyond the limit is read, too, or the command would block in write(). */
static void listen_out(struct runner *runner)
{
    char bytes[16384];
    ssize_t n = read(runner->child.out, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_fd(&runner->child.out);
        return;
    }
    size_t room = (size_t)runner->spec.output_limit - runner->out.len;
    if (n > 0) {
        str_add(&runner->out, bytes, (size_t)n < room ? (size_t)n : room);
        runner->result.out_total += (uint64_t)n;
    }
}

/** A ring: the end of standard error is more useful than its beginning. */
static void listen_err(struct runner *runner)
{
    char bytes[4096];
    ssize_t n = read(runner->child.err, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_fd(&runner->child.err);
        return;
    }
    for (ssize_t i = 0; i < n; i++)
        runner->err[runner->result.err_total++ % STDERR_KEPT] = bytes[i];
}

/** The shorter of two waits, in milliseconds and rounded up, so that a timer is over when the wait
 * is. */
static int sooner(int wait_ms, int64_t at_us, int64_t now_us)
{
    int64_t ms = at_us > now_us ? (at_us - now_us) / 1000 + 1 : 0;
    return wait_ms < 0 || ms < wait_ms ? (int)ms : wait_ms;
}

static void turn(struct runner *runner, int wait_ms)
{
    struct child *child = &runner->child;
    struct pollfd fds[] = {{.fd = runner->executor_gone ? -1 : WIRE_FD, .events = POLLIN},
                           {.fd = runner->signals, .events = POLLIN},
                           {.fd = child->in, .events = POLLOUT},
                           {.fd = child->out, .events = POLLIN},
                           {.fd = child->err, .events = POLLIN}};
    if (poll(fds, 5, wait_ms) <= 0)
        return;
    if (fds[0].revents != 0)
        read_words(runner);
    if (fds[1].revents != 0)
        read_signals(runner);
    if (fds[2].revents != 0)
        feed(runner);
    if (fds[3].revents != 0)
        listen_out(runner);
    if (fds[4].revents != 0)
        listen_err(runner);
}

/* Until no process of the command is left. */
static void run(struct runner *runner)
{
    while (reap(runner)) {
        int64_t now_us = clock_boot_us();
        int64_t silent_at_us = runner->word_us + runner->spec.silence_ms * 1000;
        if (now_us >= silent_at_us && !runner->killing) {
            /* This process may have stood still itself: words that arrived meanwhile count. */
            int64_t before_us = runner->word_us;
            read_words(runner);
            if (runner->word_us == before_us && !runner->killing) {
                runner->killing = true;
                runner->result.end = WIRE_SILENCE;
            }
            continue;
        }
        if (runner->kill_at_us != 0 && now_us >= runner->kill_at_us)
            runner->killing = true;
        if (runner->killing || runner->ended) /* what it leaves behind does not outlive it */
            kill_all(runner, SIGKILL);
        int wait_ms =
            runner->killing || runner->ended ? CHECK_AGAIN_MS : sooner(-1, silent_at_us, now_us);
        if (runner->kill_at_us != 0 && !runner->killing)
            wait_ms = sooner(wait_ms, runner->kill_at_us, now_us);
        turn(runner, wait_ms);
    }
    runner->ended = true;
    int64_t until_us = clock_boot_us() + DRAIN_MS * 1000;
    while ((runner->child.out >= 0 || runner->child.err >= 0) && clock_boot_us() < until_us)
        turn(runner, CHECK_AGAIN_MS);
}

static void send_all(const void *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = send(WIRE_FD, (const char *)bytes + done, len - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return;
        done += n > 0 ? (size_t)n : 0;
    }
}

static void report(struct runner *runner)
{
    struct wire_result *result = &runner->result;
    size_t total = result->err_total, kept = total < STDERR_KEPT ? total : STDERR_KEPT;
    size_t first = total < STDERR_KEPT ? 0 : total % STDERR_KEPT;
    result->out_bytes = (uint32_t)runner->out.len;
    result->err_bytes = (uint32_t)kept;
    send_all(result, sizeof *result);
    send_all(runner->out.data, runner->out.len);
    /* The ring in its order: from the oldest byte to the end, then the beginning. */
    send_all(runner->err + first, kept - first);
    send_all(runner->err, first);
}

/** The signals are blocked and come through a descriptor, so poll() sees them and no handler can
 * interrupt a step between its check and its wait. */
static int open_signals(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

bool action_is_runner(int argc, char **argv)
{
    return argc == 1 && strcmp(argv[0], RUNNER_NAME) == 0;
}

int action_runner_main(void)
{
    /* Not of the command, also where the kernel has no close_range() for child_start(). */
    for (int fd = WIRE_FD; fd < WIRE_HELD + 2; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    struct runner runner = {.signals = open_signals(), .child = {.in = -1, .out = -1, .err = -1}};
    (void)prctl(PR_SET_NAME, RUNNER_NAME);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    /* If that thread died before this call, no signal comes any more; the end of file on WIRE_FD
     * says the same. */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* of the thread that started us */
    if (runner.signals < 0 || !take_spec(&runner))
        return 1;
    const struct wire_spec *spec = &runner.spec;
    if (clock_boot_us() >= spec->start_by_us) {
        runner.result.end = WIRE_SILENCE;
    } else if (child_start(spec, runner.texts, &runner.child)) {
        if (spec->input_bytes == 0)
            close_fd(&runner.child.in);
        run(&runner);
    } else {
        runner.result.end = WIRE_NOT_STARTED;
        runner.result.error = runner.child.error;
        (void)snprintf(runner.result.step, sizeof runner.result.step, "%s", runner.child.step);
    }
    report(&runner);
    str_done(&runner.out);
    free(runner.texts);
    return 0;
}
