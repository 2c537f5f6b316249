/* torch.c - pytorch_model.bin: a pickle, which is read without calling anything, and the numbers of its
 * storages.
 *
 * A pickle is a program for a machine with a stack. This machine knows the opcodes of protocol 2 that
 * torch writes; names
 * and calls other than those of tensors are refused. Values are nodes of one array, so nothing recurses.
 */
#include <string.h>
#include "base/mem.h"
#include "io/bytes.h"
#include "foreign/tensors.h"
#include "io/zip.h"

enum { NODES = 2000000 };

typedef enum { V_NONE, V_NUMBER, V_TEXT, V_NAME, V_TUPLE, V_LIST, V_DICT, V_STORAGE, V_TENSOR } Kind;

typedef struct {
    Kind kind;
    int64_t number; /* V_NUMBER */
    StrView text;   /* V_TEXT; V_NAME: "module\nname" */
    uint32_t
        *items; /* of a tuple; storage, offset, shape and strides of a tensor; type and key of a storage */
    uint32_t count;
    size_t capacity;
} Node;

typedef struct {
    ByteReader reader;
    Node *nodes;
    size_t count, nodes_capacity;
    uint32_t *stack;
    size_t depth, stack_capacity;
    size_t *marks;
    size_t marked, marks_capacity;
    uint32_t *memo;
    size_t memo_count, memo_capacity;
} Machine;

static void machine_free(Machine *m) {
    for (size_t i = 0; i < m->count; i++) mem_free(m->nodes[i].items);
    mem_free(m->nodes);
    mem_free(m->stack);
    mem_free(m->marks);
    mem_free(m->memo);
}

static Status damaged(const Machine *m) {
    return status_fail(STATUS_DATA, "the pickle is damaged at byte %zu", m->reader.at);
}

static void push_index(Machine *m, uint32_t index) {
    MEM_GROW(m->stack, m->stack_capacity, m->depth + 1);
    m->stack[m->depth++] = index;
}

static Node *push(Machine *m, Kind kind) {
    MEM_GROW(m->nodes, m->nodes_capacity, m->count + 1);
    m->nodes[m->count] = (Node){.kind = kind};
    push_index(m, (uint32_t)m->count);
    return &m->nodes[m->count++];
}

static void add_items(Node *node, const uint32_t *items, size_t count) {
    if (count == 0) return;
    MEM_GROW(node->items, node->capacity, node->count + count);
    memcpy(node->items + node->count, items, count * sizeof *items);
    node->count += (uint32_t)count;
}

static Node *top(Machine *m) { return &m->nodes[m->stack[m->depth - 1]]; }
static const Node *item(const Machine *m, const Node *node, uint32_t i) { return &m->nodes[node->items[i]]; }

/* The last `count` values become a tuple. */
static Status make_tuple(Machine *m, size_t count) {
    if (count > m->depth) return damaged(m);
    uint32_t kept[4], *items = m->stack + m->depth - count;
    bool few = count <= 4;
    uint32_t *copy = few ? kept : mem_alloc(count, sizeof *copy);
    if (count) memcpy(copy, items, count * sizeof *copy);
    m->depth -= count;
    add_items(push(m, V_TUPLE), copy, count);
    if (!few) mem_free(copy);
    return STATUS_OK;
}

static Status memo_set(Machine *m, uint32_t index) {
    if (m->depth == 0 || index > NODES) return damaged(m);
    size_t old = m->memo_count;
    if (index >= old) {
        MEM_GROW(m->memo, m->memo_capacity, (size_t)index + 1);
        memset(m->memo + old, 0xFF, ((size_t)index + 1 - old) * sizeof *m->memo);
        m->memo_count = (size_t)index + 1;
    }
    m->memo[index] = m->stack[m->depth - 1];
    return STATUS_OK;
}

static Status memo_get(Machine *m, uint32_t index) {
    if (index >= m->memo_count || m->memo[index] == UINT32_MAX) return damaged(m);
    push_index(m, m->memo[index]);
    return STATUS_OK;
}

