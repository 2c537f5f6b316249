/* kern_gemm.h - products with packed floats. For kern_impl.c alone.
 *
 * A block of 6 rows and PANEL columns of C stays in registers while k runs.
 *
 *     packed B [K, N]:  chunk k0 = 0  chunk k0 = DEPTH  ...                DEPTH lines of B, or the rest
 *     chunk:            panel n0 = 0  panel n0 = PANEL  ...                PANEL columns; those after N are 0
 *     panel:            B[k0][n0 .. n0 + PANEL - 1]  B[k0 + 1][n0 .. n0 + PANEL - 1]  ...
 *
 * A panel of bfloat16 (kern_bf16.h) has half the size: each pair of vectors is one vector of 32-bit words.
 * Word n has column n of the first vector in its lower half and column n of the second in its upper half.
 */
#ifndef KERN_KERN_GEMM_H
#define KERN_KERN_GEMM_H

#include "kern/kern_vector.h"

enum {
    DEPTH = 512, /* a packed panel of this depth stays in the second-level cache */
    /* numbers of A that stay there too, 64 rows of DEPTH, while panel after panel reads them */
    NEAR = 1 << 15,
    /* for one row: each addition waits for the last one, so eight sums keep the processor busy */
    PANELS_MAX = 8 / PANEL_VECTORS
};

/* N rounded up to whole panels. */
INLINE size_t panel_columns(int N) { return ((size_t)N + PANEL - 1) / PANEL * PANEL; }

static size_t kern_float_size(int K, int N) { return panel_columns(N) * (size_t)K * sizeof(real); }

/* Transposes four by four numbers. */
#if defined(HAVE_SHUFFLE) && !defined(REAL_DOUBLE)
typedef real Four __attribute__((vector_size(4 * sizeof(real))));

/* Interleaves the lower or upper halves of two vectors. */
INLINE Four interleave(Four a, Four b, bool upper) {
    return upper ? __builtin_shufflevector(a, b, 2, 6, 3, 7) : __builtin_shufflevector(a, b, 0, 4, 1, 5);
}

INLINE void transpose_four(const real *from, size_t ldfrom, real *to, size_t ldto) {
    Four line[4], pair[4];
    for (int i = 0; i < 4; i++) memcpy(&line[i], from + (size_t)i * ldfrom, sizeof line[i]);
    for (int i = 0; i < 4; i++) pair[i] = interleave(line[i / 2], line[i / 2 + 2], i % 2);
    for (int i = 0; i < 4; i++) {
        Four column = interleave(pair[i / 2], pair[i / 2 + 2], i % 2);
        memcpy(to + (size_t)i * ldto, &column, sizeof column);
    }
}
#else
INLINE void transpose_four(const real *from, size_t ldfrom, real *to, size_t ldto) {
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) to[i * ldto + j] = from[j * ldfrom + i];
}
#endif

/* Packs lines of a panel that has `width` columns of B; the others are 0. */
INLINE void pack_lines(int lines, int width, const real *b, size_t ldb, real *out) {
    for (int k = 0; k < lines; k++, b += ldb, out += PANEL)
        if (width >= PANEL) {
            for (int j = 0; j < PANEL; j += LANES) store(out + j, load(b + j));
        } else {
            memcpy(out, b, (size_t)width * sizeof *out);
            memset(out + width, 0, (size_t)(PANEL - width) * sizeof *out);
        }
}

/* Packs columns first .. end - 1 of `depth` lines, a few lines at a time, along the lines of B. */
INLINE void pack_panels(int depth, int N, int first, int end, const real *b, real *out) {
    enum { LINES = 16 };
    for (int k = 0; k < depth; k += LINES, b += LINES * (size_t)N, out += LINES * PANEL)
        for (int n = first; n < end; n += PANEL)
            pack_lines(depth - k < LINES ? depth - k : LINES, N - n, b + n, (size_t)N,
                       out + (size_t)(n - first) * (size_t)depth);
}

