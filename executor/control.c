/* The session of the control thread. round_us is quick to fall and slow to rise: a barrier and the
 * measure of claims ask how long a statement takes at the least, and one slow statement says little
 * about that. */
#include "executor/control.h"

#include "db/canceller.h"
#include "db/db.h"

enum rc control_ready(struct control *control, struct err *err)
{
    db_patience(control->db, control->patience_ms);
    control->canceller = db_canceller_new(control->db);
    return db_canceller_whole(control->canceller, err);
}

void control_round_trip(struct control *control, int64_t us)
{
    int64_t before_us = control->round_us;
    control->round_us = before_us == 0 || us < before_us ? us : before_us + (us - before_us) / 16;
}

void control_close(struct control *control)
{
    db_close(control->db);
}

void control_free(struct control *control)
{
    db_canceller_free(control->canceller);
}
