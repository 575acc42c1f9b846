/* Names, strings and assertions of tests with servers. A name has the pid and random bits, because
 * tests run at the same time on one server. */
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/support/own.h"

/** Everything this process gave out as a string; never freed, reachable till the end. */
static struct kept {
    struct kept *next;
    char text[];
} * kept;

const char *support_keep(const char *text)
{
    size_t size = strlen(text) + 1;
    struct kept *entry = xmalloc(sizeof *entry + size);

    memcpy(entry->text, text, size);
    entry->next = kept;
    kept = entry;
    return entry->text;
}

const char *support_environment(const char *name)
{
    const char *value = getenv(name);

    if (value == NULL || value[0] == '\0') {
        fail_msg("%s is not set: run the test through ctest or scripts/with-servers", name);
    }
    return value;
}

const char *support_name(const char *prefix)
{
    char name[64];
    uint32_t random;

    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        fail_msg("getrandom failed");
    }
    (void)snprintf(name, sizeof name, "%s_%d_%08x", prefix, (int)getpid(), random);
    return support_keep(name);
}

void support_assert_rc(enum rc rc, enum rc expected, const struct err *err, const char *file,
                       int line)
{
    bool told = rc != RC_OK && rc != RC_NONE && err != NULL;

    if (rc == expected) {
        return;
    }
    print_error("%s expected, got %s\n", rc_name(expected), rc_name(rc));
    if (told) {
        print_error("  %s %s: %s\n  detail: %s\n  context: %s\n  hint: %s\n", err->code,
                    err->object, err->message, err->detail, err->context, err->hint);
    }
    _fail(file, line);
}
