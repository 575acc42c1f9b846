/* Brings the schema to this program's version; begin with migrate_up() and apply_all(): lock, check
 * the roles, compare with the record of applied scripts, refuse or apply, drop the functions that
 * this program does not have. Each script is a transaction together with its record, so an
 * interrupted migration continues with the next script. The checksum of a numbered migration must
 * not change; functions and views are replaced when theirs has. The scripts are embedded by the
 * build (sql/). */
#include "db/migrate.h"

#include "base/clock.h"
#include "base/remedies.h"
#include "base/str.h"
#include "base/utf8.h"
#include "db/sqlstate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Another migrator may have a large migration to do, and this one then finds nothing left. */
#define LOCK_WAIT_US (60 * 1000 * 1000LL)

static void fill_item(struct migrate_item *item, int version, const char *name,
                      enum migrate_state state)
{
    item->version = version;
    item->state = state;
    (void)snprintf(item->name, sizeof item->name, "%s", name);
}

static int by_name(const void *a, const void *b)
{
    const struct sql_script *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

/* The functions and views of this program, by name: every command looks for all of them. */
static void sort_by_name(const struct sql_script **ret_sorted)
{
    for (int i = SQL_MIGRATION_COUNT; i < SQL_SCRIPT_COUNT; i++)
        ret_sorted[i - SQL_MIGRATION_COUNT] = &sql_scripts[i];
    qsort(ret_sorted, SQL_SCRIPT_COUNT - SQL_MIGRATION_COUNT, sizeof *ret_sorted, by_name);
}

/* The script that this row is about, by its place among sql_scripts. A migration is known by its
 * number, a function or view by its name. -1: this program has no such script, because it is older
 * or because the script was removed. */
static int script_of(const struct db_result *applied, int row,
                     const struct sql_script *const *sorted)
{
    int64_t version = db_int(applied, row, MIGRATE_APPLIED_VERSION);
    if (version > 0)
        return version <= SQL_MIGRATION_COUNT ? (int)version - 1 : -1;
    struct sql_script wanted = {.name = db_text(applied, row, MIGRATE_APPLIED_NAME)};
    const struct sql_script *key = &wanted, *const *found =
                                                bsearch(&key, sorted,
                                                        SQL_SCRIPT_COUNT - SQL_MIGRATION_COUNT,
                                                        sizeof *sorted, by_name);
    return found != NULL ? (int)(*found - sql_scripts) : -1;
}

/* script: NULL: this program has none. */
static enum migrate_state state_of(const struct db_result *applied, int row,
                                   const struct sql_script *script)
{
    bool newer = db_bool(applied, row, MIGRATE_APPLIED_NEWER);
    if (script == NULL)
        return newer ? MIGRATE_NEWER : MIGRATE_UNKNOWN;
    /* The number belongs to another migration: two lines of development have used it. */
    if (strcmp(db_text(applied, row, MIGRATE_APPLIED_NAME), script->name) != 0)
        return MIGRATE_OTHER;
    if (strcmp(db_text(applied, row, MIGRATE_APPLIED_CHECKSUM), script->checksum) == 0)
        return MIGRATE_APPLIED;
    return newer ? MIGRATE_NEWER : MIGRATE_CHANGED;
}

static void fill_applied(struct migrate_item *item, const struct db_result *applied, int row,
                         const struct sql_script *script)
{
    fill_item(item, (int)db_int(applied, row, MIGRATE_APPLIED_VERSION),
              db_text(applied, row, MIGRATE_APPLIED_NAME), state_of(applied, row, script));
    (void)snprintf(item->applied_at, sizeof item->applied_at, "%s",
                   db_text(applied, row, MIGRATE_APPLIED_APPLIED_AT));
    (void)snprintf(item->release, sizeof item->release, "%s",
                   db_text(applied, row, MIGRATE_APPLIED_RELEASE));
}

enum rc migrate_list(struct db *db, struct migrate_item **ret_items, int *ret_count,
                     struct err *err)
{
    DB_RESULT_AUTO *exists = NULL;
    DB_RESULT_AUTO *applied = NULL;
    enum rc rc = db_run(db, &sql_migrate_exists, NULL, &exists, err);
    if (rc == RC_OK && db_bool(exists, 0, MIGRATE_EXISTS_THERE))
        rc = db_run(db, &sql_migrate_applied, (const char *const[]){LOCKSTEP_VERSION}, &applied,
                    err);
    if (rc != RC_OK)
        return rc;
    int rows = applied ? db_rows(applied) : 0, count = SQL_SCRIPT_COUNT;
    struct migrate_item *items = xcalloc((size_t)(count + rows), sizeof *items);
    const struct sql_script *sorted[SQL_SCRIPT_COUNT - SQL_MIGRATION_COUNT];
    sort_by_name(sorted);
    for (int i = 0; i < SQL_SCRIPT_COUNT; i++)
        fill_item(&items[i], sql_scripts[i].version, sql_scripts[i].name, MIGRATE_PENDING);
    for (int row = 0; row < rows; row++) {
        int i = script_of(applied, row, sorted);
        /* Dropped, and this program has none, either. */
        if (i < 0 && *db_text(applied, row, MIGRATE_APPLIED_CHECKSUM) == '\0' &&
            db_int(applied, row, MIGRATE_APPLIED_VERSION) == 0)
            continue;
        fill_applied(&items[i >= 0 ? i : count++], applied, row, i >= 0 ? &sql_scripts[i] : NULL);
    }
    *ret_items = items;
    *ret_count = count;
    return RC_OK;
}

/* Applied and not ours: a newer binary was here, or one of another line of development. A numbered
 * migration whose text changed was altered after the fact. */
static enum rc refuse(const struct migrate_item *item, struct err *err)
{
    if (item->state == MIGRATE_OTHER)
        return err_set(err, RC_FATAL, ERR_SCHEMA, item->name, REMEDY_MIGRATE_LINE,
                       "migration %d of the schema is %s, that of this program is %s",
                       item->version, item->name, sql_scripts[item->version - 1].name);
    if (item->state == MIGRATE_UNKNOWN && item->version > SQL_MIGRATION_COUNT)
        return err_set(
            err, RC_FATAL, ERR_SCHEMA, item->name, "Use the newer lockstep that made this schema.",
            "the schema is newer than this program: migration %d is unknown here", item->version);
    if (item->state == MIGRATE_NEWER)
        return err_set(
            err, RC_FATAL, ERR_SCHEMA, item->name, "Use the newer lockstep that made this schema.",
            "the schema is newer than this program: %s is of lockstep %s, and this is lockstep %s",
            item->name, item->release, LOCKSTEP_VERSION);
    if (item->state == MIGRATE_CHANGED && item->version > 0)
        return err_set(err, RC_FATAL, ERR_SCHEMA, item->name,
                       "Use the lockstep that made this schema, or restore the migration's text.",
                       "migration %d was applied with another text than this program has",
                       item->version);
    return RC_OK;
}

/* A remedy is only named to a login that may take it. */
static const char *who_migrates(struct db *db)
{
    DB_RESULT_AUTO *row = NULL;
    struct err ignored;
    bool may = db_run(db, &sql_migrate_may, NULL, &row, &ignored) != RC_OK ||
               db_bool(row, 0, MIGRATE_MAY_MAY);
    return may ? REMEDY_MIGRATE_UP : REMEDY_MIGRATE_OTHER;
}

enum rc migrate_validate(struct db *db, struct err *err)
{
    static const char *const kinds[] = {"migration", "function", "view"};
    FREE_AUTO struct migrate_item *items = NULL;
    int count;
    enum rc rc = migrate_list(db, &items, &count, err);
    for (int i = 0; rc == RC_OK && i < count; i++)
        rc = refuse(&items[i], err);
    for (int i = 0; rc == RC_OK && i < count; i++)
        if (items[i].state == MIGRATE_PENDING || items[i].state == MIGRATE_CHANGED)
            rc =
                err_set(err, RC_FATAL, ERR_SCHEMA, items[i].name, who_migrates(db),
                        "the schema is not current: %s %s is %s", kinds[sql_scripts[i].kind],
                        items[i].name, items[i].state == MIGRATE_PENDING ? "not applied" : "older");
    return rc;
}

/* lock list needs the schema, which the first migration makes. */
static enum rc locked_out(struct db *db, struct err *err)
{
    DB_RESULT_AUTO *row = NULL;
    enum rc rc = db_run(db, &sql_migrate_holder, NULL, &row, err);
    if (rc == RC_NONE) /* it has ended at this moment */
        return err_set(err, RC_RETRY, ERR_HELD, "lockstep migrate", "Try again.",
                       "other migrators have been at work for a minute");
    if (rc != RC_OK)
        return rc;
    char hint[sizeof err->hint];
    (void)snprintf(hint, sizeof hint, REMEDY_MIGRATE_WAIT, db_text(row, 0, MIGRATE_HOLDER_PID));
    return err_set(err, RC_RETRY, ERR_HELD, "lockstep migrate", hint,
                   "another migrator has been at work for a minute: backend %s (%s)",
                   db_text(row, 0, MIGRATE_HOLDER_PID), db_text(row, 0, MIGRATE_HOLDER_HOLDER));
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
            return locked_out(db, err);
        (void)nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    }
}

