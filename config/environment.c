/* LOCKSTEP_SECTION_KEY as settings. A variable whose name has no known section is passed over,
 * because other programs may use the prefix; an unknown key of a known section is a fault. */
#include "config/key.h"
#include "config/store.h"

#include "base/ascii.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "LOCKSTEP_"

/* The section that begins a variable's name after the prefix, NULL if none does. [queue:NAME]
 * cannot be written so. */
static const char *section_of(const char *name)
{
    int count;
    const struct config_key *rows = config_keys(&count);
    for (int i = 0; i < count; i++) {
        size_t len = strlen(rows[i].section);
        if (ascii_same_start(name, rows[i].section, len) && name[len] == '_')
            return rows[i].section;
    }
    return NULL;
}

/* LOCKSTEP_KAFKA_BOOTSTRAP_SERVERS is bootstrap.servers: librdkafka's names have dots where ours
 * have underscores. */
static void read_one(struct config *config, const char *variable)
{
    const char *equals = strchr(variable, '=');
    const char *section = equals ? section_of(variable + strlen(PREFIX)) : NULL;
    if (section == NULL)
        return;
    const char *start = variable + strlen(PREFIX) + strlen(section) + 1;
    bool kafka = strcmp(section, "kafka") == 0;
    char key[100] = "", where[150];
    for (size_t i = 0; start + i < equals && i < sizeof key - 1; i++)
        key[i] = kafka && start[i] == '_' ? '.' : ascii_lower(start[i]);
    (void)snprintf(where, sizeof where, "%.*s", (int)(equals - variable), variable);
    struct err err;
    if (config_set(config, section, key, equals + 1, CONFIG_BY_ENVIRONMENT, where, &err) != RC_OK)
        config_fault(&config->faults, &err);
}

void environment_read(struct config *config, char *const *environ_list)
{
    for (; *environ_list != NULL; environ_list++)
        if (strncmp(*environ_list, PREFIX, strlen(PREFIX)) == 0)
            read_one(config, *environ_list);
}
