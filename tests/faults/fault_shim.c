/* fault_shim.c - a library for LD_PRELOAD that makes one system call or allocation of a program fail.
 *
 *     FAULT=CALL:K:HOW [FAULT_MARK=FILE] LD_PRELOAD=./fault_shim.so program...
 *
 * CALL  open, read, write, fsync, close, rename, unlink, ftruncate, flock, fchmod, access, mkdir, mmap,
 *       thread (pthread_create), alloc (malloc, calloc, realloc, aligned_alloc, except in BLAS)
 * K     the K-th call of that kind; "K+": the K-th call and all after it
 * HOW   the name of an error (ENOSPC, EIO, ...): the call does nothing and fails with the error
 *       "short": read and write transfer only half; "zero": they transfer nothing
 *       "slow": the call takes a tenth of a second longer (only mkdir)
 *       "kill", "killafter": the program is killed before or after the call
 *
 * The library creates FILE when it injects a fault, so that a sweep over K knows when to end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum { GO_ON, FAIL, SHORT, ZERO, KILL_AFTER } Fault;

static char fault_call[16];
static long fault_first, fault_last;
static int fault_error; /* errno, or 0 if fault_how is not an error */
static char fault_how[16];
static atomic_long calls;
static bool ready;

static int error_number(const char *name) {
    static const struct {
        const char *name;
        int number;
    } ERRORS[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO},       {"EINTR", EINTR},
                  {"EACCES", EACCES}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"ENOLCK", ENOLCK},
                  {"EAGAIN", EAGAIN}, {"EPERM", EPERM},   {"EROFS", EROFS},   {"EFBIG", EFBIG},
                  {"EINVAL", EINVAL}, {"EEXIST", EEXIST}, {"ENOSYS", ENOSYS}, {"ENOTSUP", ENOTSUP}};
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (strcmp(name, ERRORS[i].name) == 0) return ERRORS[i].number;
    return 0;
}

__attribute__((constructor)) static void read_fault(void) {
    const char *fault = getenv("FAULT");
    char number[24] = "";
    if (fault && sscanf(fault, "%15[^:]:%23[^:]:%15s", fault_call, number, fault_how) == 3) {
        fault_first = strtol(number, NULL, 10);
        fault_last = strchr(number, '+') ? INT32_MAX : fault_first;
        fault_error = error_number(fault_how);
    }
    ready = true;
}

static void mark(void) {
    const char *path = getenv("FAULT_MARK");
    if (!path) return;
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) syscall(SYS_close, fd);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* The fault to inject into this call of kind `call`. */
static Fault next_fault(const char *call) {
    if (!ready || strcmp(call, fault_call) != 0) return GO_ON;
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (number < fault_first || number > fault_last) return GO_ON;
    mark();
    if (strcmp(fault_how, "kill") == 0) die();
    if (strcmp(fault_how, "killafter") == 0) return KILL_AFTER;
    if (strcmp(fault_how, "short") == 0) return SHORT;
    if (strcmp(fault_how, "zero") == 0) return ZERO;
    if (strcmp(fault_how, "slow") == 0) {
        usleep(100000);
        return GO_ON;
    }
    errno = fault_error ? fault_error : EIO;
    return FAIL;
}

/* gcov writes files at the end of the program: no faults from its first getenv on. */
char *getenv(const char *name) {
    size_t length = strlen(name);
    if (strncmp(name, "GCOV_", 5) == 0) ready = false;
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
    return NULL;
}

/* The C library's own function. */
static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

