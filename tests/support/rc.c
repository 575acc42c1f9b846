#include "tests/support/rc.h"

const char *rc_name(enum rc rc)
{
    static const char *const names[] = {"OK", "NONE", "RETRY", "LOST", "REJECT", "FATAL"};
    return names[rc];
}
