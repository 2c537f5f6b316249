/* head.c - see head.h. */
#include "serve/head.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { BAD_REQUEST = 400, TOO_LARGE = 413, EXPECTATION_FAILED = 417, NOT_IMPLEMENTED = 501 };

static const char UNACCOUNTED[] =
    "a header field that does not end in CR LF, spans several lines or has a NUL character";

static void fault(Head *head, int status, const char *message) {
    if (head->status) return;
    head->status = status;
    head->message = message;
}

static bool is_name(StrView name, const char *literal) {
    return name.length == strlen(literal) && strncasecmp(name.data, literal, name.length) == 0;
}

/* ---- the request line ---- */

void head_check_target(Head *head, const char *target) {
    const char *end = target, *version;
    for (; *end; end++) {
        if (strncmp(end, "%00", 3) == 0) fault(head, BAD_REQUEST, "a NUL character in the address");
        if ((unsigned char)*end <= ' ' || *end == 0x7F)
            fault(head, BAD_REQUEST, "a space or a control character in the address");
    }
    for (version = end + 1; *version == ' ';) version++;
    if (strncmp(version, "HTTP/", 5) != 0) fault(head, BAD_REQUEST, "a NUL character in the address");
}

/* ---- fields ---- */

/* A token of RFC 9110, 5.6.2. */
static bool is_token(StrView name) {
    for (size_t i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.data[i]) &&
            !(name.data[i] && strchr("!#$%&'*+-.^_`|~", name.data[i])))
            return false;
    return name.length > 0;
}

static bool has_control(StrView value) {
    for (size_t i = 0; i < value.length; i++) {
        unsigned char c = (unsigned char)value.data[i];
        if ((c < ' ' && c != '\t') || c == 0x7F) return true;
    }
    return false;
}

/* Host and port; an address without a host is empty. RFC 3986, 3.2.2 */
static bool is_host(StrView value) {
    for (size_t i = 0; i < value.length; i++)
        if (!isalnum((unsigned char)value.data[i]) && !strchr("-._~!$&'()*+;=:[]%", value.data[i]))
            return false;
    return true;
}

static void skip(Head *head, size_t bytes) {
    head->rest.data += bytes;
    head->rest.length -= bytes;
}

static bool skip_text(Head *head, StrView text) {
    bool there = sv_starts(head->rest, text);
    if (there) skip(head, text.length);
    return there;
}

static void skip_blanks(Head *head) {
    while (head->rest.length > 0 && (head->rest.data[0] == ' ' || head->rest.data[0] == '\t')) skip(head, 1);
}

/* CR LF, or NULs. Newer versions of the library leave some CR LF as they are. */
static bool skip_line_end(Head *head) {
    if (head->rest.length < 2 || !memchr("\0\r", head->rest.data[0], 2)) return false;
    if (!memchr("\0\n", head->rest.data[1], 2)) return false;
    skip(head, 2);
    return true;
}

/* These versions end a value before its trailing blanks. */
static void skip_trailing_blanks(Head *head) {
    skip_blanks(head);
    if (head->rest.length < 2 || head->rest.data[0] || !memchr(" \t\r", head->rest.data[1], 3)) return;
    skip(head, 1);
    skip_blanks(head);
}

void head_check_fields(Head *head, StrView fields, StrView version) {
    head->rest = fields;
    head->version_1_0 = sv_equal(version, SV("HTTP/1.0"));
    if (!skip_line_end(head)) fault(head, BAD_REQUEST, "a line that does not end in CR LF");
}

/* Skips the field in the head. An error if it differs there: continued on a second line, or with a NUL. */
static void account_for(Head *head, StrView name, StrView value) {
    bool same = skip_text(head, name) && skip_text(head, SV("\0"));
    if (same) skip_blanks(head);
    same = same && skip_text(head, value);
    if (same) skip_trailing_blanks(head);
    if (!same || !skip_line_end(head)) fault(head, BAD_REQUEST, UNACCOUNTED);
}

static void check_encoding(Head *head, StrView value) {
    if (!is_name(value, "chunked")) fault(head, NOT_IMPLEMENTED, "no Transfer-Encoding but chunked");
    if (head->encodings++ > 0) fault(head, BAD_REQUEST, "Transfer-Encoding twice");
    if (head->version_1_0) fault(head, BAD_REQUEST, "Transfer-Encoding in HTTP/1.0");
    head->chunked = true;
}

void head_check_field(Head *head, StrView name, StrView value) {
    account_for(head, name, value);
    if (!is_token(name)) fault(head, BAD_REQUEST, "the name of a header field is malformed");
    if (has_control(value)) fault(head, BAD_REQUEST, "a control character in a header field");
    if (is_name(name, "Host")) {
        if (head->hosts++ > 0) fault(head, BAD_REQUEST, "Host twice");
        if (!is_host(sv_trim(value))) fault(head, BAD_REQUEST, "Host is malformed");
    } else if (is_name(name, "Content-Length")) {
        if (head->lengths++ > 0) fault(head, BAD_REQUEST, "Content-Length twice");
        head->length = value;
    } else if (is_name(name, "Transfer-Encoding")) {
        check_encoding(head, value);
    } else if (is_name(name, "Expect") && !head->version_1_0) {
        if (!is_name(value, "100-continue")) fault(head, EXPECTATION_FAILED, "no Expect but 100-continue");
        head->expects = true;
    }
}

void head_check_end(Head *head) {
    if (!skip_line_end(head) || head->rest.length > 0) fault(head, BAD_REQUEST, UNACCOUNTED);
    if (head->hosts == 0 && !head->version_1_0) fault(head, BAD_REQUEST, "Host is missing");
    if (head->lengths > 0 && head->encodings > 0)
        fault(head, BAD_REQUEST, "Content-Length beside Transfer-Encoding");
}

/* Is the number larger? The library has checked that there are only digits. */
static bool is_larger(StrView digits, size_t limit) {
    size_t number = 0;
    for (size_t i = 0; i < digits.length && isdigit((unsigned char)digits.data[i]); i++) {
        number = 10 * number + (size_t)(digits.data[i] - '0');
        if (number > limit) return true;
    }
    return false;
}

void head_check_size(Head *head, size_t limit) {
    if (head->expects && is_larger(head->length, limit)) fault(head, TOO_LARGE, "the body is too large");
}