static StrView line(ByteReader *reader) {
    const char *start = reader->bytes.data + reader->at;
    const char *end = reader->bad ? NULL : memchr(start, '\n', reader->bytes.length - reader->at);
    if (!end) reader->bad = true;
    return end ? (StrView){bytes_take(reader, (uint64_t)(end - start) + 1).data, (size_t)(end - start)}
               : (StrView){0};
}

static Status push_name(Machine *m) {
    static const char *const known[] = {"torch._utils\n_rebuild_tensor_v2",
                                        "torch._utils\n_rebuild_parameter",
                                        "collections\nOrderedDict",
                                        "torch\nFloatStorage",
                                        "torch\nHalfStorage",
                                        "torch\nBFloat16Storage",
                                        "torch\nLongStorage"};
    StrView module = line(&m->reader), name = line(&m->reader);
    if (m->reader.bad || module.length > 200 || name.length > 200) return damaged(m);
    StrView both = {module.data, module.length + 1 + name.length};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sv_equal(both, sv(known[i]))) {
            push(m, V_NAME)->text = sv(known[i]);
            return STATUS_OK;
        }
    status_fail(STATUS_DATA, "the pickle imports '%.*s.%.*s', which a file of tensors does not need",
                SV_ARG(module), SV_ARG(name));
    return status_hint(STATUS_DATA,
                       "Python would run it when it loads the file; use a file that contains only weights");
}

static bool is_name(const Node *node, const char *name) {
    const char *end = node->kind == V_NAME ? strchr(node->text.data, '\n') : NULL;
    return end && strcmp(end + 1, name) == 0;
}

/* Pops arguments and a name, pushes what the name makes of them. */
static Status reduce(Machine *m) {
    if (m->depth < 2) return damaged(m);
    uint32_t arguments = m->stack[m->depth - 1], name = m->stack[m->depth - 2];
    const Node *a = &m->nodes[arguments], *f = &m->nodes[name];
    if (a->kind != V_TUPLE || f->kind != V_NAME) return damaged(m);
    m->depth -= 2;
    if (is_name(f, "_rebuild_parameter") && a->count >= 1) {
        push_index(m, a->items[0]);
    } else if (is_name(f, "_rebuild_tensor_v2") && a->count >= 4 && item(m, a, 0)->kind == V_STORAGE) {
        Node *tensor = push(m, V_TENSOR);
        add_items(tensor, m->nodes[arguments].items, 4);
    } else if (is_name(f, "OrderedDict") && a->count == 0) {
        push(m, V_DICT);
    } else {
        return status_fail(STATUS_DATA, "the pickle makes a call that tensors do not need");
    }
    return STATUS_OK;
}

static Status push_storage(Machine *m) {
    if (m->depth == 0) return damaged(m);
    uint32_t index = m->stack[--m->depth];
    const Node *id = &m->nodes[index];
    if (id->kind != V_TUPLE || id->count < 5 || item(m, id, 1)->kind != V_NAME ||
        item(m, id, 2)->kind != V_TEXT || item(m, id, 4)->kind != V_NUMBER)
        return damaged(m);
    if (id->count > 5 && item(m, id, 5)->kind != V_NONE)
        return status_fail(STATUS_DATA, "a storage is a view of another one, which is not supported");
    uint32_t parts[] = {id->items[1], id->items[2], id->items[4]};
    add_items(push(m, V_STORAGE), parts, 3);
    return STATUS_OK;
}

static Status add_to(Machine *m, size_t count, Kind kind) {
    if (count >= m->depth) return damaged(m);
    m->depth -= count;
    if (top(m)->kind != kind || (kind == V_DICT && count % 2)) return damaged(m);
    add_items(top(m), m->stack + m->depth, count);
    return STATUS_OK;
}

static Status since_mark(Machine *m, size_t *count) {
    if (m->marked == 0 || m->marks[m->marked - 1] > m->depth) return damaged(m);
    *count = m->depth - m->marks[--m->marked];
    return STATUS_OK;
}

