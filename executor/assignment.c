/* A claim and an adoption make assignments; readers, records and returns pass them on as works. The
 * notes of the executor are behind the work, so that work_free() frees both. */
#include "executor/assignment.h"

#include "base/memory.h"
#include "reader/work.h"

struct work *assignment_new(struct lane *lane, struct phase *phase, const struct work_row *row)
{
    struct assignment *assignment = xcalloc(1, sizeof *assignment);
    work_init(&assignment->work, row);
    assignment->lane = lane;
    assignment->phase = phase;
    return &assignment->work;
}
