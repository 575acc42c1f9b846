/**
 * What: a digest of a run's records, in their order, that can continue behind any of them. A
 *   resumed publish proves with it that its source gives the records that are on the topic.
 * Invariants: {0} is the digest of no record. Each step takes the digest before it as the seed of
 *   XXH3-128. It finds mistakes, not forgers.
 * Threads: plain data.
 * Ownership: plain data.
 * Failure: chain_parse refuses a text that is not 32 hexadecimal digits.
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