INLINE void pack_transposed(int depth, int width, const real *b, size_t ldb, real *out) {
    int k = 0;
    for (; width == PANEL && k + 4 <= depth; k += 4, out += 4 * PANEL)
        for (int j = 0; j < PANEL; j += 4) transpose_four(b + (size_t)j * ldb + k, ldb, out + j, PANEL);
    for (; k < depth; k++, out += PANEL)
        for (int j = 0; j < PANEL; j++) out[j] = j < width ? b[(size_t)j * ldb + (size_t)k] : 0;
}

static void kern_float_pack(int K, int N, const real *B, bool transposed, int first, int end, void *packed) {
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        int depth = K - k0 < DEPTH ? K - k0 : DEPTH;
        real *out = (real *)packed + (size_t)k0 * panel_columns(N) + (size_t)first * (size_t)depth;
        if (!transposed) pack_panels(depth, N, first, end, B + (size_t)k0 * (size_t)N, out);
        for (int n0 = first; transposed && n0 < end; n0 += PANEL, out += depth * PANEL)
            pack_transposed(depth, N - n0 < PANEL ? N - n0 : PANEL, B + (size_t)(n0 - first) * (size_t)K + k0,
                            (size_t)K, out);
    }
}

static void kern_float_column(int K, int N, const void *packed, int n, real *out) {
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        int depth = K - k0 < DEPTH ? K - k0 : DEPTH;
        const real *line = (const real *)packed + (size_t)k0 * panel_columns(N) +
                           (size_t)(n / PANEL * PANEL) * (size_t)depth + n % PANEL;
        for (int k = 0; k < depth; k++, line += PANEL) out[k0 + k] = *line;
    }
}

INLINE void store_row(const Vec sum[PANEL_VECTORS], real *C, int width, bool accumulate) {
    if (width >= PANEL) {
        for (int j = 0; j < PANEL_VECTORS; j++)
            store(C + j * LANES, accumulate ? load(C + j * LANES) + sum[j] : sum[j]);
    } else {
        real line[PANEL];
        for (int j = 0; j < PANEL_VECTORS; j++) store(line + j * LANES, sum[j]);
        for (int j = 0; j < width; j++) C[j] = accumulate ? C[j] + line[j] : line[j];
    }
}

INLINE void store_block(int rows, Vec sum[BLOCK_ROWS][PANEL_VECTORS], real *C, int ldc, int width,
                        bool accumulate) {
    for (int r = 0; r < rows; r++, C += ldc) store_row(sum[r], C, width, accumulate);
}

/* Prefetches a row of C while its sums are computed. */
INLINE void fetch_for_sums(const real *c) {
    for (size_t j = 0; j < PANEL; j += 64 / sizeof *c) __builtin_prefetch(c + j, 1, 3);
}

/* Loads a line of a panel. */
INLINE void load_line(bool halves, const real *line, Vec b[PANEL_VECTORS]) {
    for (int j = 0; j < PANEL_VECTORS; j += 2)
#ifndef REAL_DOUBLE
        if (halves) {
            IntVec words;
            memcpy(&words, line + j / 2 * LANES, sizeof words);
            b[j] = (Vec)(words << 16), b[j + 1] = (Vec)(words & (int32_t)0xFFFF0000);
        } else
#endif
            b[j] = load(line + j * LANES), b[j + 1] = load(line + (j + 1) * LANES);
    (void)halves;
}

/* C (+)= A B for `rows` rows from `first` on and `panels` panels; `width` columns of C are left. `ahead`:
 * also prefetch the panel after the first. `rows`, `panels`, `ahead` and `halves` are constants at each call,
 * so the sums stay in registers. */
