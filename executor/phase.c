/* phase: the phases of which this executor has tasks, and their tasks that wait for a reader. */
#include "executor/phase.h"

#include "executor/buffered.h"
#include "executor/phases.h"

#include "task/message.h"

#include <string.h>

void phase_open(struct phase *phase, int64_t definitions, int64_t now_us)
{
    if (!phase->open)
        phase->opened_us = now_us;
    phase->open = true;
    phase->definitions = definitions;
}

/* The count holds for an open phase only. A phase that opens later may have seen more changes, and
 * its opening reports the count again. */
void phase_known(struct phase *phase, int64_t definitions)
{
    phase->definitions = phase->open ? definitions : 0;
}

void phase_share(struct phase *phase, bool shared)
{
    phase->shared = shared;
}

void phase_unowned(struct phase *phase, bool unowned)
{
    phase->unowned = unowned;
}

void phase_pass_over(struct phase *phase, int passed_over)
{
    phase->passed_over = passed_over;
}

struct work *phase_start(struct phase *phase)
{
    phase->running++;
    return works_take(&phase->waiting);
}

/* back_us is where a barrier begins (counts.c): the last task that returns sets it. */
void phase_back(struct phase *phase, int64_t now_us)
{
    phase->running--;
    phase->back_us = now_us;
}

/* A phase that is seen open here for the first time may have been opened by another executor, with
 * tasks of ours that its opening cancelled (conditions). So they are doubtful until the database
 * was asked. */
void phase_seen(struct phases *phases, struct phase *phase, bool open, int64_t definitions,
                int64_t now_us)
{
    if (open && !phase->open && phase->waiting.count > 0)
        phases_doubt(phases, true);
    if (open && !phase->open)
        phase->opened_us = now_us;
    phase->open = open;
    phase->definitions = open ? definitions : 0;
}

void phase_forget_waiting(struct phase *phase)
{
    works_free(&phase->waiting);
    phase->unowned = false;
}

/* Both parts keep their order, so that the works that stay start in the order of the topic. */
struct works phase_take(struct phase *phase,
                        bool (*leaves)(const struct work *work, const void *context),
                        const void *context)
{
    struct works taken = {0}, stays = {0};
    for (struct work *work; (work = works_take(&phase->waiting)) != NULL;)
        works_add(leaves(work, context) ? &taken : &stays, work);
    phase->waiting = stays;
    return taken;
}

struct works phase_cut(struct phase *phase, int keep)
{
    struct works stays = {0};
    while (stays.count < keep && phase->waiting.first != NULL)
        works_add(&stays, works_take(&phase->waiting));
    struct works rest = phase->waiting;
    phase->waiting = stays;
    return rest;
}

/* A phase that was only adopted has no run of messages; the head can then belong to the newest
 * phase only. */
bool phase_is_of(const struct phase *phase, const struct buffered *head)
{
    return head->msg != NULL && head->msg->type != MESSAGE_END &&
           head->msg->order == phase->order &&
           (*phase->run != 0 ? strcmp(phase->run, head->run) == 0 : phase->next == NULL);
}
