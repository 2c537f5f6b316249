/* options_value.c - values of options from text and from JSON, and to JSON. */
#include "io/options.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "io/json_write.h"

bool option_row_ends(const Option *row) { return !row->key && !row->flag; }

bool option_is_on(const Option *row) {
    return row->type == OPT_BOOL && row->default_text && strcmp(row->default_text, "true") == 0;
}

void *option_field(const OptionTable *table, const Option *row) {
    return (char *)table->target + row->offset;
}

int option_choice(const char *choices, StrView text) {
    StrView rest = sv(choices), choice;
    for (int index = 0; sv_next(&rest, '|', &choice); index++)
        if (sv_equal(choice, text)) return index;
    return -1;
}

StrView option_choice_name(const char *choices, int index) {
    StrView rest = sv(choices), choice;
    for (int i = 0; sv_next(&rest, '|', &choice); i++)
        if (i == index) return choice;
    return SV("?");
}

void option_release(const Option *row, void *field) {
    if (row->type == OPT_STRING) {
        mem_free(*(char **)field);
        *(char **)field = NULL;
    } else if (row->type == OPT_LIST) {
        strlist_free(field);
    }
}

static Status fail_value(const char *name, StrView text, const char *expected) {
    return status_fail(STATUS_USAGE, "%s: '%.*s' is not %s", name, SV_ARG(text), expected);
}

static Status check_range(const Option *row, double value, const char *name) {
    if (row->min == row->max || (value >= row->min && value <= row->max)) return STATUS_OK;
    StrBuf text = {0};
    json_write_number(&text, value);
    strbuf_add(&text, SV(" is not in the range "));
    json_write_number(&text, row->min);
    strbuf_add(&text, SV(" to "));
    json_write_number(&text, row->max);
    Status status = status_fail(STATUS_USAGE, "%s: %s", name, strbuf_text(&text));
    strbuf_free(&text);
    return status;
}

static void store_integer(const Option *row, void *field, long long value) {
    if (row->type == OPT_LONG)
        *(long long *)field = value;
    else
        *(int *)field = (int)value;
}

static Status integer_from_text(const Option *row, void *field, const char *text, const char *name) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool minus_zero = text[0] == '-' && value == 0;
    bool valid_start = (text[0] >= '0' && text[0] <= '9') || ((text[0] == '-' || text[0] == '+') && text[1]);
    if (!valid_start || *end || minus_zero) return fail_value(name, sv(text), "a whole number");
    long long greatest = row->type == OPT_LONG ? LLONG_MAX : INT_MAX,
              least = row->type == OPT_LONG ? LLONG_MIN : INT_MIN;
    if (errno != ERANGE) TRY(check_range(row, (double)value, name));
    if (errno == ERANGE || value > greatest || value < least)
        return status_fail(STATUS_USAGE, "%s: %s is too large", name, text);
    store_integer(row, field, value);
    return STATUS_OK;
}

static Status real_from_text(const Option *row, double *field, const char *text, const char *name) {
    char *end;
    double value = strtod(text, &end);
    bool decimal = text[0] && strspn(text, "0123456789+-.eE") == strlen(text);
    if (!decimal || *end) return fail_value(name, sv(text), "a number");
    if (!isfinite(value)) return status_fail(STATUS_USAGE, "%s: %s is too large", name, text);
    if (value == 0 && text[0] == '-') return fail_value(name, sv(text), "a number: 0 has no sign");
    if (value == 0 && strcspn(text, "123456789") < strcspn(text, "eE"))
        return status_fail(STATUS_USAGE, "%s: %s is too close to 0", name, text);
    TRY(check_range(row, value, name));
    *field = value;
    return STATUS_OK;
}

static Status bool_from_text(bool *field, StrView text, const char *name) {
    static const char *const WORDS[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (sv_equal(text, sv(WORDS[i]))) {
            *field = i % 2 == 1;
            return STATUS_OK;
        }
    }
    return fail_value(name, text, "true or false");
}

static Status choice_from_text(const Option *row, int *field, StrView text, const char *name) {
    int index = option_choice(row->choices, text);
    if (index >= 0) {
        *field = index;
        return STATUS_OK;
    }
    StrBuf list = {0};
    const char *names[64];
    size_t count = 0;
    StrView rest = sv(row->choices), choice;
    while (sv_next(&rest, '|', &choice)) {
        assert(count < sizeof names / sizeof *names);
        names[count++] = mem_strndup(choice.data, choice.length);
    }
    for (size_t i = 0; i < count; i++)
        strbuf_format(&list, "%s%s", i ? i + 1 < count ? ", " : " or " : "", names[i]);
    Status status = status_fail(STATUS_USAGE, "%s: '%.*s' is not %s", name, SV_ARG(text), strbuf_text(&list));
    char *word = mem_strndup(text.data, text.length);
    const char *nearest = str_nearest(word, names, count);
    if (nearest) status_hint(status, "did you mean '%s'?", nearest);
    mem_free(word);
    for (size_t i = 0; i < count; i++) mem_free((char *)names[i]);
    strbuf_free(&list);
    return status;
}

