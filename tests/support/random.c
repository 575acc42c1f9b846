/* splitmix64: 64 bits of state, no table, the same numbers on each machine, so a printed seed
 * repeats a failed test. */
#include "tests/support/random.h"

uint64_t random_state;

uint64_t random_next(void) /* splitmix64 */
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

size_t random_below(size_t n)
{
    return (size_t)(random_next() % n);
}

bool random_one_in(size_t n)
{
    return random_below(n) == 0;
}

void random_mutate(struct str *text, const char *const *tokens, size_t count)
{
    for (size_t n = 1 + random_below(3); n > 0 && text->len > 2; n--) {
        size_t at = random_below(text->len);
        STR_AUTO changed = {0};
        str_add(&changed, text->data, at);
        switch (random_below(5)) {
        case 0:
            str_add(&changed, (char[]){(char)random_next()}, 1);
            str_add(&changed, text->data + at + 1, text->len - at - 1);
            break;
        case 1: {
            size_t gone = 1 + random_below(4);
            if (at + gone < text->len)
                str_add(&changed, text->data + at + gone, text->len - at - gone);
            break;
        }
        case 2:
            str_text(&changed, tokens[random_below(count)]);
            str_add(&changed, text->data + at, text->len - at);
            break;
        case 3: {
            size_t from = random_below(text->len), len = random_below(text->len - from);
            str_add(&changed, text->data + from, len);
            str_add(&changed, text->data + at, text->len - at);
            break;
        }
        default:
            break; /* cut off */
        }
        str_clear(text);
        str_add(text, changed.data != NULL ? changed.data : "", changed.len);
    }
}
