/* The console of dev up as a background process: fork, become the server's user, detach, lock the
 * file `console`, start, and report through a pipe, so that the command ends only when the console
 * answers or has failed. The lock proves that the process lives; the text of the file is only read
 * while it is held. */
#include "cli/dev_console.h"

#include "base/log.h"
#include "cli/stop.h"
#include "config/config.h"
#include "console/console.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAIT_MS    60000
#define END_MS     10000
#define ANSWER_MAX 600

static void path_of(char path[PATH_MAX], const char *dir, const char *name)
{
    (void)snprintf(path, PATH_MAX, "%s/%s", dir, name);
}

/* The process that holds the lock of the file, and its address; 0: none does. The kernel releases a
 * lock with its process, so a pid of a dead console is never used. */
static pid_t find(const char *dir, struct str *url)
{
    char path[PATH_MAX], line[ANSWER_MAX] = "";
    path_of(path, dir, "console");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ssize_t n = held ? read(fd, line, sizeof line - 1) : 0;
    (void)close(fd);
    char *blank = n > 0 ? strchr(line, ' ') : NULL;
    if (blank == NULL)
        return 0;
    line[strcspn(line, "\n")] = '\0';
    if (url != NULL)
        str_text(url, blank + 1);
    return (pid_t)atol(line);
}

/* Nothing of the caller's stays open: a shell that reads the output of dev up, $(lockstep dev up),
 * would otherwise wait for the console's end. */
static bool detach(const char *dir, int answer)
{
    char path[PATH_MAX];
    path_of(path, dir, "console.log");
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (null < 0 || log < 0 || setsid() < 0)
        return false;
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(log, STDOUT_FILENO);
    (void)dup2(log, STDERR_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < (int)sysconf(_SC_OPEN_MAX) && fd < 65536; fd++)
        if (fd != answer)
            (void)close(fd);
    return true;
}

/* The lock is held until the process ends. */
static int hold(const char *dir)
{
    char path[PATH_MAX];
    path_of(path, dir, "console");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? fd : -1;
}

static enum rc start_at(const struct config *config, const char *conninfo, const char *listen,
                        struct console **ret_console, struct err *err)
{
    static struct console_options options; /* the console borrows them */
    options = (struct console_options){.conninfo = conninfo, .config = config, .listen = listen};
    return console_start(&options, ret_console, err);
}

static enum rc start(const char *conninfo, struct console **ret_console, struct err *err)
{
    static const char *const set[] = {"console.login=none", "console.anonymous=operator"};
    /* An empty file: the console of dev up must not read the lockstep.conf of the directory. */
    const struct config_request request = {.path = "/dev/null", .set = set, .set_count = 2};
    struct config *config = NULL; /* as long as the process */
    enum rc rc = config_load(&request, &config, err);
    if (rc == RC_OK)
        rc = start_at(config, conninfo, "127.0.0.1:8330", ret_console, err);
    /* Two trials on one host: the second one gets a free port. */
    if (rc != RC_OK && strcmp(err->code, "EADDRINUSE") == 0)
        rc = start_at(config, conninfo, "0", ret_console, err);
    return rc;
}

/* Answers the process that waits in dev_console_start: "+" and the address, or "-" and the
 * error. */
static void say(int answer, char sign, const char *text)
{
    char line[ANSWER_MAX];
    int len = snprintf(line, sizeof line, "%c%s", sign, text);
    ssize_t written = write(answer, line, (size_t)(len < ANSWER_MAX ? len : ANSWER_MAX - 1));
    (void)written;
    (void)close(answer);
}

static void run(const struct dev_console *options, int answer)
{
    STR_AUTO url = {0};
    struct console *console = NULL;
    struct err err = {0};
    int lock = -1;
    options->become(options->context);
    bool ready = detach(options->dir, answer) && (lock = hold(options->dir)) >= 0;
    stop_catch();
    if (!ready || start(options->conninfo, &console, &err) != RC_OK) {
        say(answer, '-', ready ? err.message : "its files cannot be written, or are in use");
        return;
    }
    console_url(console, &url);
    bool noted = ftruncate(lock, 0) == 0 && dprintf(lock, "%d %s\n", (int)getpid(), url.data) > 0;
    say(answer, noted ? '+' : '-', noted ? url.data : "its file cannot be written");
    while (noted && !stop_requested())
        stop_wait(WAIT_MS);
    console_stop(console);
}

enum rc dev_console_start(const struct dev_console *options, struct str *url, struct err *err)
{
    int ends[2];
    char answer[ANSWER_MAX] = "";
    /* dev up may be repeated: a console that runs is the answer. */
    if (find(options->dir, url) != 0)
        return RC_OK;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(err, RC_FATAL, ERR_FAILED, "console", NULL, "%s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        run(options, ends[1]);
        /* Not exit: buffers and handlers of the parent must not run twice. */
        _exit(0);
    }
    (void)close(ends[1]);
    size_t len = 0;
    for (ssize_t n = 1; pid > 0 && n > 0 && len<sizeof answer - 1; len += n> 0 ? (size_t)n : 0)
        n = read(ends[0], answer + len, sizeof answer - 1 - len);
    (void)close(ends[0]);
    if (*answer == '+') {
        str_text(url, answer + 1);
        return RC_OK;
    }
    return err_set(err, RC_FATAL, ERR_FAILED, "console", "Without it: lockstep dev up --no-console",
                   "it has not started: %s", len > 1 ? answer + 1 : "it ended");
}

static bool ends(int process)
{
    struct pollfd end = {.fd = process, .events = POLLIN}; /* readable when the process has ended */
    return poll(&end, 1, END_MS) == 1;
}

bool dev_console_stop(const char *dir, bool *ret_killed)
{
    pid_t pid = find(dir, NULL);
    /* A pidfd, because the console is no child of this process, so waitpid(2) cannot wait for it
     * (pidfd_open(2)). */
    int process = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    *ret_killed = false;
    if (process < 0)
        return false;
    bool over = kill(pid, SIGTERM) == 0 && ends(process);
    if (!over) {
        *ret_killed = kill(pid, SIGKILL) == 0;
        over = ends(process);
    }
    (void)close(process);
    return over;
}
