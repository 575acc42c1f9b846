/* The state machine of orphans.h. Asking costs up to a read of a whole phase, so every rule here
 * makes asking rarer: an event asks once, an empty answer is followed by a rest, and without a free
 * reader the lane asks once in five seconds. None of the rules may lose a question: the state stays
 * until an answer has come. */
#include "executor/orphans.h"

#include "base/clock.h"

#define BUSY_AGAIN_US (2 * 1000)
#define UNROOMY_US    (5 * 1000 * 1000)
/* While there is work, after an answer without orphans: so many times as long as it took, because
 * the question may have read all of a phase; at most so long, because it may also have waited. */
#define REST         20
#define REST_LAST_US (500 * 1000)
/* After a refused claim; twice as long each time that nothing is found, up to the second. */
#define CHECK_US      (100 * 1000)
#define CHECK_LAST_US UNROOMY_US

void orphans_ask(struct orphans *orphans, enum orphans_state state)
{
    orphans->state = state > orphans->state ? state : orphans->state;
}

/* The first refusal sets the time. Each further one would put the question off, and a lane that is
 * refused all the time would never ask. */
void orphans_ask_later(struct orphans *orphans, int64_t now_us)
{
    if (orphans->check_us == 0)
        orphans->check_us = CHECK_US;
    if (orphans->check_at_us == 0)
        orphans->check_at_us = now_us + orphans->check_us;
}

void orphans_ask_ends(struct orphans *orphans)
{
    orphans->ends_due = true;
}

bool orphans_take_ends(struct orphans *orphans)
{
    bool due = orphans->ends_due;
    orphans->ends_due = false;
    return due;
}

void orphans_ask_without_reader(struct orphans *orphans)
{
    orphans->ask_after_us = 0;
}

bool orphans_due(struct orphans *orphans, int64_t now_us, bool roomy, bool busy)
{
    if (orphans->adopt_at_us != 0 && orphans->adopt_at_us <= now_us) {
        orphans_ask(orphans, ORPHANS_ADOPT);
        orphans->adopt_at_us = orphans->ask_after_us = 0;
    }
    orphans->timed = orphans->check_at_us != 0 && orphans->check_at_us <= now_us;
    if (orphans->timed) {
        orphans_ask(orphans, ORPHANS_CHECK);
        orphans->check_at_us = orphans->ask_after_us = 0;
    }
    return orphans->state != ORPHANS_NOTHING && (roomy || now_us >= orphans->ask_after_us) &&
           !(busy && now_us < orphans->rest_until_us);
}

bool orphans_claims_first(const struct orphans *orphans)
{
    return orphans->claims_turn;
}

void orphans_claimed(struct orphans *orphans)
{
    orphans->claims_turn = false;
}

void orphans_asked(struct orphans *orphans, int64_t now_us)
{
    orphans->ask_after_us = now_us + UNROOMY_US;
}

/* Less and less often where nothing is found. */
static void found_none(struct orphans *orphans, int64_t took_us)
{
    int64_t rest_us = REST * took_us, longer_us = orphans->check_us * 2;
    orphans->claims_turn = false;
    orphans->rest_until_us = clock_boot_us() + (rest_us < REST_LAST_US ? rest_us : REST_LAST_US);
    if (orphans->timed)
        orphans->check_us = longer_us < CHECK_LAST_US ? longer_us : CHECK_LAST_US;
}

void orphans_answered(struct orphans *orphans, enum orphans_found found, int64_t now_us,
                      int64_t took_us, int64_t next_us, bool roomy)
{
    const enum orphans_state before = orphans->state;
    orphans->state = ORPHANS_NOTHING;
    orphans->adopt_at_us = next_us;
    orphans->check_at_us = 0;
    switch (found) {
    case ORPHANS_BUSY:
        orphans->adopt_at_us = now_us + BUSY_AGAIN_US;
        break;
    case ORPHANS_NONE:
        found_none(orphans, took_us);
        break;
    case ORPHANS_PHASE:
        found_none(orphans, took_us);
        orphans->check_us = 0;
        orphans->check_at_us = now_us + BUSY_AGAIN_US; /* whether there is another one */
        break;
    case ORPHANS_SOME:
        orphans->check_us = 0;
        orphans->claims_turn = true;
        orphans->state = ORPHANS_ADOPT; /* until there is none left */
        break;
    }
    if (!roomy) /* as soon as a reader is free */
        orphans_ask(orphans, before);
}

int64_t orphans_due_us(const struct orphans *orphans, int64_t now_us)
{
    const int64_t *const timers[] = {&orphans->adopt_at_us, &orphans->check_at_us,
                                     &orphans->ask_after_us, &orphans->rest_until_us};
    int64_t first_us = 0;
    for (int i = 0; i < 4; i++) {
        int64_t at_us = *timers[i];
        /* The last two say when something that is wanted may be done. */
        bool counts = i < 2 ? at_us != 0 : orphans->state != ORPHANS_NOTHING && at_us > now_us;
        if (counts)
            first_us = clock_earlier_us(first_us, at_us);
    }
    return first_us;
}
