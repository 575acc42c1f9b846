/* The digest of a run's records so far, from which it can continue with the next record. The seed
 * links the records, so that order and number count and not only the bytes. */
#include "producer/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

void chain_add(struct chain *chain, const char *record, size_t len)
{
    XXH128_hash_t next = XXH3_128bits_withSeed(record, len, chain->low ^ chain->high);
    chain->low = next.low64;
    chain->high = next.high64;
}

bool chain_equal(const struct chain *a, const struct chain *b)
{
    return a->low == b->low && a->high == b->high;
}

void chain_format(const struct chain *chain, char ret_text[33])
{
    (void)snprintf(ret_text, 33, "%016" PRIx64 "%016" PRIx64, chain->high, chain->low);
}

bool chain_parse(const char *text, struct chain *ret_chain)
{
    struct chain chain = {0};
    int end = 0;
    /* sscanf alone would take a sign, blanks and fewer digits, so the form is checked before it. */
    if (*text != '\0' &&
        (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32 ||
         sscanf(text, "%16" SCNx64 "%16" SCNx64 "%n", &chain.high, &chain.low, &end) != 2 ||
         end != 32))
        return false;
    *ret_chain = chain;
    return true;
}
