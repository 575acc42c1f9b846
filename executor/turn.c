/* The clock is read once a turn, so that two parts that compare times agree. A wait inside a turn
 * (a claim, the start of an incarnation) makes that time old, and the code behind the wait reads
 * the clock again. */
#include "executor/turn.h"

#include "base/clock.h"

void turn_clock(struct turn *turn)
{
    turn->now_us = clock_boot_us();
}

void turn_begin(struct turn *turn)
{
    turn_clock(turn);
    turn->again = false;
}

void turn_again(struct turn *turn)
{
    turn->again = true;
}
