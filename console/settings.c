/* Writes the configuration of the running console as a document, from memory: the file may have
 * changed since the start, and no statement is needed. config/mask.c decides which values are
 * secret. */
#include "console/settings.h"

#include "base/str.h"
#include "config/config.h"
#include "config/mask.h"

#include <cjson/cJSON.h>
#include <string.h>

enum rc settings_make(const struct route_context *context, struct db *db, const char *const *params,
                      struct str *document, struct err *err)
{
    /* In the order of enum config_origin. */
    static const char *const origins[] = {"default", "file", "environment", "setting", "option"};
    const struct config_value *value;
    cJSON *root = cJSON_CreateObject();
    cJSON *items = cJSON_AddArrayToObject(root, "items");
    (void)db, (void)params, (void)err;
    for (int i = 0; (value = config_at(context->config, i)) != NULL; i++) {
        STR_AUTO shown = {0};
        config_mask(value, &shown);
        cJSON *item = cJSON_CreateObject();
        (void)cJSON_AddItemToArray(items, item);
        (void)cJSON_AddStringToObject(item, "section", value->section);
        (void)cJSON_AddStringToObject(item, "key", value->key);
        (void)cJSON_AddStringToObject(item, "value", shown.data != NULL ? shown.data : "");
        (void)cJSON_AddStringToObject(item, "origin", origins[value->origin]);
        (void)cJSON_AddStringToObject(item, "where", value->where != NULL ? value->where : "");
    }
    char *text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    str_text(document, text);
    cJSON_free(text);
    return RC_OK;
}
