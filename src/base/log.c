/* log.c - messages to standard error, one write per line. */
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "base/strview.h"
#include "base/unicode.h"
#include "base/utf8.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static LogLevel log_level = LOG_INFO;
static bool progress_shown;
static char warning_prefix[96] = "attn-mt: "; /* of warnings and errors */

static _Thread_local bool log_silent;

void log_set_level(LogLevel level) { log_level = level; }
bool log_set_silent(bool silent) {
    bool before = log_silent;
    log_silent = silent;
    return before;
}
void log_set_origin(const char *origin) {
    snprintf(warning_prefix, sizeof warning_prefix, "attn-mt: %s: ", origin);
}

/* One write, so that lines of several processes do not mix; a failed write to standard error is ignored. */
static void put(const char *text, size_t length) {
    while (length > 0) {
        ssize_t done = write(STDERR_FILENO, text, length);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return;
        text += done;
        length -= (size_t)done;
    }
}

void log_sanitize(char *text, size_t length) {
    for (size_t at = 0, next = 0; at < length; at = next) {
        int code_point = utf8_next((StrView){text, length}, &next);
        bool shown = !utf8_is_control(code_point) || code_point == '\n' || code_point == '\t';
        for (size_t i = at; i < next; i++) {
            /* Terminals that do not read UTF-8 obey these bytes, too. */
            bool stray = code_point == UTF8_REPLACEMENT && (text[i] & 0xE0) == 0x80;
            if (!shown || stray) text[i] = '?';
        }
    }
}

/* Indents the text after a line feed in a message, so that a name with a line feed cannot look like a message
 * of the program. */
static size_t indent_lines(char *line, size_t start, size_t size) {
    size_t end = strlen(line);
    for (size_t i = start; i < end; i++) {
        if (line[i] != '\n' || end + 2 >= size) continue;
        memmove(line + i + 3, line + i + 1, end - i); /* with the NUL */
        line[i + 1] = line[i + 2] = ' ';
        end += 2;
    }
    return end;
}

/* Wraps a line that is wider than the terminal between words; the next lines begin after the column of
 * labels. */
static size_t wrap(char *line, size_t start, size_t size) {
    enum { LABEL = 9 };
    int width = log_terminal_width(STDERR_FILENO), column = 0;
    size_t end = strlen(line), space = 0;
    for (size_t i = start; i < end;) {
        if (line[i] == ' ' && column > LABEL) space = i;
        if (line[i] == '\n') space = 0, column = -1;
        column += unicode_width(utf8_next((StrView){line, end}, &i));
        if (column <= width || space == 0 || end + LABEL >= size) continue;
        line[space] = '\n';
        memmove(line + space + 1 + LABEL, line + space + 1, end - space);
        memset(line + space + 1, ' ', LABEL);
        end += LABEL;
        i = space + 1 + LABEL;
        column = LABEL;
        space = 0;
    }
    return end;
}

static void put_line(const char *prefix, const char *format, va_list arguments) {
    char line[4096];
    int length = snprintf(line, sizeof line, "%s%s", progress_shown ? "\r\033[K" : "", prefix);
    int added = vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    if (added < 0) return;
    log_sanitize(line + length, strlen(line + length));
    size_t end = indent_lines(line, (size_t)length, sizeof line - 1);
    if (!prefix[0] && log_is_terminal()) end = wrap(line, (size_t)length, sizeof line - 1);
    line[end++] = '\n';
    progress_shown = false;
    put(line, end);
}

#define LOG_AT(level, prefix)                                                                                \
    do {                                                                                                     \
        if (log_level < (level) || log_silent) return;                                                       \
        va_list arguments;                                                                                   \
        va_start(arguments, format);                                                                         \
        pthread_mutex_lock(&log_lock);                                                                       \
        put_line(prefix, format, arguments);                                                                 \
        pthread_mutex_unlock(&log_lock);                                                                     \
        va_end(arguments);                                                                                   \
    } while (0)

void log_info(const char *format, ...) { LOG_AT(LOG_INFO, ""); }

void log_warn(const char *format, ...) { LOG_AT(LOG_WARN, warning_prefix); }

__attribute__((format(printf, 2, 3))) static void put_always(const char *prefix, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_line(prefix, format, arguments);
    va_end(arguments);
}

void log_failure(void) {
    if (!status_message()[0]) return;
    pthread_mutex_lock(&log_lock);
    put_always(warning_prefix, "%s", status_message());
    if (status_hint_text()[0]) put_always("hint: ", "%s", status_hint_text());
    pthread_mutex_unlock(&log_lock);
}

bool log_is_terminal(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && !(terminal && strcmp(terminal, "dumb") == 0);
}

void log_progress(const char *format, ...) {
    if (log_level < LOG_INFO || log_silent || !log_is_terminal()) return;
    char line[1024] = "\r";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + 1, sizeof line - 8, format, arguments);
    va_end(arguments);
    log_sanitize(line + 1, strlen(line + 1));
    /* A line that wraps cannot be wiped: cut it to the width, not inside a UTF-8 sequence. */
    size_t end = 1;
    for (int column = 0, width = log_terminal_width(STDERR_FILENO); line[end] && column < width - 1;
         column++) {
        end++;
        while (utf8_continues(line[end])) end++;
    }
    memcpy(line + end, "\033[K", 4);
    pthread_mutex_lock(&log_lock);
    put(line, end + 3);
    progress_shown = true;
    pthread_mutex_unlock(&log_lock);
}

double log_progress_interval(void) {
    static atomic_bool warned;
    const char *setting = getenv("ATTN_MT_PROGRESS");
    char *end = NULL;
    double seconds = setting ? strtod(setting, &end) : 0;
    bool valid = !setting || (*end == '\0' && seconds >= 0 && isfinite(seconds));
    if (!valid && !atomic_exchange(&warned, true))
        log_warn("ATTN_MT_PROGRESS=%s is not a number of seconds: ignored", setting);
    if (!valid) seconds = 0;
    return seconds > 0 ? seconds : log_is_terminal() ? 0.25 : 60;
}

void log_progress_end(void) {
    pthread_mutex_lock(&log_lock);
    if (progress_shown) put("\r\033[K", 4);
    progress_shown = false;
    pthread_mutex_unlock(&log_lock);
}

bool log_may_colour(int fd) {
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(fd) == 1 && !(no_colour && no_colour[0]) && terminal && strcmp(terminal, "dumb") != 0;
}

bool log_true_colour(int fd) {
    const char *colours = getenv("COLORTERM"), *terminal = getenv("TERM");
    if (!log_may_colour(fd)) return false;
    if (colours && (strcmp(colours, "truecolor") == 0 || strcmp(colours, "24bit") == 0)) return true;
    return strstr(terminal, "direct") || strstr(terminal, "truecolor");
}

int log_terminal_width(int fd) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char *columns = getenv("COLUMNS");
    int width = columns ? atoi(columns) : 0;
    return width >= 20 && width <= 1000 ? width : 80;
}

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
