/* document_subtitles.c - SubRip and WebVTT. Times, numbers, styles and notes stay. A sentence that continues
 * in the next cue is translated as a whole, and cut again in the shares of its cues; lines are at most as
 * long as the longest one of the file.
 */
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "documents/document.h"
#include "documents/marked_lines.h"
#include "text/markup.h"

enum { MAX_JOINED = 6, SHORTEST_LINE = 20 };

typedef struct {
    size_t from, to;        /* its text, without the last line end */
    long milliseconds, end; /* when it begins and ends */
    int columns;            /* of its text without tags */
    int lines;
    bool is_plain; /* without times in its text */
} Cue;

typedef struct {
    Cue *cues;
    size_t count, capacity;
    int width; /* of the longest line */
} Subtitles;

/* ---- reading ---- */

/* "00:01:02,345" or "01:02.345"; -1: no time. Moves past it. */
static long read_time(StrView *text) {
    long parts[4] = {0};
    int count = 0;
    size_t at = 0;
    while (at < text->length && text->data[at] == ' ') at++;
    for (; count < 4; count++) {
        size_t first = at;
        while (at < text->length && text->data[at] >= '0' && text->data[at] <= '9' && at < first + 6)
            parts[count] = 10 * parts[count] + (text->data[at++] - '0');
        if (at == first) return -1;
        char c = at < text->length ? text->data[at] : '\0';
        if (c != ':' && c != '.' && c != ',') break;
        at++;
    }
    if (count < 2 || count > 3) return -1;
    *text = (StrView){text->data + at, text->length - at};
    long hours = count == 3 ? parts[0] : 0;
    const long *rest = parts + (count == 3);
    return ((hours * 60 + rest[0]) * 60 + rest[1]) * 1000 + rest[2];
}

static bool is_timing(StrView line, long *begin, long *end) {
    StrView arrow = SV("-->");
    *begin = read_time(&line);
    if (*begin < 0) return false;
    line = sv_trim(line);
    if (!sv_starts(line, arrow)) return false;
    line = (StrView){line.data + arrow.length, line.length - arrow.length};
    *end = read_time(&line);
    return *end >= 0;
}

static bool detect_subrip(StrView sample) {
    StrView line;
    long begin, end;
    bool number = false;
    for (int i = 0; i < 8 && sv_next(&sample, '\n', &line); i++) {
        line = sv_trim(line);
        if (line.length == 0 && !number) continue;
        if (number) return is_timing(line, &begin, &end);
        for (size_t c = 0; c < line.length; c++)
            if (line.data[c] < '0' || line.data[c] > '9') return false;
        number = true;
    }
    return false;
}

static bool detect_webvtt(StrView sample) {
    StrView first = {"", 0}, word = SV("WEBVTT");
    sv_next(&sample, '\n', &first);
    return sv_starts(first, word) && (first.length == word.length || char_is_space(first.data[word.length]));
}

/* The text without its tags and with spaces for line ends. */
static int columns_without_tags(StrView text) {
    StrBuf plain = {0};
    for (size_t at = 0; at < text.length;) {
        size_t length = text.data[at] == '<' ? tag_length(text, at) : 0;
        if (length == 0) strbuf_add_char(&plain, text.data[at]);
        at += length > 0 ? length : 1;
    }
    int columns = text_columns(strbuf_view(&plain));
    strbuf_free(&plain);
    return columns;
}

static void add_cue(Document *document, Cue cue) {
    Subtitles *subtitles = document->state;
    StrView text = {document->bytes.data + cue.from, cue.to - cue.from}, rest = text, line;
    while (sv_next(&rest, '\n', &line)) {
        int columns = columns_without_tags(sv_trim(line));
        if (columns > subtitles->width) subtitles->width = columns;
        cue.columns += columns;
        cue.lines++;
    }
    cue.is_plain = true;
    for (size_t i = 0; i + 1 < text.length; i++) /* <00:01.000> */
        cue.is_plain &= !(text.data[i] == '<' && text.data[i + 1] >= '0' && text.data[i + 1] <= '9');
    MEM_GROW(subtitles->cues, subtitles->capacity, subtitles->count + 1);
    subtitles->cues[subtitles->count++] = cue;
}

static StrView cue_text(const Document *document, const Cue *cue) {
    return (StrView){document->bytes.data + cue->from, cue->to - cue->from};
}

/* Does the text end a sentence? */
static bool ends_sentence(StrView text) {
    static const char *const ENDS[] = {
        ".", "!", "?", "\xE2\x80\xA6", "\xE3\x80\x82", "\xEF\xBC\x81", "\xEF\xBC\x9F", "\xE2\x99\xAA",
        ")", "]", ":"};
    static const char *const CLOSING[] = {"\"", "'", "\xE2\x80\x9D", "\xC2\xBB", "\xE2\x80\x99"};
    for (bool cut = true; cut;) {
        cut = false;
        text = sv_trim(text);
        for (size_t at = text.length; at > 0 && text.data[text.length - 1] == '>'; at--)
            if (text.data[at - 1] == '<' && tag_length(text, at - 1) == text.length - at + 1) {
                text.length = at - 1;
                cut = true;
                break;
            }
        for (size_t i = 0; i < sizeof CLOSING / sizeof *CLOSING; i++)
            if (sv_ends(text, sv(CLOSING[i]))) text.length -= strlen(CLOSING[i]), cut = true;
    }
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
        if (sv_ends(text, sv(ENDS[i]))) return true;
    return text.length == 0;
}

