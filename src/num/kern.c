/* kern.c - which copy of the inner loops this processor can run best. */
#include "num/kern.h"

#include <stdlib.h>
#include <string.h>

extern const Kernels KERNELS_base;
const Kernels *kern = &KERNELS_base;

#if defined(__x86_64__) && !defined(REAL_DOUBLE)
extern const Kernels KERNELS_avx2, KERNELS_avx512;

void kern_select(void) {
    const char *wish = getenv("ATTN_MT_SIMD");
    int limit = !wish || !strcmp(wish, "avx512") ? 2 : !strcmp(wish, "avx2") ? 1 : 0;
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    kern = avx512 && limit >= 2 ? &KERNELS_avx512 : avx2 && limit >= 1 ? &KERNELS_avx2 : &KERNELS_base;
}
#else
void kern_select(void) { kern = &KERNELS_base; }
#endif

size_t gemm_packed_size(int K, int N) {
    size_t panels = ((size_t)N + (size_t)kern->panel - 1) / (size_t)kern->panel;
    return panels * (size_t)kern->panel * (size_t)K;
}
