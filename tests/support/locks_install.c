/* Creates the schema lockstep_test from tests/support/locks.sql: variants of the lock functions
 * that only tests call. */
#include "tests/support/locks.h"

#include "base/str.h"
#include "tests/support/support.h"

#include <stdio.h>

void locks_install(struct db *db)
{
    STR_AUTO text = {0};
    DB_RESULT_AUTO *result = NULL;
    struct err err;
    char part[4096];
    FILE *file = fopen(LOCKSTEP_SOURCE "/tests/support/locks.sql", "r");
    assert_non_null(file);
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        str_add(&text, part, n);
    (void)fclose(file);
    assert_ok(db_script(db, text.data, &result, &err), &err);
}
