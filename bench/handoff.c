/* bench_handoff CONNINFO ROUNDS LOCK UNLOCK: two sessions hand an advisory lock over, ROUNDS times.
 * LOCK and UNLOCK are the statements. Prints, one a line, the microseconds from the holder's
 * sending UNLOCK to the waiter's having the lock: the time that PostgreSQL alone needs for a
 * barrier between two sessions of one process.
 *
 * bench/narrow.bash and bench/chain.bash compare it with the barrier of executors. Both sides need
 * a session of their own, because an advisory lock belongs to a session; one process, so that both
 * read one clock. */
#include "base/clock.h"
#include "db/pipeline.h"
#include "db/task_session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HOLD_NS                                                                                    \
    1000000 /* a holder keeps the lock for so long: the other one waits in the server by then */

struct side {
    struct db *db;
    const char *lock, *unlock;
    int rounds;
    struct err err;
    enum rc rc;
};

static _Atomic int64_t released_us; /* when the holder sent its UNLOCK; 0: no holder has sent one */
static _Atomic bool over;

/* Both sides do this; PostgreSQL's lock queue makes them take turns. */
static void *take_turns(void *context)
{
    struct side *side = context;
    const struct timespec hold = {.tv_nsec = HOLD_NS};
    for (int i = 0; side->rc == RC_OK && !over && i < side->rounds; i++) {
        side->rc = db_command(side->db, side->lock, 0, NULL, &side->err);
        int64_t since_us = atomic_exchange(&released_us, 0);
        /* The first acquisition of each side waited for nothing. */
        if (side->rc == RC_OK && since_us != 0 && i > 0)
            (void)printf("%lld\n", (long long)(clock_boot_us() - since_us));
        (void)nanosleep(&hold, NULL);
        released_us = clock_boot_us();
        if (side->rc == RC_OK)
            side->rc = db_command(side->db, side->unlock, 0, NULL, &side->err);
    }
    over = true;
    return NULL;
}

static int complain(const struct err *err)
{
    (void)fprintf(stderr, "bench_handoff: %s\n", err->message);
    return 1;
}

int main(int argc, char **argv)
{
    struct side sides[2];
    pthread_t threads[2];
    int status = 0;
    if (argc != 5) {
        (void)fprintf(stderr, "usage: bench_handoff CONNINFO ROUNDS LOCK UNLOCK\n");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        sides[i] = (struct side){.lock = argv[3], .unlock = argv[4], .rounds = atoi(argv[2])};
        if (db_open(argv[1], DB_CLI, &sides[i].db, &sides[i].err) != RC_OK)
            return complain(&sides[i].err);
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, take_turns, &sides[i]) != 0)
            abort();
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
        status |= sides[i].rc == RC_OK ? 0 : complain(&sides[i].err);
        db_close(sides[i].db);
    }
    return status;
}
