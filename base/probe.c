#include "base/probe.h"

/* Alone in its file: lockstep-probed brings a probe() of its own, and then the linker leaves this
 * one in the archive. */
void probe(const char *name)
{
    (void)name;
}