/* Drops functions and views of this name: all of them, or those that this transaction has not
 * made. */
static enum rc drop(struct db *db, const char *name, bool all, struct err *err)
{
    DB_RESULT_AUTO *drops = NULL;
    enum rc rc =
        db_run(db, &sql_migrate_drops, (const char *const[]){name, all ? "t" : "f"}, &drops, err);
    for (int i = 0; rc == RC_OK && i < db_rows(drops); i++)
        rc = db_script(db, db_text(drops, i, MIGRATE_DROPS_STATEMENT), NULL, err);
    return rc;
}

static enum rc record(struct db *db, const struct sql_script *script, struct err *err)
{
    if (script->kind == SQL_MIGRATION)
        return db_run(
            db, &sql_migrate_record,
            (const char *const[]){DB_INT(script->version), script->name, script->checksum}, NULL,
            err);
    return db_run(db, &sql_migrate_record_function,
                  (const char *const[]){script->name, script->checksum, LOCKSTEP_VERSION}, NULL,
                  err);
}

static enum rc finish(struct db *db, enum rc rc, const char *name, struct err *err)
{
    if (rc == RC_OK)
        return db_script(db, "COMMIT", NULL, err);
    if (err != NULL && rc != RC_LOST)
        utf8_copy(err->object, sizeof err->object, name);
    /* Its own error is not reported: the first one is the cause. */
    enum rc ignored = db_script(db, "ROLLBACK", NULL, NULL);
    (void)ignored;
    return rc;
}