INLINE void gemm_block(int rows, int first, bool ahead, int panels, bool halves, int K, const real *A,
                       size_t lda, const real *B, real *C, int ldc, int width, bool accumulate) {
    size_t line = (size_t)(halves ? PANEL / 2 : PANEL), panel = (size_t)K * line;
    Vec sum[PANELS_MAX][BLOCK_ROWS][PANEL_VECTORS];
    A += (size_t)first * lda, C += (size_t)first * (size_t)ldc;
    for (int p = 0; p < panels; p++)
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < PANEL_VECTORS; j++) sum[p][r][j] = (Vec){0};
    for (int r = 0; r < rows; r++) fetch_for_sums(C + (size_t)r * (size_t)ldc);
    UNROLLED
    for (int k = 0; k < K; k++, B += line) {
        Vec b[PANELS_MAX][PANEL_VECTORS];
        if (ahead) fetch(B + panel, line * sizeof *B);
        for (int p = 0; p < panels; p++) load_line(halves, B + (size_t)p * panel, b[p]);
        for (int r = 0; r < rows; r++) {
            Vec a = splat(A[(size_t)r * lda + (size_t)k]);
            for (int p = 0; p < panels; p++)
                for (int j = 0; j < PANEL_VECTORS; j++) sum[p][r][j] += a * b[p][j];
        }
    }
    for (int p = 0; p < panels; p++)
        store_block(rows, sum[p], C + p * PANEL, ldc, width - p * PANEL, accumulate);
}

/* The number of rows of A that stay in the second-level cache: parts of M as equal as possible, in whole
 * blocks. */
INLINE int rows_nearby(int M, int K) {
    int depth = K < 1 ? 1 : K < DEPTH ? K : DEPTH, most = NEAR / depth / BLOCK_ROWS * BLOCK_ROWS;
    int parts = (M + most - 1) / most;
    return parts > 1 ? ((M + parts - 1) / parts + BLOCK_ROWS - 1) / BLOCK_ROWS * BLOCK_ROWS : M;
}

INLINE void gemm_panels(bool halves, int M, int N, int K, const real *A, size_t lda, const real *packed,
                        real *C, int ldc, bool accumulate) {
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        int depth = K - k0 < DEPTH ? K - k0 : DEPTH, panels;
        size_t panel = (size_t)depth * (size_t)(halves ? PANEL / 2 : PANEL);
        bool add = accumulate || k0;
        for (int n = 0; n < N; n += panels * PANEL, packed += (size_t)panels * panel) {
            panels = M == 1 ? PANELS_MAX : M == 2 ? PANELS_MAX / 2 : 1;
            if (n + panels * PANEL > N) panels = 1;
            if (panels == 1)
                FOR_ROWS_AHEAD(M, gemm_block, 1, halves, depth, A + k0, lda, packed, C + n, ldc, N - n, add)
            else if (M == 1)
                gemm_block(1, 0, false, PANELS_MAX, halves, depth, A + k0, lda, packed, C + n, ldc, N - n,
                           add);
            else
                gemm_block(2, 0, false, PANELS_MAX / 2, halves, depth, A + k0, lda, packed, C + n, ldc, N - n,
                           add);
        }
    }
}

/* gemm_block of one panel for rows at any addresses, of A from k0 on, of C from n on. gemm_block needs no
 * pointer per row, which makes large products some 3 % faster. */
INLINE void scattered_block(int rows, int first, bool ahead, int K, const GemmRow *at, int k0, const real *B,
                            int n, int width, bool accumulate) {
    const real *a[BLOCK_ROWS];
    Vec sum[BLOCK_ROWS][PANEL_VECTORS];
    for (int r = 0; r < rows; r++) {
        a[r] = at[first + r].a + k0;
        for (int j = 0; j < PANEL_VECTORS; j++) sum[r][j] = (Vec){0};
        fetch_for_sums(at[first + r].c + n);
    }
    UNROLLED
    for (int k = 0; k < K; k++, B += PANEL) {
        Vec b[PANEL_VECTORS];
        if (ahead) fetch(B + (size_t)K * PANEL, PANEL * sizeof *B);
        load_line(false, B, b);
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < PANEL_VECTORS; j++) sum[r][j] += splat(a[r][k]) * b[j];
    }
    for (int r = 0; r < rows; r++) store_row(sum[r], at[first + r].c + n, width, accumulate);
}

