/* fileio_write.c - files that appear whole or not at all.
 *
 * The order open, write, fsync, close, rename, fsync of the folder is what makes the result survive a crash
 * at any moment (Pillai et al. 2014, "All file systems are not created equal"). A failed fsync is never
 * repeated on the same file: the kernel may have dropped the data and would report success.
 */
#include "io/fileio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"

enum { BUFFER_BYTES = 64 * 1024, LONGEST_START = 200 };

struct OutFile {
    OutFile *next; /* in the list of open files */
    int fd, folder_fd;
    bool borrowed;   /* fd is standard output or error */
    char *path;      /* the caller's name, for messages */
    char *target;    /* the file to replace: `path` after following symbolic links */
    char *temporary; /* NULL when written directly */
    int error;       /* errno of the first failed write */
    size_t held;
    char buffer[BUFFER_BYTES];
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static OutFile *open_files;

static void list_add(OutFile *file) {
    pthread_mutex_lock(&list_lock);
    file->next = open_files;
    open_files = file;
    pthread_mutex_unlock(&list_lock);
}

static void list_remove(OutFile *file) {
    pthread_mutex_lock(&list_lock);
    for (OutFile **link = &open_files; *link; link = &(*link)->next) {
        if (*link == file) {
            *link = file->next;
            break;
        }
    }
    pthread_mutex_unlock(&list_lock);
}

/* Returns the old name. It needs the lock, because file_discard_all reads the name in other threads. */
static char *name_temporary(OutFile *file, char *name) {
    pthread_mutex_lock(&list_lock);
    char *before = file->temporary;
    file->temporary = name;
    pthread_mutex_unlock(&list_lock);
    return before;
}

int file_open(const char *path, int flags, unsigned mode) {
    int fd;
    do fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* "folder/" of a path with its length, or "./". */
static StrView folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (StrView){path, (size_t)(slash - path) + 1} : SV("./");
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ".name.", the prefix of a target's temporary files. Long names are cut, because file names have a limit. */
static void add_prefix(StrBuf *out, const char *target) {
    strbuf_format(out, ".%.*s.", LONGEST_START, name_of(target));
}

/* Is this "PID-N.tmp", the part after the prefix? */
static bool ends_as_temporary(const char *name) {
    int end = 0;
    sscanf(name, "%*[0-9]-%*[0-9].tmp%n", &end);
    return end > 0 && !name[end];
}

/* Removes temporary files of `target` that a killed program left. A living writer has a lock on its file. */
static void remove_stale(const char *target) {
    StrBuf prefix = {0}, path = {0};
    StrView folder = folder_of(target);
    add_prefix(&prefix, target);
    strbuf_add(&path, folder);
    DIR *entries = opendir(strbuf_text(&path));
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        StrView name = sv(entry->d_name);
        if (!sv_starts(name, strbuf_view(&prefix)) || !ends_as_temporary(name.data + prefix.length)) continue;
        strbuf_clear(&path);
        strbuf_add(&path, folder);
        strbuf_add(&path, name);
        int fd = file_open(strbuf_text(&path), O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
        if (fd < 0) continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(strbuf_text(&path));
        close(fd);
    }
    if (entries) closedir(entries);
    strbuf_free(&prefix);
    strbuf_free(&path);
}

static Status fail_create(const char *path, int error) {
    Status status = status_fail(STATUS_RUNTIME, "cannot create '%.700s': %s", path, strerror(error));
    if (error == ENOENT) status_hint(status, "create the folder first");
    return status;
}

/* Opens ".name.PID-N.tmp" in the folder of the target. */
static Status open_temporary(OutFile *file) {
    static unsigned serial;
    StrView folder = folder_of(file->target);
    char *folder_path = mem_strndup(folder.data, folder.length);
    file->folder_fd = file_open(folder_path, O_RDONLY | O_DIRECTORY, 0);
    int error = errno;
    mem_free(folder_path);
    /* A folder that may be written but not listed cannot be synced; everything else is an error. */
    if (file->folder_fd < 0 && error != EACCES) return fail_create(file->path, error);
    remove_stale(file->target);
    for (int attempt = 0; attempt < 100; attempt++) {
        pthread_mutex_lock(&list_lock);
        unsigned number = serial++;
        pthread_mutex_unlock(&list_lock);
        StrBuf path = {0};
        strbuf_add(&path, folder);
        add_prefix(&path, file->target);
        strbuf_format(&path, "%ld-%u.tmp", (long)getpid(), number);
        file->fd = file_open(path.data, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
        error = errno;
        if (file->fd >= 0) {
            /* On file systems without locks, stale files are not found either. */
            bool is_locked = flock(file->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
            struct stat about;
            if (!is_locked && (fstat(file->fd, &about) != 0 || about.st_nlink > 0)) {
                name_temporary(file, path.data);
                return STATUS_OK;
            }
            close(file->fd); /* another process removed it as stale before this one had the lock */
            error = EEXIST;
        }
        strbuf_free(&path);
        if (error != EEXIST) break;
    }
    return fail_create(file->path, error);
}

/* Standard output and error by their names: opening those would write from the start of a redirected file. */
static int standard_descriptor(const char *path) {
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    return strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
}

static Status open_target(OutFile *file) {
    file->fd = standard_descriptor(file->path);
    file->borrowed = file->fd >= 0;
    if (file->borrowed) return STATUS_OK;
    if (!file->path[0]) return fail_create(file->path, EINVAL); /* only renaming would fail */
    struct stat about;
    if (stat(file->path, &about) != 0) {
        if (errno != ENOENT) return fail_create(file->path, errno);
        /* A link to nothing must stay a link: its text is the target. */
        if (lstat(file->path, &about) == 0) return fail_create(file->path, ENOENT);
        file->target = mem_strdup(file->path);
        return open_temporary(file);
    }
    if (S_ISDIR(about.st_mode)) return fail_create(file->path, EISDIR);
    if (!S_ISREG(about.st_mode)) {
        file->fd = file_open(file->path, O_WRONLY | O_NOCTTY, 0);
        return file->fd < 0 ? fail_create(file->path, errno) : STATUS_OK;
    }
    /* Renaming would replace a write-protected file without an error. */
    if (access(file->path, W_OK) != 0) return fail_create(file->path, errno);
    char *resolved = realpath(file->path, NULL);
    if (!resolved) return fail_create(file->path, errno);
    file->target = mem_strdup(resolved);
    free(resolved);
    TRY(open_temporary(file));
    if (fchmod(file->fd, about.st_mode & 0777) != 0) return fail_create(file->path, errno);
    return STATUS_OK;
}

/* Closes the file and frees it. It removes the temporary file first, because a signal may end the program at
 * any point. */
static void release(OutFile *file) {
    if (file->temporary) unlink(file->temporary);
    list_remove(file);
    if (file->fd >= 0 && !file->borrowed) close(file->fd);
    if (file->folder_fd >= 0) close(file->folder_fd);
    mem_free(file->temporary);
    mem_free(file->target);
    mem_free(file->path);
    mem_free(file);
}

Status file_create(OutFile **created, const char *path) {
    OutFile *file = mem_alloc(1, sizeof *file);
    file->path = mem_strdup(path);
    file->fd = file->folder_fd = -1;
    list_add(file);
    Status status = open_target(file);
    if (status != STATUS_OK) {
        release(file);
        return status;
    }
    *created = file;
    return STATUS_OK;
}

static void write_fully(OutFile *file, const char *data, size_t bytes) {
    while (bytes > 0 && file->error == 0) {
        ssize_t done = write(file->fd, data, bytes);
        if (done > 0) {
            data += done;
            bytes -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            file->error = done == 0 ? ENOSPC : errno;
        }
    }
}

static void flush_buffer(OutFile *file) {
    size_t bytes = file->held;
    file->held = 0;
    write_fully(file, file->buffer, bytes);
}

static Status fail_write(const OutFile *file, int error) {
    const char *path = strcmp(file->path, "-") == 0 ? "standard output" : file->path;
    return status_fail(STATUS_RUNTIME, "cannot write '%.700s': %s", path, strerror(error));
}

Status file_write(OutFile *file, const void *data, size_t bytes) {
    if (bytes > BUFFER_BYTES - file->held) flush_buffer(file);
    if (bytes >= BUFFER_BYTES) {
        write_fully(file, data, bytes);
    } else if (bytes > 0) {
        memcpy(file->buffer + file->held, data, bytes);
        file->held += bytes;
    }
    return file->error ? fail_write(file, file->error) : STATUS_OK;
}

Status file_flush(OutFile *file) {
    flush_buffer(file);
    return file->error ? fail_write(file, file->error) : STATUS_OK;
}

/* fsync, repeated only after an interruption. Pipes and some file systems have nothing to sync. */
static bool sync_fully(int fd) {
    int result;
    do result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS;
}

/* All steps to the rename. Afterwards the temporary file is gone, or release() removes it. */
static Status put_in_place(OutFile *file) {
    flush_buffer(file);
    if (file->error) return fail_write(file, file->error);
    if (!file->temporary) return STATUS_OK;
    if (!sync_fully(file->fd)) return fail_write(file, errno);
    int fd = file->fd;
    file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* keeps the lock: without it the file looks stale */
    if (close(fd) != 0 && errno != EINTR) return fail_write(file, errno);
    int result;
    do result = rename(file->temporary, file->target);
    while (result != 0 && errno == EINTR);
    if (result != 0) return fail_write(file, errno);
    mem_free(name_temporary(file, NULL));
    if (file->folder_fd >= 0 && !sync_fully(file->folder_fd)) {
        return status_fail(STATUS_RUNTIME, "cannot make sure that '%.700s' survives a power failure: %s",
                           file->path, strerror(errno));
    }
    return STATUS_OK;
}

Status file_commit(OutFile *file) {
    Status status = put_in_place(file);
    if (status == STATUS_OK && !file->target && !file->borrowed) {
        int fd = file->fd;
        file->fd = -1;
        if (close(fd) != 0 && errno != EINTR) status = fail_write(file, errno);
    }
    release(file);
    return status;
}

void file_discard(OutFile *file) {
    if (file) release(file);
}

Status file_write_whole(const char *path, StrView content) {
    OutFile *file;
    TRY(file_create(&file, path));
    Status status = file_write(file, content.data, content.length);
    if (status == STATUS_OK) return file_commit(file);
    file_discard(file);
    return status;
}

/* The files stay allocated: their owners may still be at work in other threads. */
void file_discard_all(void) {
    if (pthread_mutex_trylock(&list_lock) != 0) return;
    for (OutFile *file = open_files; file; file = file->next)
        if (file->temporary) unlink(file->temporary);
    pthread_mutex_unlock(&list_lock);
}
