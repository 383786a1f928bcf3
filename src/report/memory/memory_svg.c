#include "report/memory/memory_svg.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/human.h"
#include "report/memory/memory_columns.h"

#include <math.h>
#include <stdio.h>

/* In points: it fits the width of a page, and of a screen. */
enum { WIDTH = 1100, HEIGHT = 560, LEFT = 84, RIGHT = 226, TOP = 76, BOTTOM = 58 };
enum { PLOT_WIDTH = WIDTH - LEFT - RIGHT, PLOT_HEIGHT = HEIGHT - TOP - BOTTOM };

typedef struct Drawing {
    Text *out;
    MemoryColumns columns;
    double top; /* bytes at the upper edge */
} Drawing;

static double x_of(const Drawing *d, int column)
{
    return LEFT + (double)PLOT_WIDTH * column / d->columns.n;
}

static double y_of(const Drawing *d, double bytes)
{
    return TOP + PLOT_HEIGHT * (1 - bytes / d->top);
}

static void put_text(Drawing *d, double x, double y, const char *attributes, const char *text)
{
    text_printf(d->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    escape_put(d->out, ESCAPE_XML, text);
    text_puts(d->out, "</text>\n");
}

static void put_line(Drawing *d, double x1, double y1, double x2, double y2, const char *attributes)
{
    text_printf(d->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2,
                y2, attributes);
}

/* ---- axis and phases ---- */

/* 1, 2 or 5 times a power of ten, in MiB or GiB; about five ticks. */
static double tick_of(double top)
{
    const double unit = top >= 2 * 0x1p30 ? 0x1p30 : 0x1p20, rough = top / 6 / unit;
    const double power = pow(10, floor(log10(rough)));
    const double times = rough / power;
    return unit * power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void put_axis(Drawing *d)
{
    const double tick = tick_of(d->top);
    for (double at = 0; at <= d->top; at += tick) {
        put_line(d, LEFT, y_of(d, at), LEFT + PLOT_WIDTH, y_of(d, at),
                 "stroke=\"#000\" stroke-opacity=\"0.15\" stroke-width=\"0.7\"");
        put_text(d, LEFT - 8, y_of(d, at) + 4, "text-anchor=\"end\"",
                 at > 0 ? human_bytes(at).s : "0");
    }
}

static Phase phase_of(const Drawing *d, int column)
{
    return memory_columns_node(&d->columns, column)->phase;
}

/* One band for each phase of each step; every second one is shaded. */
static void put_phases(Drawing *d)
{
    int band = 0;
    for (int c = 0; c < d->columns.n; band++) {
        const int from = c;
        while (c < d->columns.n && phase_of(d, c) == phase_of(d, from) &&
               (c < d->columns.n / 2) == (from < d->columns.n / 2))
            c++;
        const double x = x_of(d, from), wide = x_of(d, c) - x;
        if (band % 2 == 0) {
            text_printf(d->out,
                        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#000\" "
                        "fill-opacity=\"0.045\"/>\n",
                        x, TOP - 20, wide, PLOT_HEIGHT + 20);
        }
        put_line(d, x, TOP - 20, x, TOP + PLOT_HEIGHT,
                 "stroke=\"#000\" stroke-opacity=\"0.25\" stroke-width=\"0.7\"");
        if (wide > 56)
            put_text(d, x + wide / 2, TOP - 7, "text-anchor=\"middle\"",
                     plan_phase_name(phase_of(d, from)));
    }
    put_text(d, x_of(d, d->columns.n / 4), TOP + PLOT_HEIGHT + 20, "text-anchor=\"middle\"",
             "first step");
    put_text(d, x_of(d, 3 * d->columns.n / 4), TOP + PLOT_HEIGHT + 20, "text-anchor=\"middle\"",
             "steps that follow");
    put_text(d, LEFT + PLOT_WIDTH / 2.0, TOP + PLOT_HEIGHT + 42,
             "text-anchor=\"middle\" fill=\"#555\"", "nodes of the plan, in the order they run");
}

/* ---- areas ---- */

/* Bytes of all uses up to this one, not counting it. */
static double below(const MemoryMoment *moment, int usage)
{
    double sum = 0;
    for (int u = 0; u < usage; u++) sum += (double)moment->usage[u];
    return sum;
}

/* Steps, not slopes: memory changes at once. */
static void put_edge(Drawing *d, int usage, bool forwards)
{
    for (int i = 0; i < d->columns.n; i++) {
        const int c = forwards ? i : d->columns.n - 1 - i;
        const double y = y_of(d, below(&d->columns.list[c], usage));
        text_printf(d->out, "L%.1f %.1fL%.1f %.1f", x_of(d, forwards ? c : c + 1), y,
                    x_of(d, forwards ? c + 1 : c), y);
    }
}

static void put_areas(Drawing *d)
{
    for (int u = 0; u < MEMORY_COUNT; u++) {
        if (!memory_columns_uses(&d->columns, u)) continue;
        text_printf(d->out, "<path fill=\"%s\" d=\"M%.1f %.1f", memory_columns_style[u].colour,
                    x_of(d, 0), y_of(d, below(&d->columns.list[0], u)));
        put_edge(d, u + 1, true);
        put_edge(d, u, false);
        text_puts(d->out, "Z\"/>\n");
    }
}

/* ---- labels ---- */

/* A dashed line with its name above it; the white around the letters keeps them readable on any area. */
static void put_level(Drawing *d, const char *name, size_t bytes, const char *dash)
{
    char label[80], attributes[80];
    const double y = y_of(d, (double)bytes);
    snprintf(label, sizeof label, "%s %s", name, human_bytes((double)bytes).s);
    snprintf(attributes, sizeof attributes,
             "stroke=\"#000\" stroke-width=\"1\" stroke-dasharray=\"%s\"", dash);
    put_line(d, LEFT, y, LEFT + PLOT_WIDTH, y, attributes);
    put_text(d, LEFT + 8, y - 6,
             "font-weight=\"bold\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\"",
             label);
}

static void put_peak(Drawing *d)
{
    const MemoryMoment *peak = &d->columns.list[d->columns.peak];
    const double x = (x_of(d, d->columns.peak) + x_of(d, d->columns.peak + 1)) / 2,
                 y = y_of(d, (double)peak->total);
    char label[200];
    memory_columns_peak(&d->columns, label, sizeof label);
    put_line(d, x, y, x, TOP + PLOT_HEIGHT,
             "stroke=\"#000\" stroke-width=\"1\" stroke-dasharray=\"2 3\"");
    text_printf(d->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#000\" stroke=\"#fff\"/>\n",
                x, y);
    const bool right = x > LEFT + PLOT_WIDTH / 2.0;
    put_text(d, right ? x - 8 : x + 8, y - 6,
             right ? "text-anchor=\"end\" font-weight=\"bold\"" : "font-weight=\"bold\"", label);
}

/* In the order they are stacked, the topmost first. */
static void put_legend(Drawing *d)
{
    const MemoryMoment *peak = &d->columns.list[d->columns.peak];
    double y = TOP + 10;
    put_text(d, LEFT + PLOT_WIDTH + 8, y, "fill=\"#555\"", "at the peak");
    for (int u = MEMORY_COUNT; u-- > 0;) {
        char label[80];
        if (!memory_columns_uses(&d->columns, u)) continue;
        y += 22;
        text_printf(
            d->out,
            "<rect x=\"%d\" y=\"%.1f\" width=\"14\" height=\"14\" fill=\"%s\" stroke=\"#333\" "
            "stroke-width=\"0.5\"/>\n",
            LEFT + PLOT_WIDTH + 10, y - 11, memory_columns_style[u].colour);
        snprintf(label, sizeof label, "%s, %s", memory_blocks_class_name((MemoryClass)u),
                 human_bytes((double)peak->usage[u]).s);
        put_text(d, LEFT + PLOT_WIDTH + 30, y, "", label);
    }
}

static void draw(Drawing *d, const char *title)
{
    text_printf(d->out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" "
                "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#111\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_text(d, LEFT, 26, "font-size=\"17\" font-weight=\"bold\"", "Memory over two steps");
    put_text(d, LEFT, 45, "fill=\"#333\"", title);
    put_phases(d);
    put_areas(d);
    put_axis(d);
    put_level(d, "reserved", d->columns.profile->reserved, "6 3");
    put_level(d, "between steps", d->columns.profile->between.total, "2 3");
    put_peak(d);
    put_legend(d);
    text_puts(d->out, "</svg>\n");
}

Status memory_svg(Text *out, const MemoryProfile *profile, const char *title)
{
    const int all = 2 * memory_profile_nodes(profile);
    Drawing d = {.out = out};
    TRY(memory_columns_make(&d.columns, profile, all < PLOT_WIDTH ? all : PLOT_WIDTH));
    const double highest = (double)d.columns.list[d.columns.peak].total;
    const double reserved = (double)profile->reserved;
    d.top = 1.06 * (highest > reserved ? highest : reserved);
    draw(&d, title);
    array_free(&d.columns.list);
    return text_status(out);
}