static Status list_add_item(const Option *row, StrList *list, StrView item, const char *name) {
    int ignored;
    if (row->choices) TRY(choice_from_text(row, &ignored, item, name));
    strlist_add(list, item);
    return STATUS_OK;
}

/* Items between commas; "\," is a comma inside an item. */
static Status list_from_text(const Option *row, StrList *list, StrView text, const char *name) {
    StrBuf item = {0};
    Status status = STATUS_OK;
    for (size_t i = 0; i <= text.length && text.length > 0 && status == STATUS_OK; i++) {
        if (i == text.length || text.data[i] == ',') {
            if (item.length == 0)
                status = status_fail(STATUS_USAGE, "%s: an empty item in '%.*s'", name, SV_ARG(text));
            else
                status = list_add_item(row, list, strbuf_view(&item), name);
            strbuf_clear(&item);
        } else {
            if (text.data[i] == '\\' && i + 1 < text.length && text.data[i + 1] == ',') i++;
            strbuf_add_char(&item, text.data[i]);
        }
    }
    strbuf_free(&item);
    return status;
}

/* Replaces or extends the list in `field` by `items`, but only if `status` says that all items are valid. */
static Status list_finish(Status status, StrList *items, StrList *field, bool append) {
    if (status == STATUS_OK && !append) strlist_free(field);
    for (size_t i = 0; i < items->count && status == STATUS_OK; i++) strlist_add(field, sv(items->items[i]));
    strlist_free(items);
    return status;
}

Status option_from_text(const Option *row, void *field, StrView text, bool append, const char *name) {
    if (row->type == OPT_BOOL) return bool_from_text(field, text, name);
    if (row->type == OPT_CHOICE) return choice_from_text(row, field, text, name);
    if (row->type == OPT_LIST) {
        StrList items = {0};
        return list_finish(list_from_text(row, &items, text, name), &items, field, append);
    }
    char *copy = mem_strndup(text.data, text.length);
    if (row->type == OPT_STRING) {
        mem_free(*(char **)field);
        *(char **)field = copy;
        return STATUS_OK;
    }
    Status status = row->type == OPT_REAL ? real_from_text(row, field, copy, name)
                                          : integer_from_text(row, field, copy, name);
    mem_free(copy);
    return status;
}

static size_t field_size(OptionType type) {
    static const size_t SIZES[] = {
        [OPT_BOOL] = sizeof(bool),   [OPT_INT] = sizeof(int),       [OPT_LONG] = sizeof(long long),
        [OPT_REAL] = sizeof(double), [OPT_STRING] = sizeof(char *), [OPT_CHOICE] = sizeof(int),
        [OPT_LIST] = sizeof(StrList)};
    return SIZES[type];
}

void option_copy(const Option *row, void *field, const void *from) {
    assert(row->type != OPT_STRING && row->type != OPT_LIST);
    memcpy(field, from, field_size(row->type));
}

void option_default(const Option *row, void *field) {
    memset(field, 0, field_size(row->type));
    if (!row->default_text) return;
    /* A default may be outside the range: 0 for "chosen by the program". */
    Option unlimited = *row;
    unlimited.min = unlimited.max = 0;
    Status status =
        option_from_text(&unlimited, field, sv(row->default_text), false, row->key ? row->key : row->flag);
    assert(status == STATUS_OK);
    (void)status;
}

static const char *type_name(const Json *value) {
    static const char *const NAMES[] = {"null",     "true or false", "a number",
                                        "a string", "a list",        "an object"};
    return NAMES[json_type(value)];
}

static Status fail_type(const char *name, const char *expected, const Json *value) {
    return status_fail(STATUS_USAGE, "%s: expected %s, found %s", name, expected, type_name(value));
}

