/* Identities: random ones for new runs, and one that is computed for a run without an id, so that
 * every reader of the topic gives the run the same id (RFC 4122, version 5). */
#include "task/uuid.h"
#include "task/message.h"

#include "base/ascii.h"

#include <inttypes.h>
#include <string.h>
#include <uuid/uuid.h>

/* 7bb6de0e-03a3-4d6c-9b48-6a3f0f2c51d7, the namespace of implicit runs. It is part of the data: a
 * replay must find the run that the first reading made, so it never changes. */
static const uuid_t IMPLICIT_RUNS = {0x7b, 0xb6, 0xde, 0x0e, 0x03, 0xa3, 0x4d, 0x6c,
                                     0x9b, 0x48, 0x6a, 0x3f, 0x0f, 0x2c, 0x51, 0xd7};

void uuid_new(char ret_uuid[37])
{
    uuid_t uuid;
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, ret_uuid);
}

void uuid_implicit_run(char ret_uuid[37], const char *queue, int64_t first_offset)
{
    uuid_t uuid;
    STR_AUTO name = {0};
    str_format(&name, "%s/%" PRId64, queue, first_offset);
    uuid_generate_sha1(uuid, IMPLICIT_RUNS, name.data, name.len);
    uuid_unparse_lower(uuid, ret_uuid);
}

bool uuid_valid(const char *text)
{
    for (int i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !ascii_xdigit(text[i]))
            return false; /* the '\0' of a short text ends up here, too */
    }
    return text[36] == '\0';
}
