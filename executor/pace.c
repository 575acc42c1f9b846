/* The average of the times of the last tasks. It rises quickly and falls slowly, so that soon after
 * a first long task no others are queued behind one. A server that is far away makes each claim
 * longer, and so more tasks have to be in hand. */
#include "executor/pace.h"

void pace_learn(struct pace *pace, int64_t ran_us)
{
    double sample = (double)ran_us;
    pace->task_us += (sample - pace->task_us) * (sample > pace->task_us ? 0.5 : 0.1);
}

double pace_ahead(const struct pace *pace, int64_t round_us, double work_us)
{
    return pace->task_us <= 0 ? 0 : (work_us + 2.0 * (double)round_us) / pace->task_us;
}