static Status step(Machine *m, unsigned opcode) {
    ByteReader *reader = &m->reader;
    size_t count = 0;
    switch (opcode) {
    case 0x80:
        return bytes_u8(reader) == 2 ? STATUS_OK : status_fail(STATUS_DATA, "the pickle's protocol is not 2");
    case '}':
        push(m, V_DICT);
        return STATUS_OK;
    case ']':
        push(m, V_LIST);
        return STATUS_OK;
    case ')':
        push(m, V_TUPLE);
        return STATUS_OK;
    case '(':
        MEM_GROW(m->marks, m->marks_capacity, m->marked + 1);
        m->marks[m->marked++] = m->depth;
        return STATUS_OK;
    case 'X':
        push(m, V_TEXT)->text = bytes_take(reader, bytes_u32(reader));
        return STATUS_OK;
    case 'J':
        push(m, V_NUMBER)->number = (int32_t)bytes_u32(reader);
        return STATUS_OK;
    case 'K':
        push(m, V_NUMBER)->number = bytes_u8(reader);
        return STATUS_OK;
    case 'M':
        push(m, V_NUMBER)->number = bytes_u16(reader);
        return STATUS_OK;
    case 0x8a: { /* a count, or torch's magic number, of which the lowest bytes are enough */
        StrView digits = bytes_take(reader, bytes_u8(reader));
        ByteReader low = {digits, 0, false};
        push(m, V_NUMBER)->number = (int64_t)bytes_number(&low, digits.length < 8 ? digits.length : 8);
        return STATUS_OK;
    }
    case 0x88:
        push(m, V_NUMBER)->number = 1;
        return STATUS_OK;
    case 0x89:
        push(m, V_NUMBER);
        return STATUS_OK;
    case 'N':
        push(m, V_NONE);
        return STATUS_OK;
    case 'c':
        return push_name(m);
    case 'q':
        return memo_set(m, bytes_u8(reader));
    case 'r':
        return memo_set(m, bytes_u32(reader));
    case 'h':
        return memo_get(m, bytes_u8(reader));
    case 'j':
        return memo_get(m, bytes_u32(reader));
    case 't':
        TRY(since_mark(m, &count));
        return make_tuple(m, count);
    case 0x85:
        return make_tuple(m, 1);
    case 0x86:
        return make_tuple(m, 2);
    case 0x87:
        return make_tuple(m, 3);
    case 'Q':
        return push_storage(m);
    case 'R':
        return reduce(m);
    case 's':
        return add_to(m, 2, V_DICT);
    case 'u':
        TRY(since_mark(m, &count));
        return add_to(m, count, V_DICT);
    case 'a':
        return add_to(m, 1, V_LIST);
    case 'e':
        TRY(since_mark(m, &count));
        return add_to(m, count, V_LIST);
    case 'b':
        return m->depth-- > 1 ? STATUS_OK : damaged(m);
    default:
        return status_fail(STATUS_DATA,
                           "the pickle has the opcode 0x%02x at byte %zu, which tensors do not need", opcode,
                           m->reader.at - 1);
    }
}

/* Runs one pickle; its value is left on the stack. Marks and memo are its own. */
static Status run(Machine *m) {
    m->depth = m->marked = m->memo_count = 0;
    for (;;) {
        unsigned opcode = bytes_u8(&m->reader);
        if (m->reader.bad) return status_fail(STATUS_DATA, "the pickle is truncated");
        if (opcode == '.') return m->depth ? STATUS_OK : damaged(m);
        TRY(step(m, opcode));
        if (m->reader.bad) return status_fail(STATUS_DATA, "the pickle is truncated");
        if (m->count > NODES || m->depth > NODES || m->marked > NODES)
            return status_fail(STATUS_DATA, "the pickle has more than %d values", NODES);
    }
}

/* ---- tensors ---- */

static bool storage_type(const Node *name, ForeignType *type) {
    static const char *const names[] = {"FloatStorage", "HalfStorage", "BFloat16Storage"};
    for (*type = FOREIGN_F32; *type <= FOREIGN_BF16; ++*type)
        if (is_name(name, names[*type])) return true;
    return false;
}

/* Element sizes of all storages, numbers of 64 bits too. */
static size_t storage_size(const Node *name) {
    ForeignType type;
    return storage_type(name, &type) ? foreign_type_size(type) : 8;
}

