# packages.sh - make install, deb and dist: complete, without extra files, reproducible.
# not sanitized
# alone
set -eu
version=$(sed -n 's/^.define ATTN_MT_VERSION "\(.*\)"/\1/p' src/base/version.h)
fail() {
    echo "failed: $*"
    exit 1
}
# The program exists and is not built again, whatever its flags were.
again() { make -s --no-print-directory -o all -o lib BUILD="$BUILD" "$@"; }

# ---- without pkg-config the message names pkg-config, not the libraries
! make -s BUILD="$TMP/none" PKG_CONFIG=no-such-program all >"$TMP/log" 2>&1 || fail "built without pkg-config"
grep -q "missing: no-such-program, the program that knows where libraries are" "$TMP/log" || {
    cat "$TMP/log"
    fail "the message about pkg-config"
}

# ---- folder names with a space are refused
for folder in BUILD PREFIX DESTDIR; do
    ! make -n "$folder=$TMP/a b" uninstall >"$TMP/log" 2>&1 || fail "make takes a $folder with a space"
    grep -qF "$folder has a space in it: '$TMP/a b'" "$TMP/log" || fail "the message about $folder"
done

# ---- install: the examples of the man page work with the installed files; uninstall leaves no file
root=$TMP/root
again DESTDIR="$root" PREFIX=/opt/mt install >"$TMP/log" || fail "make install: $(cat "$TMP/log")"
"$root/opt/mt/bin/attn-mt" --version | grep -qFx "attn-mt $version" || fail "the program does not run"
share=$root/opt/mt/share
for file in bash-completion/completions/attn-mt zsh/site-functions/_attn-mt \
    fish/vendor_completions.d/attn-mt.fish attn-mt/configs/demo.json attn-mt/data/train.tsv \
    doc/attn-mt/README.md doc/attn-mt/docs/attention.svg; do
    [ -s "$share/$file" ] || fail "$file is not installed"
done
# links FOLDER: all links of its documents exist
links() {
    (cd "$1" && find . -name '*.md') | while read -r file; do
        sed 's/](/\n](/g' "$1/$file" | sed -n 's/^](\([^):#]*\)[)#].*/\1/p' | while read -r link; do
            [ -z "$link" ] || [ -e "$1/${file%/*}/$link" ] || echo "$file: $link"
        done
    done >"$TMP/links"
    [ ! -s "$TMP/links" ] || fail "links to what is not installed: $(cat "$TMP/links")"
}
links "$share/doc/attn-mt"
sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$share/man/man1/attn-mt.1" | grep -v '^\.' | sed -n '/^cp -r/,$p' |
    sed -e "s|/opt/mt|$root&|" -e '/attn-mt train/s/$/ --set train.max_updates=3 --set model.hidden=16/' \
        >"$TMP/example"
grep -q "cp -r $root/opt/mt/share/attn-mt" "$TMP/example" || fail "the man page does not say where data are"
[ "$(grep -c attn-mt "$TMP/example")" -ge 5 ] || fail "no examples in the man page"
mkdir "$TMP/work"
(cd "$TMP/work" && PATH=$root/opt/mt/bin:$PATH sh -e "$TMP/example" >"$TMP/log" 2>&1) || {
    cat "$TMP/log"
    fail "the examples of the man page"
}
if [ -e "$BUILD/libattn_mt.so.1" ]; then
    "${CC:-cc}" "$share/doc/attn-mt/examples/translate.c" -o "$TMP/linked" -Wl,-rpath,"$root/opt/mt/lib" \
        $(PKG_CONFIG_PATH=$root/opt/mt/lib/pkgconfig pkg-config --define-prefix --cflags --libs attn-mt) ||
        fail "a program cannot be linked with what was installed"
    echo "i'm home ." | "$TMP/linked" "$TMP/work/demo/runs/demo/best.safetensors" >"$TMP/log" ||
        fail "the linked program: $(cat "$TMP/log")"
fi
again DESTDIR="$root" PREFIX=/opt/mt uninstall >"$TMP/log" || fail "make uninstall"
left=$(find "$root" -type f -o -type d -name attn-mt)
[ -z "$left" ] || fail "uninstall leaves $left"

