/* client.c - clients of `attn-mt serve` for tests and measurements: correct, slow and faulty ones.
 *
 *   serve-client PORT send                    send standard input unchanged, print the answer
 *   serve-client PORT last                    the same, then shut down the sending side
 *   serve-client PORT load CLIENTS SECONDS TEXTS TRANSLATIONS
 *                                             translate lines of TEXTS with CLIENTS connections and compare
 *                                             with TRANSLATIONS; SECONDS 0: each line once
 *   serve-client PORT pairs CLIENTS SECONDS FILE
 *                                             the same with lines SOURCE TAB TARGET TAB TEXT TAB TRANSLATION,
 *                                             for servers of several languages; SOURCE can be auto
 *   serve-client PORT beside CLIENTS BYTES COUNT
 *                                             send COUNT short texts, one at a time, while CLIENTS repeatedly
 *                                             translate a word of BYTES letters
 *   serve-client PORT hold COUNT SECONDS      COUNT connections send standard input and read nothing
 *   serve-client PORT leave COUNT             COUNT connections send standard input and close at once
 *   serve-client PORT slow COUNT SECONDS      COUNT connections that send a byte per second
 *   serve-client PORT rude COUNT              disconnect in the head, in the body, before the answer, in turn
 *   serve-client PORT connect COUNT           COUNT connections, one at a time, each with a request
 *   serve-client PORT listen COMMAND...       listen, and run a command with the socket, as systemd does
 *                                             (LISTEN_FDS); $PORT is the port, PORT 0 selects a free one
 *
 * `load` and `pairs` print "REQUESTS requests, WRONG wrong, PER_SECOND per second, P50 P99 ms"; they fail if
 * a translation is wrong or missing. `beside` prints "COUNT short, LONG long, P50 P99 ms" of the short texts;
 * it fails if one of them has no answer.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES = 1 << 20, LINE_BYTES = 1 << 15, KEPT = 1 << 16 };

static int port;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(double seconds) {
    long whole = (long)seconds;
    nanosleep(&(struct timespec){whole, (long)(1e9 * (seconds - (double)whole))}, NULL);
}

static int dial(void) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (fd >= 0) close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static bool send_all(int fd, const char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        data += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

/* One whole answer with a Content-Length; returns its status, 0 if the connection broke. `answer` gets the
 * body; *last: the server closes the connection after it. */
static int receive(int fd, char *answer, bool *last) {
    size_t got = 0;
    answer[0] = '\0';
    for (;;) {
        ssize_t bytes = recv(fd, answer + got, ANSWER_BYTES - 1 - got, 0);
        if (bytes <= 0) return 0;
        got += (size_t)bytes;
        answer[got] = '\0';
        const char *end = strstr(answer, "\r\n\r\n"), *length = strcasestr(answer, "\r\nContent-Length:");
        if (!end || !length || length > end) continue;
        size_t body = (size_t)atol(length + 17);
        if (got < (size_t)(end + 4 - answer) + body) continue;
        int status = atoi(answer + 9);
        const char *close_after = strcasestr(answer, "\r\nConnection: close\r\n");
        *last = close_after && close_after < end;
        memmove(answer, end + 4, body);
        answer[body] = '\0';
        return status;
    }
}

/* A request to translate, as a form. `languages`: more fields, or "". */
static size_t make_request(const char *languages, const char *text, char *request) {
    static const char HEX[] = "0123456789ABCDEF";
    char form[3 * LINE_BYTES + 128];
    size_t length = (size_t)sprintf(form, "%.100sq=", languages);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        form[length++] = '%';
        form[length++] = HEX[*c >> 4];
        form[length++] = HEX[*c & 15];
    }
    size_t head = (size_t)sprintf(request,
                                  "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                  "application/x-www-form-urlencoded\r\nContent-Length: %zu\r\n\r\n",
                                  length);
    memcpy(request + head, form, length);
    return head + length;
}

/* ---- load ---- */

typedef struct {
    char **lines;
    int count;
} Lines;