static Status add_tensor(ForeignTensors *tensors, const Machine *m, const Node *name, const Node *value,
                         StrView data) {
    const Node *offset = item(m, value, 1), *sizes = item(m, value, 2), *strides = item(m, value, 3);
    uint64_t shape[FOREIGN_RANK], step = 1;
    ForeignType type;
    if (offset->kind != V_NUMBER || sizes->kind != V_TUPLE || strides->kind != V_TUPLE ||
        sizes->count > FOREIGN_RANK || sizes->count != strides->count)
        return damaged(m);
    if (!storage_type(item(m, item(m, value, 0), 0), &type)) return STATUS_OK; /* whole numbers: no weights */
    for (uint32_t i = sizes->count; i-- > 0;) {
        const Node *size = item(m, sizes, i), *stride = item(m, strides, i);
        if (size->kind != V_NUMBER || stride->kind != V_NUMBER || size->number <= 0 ||
            size->number > INT32_MAX)
            return damaged(m);
        if (size->number != 1 && (uint64_t)stride->number != step)
            return status_fail(STATUS_DATA, "tensor '%.*s' is not stored row by row", SV_ARG(name->text));
        shape[i] = (uint64_t)size->number;
        if (step > data.length) return damaged(m);
        step *= shape[i];
    }
    ByteReader reader = bytes_from(data, (uint64_t)offset->number > data.length
                                             ? UINT64_MAX
                                             : (uint64_t)offset->number * foreign_type_size(type));
    StrView numbers = {0};
    if (step <= data.length) numbers = bytes_take(&reader, step * foreign_type_size(type));
    if (reader.bad || numbers.length == 0)
        return status_fail(STATUS_DATA, "tensor '%.*s' extends beyond its storage", SV_ARG(name->text));
    return foreign_tensors_add(tensors, name->text, (int)sizes->count, shape, type, numbers, NULL);
}

/* For each tensor of the dictionary on the stack. `find` gives the bytes of a storage. */
typedef struct {
    const Zip *zip;
    StrView folder;        /* of the zip's entries */
    const HashMap *starts; /* storage key -> first byte in `file`, of the old form */
    StrView file;
    StrBuf content;
} Storages;

static Status find_storage(Storages *s, StrView key, size_t elements, StrView *data) {
    if (s->starts) {
        int64_t start = hashmap_get(s->starts, key, -1);
        ByteReader reader = bytes_from(s->file, start < 0 ? UINT64_MAX : (uint64_t)start);
        *data = bytes_take(&reader, elements);
        return reader.bad ? status_fail(STATUS_DATA, "storage '%.*s' is truncated", SV_ARG(key)) : STATUS_OK;
    }
    StrBuf name = {0};
    strbuf_format(&name, "%.*sdata/%.*s", SV_ARG(s->folder), SV_ARG(key));
    size_t found = 0;
    while (found < s->zip->count && !sv_equal(s->zip->entries[found].name, strbuf_view(&name))) found++;
    strbuf_free(&name);
    if (found == s->zip->count) return status_fail(STATUS_DATA, "storage '%.*s' is missing", SV_ARG(key));
    strbuf_clear(&s->content);
    TRY(zip_read(s->zip, found, &s->content));
    *data = strbuf_view(&s->content);
    return STATUS_OK;
}

static Status add_tensors(ForeignTensors *tensors, Machine *m, Storages *storages) {
    const Node *dict = top(m);
    if (dict->kind != V_DICT) return status_fail(STATUS_DATA, "the pickle is not a dictionary of tensors");
    for (uint32_t i = 0; i + 1 < dict->count; i += 2) {
        const Node *name = item(m, dict, i), *value = item(m, dict, i + 1);
        StrView data = {0};
        if (name->kind != V_TEXT || value->kind != V_TENSOR) {
            status_fail(STATUS_DATA, "'%.*s' in the pickle is not a tensor",
                        name->kind == V_TEXT && name->text.length < 100 ? (int)name->text.length : 0,
                        name->text.data ? name->text.data : "");
            return status_hint(
                STATUS_DATA,
                "training checkpoints are not supported: save only the weights (save_pretrained)");
        }
        const Node *storage = item(m, value, 0), *key = item(m, storage, 1), *size = item(m, storage, 2);
        if (key->text.length > 200 || size->number < 0 || size->number > INT64_MAX / 8) return damaged(m);
        TRY(find_storage(storages, key->text, (size_t)size->number * storage_size(item(m, storage, 0)),
                         &data));
        TRY(add_tensor(tensors, m, name, value, data));
    }
    return STATUS_OK;
}

