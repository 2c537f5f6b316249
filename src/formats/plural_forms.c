/* plural_forms.c - see plural_forms.h. Precedence climbing over the operators that gettext has. */
#include "formats/plural_forms.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    StrView rest;
    int depth;
    bool failed;
} Expression;

enum { MAX_DEPTH = 64, TERNARY = 1, UNARY = 8 };

/* Longer operators come first. */
static const struct {
    const char *text;
    int precedence; /* above TERNARY */
    char operation;
} OPERATORS[] = {
    {"||", 2, '|'}, {"&&", 3, '&'}, {"==", 4, '='}, {"!=", 4, '!'}, {"<=", 5, 'l'},
    {">=", 5, 'g'}, {"<", 5, '<'},  {">", 5, '>'},  {"+", 6, '+'},  {"-", 6, '-'},
    {"*", 7, '*'},  {"/", 7, '/'},  {"%", 7, '%'},
};

static bool take(Expression *expression, StrView text) {
    expression->rest = sv_trim(expression->rest);
    if (!sv_starts(expression->rest, text)) return false;
    expression->rest = (StrView){expression->rest.data + text.length, expression->rest.length - text.length};
    return true;
}

static long parse(Expression *expression, int precedence);

static long parse_operand(Expression *expression) {
    if (take(expression, SV("!"))) return !parse(expression, UNARY);
    if (take(expression, SV("n"))) return 1;
    if (take(expression, SV("("))) {
        long value = parse(expression, TERNARY);
        expression->failed |= !take(expression, SV(")"));
        return value;
    }
    long value = 0;
    int digits = 0;
    StrView rest = sv_trim(expression->rest);
    for (; rest.length > 0 && rest.data[0] >= '0' && rest.data[0] <= '9' && digits < 9; digits++) {
        value = 10 * value + rest.data[0] - '0';
        rest = (StrView){rest.data + 1, rest.length - 1};
    }
    expression->rest = rest;
    expression->failed |= digits == 0;
    return value;
}

static long apply(Expression *expression, char operation, long a, long b) {
    switch (operation) {
    case '|':
        return a || b;
    case '&':
        return a && b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case 'l':
        return a <= b;
    case 'g':
        return a >= b;
    case '<':
        return a < b;
    case '>':
        return a > b;
    case '+':
        return (a + b) % 1000000000;
    case '-':
        return (a - b) % 1000000000;
    case '*':
        return (a * b) % 1000000000;
    default:
        break;
    }
    expression->failed |= b == 0;
    return b == 0 ? 0 : operation == '/' ? a / b : a % b;
}

static long parse_ternary(Expression *expression, long condition) {
    long yes = parse(expression, TERNARY);
    expression->failed |= !take(expression, SV(":"));
    long no = parse(expression, TERNARY);
    return condition ? yes : no;
}

/* The value of what begins here, up to an operator that binds less than `precedence`. */
static long parse(Expression *expression, int precedence) {
    if (++expression->depth > MAX_DEPTH) expression->failed = true;
    if (expression->failed) return 0;
    long value = parse_operand(expression);
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS && !expression->failed; i++) {
        if (OPERATORS[i].precedence < precedence || !take(expression, sv(OPERATORS[i].text))) continue;
        value =
            apply(expression, OPERATORS[i].operation, value, parse(expression, OPERATORS[i].precedence + 1));
        i = (size_t)-1; /* the next operator may be any */
    }
    if (precedence == TERNARY && !expression->failed && take(expression, SV("?")))
        value = parse_ternary(expression, value);
    expression->depth--;
    return value;
}

/* What follows "name" and "=", blanks between them allowed. */
static bool find_value(StrView header, StrView name, StrView *value) {
    for (;;) {
        const char *at =
            header.length > 0 ? memmem(header.data, header.length, name.data, name.length) : NULL;
        if (!at) return false;
        const char *end = header.data + header.length;
        header = (StrView){at + name.length, (size_t)(end - at) - name.length};
        StrView rest = sv_trim(header);
        if (!sv_starts(rest, SV("="))) continue;
        *value = (StrView){rest.data + 1, rest.length - 1};
        return true;
    }
}

PluralForms plural_forms_parse(StrView header) {
    PluralForms forms = {0};
    StrView count, plural;
    if (!find_value(header, SV("nplurals"), &count)) return forms;
    Expression number = {.rest = count};
    long value = parse_operand(&number);
    if (number.failed || value < 1 || value > PLURAL_FORMS_MAX) return forms;
    forms.count = (int)value;
    if (!find_value(count, SV("plural"), &plural)) return forms;
    size_t length = 0;
    while (length < plural.length && plural.data[length] != ';' && plural.data[length] != '\n') length++;
    plural.length = length;
    Expression expression = {.rest = plural};
    value = parse(&expression, TERNARY);
    bool whole = !expression.failed && sv_trim(expression.rest).length == 0;
    if (whole && value >= 0 && value < forms.count) forms.singular = (int)value;
    return forms;
}
