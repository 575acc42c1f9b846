/* A cache of texts that a session has prepared, with one place for each hash: no list to walk, and
 * a collision costs a parse and never a wrong answer, because the whole text is compared. A text is
 * remembered by its hash when it comes first, and prepared when it comes again: most texts of tasks
 * come once, and a plan for those would be wasted. */
#include "db/recall.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PATIENCE 16 /* so often a prepared text is preferred to one that is new */

static unsigned drop(struct recalled *slot)
{
    if (slot->text == NULL)
        return 0;
    free(slot->text);
    slot->text = NULL;
    return slot->id;
}

enum recall_advice recall(struct recall *recall, int64_t scope, const char *text, size_t len,
                          unsigned *ret_id, unsigned *ret_dropped)
{
    uint64_t hash = XXH3_64bits(text, len);
    struct recalled *slot = &recall->slots[hash % RECALL_SLOTS];
    bool same = slot->hash == hash && slot->len == len && slot->scope == scope;
    *ret_dropped = 0;
    if (same && slot->text == NULL) {
        slot->text = xmalloc(len);
        memcpy(slot->text, text, len);
        *ret_id = slot->id = ++recall->last_id;
        return RECALL_PREPARE;
    }
    if (same && memcmp(slot->text, text, len) == 0) {
        slot->passed_over = 0;
        *ret_id = slot->id;
        return RECALL_EXECUTE;
    }
    if (slot->text != NULL && slot->scope == scope && ++slot->passed_over < PATIENCE)
        return RECALL_PLAIN;
    *ret_dropped = drop(slot);
    *slot = (struct recalled){.hash = hash, .scope = scope, .len = len};
    return RECALL_PLAIN;
}

void recall_clear(struct recall *recall)
{
    for (int i = 0; i < RECALL_SLOTS; i++) {
        (void)drop(&recall->slots[i]);
        recall->slots[i] = (struct recalled){0};
    }
}
