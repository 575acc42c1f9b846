/**
 * What: a named point in the code at which tests may stop, kill or hold the process:
 *   probe("claim.sent"). In lockstep the call does nothing (base/probe.c). lockstep-probed, the
 *   same objects linked once more for the tests only, has tests/probed/probe.c in its place, which
 *   reads LOCKSTEP_PROBE.
 * Invariants: a probe changes nothing. Names are "what.when", unique, and stay: tests name them.
 *   None is in a loop over tasks that the hot path runs without a system call of its own.
 * Threads: any.
 * Ownership: name is a literal.
 * Failure: -
 */
#ifndef BASE_PROBE_H
#define BASE_PROBE_H

void probe(const char *name);

#endif