/** All objects belong to lockstep_owner, also when a superuser migrates, and the bookkeeping is the
 * owner's work, too. Bodies are not checked, because a function may call one that a later script
 * defines. */
static enum rc begin_as_owner(struct db *db, struct err *err)
{
    return db_script(db,
                     "BEGIN; SET LOCAL ROLE lockstep_owner; SET LOCAL check_function_bodies = off",
                     NULL, err);
}

static enum rc apply_migration(struct db *db, const struct sql_script *script, struct err *err)
{
    /* The baseline makes the roles as the login that migrates, and then becomes the owner. */
    bool as_owner = script->version > 1;
    enum rc rc = as_owner ? begin_as_owner(db, err) : db_script(db, "BEGIN", NULL, err);
    if (rc == RC_OK)
        rc = db_script(db, script->text, NULL, err);
    if (rc == RC_OK)
        rc = record(db, script, err);
    return finish(db, rc, script->name, err);
}

/* A function with other parameters is another function: the one before it goes. */
static enum rc define(struct db *db, const struct sql_script *script, bool afresh, struct err *err)
{
    enum rc rc = begin_as_owner(db, err);
    if (rc == RC_OK && afresh)
        rc = drop(db, script->name, true, err);
    if (rc == RC_OK)
        rc = db_script(db, script->text, NULL, err);
    if (rc == RC_OK && !afresh)
        rc = drop(db, script->name, false, err);
    if (rc == RC_OK)
        rc = record(db, script, err);
    return finish(db, rc, script->name, err);
}

/* CREATE OR REPLACE cannot change the names of parameters, a result, or the columns of a view. */
static bool other_shape(const struct err *err)
{
    return sqlstate_is(err, SQLSTATE_INVALID_FUNCTION_DEFINITION) ||
           sqlstate_is(err, SQLSTATE_INVALID_TABLE_DEFINITION);
}

/* Replaces a function or view in its place if possible, because grants on it then stay. */
static enum rc apply_one(struct db *db, const struct sql_script *script, struct err *err)
{
    struct err why = {0};
    if (script->kind == SQL_MIGRATION)
        return apply_migration(db, script, err);
    enum rc rc = define(db, script, false, &why);
    if (rc != RC_OK && other_shape(&why))
        return define(db, script, true, err);
    if (rc != RC_OK && err != NULL)
        *err = why;
    return rc;
}

