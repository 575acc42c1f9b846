/* Ends the processes that a killed runner leaves behind. This process is the reaper of its
 * descendants, so they come here: a child of this process that is no runner is one of those.
 * PR_SET_CHILD_SUBREAPER (prctl(2)): orphans of descendants become children of this process and not
 * of init. The lock keeps a runner that is just being spawned from being taken for a leftover. */
#include "action/leftover.h"

#include "base/str.h"
#include "base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CHECK_AGAIN_MS 10

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t *runners; /* guarded by lock */
static int runner_count;

void leftover_start(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void leftover_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void leftover_unlock(pid_t runner)
{
    if (runner > 0) {
        runners = xrealloc(runners, (size_t)runner_count + 1, sizeof *runners);
        runners[runner_count++] = runner;
    }
    (void)pthread_mutex_unlock(&lock);
}

void leftover_forget(pid_t runner)
{
    (void)pthread_mutex_lock(&lock);
    int i = 0;
    while (i < runner_count && runners[i] != runner)
        i++;
    if (i < runner_count)
        runners[i] = runners[--runner_count];
    if (runner_count == 0) {
        free(runners);
        runners = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
}

static bool is_runner(pid_t pid)
{
    int i = 0;
    while (i < runner_count && runners[i] != pid)
        i++;
    return i < runner_count;
}

/** 1: a list could not be read for want of a descriptor or of memory, so it is read again later. */
static int unread(bool opened)
{
    return !opened && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
}

/* Of one thread: the kernel gives them to any. */
static int end_children(const char *thread)
{
    char path[300];
    int pid;
    utf8_format(path, sizeof path, "/proc/self/task/%s/children", thread);
    FILE *file = fopen(path, "re");
    int count = unread(file != NULL);
    while (file != NULL && fscanf(file, "%d", &pid) == 1) {
        if (is_runner(pid))
            continue;
        count++;
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, WNOHANG); /* what it had comes to us then */
    }
    if (file != NULL)
        (void)fclose(file);
    return count;
}

/* Each round may bring up the next generation; the end is a round without children of this kind,
 * and with all lists read.
 * The lock is released in between, so that other readers can start runners. */
void leftover_end(void)
{
    for (int count = 1; count > 0;) {
        count = 0;
        (void)pthread_mutex_lock(&lock);
        /* The list of children is one of each thread (proc(5), children). */
        DIR *threads = opendir("/proc/self/task");
        count += unread(threads != NULL);
        for (struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;)
            count += entry->d_name[0] == '.' ? 0 : end_children(entry->d_name);
        if (threads != NULL)
            (void)closedir(threads);
        (void)pthread_mutex_unlock(&lock);
        if (count > 0)
            (void)poll(NULL, 0, CHECK_AGAIN_MS);
    }
}