/* Does the sentence of a cue continue in the next one? */
static bool continues(const Document *document, const Cue *cue, const Cue *next) {
    enum { LONGEST_PAUSE = 2000 };
    StrView text = sv_trim(cue_text(document, next));
    bool speaker =
        sv_starts(text, SV("-")) || sv_starts(text, SV("\xE2\x80\x93")) || sv_starts(text, SV("["));
    return cue->is_plain && next->is_plain && !speaker && next->milliseconds - cue->end <= LONGEST_PAUSE &&
           !ends_sentence(cue_text(document, cue));
}

/* Two speakers in one cue: its lines begin with dashes. They stay lines. */
static bool has_speakers(StrView text) {
    StrView line;
    int lines = 0, dashes = 0;
    while (sv_next(&text, '\n', &line)) {
        line = sv_trim(line);
        lines++;
        dashes += sv_starts(line, SV("-")) || sv_starts(line, SV("\xE2\x80\x93"));
    }
    return lines > 1 && dashes == lines;
}

static void add_texts(Document *document) {
    const Subtitles *subtitles = document->state;
    for (size_t c = 0, end; c < subtitles->count; c = end) {
        const Cue *cues = subtitles->cues;
        StrBuf text = {0};
        end = c + 1;
        if (!has_speakers(cue_text(document, &cues[c])))
            while (end < subtitles->count && end - c < MAX_JOINED &&
                   continues(document, &cues[end - 1], &cues[end]))
                end++;
        for (size_t i = c; i < end; i++) {
            if (i > c) strbuf_add_char(&text, ' ');
            strbuf_add(&text, sv_trim(cue_text(document, &cues[i])));
        }
        if (has_speakers(cue_text(document, &cues[c]))) { /* a break between the lines */
            StrBuf lines = {0};
            StrView rest = strbuf_view(&text), line;
            while (sv_next(&rest, '\n', &line)) {
                if (lines.length > 0) strbuf_add(&lines, SV("<br/>"));
                strbuf_add(&lines, sv_trim(line));
            }
            strbuf_free(&text);
            text = lines;
        }
        if (cues[c].is_plain && text.length > 0) {
            Segment *segment = document_add(document, cues[c].from, cues[end - 1].to, strbuf_view(&text));
            segment->item = c;
            segment->kind = (int)(end - c);
        }
        strbuf_free(&text);
    }
}

static Status read(Document *document) {
    document->state = mem_alloc(1, sizeof(Subtitles));
    StrView bytes = document->bytes;
    Cue cue = {0};
    bool in_cue = false;
    for (size_t at = 0, next; at < bytes.length; at = next) {
        const char *line_end = memchr(bytes.data + at, '\n', bytes.length - at);
        next = line_end ? (size_t)(line_end + 1 - bytes.data) : bytes.length;
        StrView line = sv_trim((StrView){bytes.data + at, next - at});
        long begin, end;
        if (is_timing(line, &begin, &end)) {
            if (in_cue && cue.to > cue.from)
                return document_fail(document, at, "a time inside the text of a cue");
            cue = (Cue){.from = next, .to = next, .milliseconds = begin, .end = end};
            in_cue = true;
        } else if (in_cue && line.length == 0) {
            if (cue.to > cue.from) add_cue(document, cue);
            in_cue = false;
        } else if (in_cue) {
            cue.to = (size_t)(line.data + line.length - bytes.data);
        }
    }
    if (in_cue && cue.to > cue.from) add_cue(document, cue);
    Subtitles *subtitles = document->state;
    if (subtitles->width < SHORTEST_LINE) subtitles->width = SHORTEST_LINE;
    if (subtitles->count == 0 && sv_trim(bytes).length > 0 && document->format == &SUBRIP_DOCUMENT)
        return document_fail(document, 0, "no subtitle times, such as 00:00:01,000 --> 00:00:02,000");
    add_texts(document);
    return STATUS_OK;
}

/* ---- writing ---- */

enum { MAX_TAGS = 16 };

/* Tags that are open at the end of a part of the translation. */
typedef struct {
    StrView items[MAX_TAGS];
    int count;
} OpenTags;

static void follow_tags(StrView text, OpenTags *open) {
    for (size_t at = 0; at < text.length;) {
        size_t length = text.data[at] == '<' ? tag_length(text, at) : 0;
        StrView tag = {text.data + at, length};
        if (length > 0 && tag_is_closing(tag)) {
            for (int i = open->count - 1; i >= 0; i--)
                if (tag_same_name(open->items[i], tag)) {
                    open->count = i;
                    break;
                }
        } else if (length > 0 && tag_is_opening(tag) && open->count < MAX_TAGS) {
            open->items[open->count++] = tag;
        }
        at += length > 0 ? length : 1;
    }
}

