#!/bin/sh
# xliff_schema.sh - XLIFF files are valid by the schemas of OASIS before and after a translation. Debian's
# package php-symfony-translation has these schemas. They lack the module of matches of XLIFF 2.0, so the part
# of it that is written is below, after section 5.1 of the standard.
set -eu
. tests/cli/tiny_model.inc
schemas=/usr/share/php/Symfony/Component/Translation/Resources/schemas
set -- "$schemas"/xliff-core-1.2-*.xsd
[ -e "$1" ] && command -v xmllint >/dev/null || {
    echo "skip: needs xmllint (libxml2-utils) and the schemas of php-symfony-translation"
    exit 77
}
for file in "$schemas"/*.xsd; do # the schema of XML's own attributes lies beside them
    name=${file##*/}
    case $name in xliff-core-1.2-*) name=old.xsd ;; xliff-core-2.0*) name=core.xsd ;; esac
    sed 's|schemaLocation="[^"]*xml\.xsd"|schemaLocation="xml.xsd"|' "$file" >"$TMP/$name"
done
cat >"$TMP/new.xsd" <<'END'
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"
 xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0" xmlns:xlf="urn:oasis:names:tc:xliff:document:2.0"
 targetNamespace="urn:oasis:names:tc:xliff:matches:2.0">
<xs:import namespace="urn:oasis:names:tc:xliff:document:2.0" schemaLocation="core.xsd"/>
<xs:simpleType name="percent"><xs:restriction base="xs:decimal"><xs:minInclusive value="0"/>
 <xs:maxInclusive value="100"/></xs:restriction></xs:simpleType>
<xs:simpleType name="kind"><xs:restriction base="xs:string"><xs:enumeration value="mt"/>
 <xs:enumeration value="tm"/><xs:enumeration value="other"/></xs:restriction></xs:simpleType>
<xs:element name="matches"><xs:complexType><xs:sequence>
 <xs:element maxOccurs="unbounded" ref="mtc:match"/></xs:sequence></xs:complexType></xs:element>
<xs:element name="match"><xs:complexType><xs:sequence>
 <xs:element ref="xlf:source"/><xs:element ref="xlf:target"/></xs:sequence>
 <xs:attribute name="ref" type="xs:anyURI" use="required"/>
 <xs:attribute name="matchQuality" type="mtc:percent"/><xs:attribute name="origin" type="xs:string"/>
 <xs:attribute name="type" type="mtc:kind"/></xs:complexType></xs:element></xs:schema>
END

# Every element that a unit can have beside its texts, and inline elements of each kind.
cat >"$TMP/old.xlf" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a.txt" source-language="en" datatype="plaintext">
<header><skl><external-file href="a.skl"/></skl><phase-group><phase phase-name="one"
 process-name="translation"/></phase-group><note>go .</note></header>
<body>
<trans-unit id="1"><source>go .</source></trans-unit>
<trans-unit id="2" xml:space="preserve">
  <source>go .</source>
  <target/>
  <note from="developer">go .</note>
