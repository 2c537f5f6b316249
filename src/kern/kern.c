/* kern.c - chooses the best copy of the inner loops for this processor. */
#include "kern/kern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef KERN_AMX
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef ARCH_REQ_XCOMP_PERM
#define ARCH_REQ_XCOMP_PERM 0x1023
#endif
#endif

extern const Kernels KERNELS_base;
const Kernels *kern = &KERNELS_base;

#if defined(__x86_64__) && !defined(REAL_DOUBLE)
extern const Kernels KERNELS_avx2, KERNELS_avx512, KERNELS_vnni;

static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
static bool has_vnni(void) { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }

#ifdef KERN_BF16
extern const Kernels KERNELS_bf16;
static bool has_bf16(void) { return has_vnni() && __builtin_cpu_supports("avx512bf16"); }
#endif
#ifdef KERN_AMX
extern const Kernels KERNELS_amx;
/* A process must request the tile registers: they add 8 KB to the state of each thread. */
static bool has_amx(void) {
    enum { TILE = 1 << 24, BF16 = 1 << 22, INT8 = 1 << 25, ALL = TILE | BF16 | INT8, TILE_DATA = 18 };
    unsigned a, b, c, d;
    return has_vnni() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & ALL) == ALL &&
           !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA);
}
#endif

static const struct {
    const Kernels *table;
    bool (*usable)(void);
} TABLES[] = {/* the best first */
#ifdef KERN_AMX
              {&KERNELS_amx, has_amx},
#endif
#ifdef KERN_BF16
              {&KERNELS_bf16, has_bf16},
#endif
              {&KERNELS_vnni, has_vnni},
              {&KERNELS_avx512, has_avx512},
              {&KERNELS_avx2, has_avx2}};

const Kernels *kern_table(int i) {
    __builtin_cpu_init();
    for (size_t t = 0; t < sizeof TABLES / sizeof *TABLES; t++)
        if (TABLES[t].usable() && !i--) return TABLES[t].table;
    return i ? NULL : &KERNELS_base;
}

bool kern_bf16_is_slow(void) {
#ifdef KERN_BF16
    __builtin_cpu_init();
    return kern == &KERNELS_bf16 && __builtin_cpu_is("intel");
#else
    return false;
#endif
}
#else
const Kernels *kern_table(int i) { return i ? NULL : &KERNELS_base; }
bool kern_bf16_is_slow(void) { return false; }
#endif

Status kern_select(void) {
    static const char *const NAMES[] = {"base", "avx2", "avx512", "vnni", "bf16", "amx"};
    const char *requested = getenv("ATTN_MT_SIMD");
    char usable[64] = "";
    bool known = false;
    kern = kern_table(0);
    if (!requested || !requested[0]) return STATUS_OK;
    for (int i = 0; kern_table(i); i++) {
        const char *name = kern_table(i)->name;
        if (!strcasecmp(name, requested)) {
            kern = kern_table(i);
            return STATUS_OK;
        }
        size_t length = strlen(usable);
        snprintf(usable + length, sizeof usable - length, "%s%s", i ? ", " : "", name);
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) known |= !strcasecmp(NAMES[i], requested);
    if (known)
        status_fail(STATUS_USAGE, "ATTN_MT_SIMD: this processor does not support '%s'", requested);
    else
        status_fail(STATUS_USAGE, "ATTN_MT_SIMD: '%s' is not base, avx2, avx512, vnni, bf16 or amx",
                    requested);
    return status_hint(STATUS_USAGE, "this processor can run %s", usable);
}