# ---- dist: the same bytes from a checkout and from the unpacked tarball; the checksum is correct
if tar --version 2>/dev/null | grep -q 'GNU tar'; then
    BUILD=$TMP/one scripts/make-dist >/dev/null
    tar -xzf "$TMP/one/attn-mt-$version.tar.gz" -C "$TMP"
    mkdir "$TMP/attn-mt-$version/build" && : >"$TMP/attn-mt-$version/build/junk"
    (cd "$TMP/attn-mt-$version" && BUILD=build scripts/make-dist >/dev/null)
    cmp "$TMP/one/attn-mt-$version.tar.gz" "$TMP/attn-mt-$version/build/attn-mt-$version.tar.gz" ||
        fail "packed again, the source has other bytes"
    (cd "$TMP/one" && sha256sum -c --quiet "attn-mt-$version.tar.gz.sha256") || fail "the checksum"
    for file in Makefile README.md tests/run data/train.tsv scripts/make-dist; do
        [ -s "$TMP/attn-mt-$version/$file" ] || fail "$file is not in the tarball"
    done
    make -C "$TMP/attn-mt-$version" -n all tests >"$TMP/log" 2>&1 || fail "make: $(cat "$TMP/log")"
    # A tracked file is missing: no tarball.
    mkdir "$TMP/bin"
    printf '#!/bin/sh\n[ "$1" != ls-files ] || echo gone\n' >"$TMP/bin/git"
    chmod +x "$TMP/bin/git"
    ! PATH=$TMP/bin:$PATH BUILD=$TMP/two scripts/make-dist >"$TMP/log" 2>&1 || fail "packed what is not there"
    [ -z "$(ls "$TMP/two")" ] || fail "of what cannot be packed it leaves $(ls "$TMP/two")"
else
    echo "skipped: make dist needs GNU tar"
fi

# ---- deb: its fields, its files, lintian. It packages the existing program.
if command -v dh >/dev/null && command -v dpkg-buildpackage >/dev/null && [ -d "$TMP/attn-mt-$version" ]; then
    mkdir "$TMP/deb" && cp "$BUILD/attn-mt" "$TMP/deb/"
    for file in "$BUILD"/libattn_mt.*; do [ ! -e "$file" ] || cp "$file" "$TMP/deb/"; done
    (cd "$TMP/attn-mt-$version" && env BUILD="$TMP/deb" MAKE_OPTIONS='-o all -o lib' \
        dpkg-buildpackage -b -us -uc -nc -d) >"$TMP/log" 2>&1 || fail "dpkg-buildpackage: $(cat "$TMP/log")"
    deb=$TMP/attn-mt_${version}_$(dpkg --print-architecture).deb
    [ -f "$deb" ] || fail "debian/changelog has another version: $(ls "$TMP")"
    [ "$(dpkg-deb -f "$deb" Package Version)" = "Package: attn-mt
Version: $version" ] || fail "fields: $(dpkg-deb -f "$deb")"
    dpkg-deb -f "$deb" Depends | grep -q libopenblas || fail "no dependency on OpenBLAS"
    dpkg-deb -c "$deb" >"$TMP/log"
    for file in bin/attn-mt 'lib/.*/libattn_mt.so.1' 'lib/.*/libattn_mt.a' 'lib/.*/pkgconfig/attn-mt.pc' \
        include/attn_mt.h share/man/man1/attn-mt.1.gz share/doc/attn-mt/copyright \
        share/doc/attn-mt/changelog.gz \
        share/bash-completion/completions/attn-mt share/zsh/vendor-completions/_attn-mt \
        share/fish/vendor_completions.d/attn-mt.fish share/attn-mt/configs/demo.json; do
        grep -q "\./usr/$file$" "$TMP/log" || fail "$file is not in the package"
    done
    dpkg-deb -x "$deb" "$TMP/unpacked"
    links "$TMP/unpacked/usr/share/doc/attn-mt"
    if command -v lintian >/dev/null; then
        lintian --allow-root --fail-on error,warning "$deb" >"$TMP/log" 2>&1 ||
            fail "lintian: $(cat "$TMP/log")"
        [ ! -s "$TMP/log" ] || fail "lintian: $(cat "$TMP/log")"
    else
        echo "skipped: lintian is not installed"
    fi
else
    echo "skipped: a Debian package needs debhelper, dpkg-dev and GNU tar"
fi