static Status read_zip_form(ForeignTensors *tensors, Machine *m, StrView file) {
    Zip zip;
    TRY(zip_open(&zip, file));
    Storages storages = {.zip = &zip};
    StrBuf pickle = {0};
    Status status = status_fail(STATUS_DATA, "the zip file has no data.pkl: torch did not write it");
    for (size_t i = 0; i < zip.count; i++) {
        StrView name = zip.entries[i].name;
        if (!sv_ends(name, SV("/data.pkl"))) continue;
        storages.folder = (StrView){name.data, name.length - strlen("data.pkl")};
        status = zip_read(&zip, i, &pickle);
        m->reader = (ByteReader){strbuf_view(&pickle), 0, false};
        if (status == STATUS_OK) status = run(m);
        if (status == STATUS_OK) status = add_tensors(tensors, m, &storages);
        break;
    }
    strbuf_free(&pickle);
    strbuf_free(&storages.content);
    zip_free(&zip);
    return status;
}

/* Sizes of the storages' elements, by their keys. */
static void list_sizes(const Machine *m, HashMap *sizes) {
    for (size_t i = 0; i < m->count; i++)
        if (m->nodes[i].kind == V_STORAGE)
            hashmap_set(sizes, item(m, &m->nodes[i], 1)->text,
                        (int64_t)storage_size(item(m, &m->nodes[i], 0)));
}

/* Behind the list of keys: for each of them i64 number of elements, and the elements. */
static Status list_starts(Machine *m, const HashMap *sizes, HashMap *starts) {
    const Node *keys = top(m);
    if (keys->kind != V_LIST) return damaged(m);
    for (uint32_t i = 0; i < keys->count; i++) {
        StrView key = item(m, keys, i)->text;
        uint64_t elements = bytes_u64(&m->reader), size = (uint64_t)hashmap_get(sizes, key, 0);
        if (size == 0 || elements > m->reader.bytes.length / 8 * 8 / size) return damaged(m);
        hashmap_set(starts, key, (int64_t)m->reader.at);
        bytes_take(&m->reader, elements * size);
        if (m->reader.bad)
            return status_fail(STATUS_DATA, "the file is truncated in storage '%.*s'", SV_ARG(key));
    }
    return STATUS_OK;
}

/* Five pickles: a magic number, a version, sizes of types, the object, the keys of the storages. */
static Status read_old_form(ForeignTensors *tensors, Machine *m, StrView file) {
    m->reader = (ByteReader){file, 0, false};
    for (int i = 0; i < 3; i++) TRY(run(m));
    TRY(run(m));
    uint32_t object = m->stack[m->depth - 1];
    HashMap *sizes = hashmap_new(), *starts = hashmap_new();
    list_sizes(m, sizes);
    Status status = run(m);
    if (status == STATUS_OK) status = list_starts(m, sizes, starts);
    if (status == STATUS_OK) {
        m->depth = 0;
        push_index(m, object);
        status = add_tensors(tensors, m, &(Storages){.starts = starts, .file = file});
    }
    hashmap_free(sizes);
    hashmap_free(starts);
    return status;
}

Status foreign_read_torch(ForeignTensors *tensors, StrView file) {
    static const char magic[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e";
    Machine machine = {0};
    Status status;
    if (zip_starts(file))
        status = read_zip_form(tensors, &machine, file);
    else if (sv_starts(file, (StrView){magic, sizeof magic - 1}))
        status = read_old_form(tensors, &machine, file);
    else
        status = status_fail(
            STATUS_DATA, "torch did not write it: it is neither a zip file nor begins with torch's number");
    machine_free(&machine);
    if (status != STATUS_OK) foreign_tensors_free(tensors);
    return status;
}
