#!/bin/sh
# sbom.sh - make sbom: every library of the program with its version and licence, reproducible, valid SPDX.
# not sanitized
set -eu
fail() {
    echo "failed: $*"
    exit 1
}
version=$(sed -n 's/^.define ATTN_MT_VERSION "\(.*\)"/\1/p' src/base/version.h)
sbom() { make -s --no-print-directory BUILD="$1" sbom >/dev/null; }
name=attn-mt-$version.spdx.json

sbom "$TMP/one" && sbom "$TMP/two"
cmp "$TMP/one/$name" "$TMP/two/$name" || fail "two runs differ"
SOURCE_DATE_EPOCH=86400 sbom "$TMP/two"
grep -q '"created": "1970-01-02T00:00:00Z"' "$TMP/two/$name" || fail "SOURCE_DATE_EPOCH is not the date"
! SOURCE_DATE_EPOCH=now sbom "$TMP/two" 2>"$TMP/log" || fail "SOURCE_DATE_EPOCH=now is a date"
make -s --no-print-directory BUILD="$TMP/three" SERVE=no PO=no sbom >/dev/null
! grep -q 'microhttpd\|gettextpo' "$TMP/three/$name" || fail "it lists what is not linked"
! scripts/make-sbom libfoo >"$TMP/log" 2>&1 || fail "an unknown library is accepted"
grep -qF "\"name\": \"zlib\", \"versionInfo\": \"$(pkg-config --modversion zlib)\"" "$TMP/one/$name" ||
    fail "zlib's version"

# Every library that the linker recorded is listed.
if readelf -dW "$ATTN_MT" >"$TMP/elf" 2>/dev/null; then
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$TMP/elf" | while read -r library; do
        case $library in
            libopenblas*) listed=OpenBLAS ;;
            libutf8proc*) listed=utf8proc ;;
            libcjson*) listed=cJSON ;;
            libz.*) listed=zlib ;;
            libxml2*) listed=libxml2 ;;
            libexttextcat*) listed=libexttextcat ;;
            libc.* | libm.* | ld-linux* | libmvec.*) listed=glibc ;;
            *) listed=${library%%.so*} ;;
        esac
        grep -q "\"name\": \"$listed\"" "$TMP/one/$name" || grep -q '"name": "libc"' "$TMP/one/$name" ||
            echo "$library"
    done >"$TMP/missing"
    [ ! -s "$TMP/missing" ] || fail "not listed: $(cat "$TMP/missing")"
fi

python=${PYTHON:-python3}
if command -v "$python" >/dev/null; then
    "$python" - "$TMP/one/$name" <<'END' || fail "the document"
import json, sys
document = json.load(open(sys.argv[1]))
assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
names = {package["SPDXID"] for package in document["packages"]} | {"SPDXRef-DOCUMENT"}
assert len(names) == len(document["packages"]) + 1, "two packages with one id"
for relation in document["relationships"]:
    assert relation["spdxElementId"] in names and relation["relatedSpdxElement"] in names, relation
assert len(document["relationships"]) == len(document["packages"])
for package in document["packages"]:
    assert package.get("versionInfo") or package["name"] in ("libc", "mpi"), package
END
fi
if command -v pyspdxtools >/dev/null; then
    pyspdxtools --infile "$TMP/one/$name" >"$TMP/log" 2>&1 || fail "spdx-tools: $(cat "$TMP/log")"
else
    echo "skipped: spdx-tools is not installed"
fi
