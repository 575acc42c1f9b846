/**
 * What: probe() of lockstep-probed. LOCKSTEP_PROBE is a list of NAME=ACTION[@N], separated by
 *   commas: at the N-th time (default: the first) that a thread comes to the probe NAME, ACTION is
 *   done, once.
 *     kill      the process ends as by kill -9
 *     stop      the process stops itself (SIGSTOP) until another process continues it
 *     term      the process sends itself SIGTERM and continues
 *     sleep:MS  this thread sleeps
 *     hold      this thread waits until the file LOCKSTEP_PROBE_DIR/NAME.go is there
 *   When an action begins, the file LOCKSTEP_PROBE_DIR/NAME.hit is made (if the directory is
 *   given), so that a test can wait for it. LOCKSTEP_PROBE_LOG names a file to which each probe's
 *   name is appended when it is come to for the first time.
 * Threads: any.
 * Failure: a LOCKSTEP_PROBE that cannot be understood ends the process with 70: a test must not
 *   pass for a typing error.
 */
#include "base/probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_PROBES 256

struct action {
    char name[64], what[16];
    long ms;
    int at;
};

static struct action actions[MOST_PROBES];
static int action_count;
static struct seen {
    const char *name;
    int times;
} seen[MOST_PROBES];
static int seen_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void refuse(const char *what)
{
    fprintf(stderr, "LOCKSTEP_PROBE: cannot understand %s\n", what);
    _exit(70);
}

static void read_actions(void)
{
    static const char *const known[] = {"kill", "stop", "term", "sleep", "hold"};
    const char *list = getenv("LOCKSTEP_PROBE");
    char *copy = list != NULL ? strdup(list) : NULL, *rest = NULL;
    for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        struct action *action = &actions[action_count];
        char *what = strchr(word, '='), *at = strchr(word, '@'), *ms;
        if (what == NULL || action_count == MOST_PROBES)
            refuse(word);
        *what++ = '\0';
        action->at = at != NULL ? atoi(at + 1) : 1;
        if (at != NULL)
            *at = '\0';
        if ((ms = strchr(what, ':')) != NULL) {
            *ms = '\0';
            action->ms = atol(ms + 1);
        }
        (void)snprintf(action->name, sizeof action->name, "%s", word);
        (void)snprintf(action->what, sizeof action->what, "%s", what);
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || strcmp(known[i], action->what) == 0;
        if (!found || action->at < 1)
            refuse(word);
        action_count++;
    }
    free(copy);
}

static void touch(const char *name, const char *suffix)
{
    const char *directory = getenv("LOCKSTEP_PROBE_DIR");
    char path[512];
    if (directory == NULL)
        return;
    (void)snprintf(path, sizeof path, "%s/%s.%s", directory, name, suffix);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (fd >= 0)
        (void)close(fd);
}

static void note(const char *name)
{
    const char *path = getenv("LOCKSTEP_PROBE_LOG");
    char line[80];
    int len = snprintf(line, sizeof line, "%s\n", name);
    int fd = path != NULL ? open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (fd < 0)
        return;
    ssize_t ignored = write(fd, line, (size_t)len);
    (void)ignored;
    (void)close(fd);
}

static void sleep_ms(long ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

static void hold(const char *name)
{
    const char *directory = getenv("LOCKSTEP_PROBE_DIR");
    char path[512];
    if (directory == NULL)
        refuse("hold without LOCKSTEP_PROBE_DIR");
    (void)snprintf(path, sizeof path, "%s/%s.go", directory, name);
    while (access(path, F_OK) != 0)
        sleep_ms(5);
}

static void act(const struct action *action)
{
    touch(action->name, "hit");
    if (strcmp(action->what, "kill") == 0)
        (void)raise(SIGKILL);
    else if (strcmp(action->what, "stop") == 0)
        (void)raise(
            SIGSTOP); /* to this thread: it does not run on until the others have stopped, too */
    else if (strcmp(action->what, "term") == 0)
        (void)kill(getpid(), SIGTERM);
    else if (strcmp(action->what, "sleep") == 0)
        sleep_ms(action->ms);
    else
        hold(action->name);
}

/* How often has this probe been come to, this time included? */
static int count(const char *name)
{
    int i = 0;
    while (i < seen_count && strcmp(seen[i].name, name) != 0)
        i++;
    if (i == MOST_PROBES)
        refuse("so many probes");
    if (i == seen_count) {
        seen[seen_count++].name = name;
        note(name);
    }
    return ++seen[i].times;
}

void probe(const char *name)
{
    (void)pthread_once(&once, read_actions);
    (void)pthread_mutex_lock(&lock);
    int times = count(name);
    (void)pthread_mutex_unlock(&lock);
    for (int i = 0; i < action_count; i++)
        if (strcmp(actions[i].name, name) == 0 && actions[i].at == times)
            act(&actions[i]);
}
