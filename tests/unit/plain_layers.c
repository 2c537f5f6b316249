/* plain_layers.c - see plain_layers.h. */
#include "unit/plain_layers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "layers/positions.h"
#include "layers/recurrent.h"
#include "layers/transformer.h"

/* ---- recurrence ---- */

PlainState plain_cell(const char *name, const ModelOptions *o, Vector input, PlainState s) {
    bool norm = o->layer_norm;
    Vector gx = plain_normalize(plain_name(name, "input_norm"), norm, input);
    Vector gh =
        plain_normalize(plain_name(name, "state_norm"), norm, plain_affine(plain_name(name, "state"), s.h));
    int H = s.h.n;
    for (int i = 0; i < H; i++) {
        double gate[4] = {0}; /* r, z or i, f, g, o */
        for (int g = 0; g < gx.n / H; g++) gate[g] = gx.x[g * H + i] + gh.x[g * H + i];
        if (o->cell == CELL_LSTM) {
            s.c.x[i] = plain_sigmoid(gate[1]) * s.c.x[i] + plain_sigmoid(gate[0]) * tanh(gate[2]);
            s.h.x[i] = plain_sigmoid(gate[3]) * tanh(s.c.x[i]);
        } else {
            double r = plain_sigmoid(gate[0]), z = plain_sigmoid(gate[1]);
            double n = tanh(gx.x[2 * H + i] + r * gh.x[2 * H + i]);
            s.h.x[i] = (1 - z) * n + z * s.h.x[i];
        }
    }
    return s;
}

/* ---- attention ---- */

static double additive(const char *name, Vector query, Vector value) {
    Vector sum = plain_sum(plain_affine(plain_name(name, "query"), query),
                           plain_affine(plain_name(name, "key"), value));
    return plain_dot(plain_row(plain_param("%s.v", name), 0), plain_tanh(sum));
}

static const char *const KNOWN[] = {"additive", "concat",   "location", "general", "dot",        "scaled_dot",
                                    "cosine",   "distance", "sum",      "none",    "bare_cosine"};
bool plain_knows_score(const char *score) {
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (strcmp(score, KNOWN[i]) == 0) return true;
    return false;
}

static double score_of(const char *name, const char *score, const ModelOptions *o, Vector query, Vector value,
                       int place) {
    if (strcmp(score, "additive") == 0 || strcmp(score, "concat") == 0) return additive(name, query, value);
    if (strcmp(score, "location") == 0) {
        int last = o->max_positions - 1;
        return plain_affine(plain_name(name, "query"), query).x[place < last ? place : last];
    }
    if (strcmp(score, "none") == 0) return 0;
    assert_true(plain_find("%s.key.weight", name) || query.n == value.n);
    Vector key = plain_affine_or_same(plain_name(name, "key"), value);
    if (strcmp(score, "scaled_dot") == 0) return plain_dot(query, key) / sqrt(query.n);
    if (strcmp(score, "cosine") == 0 || strcmp(score, "bare_cosine") == 0) {
        bool bare = *score == 'b';
        double lengths = sqrt(plain_dot(query, query) * plain_dot(key, key));
        double sharpness = bare ? 1 : plain_at(plain_param("%s.sharpness", name), 0, 0);
        return sharpness * plain_dot(query, key) / lengths;
    }
    if (strcmp(score, "sum") == 0) {
        double sum = 0;
        for (int i = 0; i < query.n; i++) sum += query.x[i] + key.x[i];
        return sum;
    }
    if (strcmp(score, "distance") == 0) {
        Vector difference = plain_sum(query, plain_scale(key, -1));
        return -plain_dot(difference, difference) / 2;
    }
    assert_true(strcmp(score, "dot") == 0 || strcmp(score, "general") == 0);
    return plain_dot(query, key);
}

Vector plain_attend(const char *name, const char *score, const ModelOptions *o, Vector query,
                    const Vectors *values) {
    double scores[PLAIN_LONGEST];
    for (int t = 0; t < values->length; t++) scores[t] = score_of(name, score, o, query, values->row[t], t);
    return plain_softmax_mean(scores, values);
}

/* ---- Transformer ---- */

