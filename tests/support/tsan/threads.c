/*
 * C11 threads on top of POSIX threads, for the thread sanitizer only. glibc does this, too, but
 * with internal calls: the sanitizer sees neither the threads nor the locks of a library that uses
 * <threads.h>, as librdkafka does, and gcc's dies when such a thread calls malloc. Defined in the
 * executable, these come before glibc's.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t), "glibc's mtx_t holds a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t), "glibc's cnd_t holds a pthread_cond_t");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "glibc's thrd_t is a pthread_t");

static pthread_mutex_t *mutex(mtx_t *mtx)
{
    return (void *)mtx;
}

static pthread_cond_t *cond(cnd_t *cnd)
{
    return (void *)cnd;
}

static int result(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

struct start {
    thrd_start_t function;
    void *argument;
};

static void *run(void *argument)
{
    struct start start = *(struct start *)argument;

    free(argument);
    return (void *)(intptr_t)start.function(start.argument);
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct start *start = malloc(sizeof *start);
    int error;

    if (start == NULL) {
        return thrd_nomem;
    }
    *start = (struct start){function, argument};
    error = pthread_create(thread, NULL, run, start);
    if (error != 0) {
        free(start);
    }
    return result(error);
}

int thrd_join(thrd_t thread, int *ret_result)
{
    void *value = NULL;
    int error = pthread_join(thread, &value);

    if (error == 0 && ret_result != NULL) {
        *ret_result = (int)(intptr_t)value;
    }
    return result(error);
}

int thrd_detach(thrd_t thread)
{
    return result(pthread_detach(thread));
}

_Noreturn void thrd_exit(int value)
{
    pthread_exit((void *)(intptr_t)value);
}

int mtx_init(mtx_t *mtx, int type)
{
    pthread_mutexattr_t attributes;
    int error;

    (void)pthread_mutexattr_init(&attributes);
    if ((type & mtx_recursive) != 0) {
        (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    }
    error = pthread_mutex_init(mutex(mtx), &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return result(error);
}

void mtx_destroy(mtx_t *mtx)
{
    (void)pthread_mutex_destroy(mutex(mtx));
}

int mtx_lock(mtx_t *mtx)
{
    return result(pthread_mutex_lock(mutex(mtx)));
}

int mtx_trylock(mtx_t *mtx)
{
    return result(pthread_mutex_trylock(mutex(mtx)));
}

int mtx_timedlock(mtx_t *restrict mtx, const struct timespec *restrict until)
{
    return result(pthread_mutex_timedlock(mutex(mtx), until));
}

int mtx_unlock(mtx_t *mtx)
{
    return result(pthread_mutex_unlock(mutex(mtx)));
}

int cnd_init(cnd_t *cnd)
{
    return result(pthread_cond_init(cond(cnd), NULL));
}

void cnd_destroy(cnd_t *cnd)
{
    (void)pthread_cond_destroy(cond(cnd));
}

int cnd_signal(cnd_t *cnd)
{
    return result(pthread_cond_signal(cond(cnd)));
}

int cnd_broadcast(cnd_t *cnd)
{
    return result(pthread_cond_broadcast(cond(cnd)));
}

int cnd_wait(cnd_t *cnd, mtx_t *mtx)
{
    return result(pthread_cond_wait(cond(cnd), mutex(mtx)));
}

int cnd_timedwait(cnd_t *restrict cnd, mtx_t *restrict mtx, const struct timespec *restrict until)
{
    return result(pthread_cond_timedwait(cond(cnd), mutex(mtx), until));
}
