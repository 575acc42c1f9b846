/* Parsing takes more time than reading, so chunks of a finite source are checked on the other
 * processors. Begin with checker_add() and checker_oldest(). The caller never only waits: if the
 * oldest chunk is not checked yet and no thread has begun it, the caller checks it itself. So a
 * publish also ends where no thread can be started. */
#include "producer/checker.h"

#include "base/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define CHUNKS 8 /* filled, being checked, or waiting to be taken */
/* With the CHECKER_CHUNK tasks of a chunk this bounds the memory: few long tasks are a chunk, too.
 */
#define CHUNK_BYTES  (256 * 1024)
#define MOST_HELPERS 3 /* one thread reads no faster than so many can check */

struct checker {
    const struct staged *staged;
    /* Counted since the start: chunk n is ring[n % CHUNKS]. taken <= begun <= given <= taken +
     * CHUNKS. */
    struct checker_chunk ring[CHUNKS];
    size_t given, begun, taken;
    pthread_mutex_t lock; /* for given, begun, ended, and each chunk's done */
    pthread_cond_t work, done;
    bool ended, started;
    struct crew helpers;
};

struct checker *checker_open(const struct staged *staged)
{
    struct checker *checker = xcalloc(1, sizeof *checker);
    checker->staged = staged;
    (void)pthread_mutex_init(&checker->lock, NULL);
    (void)pthread_cond_init(&checker->work, NULL);
    (void)pthread_cond_init(&checker->done, NULL);
    return checker;
}

void checker_close(struct checker *checker)
{
    (void)pthread_mutex_lock(&checker->lock);
    checker->ended = true;
    (void)pthread_cond_broadcast(&checker->work);
    (void)pthread_mutex_unlock(&checker->lock);
    crew_join(&checker->helpers);
    /* Only now, after the join: a helper may have been inside a chunk. */
    for (int i = 0; i < CHUNKS; i++)
        str_done(&checker->ring[i].texts);
    (void)pthread_cond_destroy(&checker->done);
    (void)pthread_cond_destroy(&checker->work);
    (void)pthread_mutex_destroy(&checker->lock);
    free(checker);
}

struct staged_task checker_task(const struct checker_chunk *chunk, int i)
{
    const struct checker_task *task = &chunk->tasks[i];
    return (struct staged_task){.line = task->line,
                                .order = task->order,
                                .text = chunk->texts.data + task->start,
                                .len = task->len};
}

static void check(const struct checker *checker, struct checker_chunk *chunk)
{
    struct err err;
    for (int i = 0; i < chunk->count; i++) {
        struct staged_task task = checker_task(chunk, i);
        if (staged_check(checker->staged, &task, &err) != RC_OK) {
            chunk->faulty = true;
            return;
        }
        chunk->tasks[i].order = task.order;
    }
}

/** Called with the lock held; unlocks it for the check itself. The thread that increments begun
 * owns the chunk until done, so no second thread checks it. */
static void check_next(struct checker *checker)
{
    struct checker_chunk *chunk = &checker->ring[checker->begun++ % CHUNKS];
    (void)pthread_mutex_unlock(&checker->lock);
    check(checker, chunk);
    (void)pthread_mutex_lock(&checker->lock);
    chunk->done = true;
    (void)pthread_cond_signal(&checker->done);
}

static void *help(void *arg)
{
    struct checker *checker = arg;
    (void)pthread_mutex_lock(&checker->lock);
    while (!checker->ended)
        if (checker->begun < checker->given)
            check_next(checker);
        else
            (void)pthread_cond_wait(&checker->work, &checker->lock);
    (void)pthread_mutex_unlock(&checker->lock);
    return NULL;
}

/** Starts one thread for each processor but the first. The caller checks every chunk that no helper
 * has begun. */
static void start_helpers(struct checker *checker)
{
    struct err ignored;
    cpu_set_t processors;
    int others =
        sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) - 1 : 1;
    checker->started = true;
    while (checker->helpers.count < MOST_HELPERS && checker->helpers.count < others &&
           crew_add(&checker->helpers, "publish", help, checker, &ignored) == RC_OK) {
    }
}

bool checker_full(const struct checker *checker)
{
    return checker->given - checker->taken == CHUNKS;
}

void checker_give(struct checker *checker)
{
    if (checker_full(checker) || checker->ring[checker->given % CHUNKS].count == 0)
        return;
    (void)pthread_mutex_lock(&checker->lock);
    checker->given++;
    (void)pthread_cond_signal(&checker->work);
    (void)pthread_mutex_unlock(&checker->lock);
}

void checker_add(struct checker *checker, const struct staged_task *task)
{
    struct checker_chunk *chunk = &checker->ring[checker->given % CHUNKS];
    chunk->tasks[chunk->count++] =
        (struct checker_task){.start = chunk->texts.len, .len = task->len, .line = task->line};
    str_add(&chunk->texts, task->text, task->len);
    if (chunk->count < CHECKER_CHUNK && chunk->texts.len < CHUNK_BYTES)
        return;
    if (!checker->started)
        start_helpers(checker);
    checker_give(checker);
}

struct checker_chunk *checker_oldest(struct checker *checker)
{
    struct checker_chunk *chunk = &checker->ring[checker->taken % CHUNKS];
    (void)pthread_mutex_lock(&checker->lock);
    bool any = checker->taken < checker->given;
    while (any && !chunk->done)
        if (checker->begun < checker->given)
            check_next(checker);
        else
            (void)pthread_cond_wait(&checker->done, &checker->lock);
    (void)pthread_mutex_unlock(&checker->lock);
    return any ? chunk : NULL;
}

void checker_release(struct checker *checker)
{
    struct checker_chunk *chunk = &checker->ring[checker->taken++ % CHUNKS];
    str_clear(&chunk->texts);
    chunk->count = 0;
    chunk->faulty = chunk->done = false;
}
