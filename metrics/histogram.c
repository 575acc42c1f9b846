/* Bounds from a tenth of a millisecond, a short task, to an hour. They are the same for all
 * histograms, so that quantiles of several queues can be compared and added. */
#include "metrics/histogram.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    int64_t us;
    const char *le; /* the same in seconds */
} bounds[HISTOGRAM_BOUNDS] = {
    {100, "0.0001"},      {250, "0.00025"}, {500, "0.0005"},    {1000, "0.001"},
    {2500, "0.0025"},     {5000, "0.005"},  {10000, "0.01"},    {25000, "0.025"},
    {50000, "0.05"},      {100000, "0.1"},  {250000, "0.25"},   {500000, "0.5"},
    {1000000, "1"},       {2500000, "2.5"}, {5000000, "5"},     {10000000, "10"},
    {30000000, "30"},     {60000000, "60"}, {300000000, "300"}, {1800000000, "1800"},
    {3600000000, "3600"},
};

void histogram_observe(struct histogram *histogram, int64_t us)
{
    int low = 0, high = HISTOGRAM_BOUNDS; /* the first bound that is not below us */
    us = us < 0 ? 0 : us;
    while (low < high) {
        int middle = (low + high) / 2;
        if (bounds[middle].us < us)
            low = middle + 1;
        else
            high = middle;
    }
    /* Each count is of its bucket alone: one add, not one for each larger bucket. histogram_text()
     * sums them up, as the format wants them cumulative. */
    count_add(&histogram->counts[low], 1);
    count_add(&histogram->sum_us, us);
}

/* The count is that of the buckets, so that a reader never sees two that differ. */
void histogram_text(struct str *text, const char *name, const struct text_labels *labels,
                    const struct histogram *histogram)
{
    char number[INT64_TEXT_SIZE], seconds[40];
    int64_t sum_us = count_read(&histogram->sum_us), count = 0;
    for (int i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        count += count_read(&histogram->counts[i]);
        text_sample(text, name, "_bucket", labels, i < HISTOGRAM_BOUNDS ? bounds[i].le : "+Inf",
                    int64_text(number, count));
    }
    (void)snprintf(seconds, sizeof seconds, "%" PRId64 ".%06" PRId64, sum_us / 1000000,
                   sum_us % 1000000);
    text_sample(text, name, "_sum", labels, NULL, seconds);
    text_sample(text, name, "_count", labels, NULL, int64_text(number, count));
}
