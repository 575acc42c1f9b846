/* The bars of one phase, in one of three forms: a row for each task with its name, lanes as many as
 * ran at once, or the share of busy readers over time. cli/picture_svg.c chooses the form by the
 * number of tasks.
 *
 * Where a bar has room, failure, loss and cancellation have a mark as well as a colour: a cross, a
 * stroke, a hatching. */
#include "cli/picture.h"

#include <math.h>
#include <stdlib.h>

static double at(const struct picture_band *band, double seconds)
{
    return PICTURE_LEFT + seconds * band->scale;
}

/* The names of the classes that the style of the picture has. */
static const char *kind_of(const char *status)
{
    static const char *const kinds[][2] = {
        {"Completed", "done"},   {"Processing", "running"}, {"Cancelled", "cancelled"},
        {"Paused", "cancelled"}, {"Pending", "lost"},       {"Error", "failed"},
        {"Failed", "failed"},    {"Terminated", "failed"},  {"PartiallyCompleted", "failed"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_same(status, kinds[i][0]))
            return kinds[i][1];
    return "done";
}

static void label(struct str *out, const cJSON *bar, int most)
{
    if (*picture_word(bar, "name") != '\0')
        picture_text(out, picture_word(bar, "name"), most);
    else
        str_format(out, "task %.0f", picture_number(bar, "task_id", 0));
}

static bool waits_for_retry(const cJSON *bar)
{
    return str_same(picture_word(bar, "waited_for"), "retry");
}

/* A browser shows the title when the pointer rests on a bar; a screen reader reads it. */
static void title(struct str *out, const cJSON *bar)
{
    double start = picture_number(bar, "start_s", PICTURE_NONE),
           attempt = picture_number(bar, "attempt", 1);
    str_text(out, "<title>");
    label(out, bar, 100);
    str_format(out, " (task %.0f", picture_number(bar, "task_id", 0));
    if (attempt > 1)
        str_format(out, ", attempt %.0f", attempt);
    str_format(out, "): %s", picture_word(bar, "status"));
    if (!isnan(start)) {
        str_text(out, ", ran ");
        picture_seconds(out, picture_number(bar, "end_s", start) - start);
        str_format(out, " after waiting for %s ", waits_for_retry(bar) ? "its retry" : "a reader");
        picture_seconds(out, picture_number(bar, "waited_s", 0));
    }
    str_text(out, "</title>");
}

/* A cross says "failed" without a colour. It is in the bar if the bar has room for it. Otherwise it
 * is to the right of the last bar of its task, and never outside of the plot. */
static void cross(struct str *out, const struct picture_band *band, const cJSON *bar, double x,
                  double width, double y)
{
    bool inside = width >= 6;
    double size = fmin(fmin(band->row_height / 2 - 1.5, 3), inside ? width / 2 - 1.5 : 3);
    if (size < 1 || (!inside && str_same(picture_word(bar, "status"), "Error")))
        return;
    double middle = inside ? x + width / 2 : fmin(x + width + 6, PICTURE_RIGHT - size);
    str_format(out, "<path class=\"cross%s\" d=\"M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f\"/>",
               inside ? "" : " beside", middle - size, y + (band->row_height - 1) / 2 - size,
               2 * size, 2 * size, -2 * size, -2 * size, 2 * size);
}

static bool is_straggler(const struct picture_band *band, const cJSON *bar)
{
    const cJSON *last = cJSON_GetObjectItemCaseSensitive(band->phase, "straggler");
    return cJSON_IsObject(last) &&
           picture_number(last, "task_id", -1) == picture_number(bar, "task_id", -2) &&
           picture_number(bar, "end_s", -1) == picture_number(band->phase, "end_s", -2);
}

/* One attempt; y is the upper edge of its row. Returns its right end. */
static double draw(struct str *out, const struct picture_band *band, const cJSON *bar, double y)
{
    double gap = band->row_height >= 6 ? 1 : 0, height = band->row_height - gap;
    double x0 = at(band, picture_number(bar, "start_s", 0)),
           x1 = at(band, picture_number(bar, "end_s", 0));
    const char *kind = kind_of(picture_word(bar, "status"));
    /* A bar of a millisecond in a run of hours must be seen. */
    double width = fmax(x1 - x0, 1.2);
    str_format(out,
               "<g><rect class=\"%s%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"%s>",
               kind, is_straggler(band, bar) && band->row_height >= 4 ? " straggler" : "", x0, y,
               width, height, height > 5 ? " rx=\"1.5\"" : "");
    title(out, bar);
    str_text(out, "</rect>");
    if (str_same(kind, "failed"))
        cross(out, band, bar, x0, width, y);
    if (str_same(kind, "lost"))
        str_format(out, "<path class=\"lostmark\" d=\"M%.1f %.1fv%.1f\"/>", x0 + width, y, height);
    str_text(out, "</g>\n");
    return x0 + width;
}

/* A task that has not begun is a mark where the phase ends so far. Returns its right end. */
static double draw_unbegun(struct str *out, const struct picture_band *band, const cJSON *bar,
                           double y)
{
    double x = fmax(at(band, picture_number(band->phase, "end_s", 0)), PICTURE_LEFT) + 2;
    str_format(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"10\" height=\"%.1f\">",
               str_same(kind_of(picture_word(bar, "status")), "cancelled") ? "cancelled" : "waits",
               x, y, band->row_height - 1);
    title(out, bar);
    str_text(out, "</rect>\n");
    return x + 10;
}

/* Behind the bar, or before it where there is no room. A status other than Completed is written
 * out: colour alone must not say it. */
static void draw_name(struct str *out, const struct picture_band *band, const cJSON *bar,
                      double left, double right, double y)
{
    bool before = right > PICTURE_RIGHT - 150;
    const char *status = picture_word(bar, "status");
    bool failed = str_same(kind_of(status), "failed");
    str_format(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\"%s>",
               before ? left - (failed ? 10 : 4) : right + (failed ? 13 : 4),
               y + band->row_height - 3.5, before ? " text-anchor=\"end\"" : "");
    label(out, bar, 24);
    if (!str_same(status, "Completed"))
        str_format(out, " · %s", status);
    str_text(out, "</text>\n");
}

/* A row a task, and how long it waited before. Its attempts share the row. */
static void draw_rows(struct str *out, const struct picture_band *band)
{
    const cJSON *bar;
    double y = band->y, left = 0;
    bool first = true;
    cJSON_ArrayForEach(bar, cJSON_GetObjectItemCaseSensitive(band->phase, "bars"))
    {
        double start = at(band, picture_number(bar, "start_s", PICTURE_NONE)), right;
        double waited = picture_number(bar, "waited_s", 0) * band->scale;
        if (isnan(start)) {
            right = draw_unbegun(out, band, bar, y);
            start = right - 10;
        } else {
            if (waited > 0.5)
                str_format(
                    out,
                    "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>",
                    waits_for_retry(bar) ? "retries" : "waits", start - waited,
                    y + band->row_height / 4, waited, band->row_height / 2);
            right = draw(out, band, bar, y);
        }
        if (first)
            left = start - fmax(waited, 0);
        first = bar->next == NULL ||
                picture_number(bar->next, "task_id", -1) != picture_number(bar, "task_id", -2);
        if (!first)
            continue;
        draw_name(out, band, bar, left, right, y);
        y += band->row_height;
    }
}

static int compare_starts(const void *a, const void *b)
{
    double x = picture_number(*(const cJSON *const *)a, "start_s", HUGE_VAL),
           y = picture_number(*(const cJSON *const *)b, "start_s", HUGE_VAL);
    return (x > y) - (x < y);
}

/* The bars in the order in which they began; those that did not are last. */
static const cJSON **sorted(const cJSON *phase, int *ret_count)
{
    const cJSON *bars = cJSON_GetObjectItemCaseSensitive(phase, "bars"), *bar;
    int count = 0;
    const cJSON **all = xcalloc((size_t)cJSON_GetArraySize(bars) + 1, sizeof *all);
    cJSON_ArrayForEach(bar, bars)
    {
        all[count++] = bar;
    }
    qsort(all, (size_t)count, sizeof *all, compare_starts);
    *ret_count = count;
    return all;
}

/* The lane of each bar: the first that is free when it begins; -1: it has not begun. Returns how
 * many there are. */
static int assign(const cJSON *const *bars, int count, int *lane_of)
{
    int lanes = 0;
    double *free_at = xcalloc((size_t)count + 1, sizeof *free_at);
    for (int i = 0; i < count; i++) {
        double start = picture_number(bars[i], "start_s", PICTURE_NONE);
        int lane = 0;
        lane_of[i] = -1;
        if (isnan(start))
            continue;
        /* First fit in the order of starts uses as many lanes as ran at once, and no more. */
        while (lane < lanes && free_at[lane] > start)
            lane++;
        lanes = lane == lanes ? lanes + 1 : lanes;
        free_at[lane] = picture_number(bars[i], "end_s", start);
        lane_of[i] = lane;
    }
    free(free_at);
    return lanes;
}

int picture_lanes(const cJSON *phase)
{
    int count;
    const cJSON **bars = sorted(phase, &count);
    int *lane_of = xcalloc((size_t)count + 1, sizeof *lane_of);
    int lanes = assign(bars, count, lane_of);
    free(lane_of);
    free(bars);
    return lanes;
}

/* How many still waited, as a strip above the lanes that grows thinner with each that begins. */
static void draw_waiting(struct str *out, const struct picture_band *band, const cJSON *const *bars,
                         int count)
{
    double base = band->y - 1, opened = picture_number(band->phase, "opened_s", 0), last = opened;
    str_format(out, "<path class=\"waits\" d=\"M%.2f %.1fV%.1f", at(band, opened), base, base - 7);
    for (int i = 0; i < count; i++) {
        double start = picture_number(bars[i], "start_s", PICTURE_NONE);
        if (isnan(start) || picture_number(bars[i], "attempt", 1) > 1)
            continue;
        last = fmax(start, last);
        /* Absolute commands of a path (SVG, "H" and "V"): a step to the right at each start, then
         * down by one task. */
        str_format(out, "H%.2fV%.2f", at(band, last), base - 7.0 * (count - i - 1) / count);
    }
    str_format(out, "H%.2fV%.1fz\"><title>tasks that wait for a reader</title></path>\n",
               at(band, last), base);
}

/* Without names: the title of each bar has its own. */
static void draw_lanes(struct str *out, const struct picture_band *band)
{
    int count;
    const cJSON **bars = sorted(band->phase, &count);
    int *lane_of = xcalloc((size_t)count + 1, sizeof *lane_of);
    (void)assign(bars, count, lane_of);
    draw_waiting(out, band, bars, count);
    for (int i = 0; i < count; i++)
        if (lane_of[i] >= 0)
            (void)draw(out, band, bars[i], band->y + lane_of[i] * band->row_height);
    free(lane_of);
    free(bars);
}

/* An area whose height is the share of the readers that was busy. */
static void draw_density(struct str *out, const struct picture_band *band)
{
    const cJSON *cells = cJSON_GetObjectItemCaseSensitive(band->phase, "density"), *cell;
    double start = picture_number(band->phase, "start_s", 0),
           end = picture_number(band->phase, "end_s", 0);
    double base = band->y + band->row_height;
    int count = cJSON_GetArraySize(cells), i = 0;
    str_format(out,
               "<rect class=\"frame\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>\n",
               at(band, start), band->y, fmax((end - start) * band->scale, 1.2), band->row_height);
    str_format(out, "<path class=\"done\" d=\"M%.2f %.1f", at(band, start), base);
    /* Of a phase that is narrow on paper, not more points than it has pixels. */
    int step = (int)fmax(1, floor(count / fmax((end - start) * band->scale, 1)));
    double most = 0;
    cJSON_ArrayForEach(cell, cells)
    {
        /* The largest of the cells that share a point, so that a short peak does not vanish. */
        most = fmax(most, fmin(cell->valuedouble, 1));
        i++;
        if (i % step != 0 && i != count)
            continue;
        str_format(
            out, "V%.1fH%.2f", base - most * band->row_height,
            fmax(at(band, start + (end - start) * i / count), at(band, start) + 1.2 * i / count));
        most = 0;
    }
    str_format(out, "V%.1fz\"><title>readers that were busy</title></path>\n", base);
}

void picture_bars(struct str *out, const struct picture_band *band)
{
    switch (band->form) {
    case PICTURE_ROWS:
        draw_rows(out, band);
        break;
    case PICTURE_LANES:
        draw_lanes(out, band);
        break;
    case PICTURE_DENSITY:
        draw_density(out, band);
        break;
    case PICTURE_EMPTY:
        break;
    }
}
