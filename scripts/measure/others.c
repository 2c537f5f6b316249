/* others.c - processor time of the machine, from Linux's /proc/stat, less our own. */
#include "measure/others.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/log.h"

/* Busy time of all processors: user, nice, system, interrupts and what a hypervisor took; not idle or waiting. */
static double all_seconds(void) {
    double user, nice, system, idle, wait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "r");
    int read = file ? fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait,
                             &irq, &soft, &steal)
                    : 0;
    if (file) fclose(file);
    if (read != 8) return -1;
    return (user + nice + system + irq + soft + steal) / (double)sysconf(_SC_CLK_TCK);
}

static double used(int who) {
    struct rusage r;
    if (getrusage(who, &r)) return 0;
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

OthersClock others_begin(void) {
    return (OthersClock){clock_seconds(), all_seconds(), used(RUSAGE_SELF) + used(RUSAGE_CHILDREN)};
}

double others_end(const OthersClock *begin) {
    OthersClock now = others_begin();
    if (begin->all < 0 || now.all < 0 || now.wall <= begin->wall) return -1;
    double others = (now.all - begin->all - (now.own - begin->own)) / (now.wall - begin->wall);
    return others > 0 ? others : 0;
}
