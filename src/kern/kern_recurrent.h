/* kern_recurrent.h - the gates of recurrent cells. For kern_impl.c alone.
 */
#ifndef KERN_KERN_RECURRENT_H
#define KERN_KERN_RECURRENT_H

#include "kern/kern_vector.h"

static void kern_gru_forward(int rows, int H, const real *gx, const real *gh, const real *h, real *out,
                             real *saved) {
    size_t n = (size_t)H;
    for (int row = 0; row < rows; row++, gx += 3 * n, gh += 3 * n, h += n, out += n) {
        FOR_VECTORS(
            n, Vec r = vsigmoid(LOAD(gx) + LOAD(gh)); Vec z = vsigmoid(LOAD(gx + n) + LOAD(gh + n));
            Vec c = vtanh(LOAD(gx + 2 * n) + r * LOAD(gh + 2 * n)); STORE(out, c + z * (LOAD(h) - c));
            if (saved) {
                STORE(saved, r);
                STORE(saved + n, z);
                STORE(saved + 2 * n, c);
            });
        if (saved) saved += 3 * n;
    }
}

/* Sets a gradient, or adds to it. */
#define BEGIN(set, p, v) STORE(p, (set) ? (v) : LOAD(p) + (v))

static void kern_gru_backward(int rows, int H, const real *gh, const real *h, const real *saved,
                              const real *dout, const GateGradients *gates, real *dh) {
    size_t n = (size_t)H;
    real *dgx = gates->gx, *dgh = gates->gh;
    bool set_gx = gates->sets_gx, set_gh = gates->sets_gh;
    for (int row = 0; row < rows;
         row++, gh += 3 * n, h += n, saved += 3 * n, dout += n, dgx += 3 * n, dgh += 3 * n, dh += n) {
        FOR_VECTORS(n, Vec r = LOAD(saved); Vec z = LOAD(saved + n); Vec c = LOAD(saved + 2 * n);
                    Vec d = LOAD(dout); STORE(dh, LOAD(dh) + d * z);
                    Vec dz = d * (LOAD(h) - c) * z * (splat(1) - z);
                    Vec dc = d * (splat(1) - z) * (splat(1) - c * c);
                    Vec dr = dc * LOAD(gh + 2 * n) * r * (splat(1) - r); BEGIN(set_gx, dgx, dr);
                    BEGIN(set_gx, dgx + n, dz); BEGIN(set_gx, dgx + 2 * n, dc); BEGIN(set_gh, dgh, dr);
                    BEGIN(set_gh, dgh + n, dz); BEGIN(set_gh, dgh + 2 * n, dc * r););
    }
}

static void kern_lstm_forward(int rows, int H, const real *gx, const real *gh, const real *c, real *out,
                              real *next, real *saved) {
    size_t n = (size_t)H;
    for (int row = 0; row < rows; row++, gx += 4 * n, gh += 4 * n, c += n, out += n, next += n) {
        FOR_VECTORS(
            n, Vec in = vsigmoid(LOAD(gx) + LOAD(gh)); Vec forget = vsigmoid(LOAD(gx + n) + LOAD(gh + n));
            Vec g = vtanh(LOAD(gx + 2 * n) + LOAD(gh + 2 * n));
            Vec o = vsigmoid(LOAD(gx + 3 * n) + LOAD(gh + 3 * n)); Vec now = forget * LOAD(c) + in * g;
            STORE(next, now); STORE(out, o * vtanh(now)); if (saved) {
                STORE(saved, in);
                STORE(saved + n, forget);
                STORE(saved + 2 * n, g);
                STORE(saved + 3 * n, o);
            });
        if (saved) saved += 4 * n;
    }
}

/* One row; a gradient may be NULL. */
static void lstm_row_backward(size_t n, const real *c, const real *next, const real *saved, const real *dout,
                              const real *dnext, GateGradients gates, real *dc) {
    real *dgx = gates.gx, *dgh = gates.gh;
    bool set_gx = gates.sets_gx, set_gh = gates.sets_gh;
    FOR_VECTORS(
        n, Vec in = LOAD(saved); Vec forget = LOAD(saved + n); Vec g = LOAD(saved + 2 * n);
        Vec o = LOAD(saved + 3 * n); Vec t = vtanh(LOAD(next)); Vec dh = LOAD(dout);
        Vec d = LOAD(dnext) + dh * o * (splat(1) - t * t); Vec d_in = d * g * in * (splat(1) - in);
        Vec d_forget = d * LOAD(c) * forget * (splat(1) - forget); Vec d_g = d * in * (splat(1) - g * g);
        Vec d_o = dh * t * o * (splat(1) - o); if (dgx) {
            BEGIN(set_gx, dgx, d_in);
            BEGIN(set_gx, dgx + n, d_forget);
            BEGIN(set_gx, dgx + 2 * n, d_g);
            BEGIN(set_gx, dgx + 3 * n, d_o);
        } if (dgh) {
            BEGIN(set_gh, dgh, d_in);
            BEGIN(set_gh, dgh + n, d_forget);
            BEGIN(set_gh, dgh + 2 * n, d_g);
            BEGIN(set_gh, dgh + 3 * n, d_o);
        } if (dc) STORE(dc, LOAD(dc) + d * forget););
}
static void kern_lstm_backward(int rows, int H, const real *c, const real *next, const real *saved,
                               const real *dout, const real *dnext, const GateGradients *gates, real *dc) {
    size_t n = (size_t)H;
    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * n;
        GateGradients own = *gates;
        if (own.gx) own.gx += 4 * at;
        if (own.gh) own.gh += 4 * at;
        lstm_row_backward(n, c + at, next + at, saved + 4 * at, dout + at, dnext + at, own,
                          dc ? dc + at : NULL);
    }
}

/* ---- SSRU: Kim et al. 2019, section 3.1 ---- */

static void kern_ssru_forward(size_t n, const real *gate, const real *x, const real *before, real *c,
                              real *out) {
    FOR_VECTORS(n, Vec f = vsigmoid(LOAD(gate)); Vec now = (splat(1) - f) * LOAD(x);
                if (before) now = now + f * LOAD(before); STORE(c, now);
                STORE(out, (Vec)((IntVec)now & ~(IntVec)(now < splat(0)))););
}
static void kern_ssru_backward(size_t n, const real *gate, const real *x, const real *before, const real *c,
                               const real *dout, real *dc, real *dgate, real *dx) {
    FOR_VECTORS(n, Vec f = vsigmoid(LOAD(gate)); Vec v = LOAD(x); Vec old = before ? LOAD(before) : splat(0);
                Vec d = LOAD(dc) + (Vec)((IntVec)LOAD(dout) & (IntVec)(LOAD(c) > splat(0)));
                STORE(dgate, LOAD(dgate) + d * (old - v) * f * (splat(1) - f));
                STORE(dx, LOAD(dx) + d * (splat(1) - f)); STORE(dc, d * f););
}

#endif