static Status integer_from_json(const Option *row, void *field, const Json *value, const char *name) {
    /* Doubles are exact up to 2^53; larger numbers are written as strings. */
    if (row->type == OPT_LONG && json_type(value) == JSON_STRING)
        return integer_from_text(row, field, json_string(value), name);
    if (json_type(value) != JSON_NUMBER) return fail_type(name, "a whole number", value);
    double number = json_number(value);
    if (number == 0 && signbit(number)) return fail_value(name, SV("-0"), "a whole number");
    if (number != floor(number) || fabs(number) > 0x1p53) {
        StrBuf digits = {0};
        json_write_number(&digits, number);
        Status status =
            status_fail(STATUS_USAGE, "%s: %s is not a whole number below 2^53", name, strbuf_text(&digits));
        strbuf_free(&digits);
        if (row->type == OPT_LONG && fabs(number) > 0x1p53) status_hint(status, "write it as a string");
        return status;
    }
    TRY(check_range(row, number, name));
    if (row->type != OPT_LONG && fabs(number) > INT_MAX)
        return status_fail(STATUS_USAGE, "%s: %.0f is too large", name, number);
    store_integer(row, field, (long long)number);
    return STATUS_OK;
}

static Status list_from_json(const Option *row, StrList *list, const Json *value, const char *name) {
    if (json_type(value) == JSON_STRING) return list_add_item(row, list, sv(json_string(value)), name);
    if (json_type(value) != JSON_ARRAY) return fail_type(name, "a list of strings", value);
    for (const Json *item = json_first(value); item; item = json_after(item)) {
        if (json_type(item) != JSON_STRING) return fail_type(name, "a list of strings", item);
        TRY(list_add_item(row, list, sv(json_string(item)), name));
    }
    return STATUS_OK;
}

Status option_from_json(const Option *row, void *field, const Json *value, const char *name) {
    StrList items = {0};
    switch (row->type) {
    case OPT_INT:
    case OPT_LONG:
        return integer_from_json(row, field, value, name);
    case OPT_LIST:
        return list_finish(list_from_json(row, &items, value, name), &items, field, false);
    case OPT_BOOL:
        if (json_type(value) != JSON_BOOL) return fail_type(name, "true or false", value);
        *(bool *)field = json_bool(value);
        return STATUS_OK;
    case OPT_REAL:
        if (json_type(value) != JSON_NUMBER) return fail_type(name, "a number", value);
        if (json_number(value) == 0 && signbit(json_number(value)))
            return fail_value(name, SV("-0"), "a number: 0 has no sign");
        TRY(check_range(row, json_number(value), name));
        *(double *)field = json_number(value);
        return STATUS_OK;
    case OPT_CHOICE:
        if (json_type(value) != JSON_STRING) return fail_type(name, "a string", value);
        return choice_from_text(row, field, sv(json_string(value)), name);
    case OPT_STRING:
        if (json_type(value) == JSON_NULL) {
            option_release(row, field);
            return STATUS_OK;
        }
        if (json_type(value) != JSON_STRING) return fail_type(name, "a string", value);
        return option_from_text(row, field, sv(json_string(value)), false, name);
    }
    return STATUS_OK;
}

void option_to_json(const Option *row, const void *field, StrBuf *out) {
    const StrList *list = field;
    switch (row->type) {
    case OPT_BOOL:
        strbuf_add(out, *(const bool *)field ? SV("true") : SV("false"));
        break;
    case OPT_INT:
        strbuf_format(out, "%d", *(const int *)field);
        break;
    case OPT_LONG: {
        long long value = *(const long long *)field;
        bool exact = value <= 1LL << 53 && value >= -(1LL << 53);
        strbuf_format(out, exact ? "%lld" : "\"%lld\"", value);
        break;
    }
    case OPT_REAL:
        json_write_number(out, *(const double *)field);
        break;
    case OPT_CHOICE:
        json_write_string(out, option_choice_name(row->choices, *(const int *)field));
        break;
    case OPT_STRING:
        if (*(char *const *)field)
            json_write_string(out, sv(*(char *const *)field));
        else
            strbuf_add(out, SV("null"));
        break;
    case OPT_LIST:
        json_open_array(out);
        for (size_t i = 0; i < list->count; i++) json_write_string(out, sv(list->items[i]));
        json_close_array(out);
        break;
    }
}

bool option_is_default(const Option *row, const void *field) {
    union {
        long long integer;
        double real;
        char *string;
        StrList list;
    } initial;
    option_default(row, &initial);
    StrBuf expected = {0}, actual = {0};
    option_to_json(row, &initial, &expected);
    option_to_json(row, field, &actual);
    bool equal = sv_equal(strbuf_view(&expected), strbuf_view(&actual));
    option_release(row, &initial);
    strbuf_free(&expected);
    strbuf_free(&actual);
    return equal;
}
