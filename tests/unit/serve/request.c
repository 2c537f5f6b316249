/* request.c - valid and invalid requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem_scope.h"
#include "serve/request.h"

#define JSON              "application/json"
#define FORM              "application/x-www-form-urlencoded"
#define MULTIPART         "multipart/form-data; boundary=\"x\""
#define DISPOSITION(name) "\r\nContent-Disposition: form-data; name=\"" name "\""
#define PART(name, text)  "\r\n--x" DISPOSITION(name) "\r\n\r\n" text
#define END               "\r\n--x--\r\n"

enum { MAX_TEXTS = 10, MANY = 100000 };

typedef struct {
    const char *type, *body;
    const char *texts;   /* joined by "|", or NULL if refused */
    const char *message; /* the error message if refused, otherwise the target language or "" */
    double alternatives;
} Case;

static const Case CASES[] = {
    {JSON, "{\"q\": \"go .\"}", "go .", "", 0},
    {JSON "; charset=utf-8", "{\"q\": \"go .\"}", "go .", "", 0},
    {"Application/JSON ;x", "{\"q\": \"go .\", \"target\": null, \"api_key\": \"k\"}", "go .", "", 0},
    {JSON, "{\"q\": [\"go .\", \"hi !\"], \"target\": \"fr\", \"alternatives\": 2}", "go .|hi !", "fr", 2},
    {JSON, "{\"q\": []}", "", "", 0},
    {JSON, "{\"q\": 7}", NULL, "'q' is neither a text nor a list", 0},
    {JSON, "{\"q\": [\"go .\", 7]}", NULL, "'q' is a list of more than texts", 0},
    {JSON, "{\"q\": \"go .\", \"target\": null, \"alternatives\": null}", "go .", "", 0},
    {JSON, "{\"q\": \"go .\", \"alternatives\": \"2\"}", NULL, "'alternatives' is not a number", 0},
    {JSON, "{\"q\": \"go .\", \"target\": 7}", NULL, "'target' is not a text", 0},
    {JSON, "{\"target\": \"fr\"}", "", "fr", 0},
    {JSON, "[\"go .\"]", NULL, "not a JSON object", 0},
    {JSON, "q=go", NULL, "not JSON", 0},
    {JSON, "", NULL, "not JSON", 0},
    {FORM, "q=go+%2e&target=fr", "go .", "fr", 0},
    {FORM ";charset=UTF-8", "&q=go+%2E&&q=%c3%A9&alternatives=3&", "go .|\xC3\xA9", "", 3},
    {FORM, "q", "", "", 0},
    {FORM, "q=go&alternatives=", NULL, "'alternatives' is not a number", 0},
    {FORM, "q=go&alternatives=2x", NULL, "'alternatives' is not a number", 0},
    {FORM, "q=%", NULL, "not URL-encoded", 0},
    {FORM, "q=%4", NULL, "not URL-encoded", 0},
    {FORM, "q=%g0", NULL, "not URL-encoded", 0},
    {FORM, "q=%0G", NULL, "not URL-encoded", 0},
    {FORM, "q=%00", NULL, "not URL-encoded", 0},
    {FORM, "%00=go", NULL, "not URL-encoded", 0},
    {FORM, "{\"q\": \"go .\"}", NULL, "send it as Content-Type: application/json", 0},
    {FORM, " {\"q\": \"50% & more\"}", NULL, "send it as Content-Type: application/json", 0},
    {FORM, "{=&q=go", "go", "", 0},
    {JSON, "{\"q\": \"go .\", \"secret\": \"s\"}", "go .", "", 0},
    {FORM, "q=go&secret=s", "go", "", 0},
    {FORM, "q=go&x=1", "go", "", 0},
    {JSON, "{\"q\": \"go .\", \"x\": [1, {\"q\": 2}]}", "go .", "", 0},
    {JSON, "{\"q\": \"go .\", \"x\": null}", "go .", "", 0},
    {FORM, "target=fr", "", "fr", 0},
    {MULTIPART, PART("q", "go\n.") END, "go\n.", "", 0},
    {MULTIPART,
     "ignored" PART("q", "go .") PART("q", "hi !") PART("target", "fr") PART("alternatives", "2") END,
     "go .|hi !", "fr", 2},
    {MULTIPART,
     "--x \r\ncontent-disposition: form-data; NAME=q\r\nContent-Type: text/plain\r\n\r\ngo .\r\n--x--",
     "go .", "", 0},
    {MULTIPART, "--x\r\nContent-Transfer-Encoding: 8BIT" DISPOSITION("q") "\r\n\r\na\r\n--xy" END,
     "a\r\n--xy", "", 0},
    {MULTIPART, PART("q", "") END, "", "", 0},
    {MULTIPART, "\r\n--x" DISPOSITION("file\"; filename=\"a \\\"b\\\".txt") "\r\n\r\nHi." END, "", "", 0},
    {MULTIPART, PART("file", "go .") PART("x", "go .") END, "", "", 0},
    {MULTIPART, PART("alternatives", "") END, NULL, "'alternatives' is not a number", 0},
    {MULTIPART, PART("q", "go ."), NULL, "its last boundary is missing", 0},
    {MULTIPART, "q=go", NULL, "its boundary is missing", 0},
    {MULTIPART, "", NULL, "its boundary is missing", 0},
    {MULTIPART, "--x", NULL, "its last boundary is missing", 0},
    {MULTIPART, "--x\r\n\r\ngo ." END, NULL, "a part has no name", 0},
    {MULTIPART, PART("", "go .") END, NULL, "a part has an empty name", 0},
    {MULTIPART, "--x\r\nContent-Transfer-Encoding: base64" DISPOSITION("q") "\r\n\r\nZ28=" END, NULL,
     "a part has an encoding", 0},
    {"multipart/form-data", PART("q", "go .") END, NULL, "names no boundary", 0},
    {"multipart/form-data; boundary=", PART("q", "go .") END, NULL, "names no boundary", 0},
    {FORM "x", "q=go", NULL, "the Content-Type is neither", 0},
    {"text/plain", "q=go", NULL, "the Content-Type is neither", 0},
    {"", "", NULL, "the Content-Type is neither", 0},
};