#define NEXT(type, name)                                                                                     \
    static type real_##name;                                                                                 \
    if (!real_##name) {                                                                                      \
        void *found_ = next(#name);                                                                          \
        memcpy(&real_##name, &found_, sizeof found_);                                                        \
    }

/* A wrapper for a function that returns -1 when it fails. */
#define WRAP(call, type, name, parameters, arguments)                                                        \
    type name parameters {                                                                                   \
        typedef type(*Function) parameters;                                                                  \
        NEXT(Function, name)                                                                                 \
        Fault fault = next_fault(call);                                                                      \
        if (fault == FAIL) return -1;                                                                        \
        type result = real_##name arguments;                                                                 \
        if (fault == KILL_AFTER) die();                                                                      \
        return result;                                                                                       \
    }

WRAP("fsync", int, fsync, (int fd), (fd))
WRAP("fsync", int, fdatasync, (int fd), (fd))
WRAP("rename", int, rename, (const char *from, const char *to), (from, to))
WRAP("unlink", int, unlink, (const char *path), (path))
WRAP("ftruncate", int, ftruncate, (int fd, off_t size), (fd, size))
WRAP("flock", int, flock, (int fd, int operation), (fd, operation))
WRAP("fchmod", int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP("mkdir", int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP("access", int, access, (const char *path, int mode), (path, mode))

/* A failing close also closes the descriptor, as on Linux. */
int close(int fd) {
    typedef int (*Function)(int);
    NEXT(Function, close)
    Fault fault = next_fault("close");
    int error = errno, result = real_close(fd);
    if (fault == KILL_AFTER) die();
    if (fault != FAIL) return result;
    errno = error;
    return -1;
}

ssize_t read(int fd, void *data, size_t bytes) {
    typedef ssize_t (*Function)(int, void *, size_t);
    NEXT(Function, read)
    Fault fault = next_fault("read");
    if (fault == FAIL || fault == ZERO) return fault == FAIL ? -1 : 0;
    ssize_t result = real_read(fd, data, fault == SHORT && bytes > 1 ? bytes / 2 : bytes);
    if (fault == KILL_AFTER) die();
    return result;
}

ssize_t pread(int fd, void *data, size_t bytes, off_t offset) {
    typedef ssize_t (*Function)(int, void *, size_t, off_t);
    NEXT(Function, pread)
    Fault fault = next_fault("read");
    if (fault == FAIL || fault == ZERO) return fault == FAIL ? -1 : 0;
    return real_pread(fd, data, fault == SHORT && bytes > 1 ? bytes / 2 : bytes, offset);
}

/* The names that read and pread have with _FORTIFY_SOURCE. */
ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room) {
    if (bytes > room) abort();
    return read(fd, data, bytes);
}
ssize_t __pread_chk(int fd, void *data, size_t bytes, off_t offset, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t bytes, off_t offset, size_t room) {
    if (bytes > room) abort();
    return pread(fd, data, bytes, offset);
}

/* "killafter" kills in the middle of the write: half of the bytes arrive. */
ssize_t write(int fd, const void *data, size_t bytes) {
    typedef ssize_t (*Function)(int, const void *, size_t);
    NEXT(Function, write)
    Fault fault = next_fault("write");
    if (fault == FAIL) return -1;
    if (fault == ZERO) return 0;
    bool half = (fault == SHORT || fault == KILL_AFTER) && bytes > 1;
    ssize_t result = real_write(fd, data, half ? bytes / 2 : bytes);
    if (fault == KILL_AFTER) die();
    return result;
}

#define WRAP_OPEN(name)                                                                                      \
    int name(const char *path, int flags, ...) {                                                             \
        typedef int (*Function)(const char *, int, ...);                                                     \
        NEXT(Function, name)                                                                                 \
        va_list arguments;                                                                                   \
        va_start(arguments, flags);                                                                          \
        mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;                                       \
        va_end(arguments);                                                                                   \
        Fault fault = next_fault("open");                                                                    \
        if (fault == FAIL) return -1;                                                                        \
        int result = real_##name(path, flags, mode);                                                         \
        if (fault == KILL_AFTER) die();                                                                      \
        return result;                                                                                       \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    typedef void *(*Function)(void *, size_t, int, int, int, off_t);
    NEXT(Function, mmap)
    if (next_fault("mmap") == FAIL) return MAP_FAILED;
    return real_mmap(address, bytes, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    typedef int (*Function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    NEXT(Function, pthread_create)
    if (next_fault("thread") == FAIL) return errno;
    return real_pthread_create(thread, attributes, start, argument);
}

/* dlsym allocates, so the wrappers call glibc's internal names. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* OpenBLAS does not check its allocations (0.3.21, kernels of small products), so they never fail here. */
static bool is_refused(void *caller) {
    Dl_info info;
    if (next_fault("alloc") != FAIL) return false;
    return !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "blas");
}
#define REFUSED is_refused(__builtin_return_address(0))

void *malloc(size_t bytes) { return REFUSED ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t size) { return REFUSED ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t bytes) { return REFUSED ? NULL : __libc_realloc(old, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) {
    return REFUSED ? NULL : __libc_memalign(alignment, bytes);
}
