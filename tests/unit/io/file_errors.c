/* file_errors.c - rare cases of files: no free descriptor, standard streams by name, files that cannot be
 * removed, compressed data that ends at the end of a buffer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "unit/text_fixture.h"

static void assert_fails(Status status, const char *part) {
    assert_int_equal(status, STATUS_RUNTIME);
    if (!strstr(status_message(), part)) fail_msg("'%s' is not in '%s'", part, status_message());
}

/* The content ends exactly at the end of a decompression buffer. */
static void compressed_blocks_fit(void **state) {
    (void)state;
    static char text[4 * 65536];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i * i % 26);
    for (size_t bytes = 65536; bytes <= sizeof text; bytes *= 2)
        for (size_t more = 0; more < 3; more++) {
            size_t length = bytes - 1 + more < sizeof text ? bytes - 1 + more : sizeof text;
            const char *path = fixture_path("block.gz");
            gzFile file = gzopen(path, "wb");
            assert_int_equal(gzwrite(file, text, (unsigned)length), length);
            assert_int_equal(gzclose(file), Z_OK);
            StrBuf content = {0};
            assert_int_equal(file_read(path, 0, &content), STATUS_OK);
            assert_true(content.length == length && memcmp(content.data, text, length) == 0);
            strbuf_free(&content);
        }
}

static void folders_have_limits(void **state) {
    (void)state;
    assert_fails(file_make_dirs("/dev/null/inside", NULL), "a file has that name");
    if (access("/proc/self", F_OK) == 0) assert_fails(file_make_dirs("/proc/inside", NULL), "No such file");
}

/* A link and other files with names like temporary files. */
static void strangers_stay(void **state) {
    (void)state;
    static const char *const NAMES[] = {".m.2-0.kept", ".m.tmp", ".m.2.tmp", ".m.2-0.x.tmp",
                                        ".m.2-0.tmp.tmp"};
    enum { COUNT = sizeof NAMES / sizeof *NAMES };
    assert_int_equal(symlink("nowhere", fixture_path(".m.1-0.tmp")), 0);
    for (int i = 0; i < COUNT; i++) fixture_write(NAMES[i], "x", 1);
    assert_int_equal(file_write_whole(fixture_path("m"), SV("new")), STATUS_OK);
    char link[16];
    assert_int_equal(readlink(fixture_path(".m.1-0.tmp"), link, sizeof link), 7);
    for (int i = 0; i < COUNT; i++)
        if (!file_exists(fixture_path(NAMES[i]))) fail_msg("%s", NAMES[i]);
}

static void no_descriptor_is_left(void **state) {
    (void)state;
    struct rlimit limit, none;
    const char *path = fixture_path("unopened");
    OutFile *file = NULL;
    LineReader *reader = NULL;
    char reason[3][256];
    Status status[3];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    status[0] = file_create(&file, path);
    strcpy(reason[0], status_message());
    status[1] = file_create(&file, "/dev/null");
    strcpy(reason[1], status_message());
    status[2] = line_reader_open(&reader, "/dev/null");
    strcpy(reason[2], status_message());
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(status[i], STATUS_RUNTIME);
        if (!strstr(reason[i], "Too many open files")) fail_msg("%s", reason[i]);
    }
    assert_true(file == NULL && reader == NULL);
    assert_false(file_exists(path));
}

/* Standard error that is a file keeps its position. */
static void standard_error_has_a_name(void **state) {
    (void)state;
    int kept = dup(STDERR_FILENO);
    int target = open(fixture_path("stderr"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(target, STDERR_FILENO);
    close(target);
    Status status = file_write_whole("/dev/stderr", SV("part 0\n"));
    if (status == STATUS_OK) status = file_write_whole("/dev/stderr", SV("part 1\n"));
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_int_equal(status, STATUS_OK);
    StrBuf content = {0};
    assert_int_equal(file_read(fixture_path("stderr"), 0, &content), STATUS_OK);
    assert_string_equal(strbuf_text(&content), "part 0\npart 1\n");
    strbuf_free(&content);
}

/* More than the buffer: the write fails before the end. */
static void a_full_device_is_noticed_early(void **state) {
    (void)state;
    static char much[1 << 20];
    if (access("/dev/full", W_OK) != 0) skip();
    assert_fails(file_write_whole("/dev/full", (StrView){much, sizeof much}),
                 "cannot write '/dev/full': No space left");
}

/* Replaces the C library's function, to simulate that another thread holds the list of files. */
static bool list_is_busy;
int pthread_mutex_trylock(pthread_mutex_t *mutex) { return list_is_busy ? EBUSY : pthread_mutex_lock(mutex); }

/* Called on any thread if memory runs out: it must not wait for another thread, and the list has files
 * without a temporary file. */
static void discarding_all_never_waits(void **state) {
    (void)state;
    OutFile *file, *without;
    assert_int_equal(file_make_dirs(fixture_path("busy"), NULL), STATUS_OK);
    assert_int_equal(file_create(&file, fixture_path("busy/file")), STATUS_OK);
    assert_int_equal(file_create(&without, "-"), STATUS_OK);
    list_is_busy = true;
    file_discard_all();
    list_is_busy = false;
    assert_int_not_equal(rmdir(fixture_path("busy")), 0); /* the temporary file is in it */
    file_discard_all();
    assert_int_equal(rmdir(fixture_path("busy")), 0);
    file_discard(file);
    file_discard(without);
}

/* Replaces the C library's function, to simulate another writer of the same file. */
static const char *other_writes;
static ino_t taken;

int rename(const char *from, const char *to) {
    const char *path = other_writes;
    OutFile *other;
    other_writes = NULL;
    if (path) assert_int_equal(file_create(&other, path), STATUS_OK);
    if (path) file_discard(other);
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int flock(int fd, int operation) {
    struct stat about;
    if (!other_writes) return (int)syscall(SYS_flock, fd, operation);
    other_writes = NULL;
    assert_int_equal(fstat(fd, &about), 0);
    taken = about.st_ino;
    errno = EWOULDBLOCK;
    return -1;
}

/* A writer removes stale temporary files of the same file. It must not remove a file that another writer is
 * about to rename, or that another writer has just created and not locked yet. */
static void writers_do_not_meet(void **state) {
    (void)state;
    const char *path = fixture_path("shared");
    OutFile *file;
    struct stat about;
    assert_int_equal(file_create(&file, path), STATUS_OK);
    other_writes = path;
    assert_int_equal(file_commit(file), STATUS_OK);
    assert_null(other_writes);
    other_writes = path;
    assert_int_equal(file_create(&file, path), STATUS_OK);
    assert_int_equal(file_commit(file), STATUS_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_true(taken != 0 && about.st_ino != taken);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compressed_blocks_fit),
        cmocka_unit_test(folders_have_limits),
        cmocka_unit_test(strangers_stay),
        cmocka_unit_test(no_descriptor_is_left),
        cmocka_unit_test(standard_error_has_a_name),
        cmocka_unit_test(a_full_device_is_noticed_early),
        cmocka_unit_test(discarding_all_never_waits),
        cmocka_unit_test(writers_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