void plain_add_positions(const char *name, const ModelOptions *o, Vectors *x) {
    for (int t = 0; t < x->length; t++) {
        Vector *row = &x->row[t];
        double factor = sqrt(row->n);
        int last = o->max_positions - 1;
        *row = plain_scale(*row, factor);
        if (o->positions == POSITIONS_LEARNED) {
            Vector place = plain_row(plain_param("%s.positions", name), t < last ? t : last);
            *row = plain_sum(*row, plain_scale(place, factor));
        }
        for (int i = 0; i < row->n && o->positions == POSITIONS_SINUSOIDAL; i++) {
            double angle = t / pow(10000, (i - i % 2) / (double)row->n);
            row->x[i] += i % 2 ? cos(angle) : sin(angle);
        }
    }
}

/* Row t asks the first `seen` rows of the memory; `place` < 0: without relative positions, else that of the
 * row that asks. */
static Vector heads(const char *name, const ModelOptions *o, Vector x, const Vectors *memory, int seen,
                    int place) {
    int d = x.n / o->heads;
    Vector query = plain_affine(plain_name(name, "query"), x), all = plain_zeros(0);
    for (int h = 0; h < o->heads; h++) {
        double scores[PLAIN_LONGEST];
        Vectors values = {.length = seen};
        Vector q = plain_part(query, h * d, d);
        for (int t = 0; t < seen; t++) {
            Vector key = plain_part(plain_affine(plain_name(name, "key"), memory->row[t]), h * d, d);
            values.row[t] = plain_part(plain_affine(plain_name(name, "value"), memory->row[t]), h * d, d);
            if (o->positions == POSITIONS_RELATIVE && place >= 0) {
                int most = o->max_relative_position, distance = t - place;
                distance = distance < -most ? -most : distance > most ? most : distance;
                key = plain_sum(key, plain_row(plain_param("%s.relative", name), distance + most));
            }
            scores[t] = plain_dot(q, key) / sqrt(d);
        }
        all = plain_join(all, plain_softmax_mean(scores, &values));
    }
    return plain_affine(plain_name(name, "output"), all);
}

static Vector feed_forward(const char *name, Vector x) {
    Vector inner = plain_affine(plain_name(name, "inner"), x);
    for (int i = 0; i < inner.n; i++) inner.x[i] = fmax(inner.x[i], 0);
    return plain_affine(plain_name(name, "outer"), inner);
}

typedef enum { SELF, CROSS, FEED } Part;
static void run_part(const char *name, const ModelOptions *o, Vectors *x, const Vectors *source, Part part) {
    static const char *const PARTS[] = {"self", "cross", "feed"};
    static const char *const NORMS[] = {"self_norm", "cross_norm", "feed_norm"};
    char own[64], norm[64];
    snprintf(own, sizeof own, "%s.%s", name, PARTS[part]);
    snprintf(norm, sizeof norm, "%s.%s", name, NORMS[part]);
    Vectors in = *x;
    for (int t = 0; t < x->length && o->norm == NORM_PRE; t++)
        in.row[t] = plain_normalize(norm, true, x->row[t]);
    for (int t = 0; t < x->length; t++) {
        Vector y = part == FEED    ? feed_forward(name, in.row[t])
                   : part == CROSS ? heads(own, o, in.row[t], source, source->length, -1)
                                   : heads(own, o, in.row[t], &in, source ? t + 1 : in.length, t);
        x->row[t] = plain_sum(x->row[t], y);
        if (o->norm == NORM_POST) x->row[t] = plain_normalize(norm, true, x->row[t]);
    }
}

void plain_block(const char *name, const ModelOptions *o, Vectors *x, const Vectors *source) {
    run_part(name, o, x, source, SELF);
    if (source) run_part(name, o, x, source, CROSS);
    run_part(name, o, x, source, FEED);
}

/* ---- convolution ---- */

void plain_conv(const char *name, const ModelOptions *o, Vectors *x) {
    Vectors in = *x;
    int D = x->row[0].n;
    for (int t = 0; t < x->length; t++)
        in.row[t] = plain_normalize(plain_name(name, "norm"), o->layer_norm, x->row[t]);
    for (int t = 0; t < x->length; t++) {
        Vector around = plain_zeros(0);
        int first = t - (o->conv_width - 1) / 2;
        for (int s = first; s < first + o->conv_width; s++)
            around = plain_join(around, s < 0 || s >= x->length ? plain_zeros(D) : in.row[s]);
        Vector gates = plain_affine(plain_name(name, "gates"), around);
        for (int i = 0; i < D; i++)
            x->row[t].x[i] = (x->row[t].x[i] + gates.x[i] * plain_sigmoid(gates.x[D + i])) * sqrt(0.5);
    }
}