static Lines texts, translations, languages; /* languages: "source=en&target=fr&", or none */
static atomic_int next_line, wrong, requests;
static double deadline; /* 0: each line once */
static double took[KEPT];

static void add_line(Lines *lines, const char *line) {
    lines->lines = realloc(lines->lines, (size_t)(lines->count + 1) * sizeof *lines->lines);
    lines->lines[lines->count++] = strdup(line);
}

static void free_lines(Lines *lines) {
    for (int i = 0; i < lines->count; i++) free(lines->lines[i]);
    free(lines->lines);
}

static Lines read_lines(const char *path) {
    Lines lines = {0};
    FILE *file = fopen(path, "r");
    char line[LINE_BYTES];
    if (!file) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        add_line(&lines, line);
    }
    fclose(file);
    return lines;
}

/* Does the answer say so? */
static bool has_translation(const char *answer, const char *translation) {
    char expected[2 * LINE_BYTES + 32];
    size_t length = (size_t)sprintf(expected, "{\"translatedText\": \"");
    for (const char *c = translation; *c; c++) {
        if (*c == '"' || *c == '\\') expected[length++] = '\\';
        expected[length++] = *c;
    }
    expected[length++] = '"';
    return strncmp(answer, expected, length) == 0 && (answer[length] == '}' || answer[length] == ',');
}

