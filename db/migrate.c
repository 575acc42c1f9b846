#include "db/migrate.h"

#include "base/clock.h"
#include "base/remedies.h"
#include "base/str.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOCK_WAIT_US (60 * 1000 * 1000LL)

static const struct sql_script *script_at(int i)
{
    return i < SQL_MIGRATION_COUNT ? &sql_migrations[i] : &sql_functions[i - SQL_MIGRATION_COUNT];
}

static void fill_item(struct migrate_item *item, int version, const char *name,
                      enum migrate_state state, const char *applied_at)
{
    item->version = version;
    item->state = state;
    (void)snprintf(item->name, sizeof item->name, "%s", name);
    (void)snprintf(item->applied_at, sizeof item->applied_at, "%s", applied_at);
}

static int find_applied(const struct db_result *applied, const struct sql_script *script)
{
    for (int row = 0; applied != NULL && row < db_rows(applied); row++) {
        if (db_int(applied, row, MIGRATE_APPLIED_VERSION) != script->version)
            continue;
        if (script->version != 0 ||
            strcmp(db_text(applied, row, MIGRATE_APPLIED_NAME), script->name) == 0)
            return row;
    }
    return -1;
}

static bool is_known(const struct db_result *applied, int row)
{
    for (int i = 0; i < SQL_MIGRATION_COUNT + SQL_FUNCTION_COUNT; i++)
        if (db_int(applied, row, MIGRATE_APPLIED_VERSION) == script_at(i)->version &&
            (script_at(i)->version != 0 ||
             strcmp(db_text(applied, row, MIGRATE_APPLIED_NAME), script_at(i)->name) == 0))
            return true;
    return false;
}

enum rc migrate_list(struct db *db, struct migrate_item **ret_items, int *ret_count,
                     struct err *err)
{
    DB_RESULT_AUTO *exists = NULL;
    DB_RESULT_AUTO *applied = NULL;
    enum rc rc = db_run(db, &sql_migrate_exists, NULL, &exists, err);
    if (rc == RC_OK && db_bool(exists, 0, MIGRATE_EXISTS_THERE))
        rc = db_run(db, &sql_migrate_applied, NULL, &applied, err);
    if (rc != RC_OK)
        return rc;
    int known = SQL_MIGRATION_COUNT + SQL_FUNCTION_COUNT, count = 0;
    int rows = applied ? db_rows(applied) : 0;
    struct migrate_item *items = xcalloc((size_t)(known + rows), sizeof *items);
    for (int i = 0; i < known; i++) {
        const struct sql_script *script = script_at(i);
        int row = find_applied(applied, script);
        enum migrate_state state = MIGRATE_PENDING;
        if (row >= 0)
            state = strcmp(db_text(applied, row, MIGRATE_APPLIED_CHECKSUM), script->checksum) == 0
                        ? MIGRATE_APPLIED
                        : MIGRATE_CHANGED;
        fill_item(&items[count++], script->version, script->name, state,
                  row >= 0 ? db_text(applied, row, MIGRATE_APPLIED_APPLIED_AT) : "");
    }
    for (int row = 0; row < rows; row++)
        if (!is_known(applied, row))
            fill_item(&items[count++], (int)db_int(applied, row, MIGRATE_APPLIED_VERSION),
                      db_text(applied, row, MIGRATE_APPLIED_NAME), MIGRATE_UNKNOWN,
                      db_text(applied, row, MIGRATE_APPLIED_APPLIED_AT));
    *ret_items = items;
    *ret_count = count;
    return RC_OK;
}

/* Applied and not ours: a newer binary was here. A numbered migration whose text changed was
 * altered after the fact. */
static enum rc refuse(const struct migrate_item *item, struct err *err)
{
    if (item->state == MIGRATE_UNKNOWN && item->version > SQL_MIGRATION_COUNT)
        return err_set(
            err, RC_FATAL, ERR_SCHEMA, item->name, "Use the newer lockstep that made this schema.",
            "the schema is newer than this program: migration %d is unknown here", item->version);
    if (item->state == MIGRATE_CHANGED && item->version > 0)
        return err_set(err, RC_FATAL, ERR_SCHEMA, item->name,
                       "Use the lockstep that made this schema, or restore the migration's text.",
                       "migration %d was applied with another text than this program has",
                       item->version);
    return RC_OK;
}

enum rc migrate_validate(struct db *db, struct err *err)
{
    FREE_AUTO struct migrate_item *items = NULL;
    int count;
    enum rc rc = migrate_list(db, &items, &count, err);
    for (int i = 0; rc == RC_OK && i < count; i++)
        rc = refuse(&items[i], err);
    for (int i = 0; rc == RC_OK && i < count; i++)
        if (items[i].state == MIGRATE_PENDING || items[i].state == MIGRATE_CHANGED)
            rc = err_set(err, RC_FATAL, ERR_SCHEMA, items[i].name, REMEDY_MIGRATE_UP,
                         "the schema is not current: %s %s is %s",
                         items[i].version ? "migration" : "function", items[i].name,
                         items[i].state == MIGRATE_PENDING ? "not applied" : "older");
    return rc;
}

