/**
 * What: a digest of a run's records, in their order, that can be carried on from any of them: how a
 *   resumed publish knows that its source gives what is on the topic already.
 * Invariants: {0} is the digest of no record. Each step takes the digest before it as the seed of
 *   XXH3-128. It finds mistakes, not forgers.
 * Threads: plain data.
 * Ownership: plain data.
 * Failure: chain_parse: what is not 32 hexadecimal digits.
 */
#ifndef PRODUCER_CHAIN_H
#define PRODUCER_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain {
    uint64_t low, high;
};

void chain_add(struct chain *chain, const char *record, size_t len);
bool chain_equal(const struct chain *a, const struct chain *b);
void chain_format(const struct chain *chain, char ret_text[33]);
/** "" is {0}. */
bool chain_parse(const char *text, struct chain *ret_chain);

#endif