static void *load_client(void *unused) {
    char *answer = malloc(ANSWER_BYTES), *request = malloc(4 * LINE_BYTES);
    int fd = dial();
    (void)unused;
    for (;;) {
        int line = atomic_fetch_add(&next_line, 1);
        if (deadline > 0 ? now() > deadline : line >= texts.count) break;
        line %= texts.count;
        double begin = now();
        const char *pair = languages.count ? languages.lines[line] : "";
        size_t bytes = make_request(pair, texts.lines[line], request);
        bool last = false;
        bool right = fd >= 0 && send_all(fd, request, bytes) && receive(fd, answer, &last) == 200 &&
                     has_translation(answer, translations.lines[line]);
        took[atomic_fetch_add(&requests, 1) % KEPT] = now() - begin;
        if (right && !last) continue;
        if (!right && atomic_fetch_add(&wrong, 1) == 0)
            fprintf(stderr, "wrong: %s '%s': %s\n", pair, texts.lines[line], answer);
        if (fd >= 0) close(fd);
        fd = dial();
    }
    if (fd >= 0) close(fd);
    free(answer);
    free(request);
    return NULL;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void read_pairs(const char *path) {
    Lines lines = read_lines(path);
    for (int i = 0; i < lines.count; i++) {
        char *fields[4] = {lines.lines[i]}, pair[128];
        int count = 1;
        for (char *tab; count < 4 && (tab = strchr(fields[count - 1], '\t')); count++) {
            *tab = '\0';
            fields[count] = tab + 1;
        }
        if (count < 4) {
            fprintf(stderr, "%s: line %d has %d fields\n", path, i + 1, count);
            exit(2);
        }
        snprintf(pair, sizeof pair, "source=%.40s&target=%.40s&", fields[0], fields[1]);
        add_line(&languages, pair);
        add_line(&texts, fields[2]);
        add_line(&translations, fields[3]);
    }
    free_lines(&lines);
}

static int load(int clients, double seconds) {
    if (texts.count == 0 || texts.count != translations.count) {
        fprintf(stderr, "the files do not have the same lines\n");
        return 2;
    }
    pthread_t *threads = calloc((size_t)clients, sizeof *threads);
    double begin = now();
    deadline = seconds > 0 ? begin + seconds : 0;
    for (int i = 0; i < clients; i++) pthread_create(&threads[i], NULL, load_client, NULL);
    for (int i = 0; i < clients; i++) pthread_join(threads[i], NULL);
    free(threads);
    double elapsed = now() - begin;
    size_t count = (size_t)(requests < KEPT ? requests : KEPT);
    qsort(took, count, sizeof *took, compare);
    printf("%d requests, %d wrong, %.1f per second, %.1f %.1f ms\n", (int)requests, (int)wrong,
           requests / elapsed, 1e3 * took[count / 2], 1e3 * took[count * 99 / 100]);
    return wrong > 0;
}

/* ---- short texts during long ones ---- */

static atomic_bool enough;
static atomic_int answered_long;
static int word_bytes;

static bool ask(int fd, const char *text, char *request, char *answer) {
    bool last;
    size_t bytes = make_request("", text, request);
    return fd >= 0 && send_all(fd, request, bytes) && receive(fd, answer, &last) == 200 && !last;
}

static void *long_client(void *descriptor) {
    char *answer = malloc(ANSWER_BYTES), *request = malloc(4 * LINE_BYTES),
         *text = calloc(1, (size_t)word_bytes + 1);
    int fd = *(int *)descriptor;
    memset(text, 'a', (size_t)word_bytes);
    while (!enough)
        if (ask(fd, text, request, answer))
            answered_long++;
        else
            nap(0.1); /* refused: try again later */
    free(text);
    free(answer);
    free(request);
    return NULL;
}

static int beside(int clients, int bytes, int count) {
    char *answer = malloc(ANSWER_BYTES), *request = malloc(4 * LINE_BYTES);
    pthread_t *threads = calloc((size_t)clients, sizeof *threads);
    int *fds = calloc((size_t)clients, sizeof *fds);
    int lost = 0, fd = dial();
    word_bytes = bytes < LINE_BYTES ? bytes : LINE_BYTES - 1;
    for (int i = 0; i < clients; i++) {
        fds[i] = dial();
        pthread_create(&threads[i], NULL, long_client, &fds[i]);
    }
    nap(0.5); /* until the line is full */
    for (int i = 0; i < count; i++) {
        double begin = now();
        lost += !ask(fd, "go .", request, answer);
        took[i % KEPT] = now() - begin;
        nap(0.02);
    }
    enough = true;
    for (int i = 0; i < clients; i++) shutdown(fds[i], SHUT_RDWR);
    for (int i = 0; i < clients; i++) pthread_join(threads[i], NULL);
    qsort(took, (size_t)count, sizeof *took, compare);
    printf("%d short, %d long, %.1f %.1f ms\n", count, (int)answered_long, 1e3 * took[count / 2],
           1e3 * took[count * 99 / 100]);
    for (int i = 0; i < clients; i++) close(fds[i]);
    close(fd);
    free(fds);
    free(threads);
    free(request);
    free(answer);
    return lost > 0;
}

/* ---- others ---- */

static int send_input(bool last) {
    ssize_t bytes;
    int fd = dial();
    if (fd < 0) return 1;
    char *text = malloc(ANSWER_BYTES);
    while ((bytes = read(0, text, ANSWER_BYTES)) > 0)
        if (!send_all(fd, text, (size_t)bytes)) break;
    if (last) shutdown(fd, SHUT_WR);
    while ((bytes = recv(fd, text, ANSWER_BYTES, 0)) > 0) fwrite(text, 1, (size_t)bytes, stdout);
    close(fd);
    free(text);
    return 0;
}

/* Standard input, whole. */
static char *read_input(size_t *bytes) {
    char *text = NULL;
    size_t capacity = 0;
    for (*bytes = 0;;) {
        if (capacity - *bytes < LINE_BYTES) text = realloc(text, capacity += ANSWER_BYTES);
        ssize_t got = read(0, text + *bytes, capacity - *bytes);
        if (got <= 0) return text;
        *bytes += (size_t)got;
    }
}

static int send_and_close(int count, double seconds) {
    size_t bytes;
    char *text = read_input(&bytes);
    int *fds = calloc((size_t)count, sizeof *fds);
    for (int i = 0; i < count; i++) fds[i] = dial();
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0) send_all(fds[i], text, bytes);
    nap(seconds);
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0) close(fds[i]);
    free(fds);
    free(text);
    return 0;
}