static void read_case(void *context) {
    const Case *c = context;
    TranslateRequest request;
    char joined[100] = "";
    Status status = translate_request_read(&request, sv(c->type), sv(c->body), MAX_TEXTS);
    if (!c->texts) {
        if (status != STATUS_DATA || !strstr(status_message(), c->message))
            fail_msg("%s: status %d: %s", c->body, status, status_message());
        return;
    }
    if (status != STATUS_OK) fail_msg("%s: %s", c->body, status_message());
    for (int i = 0; i < request.count; i++) {
        if (i > 0) strcat(joined, "|");
        strcat(joined, request.texts[i]);
    }
    assert_string_equal(joined, c->texts);
    assert_string_equal(request.target ? request.target : "", c->message);
    assert_true(request.alternatives == c->alternatives);
}

static void requests(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Case c = CASES[i];
        MemScope *scope = mem_scope_new(1 << 20);
        assert_true(mem_scope_run(scope, read_case, &c));
        mem_scope_free(scope);
    }
}

/* The length of the header counts, whatever the body contains. */
static void read_nul(void *context) {
    TranslateRequest request;
    (void)context;
    assert_int_equal(translate_request_read(&request, SV(FORM), SV("q=a\0b"), MAX_TEXTS), STATUS_DATA);
    assert_int_equal(translate_request_read(&request, SV(JSON), SV("{\"q\": \"a\0b\"}"), MAX_TEXTS),
                     STATUS_DATA);
}

static void nul_bytes_are_refused(void **state) {
    (void)state;
    MemScope *scope = mem_scope_new(1 << 20);
    assert_true(mem_scope_run(scope, read_nul, NULL));
    mem_scope_free(scope);
}

/* Bodies with many values, in known and unknown fields. */
typedef struct {
    const char *type, *begin, *repeat, *end;
} ManyCase;

static const ManyCase MANY_CASES[] = {
    {JSON, "{\"q\": \"go .\", \"x\": [0", ",0", "]}"},
    {JSON, "{\"q\": \"go .\", \"x\": [[]", ",[]", "]}"},
    {JSON, "{\"q\": [\"\"", ",\"\"", "]}"},
    {FORM, "q=go", "&q=", ""},
    {FORM, "q=go", "&source=a", ""},
};

typedef struct {
    StrView type, body;
} Many;

static void read_many(void *context) {
    const Many *many = context;
    TranslateRequest request;
    assert_int_equal(translate_request_read(&request, many->type, many->body, MAX_TEXTS), STATUS_DATA);
    assert_non_null(strstr(status_message(), "too many values"));
}

static void many_values_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof MANY_CASES / sizeof *MANY_CASES; i++) {
        StrBuf body = {0};
        strbuf_add(&body, sv(MANY_CASES[i].begin));
        for (int n = 0; n < MANY; n++) strbuf_add(&body, sv(MANY_CASES[i].repeat));
        strbuf_add(&body, sv(MANY_CASES[i].end));
        MemScope *scope = mem_scope_new(100000); /* less than the body */
        assert_true(mem_scope_run(scope, read_many, &(Many){sv(MANY_CASES[i].type), strbuf_view(&body)}));
        mem_scope_free(scope);
        strbuf_free(&body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests),
        cmocka_unit_test(nul_bytes_are_refused),
        cmocka_unit_test(many_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