/* A function or view that this program does not have any more. */
static enum rc retire(struct db *db, const char *name, struct err *err)
{
    enum rc rc = begin_as_owner(db, err);
    if (rc == RC_OK)
        rc = drop(db, name, true, err);
    if (rc == RC_OK)
        rc = db_run(db, &sql_migrate_retire_function, (const char *const[]){name, LOCKSTEP_VERSION},
                    NULL, err);
    return finish(db, rc, name, err);
}

/* Everything is judged before anything is applied: a schema of a newer program is refused whole. */
static enum rc apply_all(struct db *db, bool dry_run, FILE *show, int *ret_changes, struct err *err)
{
    FREE_AUTO struct migrate_item *items = NULL;
    int count;
    enum rc rc = migrate_list(db, &items, &count, err);
    for (int i = 0; rc == RC_OK && i < count; i++)
        rc = refuse(&items[i], err);
    for (int i = 0; rc == RC_OK && i < SQL_SCRIPT_COUNT; i++) {
        if (items[i].state == MIGRATE_APPLIED)
            continue;
        if (show != NULL)
            (void)fprintf(show, "-- %s\n%s\n", sql_scripts[i].name, sql_scripts[i].text);
        if (!dry_run)
            rc = apply_one(db, &sql_scripts[i], err);
        (*ret_changes)++;
    }
    for (int i = SQL_SCRIPT_COUNT; rc == RC_OK && i < count; i++) {
        if (items[i].version > 0)
            continue;
        if (show != NULL)
            (void)fprintf(show, "-- %s is of another version: it is dropped\n", items[i].name);
        if (!dry_run)
            rc = retire(db, items[i].name, err);
        (*ret_changes)++;
    }
    return rc;
}

/* Names all missing roles in one error, so that an administrator is asked once. */
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

static enum rc refuse_stranger(struct db *db, struct err *err)
{
    DB_RESULT_AUTO *stranger = NULL;
    enum rc rc = db_run(db, &sql_migrate_stranger, NULL, &stranger, err);
    if (rc == RC_OK && !db_null(stranger, 0, MIGRATE_STRANGER_NAME))
        return err_set(err, RC_FATAL, ERR_DB, "schema lockstep",
                       "If it is an installation: ALTER SCHEMA lockstep OWNER TO lockstep_owner; "
                       "and the same for its tables migration and function_version, behind a look "
                       "at their triggers. Otherwise: DROP SCHEMA lockstep CASCADE;",
                       "it belongs to %s, whose triggers would run as this login",
                       db_text(stranger, 0, MIGRATE_STRANGER_NAME));
    return rc;
}

/* Makes the tables of the migrator, unless they are there. A stranger may make them in between: it
 * is looked for again before anything is read of them, and no one but an owner adds to them. */
static enum rc ensure(struct db *db, bool dry_run, struct err *err)
{
    DB_RESULT_AUTO *exists = NULL;
    enum rc rc = refuse_stranger(db, err);
    if (rc == RC_OK)
        rc = db_run(db, &sql_migrate_exists, NULL, &exists, err);
    if (rc == RC_OK && !dry_run && !db_bool(exists, 0, MIGRATE_EXISTS_THERE))
        rc = db_script(db, sql_migrate_ensure.text, NULL, err);
    return rc == RC_OK ? refuse_stranger(db, err) : rc;
}

enum rc migrate_up(struct db *db, bool dry_run, FILE *show, int *ret_changes, struct err *err)
{
    int changes = 0;
    enum rc rc = lock_migrators(db, err);
    if (rc != RC_OK)
        return rc;
    if (!dry_run)
        rc = check_roles(db, err);
    if (rc == RC_OK && !dry_run)
        rc = db_script(db, "SET client_min_messages = warning", NULL, err);
    if (rc == RC_OK)
        rc = ensure(db, dry_run, err);
    if (rc == RC_OK)
        rc = apply_all(db, dry_run, show, &changes, err);
    /* A lost session has lost its lock, too. */
    if (rc != RC_LOST) {
        enum rc unlocked = db_run(db, &sql_migrate_unlock, NULL, NULL, NULL);
        rc = rc == RC_OK ? unlocked : rc;
    }
    if (rc == RC_OK)
        *ret_changes = changes;
    return rc;
}