static int slow(int count, double seconds) {
    int *fds = calloc((size_t)count, sizeof *fds);
    char request[4 * LINE_BYTES];
    size_t bytes = make_request("", "one byte a second", request);
    for (int i = 0; i < count; i++) fds[i] = dial();
    for (size_t at = 0; at < bytes && (double)at < seconds; at++) {
        for (int i = 0; i < count; i++)
            if (fds[i] >= 0) send(fds[i], request + at, 1, MSG_NOSIGNAL);
        nap(1);
    }
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0) close(fds[i]);
    free(fds);
    return 0;
}

static int rude(int count) {
    char request[4 * LINE_BYTES];
    size_t bytes = make_request("", "somebody who hangs up before the end .", request);
    size_t head = (size_t)(strstr(request, "\r\n\r\n") + 4 - request);
    const size_t cuts[] = {head / 2, head + (bytes - head) / 2, bytes};
    for (int i = 0; i < count; i++) {
        int fd = dial();
        if (fd < 0) continue;
        send_all(fd, request, cuts[i % 3]);
        if (i % 2) setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
        close(fd); /* every other one by a reset */
    }
    return 0;
}

static int connect_often(int count) {
    static const char REQUEST[] = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char *answer = malloc(ANSWER_BYTES);
    int failed = 0;
    for (int i = 0; i < count; i++) {
        int fd = dial();
        bool last;
        if (fd < 0 || !send_all(fd, REQUEST, sizeof REQUEST - 1) || receive(fd, answer, &last) != 200)
            failed++;
        if (fd >= 0) close(fd);
    }
    printf("%d connections, %d failed\n", count, failed);
    free(answer);
    return failed > 0;
}

/* LISTEN_PID is for the command to set: a shell, for example, passes the socket to servers that it starts. */
static int listen_for(char **command) {
    enum { FIRST_PASSED = 3 };
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    char number[16];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, bytes) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &bytes) != 0 ||
        (fd != FIRST_PASSED && dup2(fd, FIRST_PASSED) < 0)) {
        perror("listen");
        return 1;
    }
    if (fd != FIRST_PASSED) close(fd);
    snprintf(number, sizeof number, "%d", ntohs(address.sin_port));
    setenv("PORT", number, 1);
    setenv("LISTEN_FDS", "1", 1);
    execvp(command[0], command);
    perror(command[0]);
    return 1;
}

int main(int argc, char **argv) {
    const char *what = argc > 2 ? argv[2] : "";
    port = argc > 1 ? atoi(argv[1]) : 0;
    signal(SIGPIPE, SIG_IGN);
    if (strcmp(what, "send") == 0 || strcmp(what, "last") == 0) return send_input(what[0] == 'l');
    if (strcmp(what, "load") == 0 && argc == 7) {
        texts = read_lines(argv[5]);
        translations = read_lines(argv[6]);
        return load(atoi(argv[3]), atof(argv[4]));
    }
    if (strcmp(what, "pairs") == 0 && argc == 6) {
        read_pairs(argv[5]);
        return load(atoi(argv[3]), atof(argv[4]));
    }
    if (strcmp(what, "beside") == 0 && argc == 6) return beside(atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
    if (strcmp(what, "hold") == 0 && argc == 5) return send_and_close(atoi(argv[3]), atof(argv[4]));
    if (strcmp(what, "leave") == 0 && argc == 4) return send_and_close(atoi(argv[3]), 0);
    if (strcmp(what, "slow") == 0 && argc == 5) return slow(atoi(argv[3]), atof(argv[4]));
    if (strcmp(what, "rude") == 0 && argc == 4) return rude(atoi(argv[3]));
    if (strcmp(what, "connect") == 0 && argc == 4) return connect_often(atoi(argv[3]));
    if (strcmp(what, "listen") == 0 && argc > 3) return listen_for(argv + 3);
    fprintf(stderr,
            "usage: serve-client PORT send|last|load|pairs|beside|hold|leave|slow|rude|connect|listen ...; "
            "see the head of its source\n");
    return 2;
}