</trans-unit>
<trans-unit id="3"><source><g id="1">go .</g> <x id="2"/><bpt id="3">&lt;b&gt;</bpt>hi !<ept
 id="3">&lt;/b&gt;</ept><ph id="4">%s</ph><it id="5" pos="open">[</it></source><target
 state="needs-translation" phase-name="one" xml:lang="fr"> </target><context-group purpose="location"><context
 context-type="linenumber">7</context></context-group><alt-trans match-quality="50%" origin="memory"><source
>go !</source><target>va !</target></alt-trans></trans-unit>
<trans-unit id="4"><source>go . hi !</source><seg-source><mrk mtype="seg" mid="0">go .</mrk> <mrk mtype="seg"
 mid="1">hi !</mrk></seg-source></trans-unit>
<trans-unit id="5"><source>hi !</source><target state="new">hi !</target></trans-unit>
<trans-unit id="6" approved="yes"><source>hi !</source><target state="final">salut !</target></trans-unit>
<group id="g"><trans-unit id="7" translate="no"><source>go .</source></trans-unit>
<trans-unit id="8"><source><![CDATA[go . hi !]]></source></trans-unit>
<bin-unit id="10" mime-type="image/png"><bin-source><external-file href="a.png"/></bin-source></bin-unit>
</group>
</body></file>
<file original="b.txt" source-language="en" target-language="fr" datatype="x-own"><body><trans-unit id="1"
><source> -a  go .
     hi !
</source></trans-unit></body></file>
</xliff>
END
cat >"$TMP/new.xlf" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en">
<file id="f1"><skeleton href="a.skl"/><notes><note>go .</note></notes>
<unit id="1"><segment><source>go .</source></segment></unit>
<unit id="2"><notes><note id="n">go .</note></notes>
<originalData><data id="d1">&lt;br/&gt;</data></originalData>
<segment id="s1" state="initial"><source>go .<ph id="1" dataRef="d1"/></source></segment>
<ignorable><source> </source></ignorable>
<segment><source><pc id="2">hi !</pc></source><target/></segment>
<segment id="s3" state="final"><source>hi !</source><target>salut !</target></segment></unit>
<group id="g"><unit id="3" translate="no"><segment><source>go .</source></segment></unit>
<unit id="4" canResegment="no"><mtc:matches xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0"><mtc:match
 ref="#m1" origin="memory" matchQuality="50.5"><source>go !</source><target>va !</target></mtc:match
></mtc:matches>
<segment><source><sc id="1"/>go .<ec startRef="1"/> <mrk id="m1" type="term">hi !</mrk></source></segment>
</unit>
<unit id="5"><segment state="initial" subState="own:x"><source>hi !</source><target>hi !</target></segment>
</unit>
<unit id="6"><own:data xmlns:own="urn:own">go .</own:data><segment><source xml:space="preserve"> -a  go .
     hi !
</source></segment></unit></group></file>
</xliff>
END
for name in old new; do # the same with a prefix
    sed 's/<\(\/*\)\([a-z]\)/<\1x:\2/g; s/<\(\/*\)x:\(mtc\|own\):/<\1\2:/g; s/xmlns=/xmlns:x=/' \
        "$TMP/$name.xlf" >"$TMP/$name.prefix.xlf"
done

# valid SCHEMA FILE
valid() {
    xmllint --nonet --noout --schema "$TMP/$1.xsd" "$2" >"$TMP/log" 2>&1 || fail "$2: $(cat "$TMP/log" "$2")"
}
tiny_model one
translate() { expect 0 "$attn" translate -q -m "$TMP/one/best.safetensors" "$@"; }
for name in old new old.prefix new.prefix; do
    schema=${name%.prefix}
    file=$TMP/$name.xlf
    valid "$schema" "$file"
    translate "$file" -o "$TMP/1.xlf"
    valid "$schema" "$TMP/1.xlf"
    translate --fuzzy --confident 0 "$file" -o "$TMP/2.xlf"
    valid "$schema" "$TMP/2.xlf"
    translate --fuzzy --confident 1 "$TMP/1.xlf" -o "$TMP/3.xlf" # its own targets and matches again
    valid "$schema" "$TMP/3.xlf"
    [ "$(grep -c 'va !' "$TMP/2.xlf")" -gt "$(grep -c 'va !' "$file")" ] || fail "$name is not translated"
done
# The schemas find faults: a state of the other version.
sed 's/state="translated"/state="done"/' "$TMP/2.xlf" >"$TMP/bad.xlf"
! xmllint --nonet --noout --schema "$TMP/new.xsd" "$TMP/bad.xlf" 2>"$TMP/log" || fail "a wrong state is valid"
echo "valid before and after: old.xlf, new.xlf, also with prefixes"
