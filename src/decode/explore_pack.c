/* explore_pack.c - see explore_pack.h. */
#include "decode/explore_pack.h"

#include <math.h>
#include "base/json.h"

void explore_text(StrBuf *out, StrView text) {
    StrBuf json = {0};
    json_write_string(&json, text);
    for (size_t i = 0; i < json.length; i++) {
        char c = json.data[i];
        if (c == '<' || c == '>' || c == '&')
            strbuf_format(out, "\\u%04x", (unsigned)c);
        else
            strbuf_add_char(out, c);
    }
    strbuf_free(&json);
}

int explore_thousandths(double value) {
    return isfinite(value) ? (int)lround(fmax(-1e6, fmin(1e6, value * 1000))) : 0;
}

enum { BASE = 89, SHORT = 64, LONG = 11, FINEST = BASE * BASE - 1, LONGEST_RUN = BASE - SHORT - LONG + 1 };

static void add_digit(StrBuf *out, int digit) {
    static const char digits[] = "!#$%'()*+,-./0123456789:;=\?@ABCDEFGHIJKLMNOPQ"
                                 "RSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    strbuf_add_char(out, digits[digit]);
}

void explore_pack_end(ExplorePacker *packer) {
    if (packer->zeros > 0) add_digit(packer->out, packer->zeros > 1 ? SHORT + LONG - 2 + packer->zeros : 0);
    packer->zeros = 0;
}

void explore_pack(ExplorePacker *packer, double weight) {
    int value = isfinite(weight) ? (int)lround(fmax(0, fmin(1, weight)) * packer->parts) : 0;
    if (value == 0) {
        if (++packer->zeros == LONGEST_RUN) explore_pack_end(packer);
        return;
    }
    explore_pack_end(packer);
    if (value >= SHORT) add_digit(packer->out, SHORT + (value - SHORT) / BASE);
    add_digit(packer->out, value < SHORT ? value : (value - SHORT) % BASE);
}

static double number_at(const ExplorePart *part, int i) {
    return (double)part->first[(size_t)(i / part->columns) * part->stride + (size_t)(i % part->columns)];
}

void explore_matrix(StrBuf *out, const char *name, ExplorePart part) {
    double low = INFINITY, high = -INFINITY;
    int count = part.rows * part.columns;
    for (int i = 0; i < count; i++) {
        if (!isfinite(number_at(&part, i))) return;
        low = fmin(low, number_at(&part, i));
        high = fmax(high, number_at(&part, i));
    }
    strbuf_format(out, ",\"%s\":[%d,%.7g,%.7g,\"", name, part.columns, low, high);
    for (int i = 0; i < count; i++) {
        int value = high > low ? (int)lround((number_at(&part, i) - low) / (high - low) * FINEST) : 0;
        add_digit(out, value / BASE);
        add_digit(out, value % BASE);
    }
    strbuf_add(out, SV("\"]"));
}