INLINE void scattered_panels(int M, int N, int K, const GemmRow *rows, const real *panel, bool accumulate) {
    for (int k0 = 0, depth; k0 < K; k0 += depth) {
        depth = K - k0 < DEPTH ? K - k0 : DEPTH;
        for (int n = 0; n < N; n += PANEL, panel += depth * PANEL)
            FOR_ROWS_AHEAD(M, scattered_block, depth, rows, k0, panel, n, N - n, accumulate || k0)
    }
}

static void kern_float_multiply_rows(int M, int N, int K, const GemmRow *rows, const void *packed,
                                     bool accumulate, void *scratch) {
    int height = rows_nearby(M, K);
    (void)scratch;
    for (; M > 0; M -= height, rows += height)
        scattered_panels(M < height ? M : height, N, K, rows, packed, accumulate);
}

static void kern_float_multiply(int M, int N, int K, const real *A, int lda, const void *packed, real *C,
                                int ldc, bool accumulate, void *scratch) {
    int height = rows_nearby(M, K);
    (void)scratch;
    for (; M > 0; M -= height, A += (size_t)height * (size_t)lda, C += (size_t)height * (size_t)ldc)
        gemm_panels(false, M < height ? M : height, N, K, A, (size_t)lda, packed, C, ldc, accumulate);
}

/* ---- weight gradients ---- */

enum {
    OUTER_COLUMNS = 256, /* of B, in OUTER_DEPTH rows, are gathered at a time ... */
    OUTER_DEPTH = 256,
    OUTER_ROWS = 16 * BLOCK_ROWS,             /* ... and OUTER_ROWS columns of A, which are rows of C, ... */
    OUTER_COPIES = OUTER_COLUMNS / PANEL > 4, /* ... unless each number is read too rarely to be worth it */
    OUTER_SCRATCH = OUTER_DEPTH * (OUTER_COLUMNS + OUTER_ROWS) * (int)sizeof(real)
};

INLINE void copy_lines(int lines, int width, const real *from, size_t ldfrom, real *to, size_t ldto) {
    for (int i = 0; i < lines; i++, from += ldfrom, to += ldto) memcpy(to, from, (size_t)width * sizeof *to);
}

/* Prefetches rows at any addresses, which a processor cannot predict. */
INLINE void fetch_rows(int depth, int M, const real *const *A, size_t a0) {
    for (int r = 0; r < depth; r++) fetch(A[r] + a0, (size_t)M * sizeof **A);
}

/* Copies columns n0 .. n0 + columns - 1 into panels. */
INLINE void gather_panels(int depth, int columns, const real *const *B, size_t n0, real *panels) {
    enum { AHEAD = 3 };
    for (int r = 0; r < depth; r++) {
        if (r + AHEAD < depth) fetch(B[r + AHEAD] + n0, (size_t)columns * sizeof **B);
        for (int n = 0; n < columns; n += PANEL) {
            real *to = panels + n * depth + r * PANEL;
            const real *from = B[r] + n0 + n;
            if (columns - n >= PANEL)
                for (int j = 0; j < PANEL_VECTORS; j++) store(to + j * LANES, load(from + j * LANES));
            else
                for (int j = 0; j < PANEL; j++) to[j] = n + j < columns ? from[j] : 0;
        }
    }
}

INLINE void gather_block(int rows, int first, int r, int end, int depth, const real *const *A, size_t a0,
                         real *blocks) {
    for (real *to = blocks + first * depth + r * rows; r < end; r++, to += rows)
        memcpy(to, A[r] + a0 + first, (size_t)rows * sizeof *to);
}

