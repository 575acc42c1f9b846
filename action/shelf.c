/* The settings in force, and the ones before that are still used: SIGHUP puts new settings on the
 * shelf while attempts run with the old ones. A user takes settings and returns them; settings
 * without users are freed, except the newest. */
#include "action/running.h"

#include "base/str.h"

#include <pthread.h>
#include <stdlib.h>

struct lot {
    struct lot *next;
    struct action_settings *settings; /* owned, as config */
    struct config *config;
    int users;
};

struct action_shelf {
    pthread_mutex_t lock;
    struct lot *lots; /* the first one is in force, the others are still used */
};

struct action_shelf *action_shelf_new(struct action_settings *settings, struct config *config)
{
    struct action_shelf *shelf = xcalloc(1, sizeof *shelf);
    (void)pthread_mutex_init(&shelf->lock, NULL);
    action_shelf_put(shelf, settings, config);
    return shelf;
}

/* With the lock. */
static void drop_unused(struct action_shelf *shelf)
{
    for (struct lot **at = &shelf->lots->next; *at != NULL;) {
        struct lot *lot = *at;
        if (lot->users > 0) {
            at = &lot->next;
            continue;
        }
        *at = lot->next;
        action_settings_free(lot->settings);
        config_free(lot->config);
        free(lot);
    }
}

void action_shelf_put(struct action_shelf *shelf, struct action_settings *settings,
                      struct config *config)
{
    struct lot *lot = xcalloc(1, sizeof *lot);
    (void)pthread_mutex_lock(&shelf->lock);
    *lot = (struct lot){.next = shelf->lots, .settings = settings, .config = config};
    /* From now on takers get the new settings; attempts keep the ones that they have taken. */
    shelf->lots = lot;
    drop_unused(shelf);
    (void)pthread_mutex_unlock(&shelf->lock);
}

const struct action_settings *action_shelf_take(struct action_shelf *shelf)
{
    (void)pthread_mutex_lock(&shelf->lock);
    shelf->lots->users++;
    const struct action_settings *settings = shelf->lots->settings;
    (void)pthread_mutex_unlock(&shelf->lock);
    return settings;
}

void action_shelf_give_back(struct action_shelf *shelf, const struct action_settings *settings)
{
    (void)pthread_mutex_lock(&shelf->lock);
    struct lot *lot = shelf->lots;
    while (lot != NULL && lot->settings != settings)
        lot = lot->next;
    if (lot != NULL)
        lot->users--;
    drop_unused(shelf);
    (void)pthread_mutex_unlock(&shelf->lock);
}

void action_shelf_free(struct action_shelf *shelf)
{
    if (shelf == NULL)
        return;
    drop_unused(shelf);
    /* All users have returned theirs, so only the settings in force are left. */
    action_settings_free(shelf->lots->settings);
    config_free(shelf->lots->config);
    free(shelf->lots);
    (void)pthread_mutex_destroy(&shelf->lock);
    free(shelf);
}
