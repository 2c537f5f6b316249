/* status.h - the result of a function that can fail, and the reason.
 *
 * Every function that can fail because of the outside world (files, data, configuration) returns a Status.
 * Its numeric value is the exit code of the program. The text lives in a buffer of the calling thread: the
 * message is in lower case, cause first, subject quoted; the hint tells what the user can do.
 *
 *     if (!file) return status_fail(STATUS_RUNTIME, "cannot open '%s': %s", path, strerror(errno));
 *     TRY(file_read(path, 0, &content));
 *
 * Owner   the text belongs to the thread until its next status_fail
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

typedef enum {
    STATUS_OK = 0,
    STATUS_RUNTIME = 1,  /* input/output, memory */
    STATUS_USAGE = 2,    /* command line or configuration */
    STATUS_DATA = 3,     /* bad input data or model file */
    STATUS_DIVERGED = 4, /* training produced a non-finite number */
    STATUS_STOPPED = 5,  /* stopped by a signal after saving; cli turns it into 128+N */
    STATUS_LOST = 6,     /* another process of the same training run is gone */
} Status;

/* Records a failure and clears the hint. Returns `code`, so that the caller can return it at once. */
Status status_fail(Status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a hint to the recorded failure. Returns `code`. */
Status status_hint(Status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts context before the recorded message ("config 'a.json': ..."). Returns `code`. */
Status status_context(Status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *status_message(void);   /* "" if nothing failed yet */
const char *status_hint_text(void); /* "" if there is no hint */

/* A copy of a thread's failure, which another thread may read. */
typedef struct {
    Status code;
    char message[1024], hint[1024];
} StatusRecord;
void status_save(StatusRecord *record, Status code);
Status status_restore(const StatusRecord *record);

#define TRY(expression)                                                                                      \
    do {                                                                                                     \
        Status try_status_ = (expression);                                                                   \
        if (try_status_ != STATUS_OK) return try_status_;                                                    \
    } while (0)

#endif
