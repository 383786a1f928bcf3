#include "report/memory/memory_chart.h"

#include "base/array.h"
#include "base/human.h"
#include "report/memory/memory_columns.h"

#include <string.h>

enum { MOST = 96, LEAST = 40, HEIGHT = 18, LABEL = 11 };

typedef struct Chart {
    MemoryColumns columns;
    bool unicode;
} Chart;

static const char *glyph(const Chart *chart, int usage)
{
    const MemoryStyle *style = &memory_columns_style[usage];
    return chart->unicode ? style->glyph : style->plain;
}

/* What is drawn in a cell: the use that its middle falls into; NULL above the total. */
static const char *cell(const Chart *chart, int column, int row, double scale)
{
    const MemoryMoment *moment = &chart->columns.list[column];
    const double middle = ((double)row + 0.5) * scale;
    double sum = 0;
    for (int u = 0; u < MEMORY_COUNT; u++) {
        sum += (double)moment->usage[u];
        if (middle < sum) return glyph(chart, u);
    }
    return NULL;
}

static void put_rows(Text *out, const Chart *chart, double scale)
{
    for (int row = HEIGHT; row-- > 0;) {
        if (row % 4 == 3 || row == HEIGHT - 1) {
            text_printf(out, "%*s %s", LABEL, human_bytes(((double)row + 1) * scale).s,
                        chart->unicode ? "┤" : "|");
        } else {
            text_printf(out, "%*s %s", LABEL, "", chart->unicode ? "│" : "|");
        }
        int blank = 0;
        for (int c = 0; c < chart->columns.n; c++) {
            const char *shown = cell(chart, c, row, scale);
            blank += shown == NULL;
            if (!shown) continue;
            text_fill(out, ' ', (size_t)blank);
            blank = 0;
            text_puts(out, shown);
        }
        text_puts(out, "\n");
    }
}

static Phase phase_of(const Chart *chart, int column)
{
    return memory_columns_node(&chart->columns, column)->phase;
}

/* "forward", "backward", "optimizer" below the columns they take, as far as they fit. */
static void put_phases(Text *out, const Chart *chart)
{
    text_fill(out, ' ', LABEL + 1);
    text_puts(out, chart->unicode ? "└" : "+");
    for (int c = 0; c < chart->columns.n;) {
        const char *name = plan_phase_name(phase_of(chart, c));
        const int from = c;
        while (c < chart->columns.n && phase_of(chart, c) == phase_of(chart, from)) c++;
        const int wide = c - from, length = (int)strlen(name) < wide ? (int)strlen(name) : wide - 1;
        text_printf(out, "%.*s", length, name);
        for (int i = length; i < wide - 1; i++) text_puts(out, chart->unicode ? "─" : "-");
        text_puts(out, chart->unicode ? "┴" : "+");
    }
    text_puts(out, "\n");
}

static void put_peak(Text *out, const Chart *chart)
{
    const int peak = chart->columns.peak;
    char label[160];
    memory_columns_peak(&chart->columns, label, sizeof label);
    const int length = (int)strlen(label) + 2;
    const bool left = peak + length > chart->columns.n && peak >= length;
    text_fill(out, ' ', (size_t)(LABEL + 2 + peak - (left ? length - 1 : 0)));
    if (left) text_printf(out, "%s ", label);
    text_puts(out, chart->unicode ? "▲" : "^");
    if (!left) text_printf(out, " %s", label);
    text_puts(out, "\n");
}

static void put_legend(Text *out, const Chart *chart)
{
    text_fill(out, ' ', LABEL + 2);
    text_puts(out, "bottom to top:");
    const size_t indent = LABEL + 2, room = indent + (size_t)chart->columns.n;
    size_t at = indent + strlen("bottom to top:");
    const char *comma = "";
    for (int u = 0; u < MEMORY_COUNT; u++) {
        if (!memory_columns_uses(&chart->columns, u)) continue;
        const char *name = memory_blocks_class_name((MemoryClass)u);
        const size_t wide = strlen(" x ,") + strlen(name);
        const bool wrap = at + wide > room;
        text_puts(out, comma);
        if (wrap) {
            text_puts(out, "\n");
            text_fill(out, ' ', indent - 1);
        }
        at = (wrap ? indent - 1 : at) + wide;
        text_printf(out, " %s %s", glyph(chart, u), name);
        comma = ",";
    }
    text_puts(out, "\n");
}

static int width_within(size_t terminal)
{
    if (terminal == 0 || terminal >= LABEL + 2 + MOST) return MOST;
    return terminal < LABEL + 2 + LEAST ? LEAST : (int)terminal - LABEL - 2;
}

Status memory_chart(Text *out, const MemoryProfile *profile, bool unicode, size_t terminal)
{
    Chart chart = {.unicode = unicode};
    TRY(memory_columns_make(&chart.columns, profile, width_within(terminal)));
    const MemoryMoment *peak = &chart.columns.list[chart.columns.peak];
    put_rows(out, &chart, (double)peak->total / HEIGHT);
    put_phases(out, &chart);
    put_peak(out, &chart);
    put_legend(out, &chart);
    array_free(&chart.columns.list);
    return text_status(out);
}
