# install_deps.sh - install-deps with each package manager, simulated by scripts that log their arguments.
set -eu
bin=$TMP/bin
mkdir "$bin"
for tool in sh cat tail rm dirname env uname make tr sed mktemp; do
    ln -s "$(command -v $tool)" "$bin/$tool"
done

fake() { # NAME, BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}
expect() { # WHAT, EXIT CODE, PATTERN OF THE OUTPUT, ARGUMENT...
    what=$1 code=$2 pattern=$3
    shift 3
    status=0
    PATH=$bin TMPDIR=$TMP NOTES=$TMP/notes CC=no-compiler PKG_CONFIG=no-pkg-config \
        scripts/install-deps "$@" >"$TMP/out" 2>&1 </dev/null || status=$?
    if [ $status -ne "$code" ] || ! grep -qE -e "$pattern" "$TMP/out"; then
        echo "$what: expected exit code $code and '$pattern', got exit code $status and:"
        cat "$TMP/out"
        exit 1
    fi
}
note='echo "$0 $*" | tr "\n" " " >>"$NOTES"'

fake id 'echo 0'
expect "no package manager" 1 "^hint: this system has none"
apt_get="^env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends"
for case in "apt-get|$apt_get pkg-config gcc libc6-dev libopenblas-dev libutf8proc-dev libcjson-dev \
zlib1g-dev libmicrohttpd-dev libxml2-dev libgettextpo-dev libexttextcat-dev libcmocka-dev$" \
    "dnf|^dnf install -y pkgconf-pkg-config gcc openblas-devel utf8proc-devel cjson-devel zlib-devel \
libmicrohttpd-devel libxml2-devel gettext-devel libexttextcat-devel libcmocka-devel$" \
    "pacman|^pacman -S --needed --noconfirm pkgconf gcc openblas libutf8proc cjson zlib libmicrohttpd \
libxml2 gettext libexttextcat cmocka$" \
    "apk|^apk add pkgconf gcc musl-dev openblas-dev utf8proc-dev cjson-dev zlib-dev libmicrohttpd-dev \
libxml2-dev gettext-dev libexttextcat-dev cmocka-dev$" \
    "brew|^brew install pkgconf openblas utf8proc cjson zlib libmicrohttpd libxml2 gettext libexttextcat \
cmocka$"; do
    manager=${case%%|*}
    fake "$manager" "$note"
    expect "$manager" 0 "${case#*|}" --print
    [ ! -e "$TMP/notes" ] || { echo "$manager: --print ran it"; exit 1; }
    rm "$bin/$manager"
done

fake apt-get "$note"
expect "MPI where it is asked for" 0 "libcmocka-dev libopenmpi-dev openmpi-bin$" --mpi --print
rm "$bin/apt-get"

fake id 'echo 1000'
fake dnf "$note"
expect "no root and no sudo" 1 "^hint: run 'sudo dnf install"
fake sudo 'exit 1'
expect "sudo wants a password" 1 "^hint: run 'sudo dnf install"
[ ! -e "$TMP/notes" ] || { echo "the package manager ran without permission"; exit 1; }
fake sudo '[ "$1" != -n ] || shift; [ "$1" = true ] || exec "$@"'
expect "sudo without password" 1 "still missing after installation"
grep -q "dnf install -y pkgconf" "$TMP/notes" || { echo "sudo did not reach dnf"; exit 1; }
rm "$bin/sudo" "$bin/dnf" "$TMP/notes"

fake id 'echo 0'
fake apt-get 'echo "$1" >>"$NOTES"; echo "E: cannot reach the mirror"; exit 100'
expect "installation fails" 1 "^hint: run 'apt-get update && env DEBIAN"
grep -q "cannot reach the mirror" "$TMP/out" || { echo "the manager's words are lost"; exit 1; }
[ "$(tr '\n' ' ' <"$TMP/notes")" = "install update " ] || {
    echo "wrong order: $(cat "$TMP/notes")"
    exit 1
}
fake apt-get 'case $* in *httpd*) echo "E: no installation candidate"; exit 100 ;; esac; echo "$*" >>"$NOTES"'
rm "$TMP/notes"
expect "a system without libmicrohttpd" 1 "still missing after installation"
grep -q "install.* zlib1g-dev libcmocka-dev" "$TMP/notes" || { echo "the rest is not installed"; exit 1; }
grep -q "install.* libxml2-dev" "$TMP/notes" || { echo "an optional package is not installed"; exit 1; }
expect "unknown option" 2 'install-deps --print' --bogus

# Where everything is there: silence. What only serving needs may be missing.
if ! pkg-config --exists libmicrohttpd libxml-2.0 libexttextcat; then exit 0; fi
if [ -n "$(scripts/install-deps --print 2>&1)" ]; then echo "not silent"; exit 1; fi