/* Tries the lock from the client, so that no waiting migrator pins the vacuum horizon. */
static enum rc lock_migrators(struct db *db, struct err *err)
{
    for (int64_t until = clock_boot_us() + LOCK_WAIT_US;;) {
        DB_RESULT_AUTO *result = NULL;
        enum rc rc = db_run(db, &sql_migrate_lock, NULL, &result, err);
        if (rc != RC_OK || db_bool(result, 0, MIGRATE_LOCK_GRANTED))
            return rc;
        if (clock_boot_us() > until)
            return err_set(err, RC_RETRY, ERR_HELD, "lockstep migrate", REMEDY_MIGRATE_WAIT,
                           "another migrator has been at work for a minute");
        (void)nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }
}

static enum rc apply_one(struct db *db, const struct sql_script *script, struct err *err)
{
    /* The roles come first and are made as whoever migrates; everything after them in the owner's
     * name. */
    bool as_owner = script->version == 0 || script->version > 2;
    enum rc rc = db_script(db, "BEGIN", NULL, err);
    if (rc == RC_OK && as_owner)
        rc = db_script(db, "SET LOCAL ROLE lockstep_owner; SET LOCAL check_function_bodies = off",
                       NULL, err);
    if (rc == RC_OK)
        rc = db_script(db, script->text, NULL, err);
    if (rc == RC_OK && as_owner)
        rc = db_script(db, "RESET ROLE", NULL, err);
    if (rc == RC_OK && script->version > 0)
        rc = db_run(db, &sql_migrate_record,
                    (const char *const[]){DB_INT(script->version), script->name, script->checksum},
                    NULL, err);
    else if (rc == RC_OK)
        rc = db_run(db, &sql_migrate_record_function,
                    (const char *const[]){script->name, script->checksum}, NULL, err);
    if (rc == RC_OK)
        return db_script(db, "COMMIT", NULL, err);
    if (err != NULL && rc != RC_LOST)
        utf8_copy(err->object, sizeof err->object, script->name);
    enum rc ignored = db_script(db, "ROLLBACK", NULL, NULL);
    (void)ignored;
    return rc;
}

static enum rc apply_all(struct db *db, bool dry_run, FILE *show, int *ret_applied, struct err *err)
{
    FREE_AUTO struct migrate_item *items = NULL;
    int count;
    enum rc rc = migrate_list(db, &items, &count, err);
    for (int i = 0; rc == RC_OK && i < count; i++)
        rc = refuse(&items[i], err);
    for (int i = 0; rc == RC_OK && i < SQL_MIGRATION_COUNT + SQL_FUNCTION_COUNT; i++) {
        if (items[i].state == MIGRATE_APPLIED)
            continue;
        if (show != NULL)
            (void)fprintf(show, "-- %s\n%s\n", script_at(i)->name, script_at(i)->text);
        if (!dry_run)
            rc = apply_one(db, script_at(i), err);
        (*ret_applied)++;
    }
    return rc;
}

/* All that is missing in one word, so that an administrator is asked once. */
static enum rc check_roles(struct db *db, struct err *err)
{
    DB_RESULT_AUTO *maker = NULL;
    DB_RESULT_AUTO *roles = NULL;
    STR_AUTO missing = {0};
    enum rc rc = db_run(db, &sql_migrate_maker, NULL, &maker, err);
    if (rc != RC_OK || db_bool(maker, 0, MIGRATE_MAKER_MAY))
        return rc;
    rc = db_run(db, &sql_migrate_roles, (const char *const[]){NULL}, &roles, err);
    for (int i = 0; rc == RC_OK && i < db_rows(roles); i++)
        if (db_bool(roles, i, MIGRATE_ROLES_MISSING))
            str_format(&missing, " %s", db_text(roles, i, MIGRATE_ROLES_STATEMENT));
    if (rc == RC_OK && missing.len > 0)
        return err_set(err, RC_FATAL, ERR_DB, "roles", REMEDY_MIGRATE_ROLES,
                       "this login may not make what is missing:%s", missing.data);
    return rc;
}

enum rc migrate_up(struct db *db, bool dry_run, FILE *show, int *ret_applied, struct err *err)
{
    int applied = 0;
    enum rc rc = lock_migrators(db, err);
    if (rc != RC_OK)
        return rc;
    if (!dry_run)
        rc = check_roles(db, err);
    if (rc == RC_OK && !dry_run)
        rc = db_script(db, "SET client_min_messages = warning", NULL, err);
    DB_RESULT_AUTO *exists = NULL;
    if (rc == RC_OK)
        rc = db_run(db, &sql_migrate_exists, NULL, &exists, err);
    if (rc == RC_OK && !dry_run && !db_bool(exists, 0, MIGRATE_EXISTS_THERE))
        rc = db_script(db, sql_migrate_ensure.text, NULL, err);
    if (rc == RC_OK)
        rc = apply_all(db, dry_run, show, &applied, err);
    if (rc != RC_LOST) {
        enum rc unlocked = db_run(db, &sql_migrate_unlock, NULL, NULL, NULL);
        rc = rc == RC_OK ? unlocked : rc;
    }
    if (rc == RC_OK)
        *ret_applied = applied;
    return rc;
}
