/* file_store.c - files stay until their time is over or a newer one needs their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "serve/file_store.h"

enum { SECONDS = 100, BYTES = 10 };

static void add(FileStore *store, const char *content, double now, char name[64]) {
    const StoredFile *file = file_store_add(store, SV("a.txt"), sv(content), now);
    assert_non_null(file);
    assert_string_equal(file->title, "a.txt");
    assert_true(strlen(file->name) == 32 + sizeof ".a.txt" - 1);
    strcpy(name, file->name);
    stored_file_release(file);
}

static void assert_content(FileStore *store, const char *name, const char *content) {
    const StoredFile *file = file_store_find(store, sv(name));
    if (!content) assert_null(file);
    if (!content) return;
    assert_non_null(file);
    assert_true(sv_equal(file->content, sv(content)));
    stored_file_release(file);
}

static void files_expire(void **state) {
    char a[64], b[64];
    FileStore *store = file_store_new(BYTES, SECONDS);
    (void)state;
    add(store, "one", 0, a);
    add(store, "", 1, b);
    assert_string_not_equal(a, b);
    file_store_expire(store, SECONDS - 1);
    assert_content(store, a, "one");
    file_store_expire(store, SECONDS);
    assert_content(store, a, NULL);
    assert_content(store, b, "");
    assert_true(file_store_bytes(store) == 0);
    file_store_expire(store, SECONDS + 1);
    assert_content(store, b, NULL);
    add(store, "two", 2, a);
    assert_content(store, a, "two");
    file_store_free(store);
}

static void the_oldest_leave(void **state) {
    char a[64], b[64], c[64];
    FileStore *store = file_store_new(BYTES, SECONDS);
    (void)state;
    add(store, "12345", 0, a);
    add(store, "67890", 0, b);
    assert_content(store, a, "12345");
    const StoredFile *held = file_store_find(store, sv(a));
    add(store, "x", 0, c);
    assert_content(store, a, NULL);
    assert_content(store, b, "67890");
    assert_content(store, c, "x");
    assert_true(file_store_bytes(store) == 6);
    assert_true(sv_equal(held->content, SV("12345"))); /* until it is released */
    stored_file_release(held);
    assert_null(file_store_add(store, SV("a"), SV("12345678901"), 0));
    add(store, "1234567890", 0, a);
    assert_content(store, b, NULL);
    assert_content(store, c, NULL);
    assert_content(store, a, "1234567890");
    file_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_expire), cmocka_unit_test(the_oldest_leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
