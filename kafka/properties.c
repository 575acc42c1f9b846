/* librdkafka's properties as pairs, checked by librdkafka itself when they are set, so that a wrong
 * name is refused where it was written. Values of secrets are masked wherever a text of
 * librdkafka's may quote them. */
#include "base/str.h"
#include "kafka/handle.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

/* Anything that is a credential; a value of these never reaches a log line or an error text. */
static bool is_secret(const char *key)
{
    static const char *const parts[] = {"password", "secret", "key.pem", "oauthbearer.config",
                                        "token"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(key, parts[i]) != NULL)
            return true;
    return false;
}

static struct kafka_property *find(const struct kafka_properties *props, const char *key)
{
    for (int i = 0; i < props->count; i++)
        if (strcmp(props->items[i].key, key) == 0)
            return &props->items[i];
    return NULL;
}

static void put(struct kafka_properties *props, const char *key, const char *value)
{
    struct kafka_property *item = find(props, key);
    if (item != NULL) {
        char *fresh = xstrdup(value); /* value may be item->value */
        free(item->value);
        item->value = fresh;
        return;
    }
    props->items = xrealloc(props->items, (size_t)props->count + 1, sizeof *props->items);
    props->items[props->count++] = (struct kafka_property){xstrdup(key), xstrdup(value)};
}

enum rc kafka_properties_set(struct kafka_properties *props, const char *key, const char *value,
                             struct err *err)
{
    char text[512] = "";
    /* A configuration of its own: librdkafka checks name, type and range, and no client sees a
     * refused value. */
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_res_t res = rd_kafka_conf_set(conf, key, value, text, sizeof text);
    rd_kafka_conf_destroy(conf);
    if (res == RD_KAFKA_CONF_OK) {
        put(props, key, value);
        return RC_OK;
    }
    const char *hint = res == RD_KAFKA_CONF_UNKNOWN
                           ? "the brokers are bootstrap.servers; all names are in librdkafka's "
                             "CONFIGURATION.md"
                           : "see the property's type and range in librdkafka's CONFIGURATION.md";
    /* librdkafka's text quotes the value. */
    if (is_secret(key))
        return err_set(err, RC_FATAL, ERR_CONFIG, key, hint,
                       "librdkafka refuses the value of this property");
    return err_set(err, RC_FATAL, ERR_CONFIG, key, hint, "%s", text);
}

const char *kafka_properties_get(const struct kafka_properties *props, const char *key)
{
    const struct kafka_property *item = find(props, key);
    return item != NULL ? item->value : NULL;
}

void kafka_properties_copy(struct kafka_properties *to, const struct kafka_properties *from)
{
    for (int i = 0; i < from->count; i++)
        put(to, from->items[i].key, from->items[i].value);
}

void kafka_properties_done(struct kafka_properties *props)
{
    for (int i = 0; i < props->count; i++) {
        free(props->items[i].key);
        free(props->items[i].value);
    }
    free(props->items);
    *props = (struct kafka_properties){0};
}

void kafka_properties_mask(const struct kafka_properties *props, char *text)
{
    for (int i = 0; i < props->count; i++) {
        const char *secret = props->items[i].value;
        size_t len = strlen(secret);
        if (len == 0 || !is_secret(props->items[i].key))
            continue;
        for (char *at = text; (at = strstr(at, secret)) != NULL; at += len)
            memset(at, '*', len);
    }
}