/* Words of a text, where tags belong to the word they touch and contain no ends of words. */
static bool next_word(StrView *rest, StrView *word) {
    size_t at = 0, start;
    while (at < rest->length && char_is_space(rest->data[at])) at++;
    start = at;
    while (at < rest->length && !char_is_space(rest->data[at])) {
        size_t length = rest->data[at] == '<' ? tag_length(*rest, at) : 0;
        at += length > 0 ? length : 1;
    }
    *word = (StrView){rest->data + start, at - start};
    *rest = (StrView){rest->data + at, rest->length - at};
    return word->length > 0;
}

/* Text in lines of at most `width`, of about equal length. */
static void wrap(StrView text, int width, StrBuf *out) {
    int all = columns_without_tags(text), lines = (all + width - 1) / width, column = 0;
    int limit = lines > 1 ? all / lines + 8 : width;
    if (limit > width) limit = width;
    StrView rest = text.length > 0 ? text : SV(""), word;
    while (next_word(&rest, &word)) {
        int columns = columns_without_tags(word);
        if (column > 0 && columns > 0 && column + 1 + columns > limit) {
            strbuf_add_char(out, '\n');
            column = 0;
        } else if (column > 0) {
            strbuf_add_char(out, ' ');
            column++;
        }
        strbuf_add(out, word);
        column += columns;
    }
}

/* The cues from `first` on get their shares of the translation, cut between words. */
static void write_sentence(Document *document, const Segment *segment) {
    const Subtitles *subtitles = document->state;
    const Cue *cues = subtitles->cues + segment->item;
    StrView rest = strbuf_view(&segment->translation);
    OpenTags open = {0};
    int all = 0, done = 0, total = columns_without_tags(rest), written = 0;
    for (int c = 0; c < segment->kind; c++) all += cues[c].columns;
    for (int c = 0; c < segment->kind; c++) {
        StrBuf part = {0};
        StrView word, before = rest;
        for (int i = 0; i < open.count; i++) strbuf_add(&part, open.items[i]);
        done += cues[c].columns;
        int goal = all > 0 ? (int)((long)total * done / all) : total;
        bool any = false;
        while (next_word(&rest, &word)) {
            int columns = columns_without_tags(word);
            bool last = c + 1 == segment->kind;
            if (!last && any && written + columns / 2 > goal) {
                rest = before;
                break;
            }
            if (any) strbuf_add_char(&part, ' ');
            strbuf_add(&part, word);
            follow_tags(word, &open);
            written += columns + 1;
            any = true;
            before = rest;
        }
        for (int i = open.count - 1; i >= 0; i--)
            strbuf_format(&part, "</%.*s>", SV_ARG(tag_name(open.items[i])));
        wrap(strbuf_view(&part), subtitles->width, document_edit(document, cues[c].from, cues[c].to));
        strbuf_free(&part);
    }
}

static void write_speakers(Document *document, const Segment *segment) {
    const Subtitles *subtitles = document->state;
    StrView rest = strbuf_view(&segment->translation), mark = SV("<br/>");
    StrBuf *out = document_edit(document, segment->from, segment->to);
    while (rest.length > 0) {
        const char *end = memmem(rest.data, rest.length, mark.data, mark.length);
        StrView line = {rest.data, end ? (size_t)(end - rest.data) : rest.length};
        if (out->length > 0) strbuf_add_char(out, '\n');
        wrap(line, subtitles->width, out);
        rest = end ? (StrView){end + mark.length, rest.length - line.length - mark.length} : SV("");
    }
}

static void write(Document *document) {
    for (size_t s = 0; s < document->count; s++) {
        const Segment *segment = &document->segments[s];
        StrView text = strbuf_view(&segment->text);
        if (!segment->is_translated || text_same_words(text, strbuf_view(&segment->translation))) continue;
        if (has_speakers((StrView){document->bytes.data + segment->from, segment->to - segment->from}))
            write_speakers(document, segment);
        else
            write_sentence(document, segment);
    }
}

static void release(void *state) {
    Subtitles *subtitles = state;
    mem_free(subtitles->cues);
    mem_free(subtitles);
}

const DocumentFormat SUBRIP_DOCUMENT = {.name = "srt",
                                        .endings = ".srt",
                                        .title = "a SubRip file",
                                        .has_many_tags = true,
                                        .is_wrapped = true,
                                        .detect = detect_subrip,
                                        .read = read,
                                        .write = write,
                                        .release = release};
const DocumentFormat WEBVTT_DOCUMENT = {.name = "vtt",
                                        .endings = ".vtt",
                                        .title = "a WebVTT file",
                                        .has_many_tags = true,
                                        .is_wrapped = true,
                                        .detect = detect_webvtt,
                                        .read = read,
                                        .write = write,
                                        .release = release};
