/* turn: the time of this turn of control's, and whether another one is to follow at once. */
#include "executor/turn.h"

#include "executor/lane.h"

#include "base/clock.h"

void turn_clock(struct executor *ex)
{
    ex->now_us = clock_boot_us();
}

void turn_begin(struct executor *ex)
{
    turn_clock(ex);
    ex->news = false;
}

void turn_again(struct executor *ex)
{
    ex->news = true;
}
