/* Faults are reported one by one as they are found, and the first of them is the error in the end:
 * so a file with five mistakes is repaired once. */
#include "config/faults.h"

void config_fault(struct config_faults *faults, const struct err *err)
{
    if (faults->count++ == 0)
        faults->first = *err;
    if (faults->report != NULL)
        faults->report(faults->context, err);
}

enum rc config_faults_end(const struct config_faults *faults, struct err *err)
{
    if (faults->count == 0)
        return RC_OK;
    if (err != NULL)
        *err = faults->first;
    return RC_FATAL;
}
