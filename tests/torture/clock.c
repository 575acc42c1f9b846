/**
 * What: a clock that can be set under a running process, for LD_PRELOAD. The file
 *   LOCKSTEP_TORTURE_CLOCK holds 8 bytes: by how many seconds the real-time clock is wrong (int64_t
 *   of this machine); a process that writes there sets the clock at once. As on a machine whose
 *   clock is set: CLOCK_MONOTONIC and CLOCK_BOOTTIME continue, and a wait until a time of day ends
 *   when that clock says so. (libfaketime leaves cnd_timedwait alone, on which librdkafka's threads
 *   depend.)
 * Invariants: without the file the clock is right.
 * Threads: any.
 * Ownership: the file stays mapped.
 * Failure: a file that is named and cannot be mapped ends the process with 70: a test must not pass
 *   for a typing error.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS         (50 * 1000 * 1000L)
#define CERTAINLY_REAL_S 1000000000L /* an absolute time before 2001 is of another clock */
/* ISO C has no cast from an object pointer to a function pointer. */
#define NEXT(pointer, name) (*(void **)&(pointer) = dlsym(RTLD_NEXT, name))

static const volatile int64_t *wrong_by_s;
static const int64_t right = 0;

__attribute__((constructor)) static void map_clock(void)
{
    const char *path = getenv("LOCKSTEP_TORTURE_CLOCK");
    wrong_by_s = &right;
    if (path == NULL)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = fd >= 0 ? mmap(NULL, sizeof *wrong_by_s, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (at == MAP_FAILED) {
        perror(path);
        _exit(70);
    }
    (void)close(fd);
    wrong_by_s = at;
}

static int64_t wrong(void)
{
    return wrong_by_s != NULL ? *wrong_by_s : 0; /* before the constructor */
}

int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        NEXT(real, "clock_gettime");
    int rc = real(clock, ret_now);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        ret_now->tv_sec += wrong();
    return rc;
}

int gettimeofday(struct timeval *restrict ret_now, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *ret_now = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *ret_now)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (ret_now != NULL)
        *ret_now = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *ret_now, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, ret_now) == 0 ? base : 0;
}

static int before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* The next moment to look at the clock again, by the right clock; 1: the time has come. */
static int slice(const struct timespec *until, struct timespec *ret_slice)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (!before(&now, until))
        return 1;
    now.tv_nsec += SLICE_NS;
    now.tv_sec += now.tv_nsec / 1000000000L;
    now.tv_nsec %= 1000000000L;
    *ret_slice = before(&now, until) ? now : *until;
    ret_slice->tv_sec -= wrong();
    return 0;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    struct timespec at;
    if (real == NULL)
        NEXT(real, "pthread_cond_timedwait");
    if (until->tv_sec < CERTAINLY_REAL_S)
        return real(cond, mutex, until);
    int rc = ETIMEDOUT;
    while (rc == ETIMEDOUT && slice(until, &at) == 0)
        rc = real(cond, mutex, &at);
    return rc;
}

int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex,
                  const struct timespec *restrict until)
{
    static int (*real)(cnd_t *, mtx_t *, const struct timespec *);
    struct timespec at;
    if (real == NULL)
        NEXT(real, "cnd_timedwait");
    int rc = thrd_timedout;
    while (rc == thrd_timedout && slice(until, &at) == 0)
        rc = real(cond, mutex, &at);
    return rc;
}