/* Columns a0 .. a0 + M - 1 as the blocks of FOR_ROWS, line after line in each. A few lines at a time, which
 * stay near while each block takes its numbers; where their addresses differ by 4096 bytes, the first-level
 * cache holds eight. */
INLINE void gather_rows(int depth, int M, const real *const *A, size_t a0, real *blocks) {
    enum { LINES = 8 };
    for (int r = 0, end, next; r < depth; r = end) {
        end = r + LINES < depth ? r + LINES : depth, next = end + LINES < depth ? end + LINES : depth;
        fetch_rows(next - end, M, A + end, a0);
        FOR_ROWS(M, gather_block, r, end, depth, A, a0, blocks)
    }
}

/* Rows of C [.., width] from `first` on. Each number of C takes in one product after the other, so several
 * calls are the same as one with all their rows. */
INLINE void outer_block(int rows, int first, int depth, const real *const *A, size_t a0, const real *blocks,
                        const real *panel, real *C, size_t ldc, int width) {
    blocks += first * depth, a0 += (size_t)first;
    C += (size_t)first * ldc;
    real edge[BLOCK_ROWS * PANEL], *at = width < PANEL ? edge : C;
    size_t line = width < PANEL ? PANEL : ldc;
    Vec sum[BLOCK_ROWS][PANEL_VECTORS];
    if (at == edge) copy_lines(rows, width, C, ldc, edge, PANEL);
    for (int m = 0; m < rows; m++)
        for (int j = 0; j < PANEL_VECTORS; j++) sum[m][j] = load(at + (size_t)m * line + j * LANES);
    for (int m = 0; m < rows; m++) fetch_for_sums(C + (size_t)(rows + m) * ldc); /* those of the next block */
    UNROLLED
    for (int r = 0; r < depth; r++, blocks += rows, panel += PANEL) {
        const real *a = OUTER_COPIES ? blocks : A[r] + a0;
        Vec b[PANEL_VECTORS];
        for (int j = 0; j < PANEL_VECTORS; j++) b[j] = load(panel + j * LANES);
        for (int m = 0; m < rows; m++)
            for (int j = 0; j < PANEL_VECTORS; j++) sum[m][j] += splat(a[m]) * b[j];
    }
    for (int m = 0; m < rows; m++)
        for (int j = 0; j < PANEL_VECTORS; j++) store(at + (size_t)m * line + j * LANES, sum[m][j]);
    if (at == edge) copy_lines(rows, width, edge, PANEL, C, ldc);
}

__attribute__((unused)) static void kern_float_outer(int M, int N, int R, const real *const *A, size_t a0,
                                                     const real *const *B, size_t b0, real *C, int ldc,
                                                     void *scratch) {
    real *panels = scratch, *blocks = panels + OUTER_DEPTH * OUTER_COLUMNS;
    for (int r0 = 0; r0 < R; r0 += OUTER_DEPTH) {
        int depth = R - r0 < OUTER_DEPTH ? R - r0 : OUTER_DEPTH;
        for (int n0 = 0; n0 < N; n0 += OUTER_COLUMNS) {
            int columns = N - n0 < OUTER_COLUMNS ? N - n0 : OUTER_COLUMNS;
            gather_panels(depth, columns, B + r0, b0 + (size_t)n0, panels);
            for (int m0 = 0, rows; m0 < M; m0 += rows) {
                rows = !OUTER_COPIES || M - m0 < OUTER_ROWS ? M - m0 : OUTER_ROWS;
                if (OUTER_COPIES)
                    gather_rows(depth, rows, A + r0, a0 + (size_t)m0, blocks);
                else if (n0 == 0)
                    fetch_rows(depth, rows, A + r0, a0);
                for (int n = 0; n < columns; n += PANEL)
                    FOR_ROWS(rows, outer_block, depth, A + r0, a0 + (size_t)m0, blocks, panels + n * depth,
                             C + (size_t)m0 * (size_t)ldc + n0 + n, (size_t)ldc, columns - n)
            }
        }
    }
}

#endif
