/* topics: the reports of the heartbeat about the topics of the executor's queues. */
#include "executor/topics.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "db/parameter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct topics {
    pthread_mutex_t lock; /* of the troubles */
    int count;
    struct topic {
        _Atomic int64_t end;
        char trouble[300];
    } list[];
};

struct topics *topics_new(int count)
{
    struct topics *topics = xcalloc(1, sizeof *topics + (size_t)count * sizeof *topics->list);
    (void)pthread_mutex_init(&topics->lock, NULL);
    topics->count = count;
    for (int i = 0; i < count; i++)
        topics->list[i].end = -1;
    return topics;
}

void topics_free(struct topics *topics)
{
    (void)pthread_mutex_destroy(&topics->lock);
    free(topics);
}

void topics_set_end(struct topics *topics, int topic, int64_t end)
{
    topics->list[topic].end = end;
}

bool topics_set_trouble(struct topics *topics, int topic, const char *trouble)
{
    char *text = topics->list[topic].trouble;
    (void)pthread_mutex_lock(&topics->lock);
    bool turned = (*text != '\0') != (*trouble != '\0');
    utf8_copy(text, sizeof topics->list[topic].trouble, trouble);
    (void)pthread_mutex_unlock(&topics->lock);
    return turned;
}

void topics_ends(const struct topics *topics, struct str *array)
{
    db_array_start(array);
    for (int i = 0; i < topics->count; i++) {
        int64_t end = topics->list[i].end;
        if (end < 0)
            db_array_text(array, NULL, 0);
        else
            db_array_int(array, end);
    }
    db_array_end(array);
}

bool topics_troubles(struct topics *topics, struct str *array)
{
    bool any = false;
    (void)pthread_mutex_lock(&topics->lock);
    db_array_start(array);
    for (int i = 0; i < topics->count; i++) {
        const char *text = topics->list[i].trouble;
        db_array_text(array, *text ? text : NULL, strlen(text));
        any = any || *text;
    }
    db_array_end(array);
    (void)pthread_mutex_unlock(&topics->lock);
    return any;
}
