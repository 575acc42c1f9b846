/* Some calls of librdkafka 2.0.2 do not return in time (the close of a client whose topic was
 * deleted; a question while the wall clock is set back). Such a call runs on a thread of its own
 * and is left behind when its time is over. Begin with kafka_bounded(). The lock decides which side
 * frees: the caller if the job is done by then, otherwise the job. */
#include "kafka/bounded.h"

#include "base/condition.h"
#include "base/str.h"

#include <pthread.h>
#include <stdlib.h>

struct kafka_bounded {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    struct timespec until;
    void (*job)(void *), (*leave)(void *);
    void *argument;
    bool threadless, done, abandoned;
};

static struct kafka_bounded *bounded_new(void (*job)(void *), void (*leave)(void *), void *argument)
{
    struct kafka_bounded *it = xcalloc(1, sizeof *it);
    /* On CLOCK_MONOTONIC, which cannot be set back. */
    condition_init(&it->ended);
    (void)pthread_mutex_init(&it->lock, NULL);
    it->job = job;
    it->leave = leave;
    it->argument = argument;
    return it;
}

static void bounded_free(struct kafka_bounded *it)
{
    (void)pthread_cond_destroy(&it->ended);
    (void)pthread_mutex_destroy(&it->lock);
    free(it);
}

static void *run(void *argument)
{
    struct kafka_bounded *it = argument;
    it->job(it->argument);
    (void)pthread_mutex_lock(&it->lock);
    it->done = true;
    /* Read under the lock: the caller may give up between the end of the job and here, and one of
     * the two must free. */
    bool abandoned = it->abandoned;
    (void)pthread_cond_signal(&it->ended);
    (void)pthread_mutex_unlock(&it->lock);
    if (abandoned) { /* else the caller joins this thread and frees */
        it->leave(it->argument);
        bounded_free(it);
    }
    return NULL;
}

struct kafka_bounded *kafka_bounded_start(void (*job)(void *argument),
                                          void (*leave)(void *argument), void *argument,
                                          int timeout_ms)
{
    struct kafka_bounded *it = bounded_new(job, leave, argument);
    it->until = condition_until(timeout_ms * 1000LL);
    if (pthread_create(&it->thread, NULL, run, it) != 0) {
        job(argument);
        it->threadless = it->done = true;
    }
    return it;
}

bool kafka_bounded_over(struct kafka_bounded *it)
{
    struct timespec now = condition_until(0);
    (void)pthread_mutex_lock(&it->lock);
    bool over = it->done || now.tv_sec > it->until.tv_sec ||
                (now.tv_sec == it->until.tv_sec && now.tv_nsec >= it->until.tv_nsec);
    (void)pthread_mutex_unlock(&it->lock);
    return over;
}

bool kafka_bounded_end(struct kafka_bounded *it)
{
    (void)pthread_mutex_lock(&it->lock);
    while (!it->done && pthread_cond_timedwait(&it->ended, &it->lock, &it->until) == 0) {
    }
    bool done = it->done;
    it->abandoned = !done;
    if (!done)
        (void)pthread_detach(it->thread); /* before the lock is released: then `it` may be gone */
    (void)pthread_mutex_unlock(&it->lock);
    if (done) {
        if (!it->threadless)
            (void)pthread_join(it->thread, NULL);
        bounded_free(it);
    }
    return done;
}

bool kafka_bounded(void (*job)(void *argument), void (*leave)(void *argument), void *argument,
                   int timeout_ms)
{
    return kafka_bounded_end(kafka_bounded_start(job, leave, argument, timeout_ms));
}
