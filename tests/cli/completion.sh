# completion.sh - completions in each installed shell; invalid arguments.
set -eu
. tests/cli/tiny_model.inc

expect 2 "$attn" completion
says "no shell given"
expect 2 "$attn" completion bash zsh
says "more than one shell"
expect 2 "$attn" completion tcsh
says "attn-mt completion bash, zsh or fish"
mkdir "$TMP/place" "$TMP/place/runs one"
: >"$TMP/place/a model.safetensors"
: >"$TMP/place/test.en"
for shell in bash zsh fish; do "$attn" completion $shell >"$TMP/script.$shell"; done
# Every command with every long option of its --help.
for command in $("$attn" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p'); do
    "$attn" "$command" --help all |
        sed -nE 's/^ +(-[a-zA-Z], )?--(\[no-\])?([a-z0-9-]+).*/\3/p' | sort -u >"$TMP/flags"
    [ -s "$TMP/flags" ] || [ $command = completion ] || fail "no options of $command"
    "$attn" completion line "$command" - >"$TMP/offered"
    while read -r flag; do
        grep -qE "^--(no-)?$flag	" "$TMP/offered" || fail "--$flag of $command is missing"
    done <"$TMP/flags"
done
# The scripts call the program by the first word of the line.
mkdir "$TMP/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(realpath "$attn")" >"$TMP/bin/attn-mt"
chmod +x "$TMP/bin/attn-mt"
PATH=$TMP/bin:$PATH

# offers SHELL 'LINE' WORD...: completing the line offers these words, and none of those that begin with "!"
offers() {
    shell=$1 line=$2
    shift 2
    case $shell in
        bash) in_bash "$line" ;;
        zsh) in_zsh "$line" ;;
        fish) in_fish "$line" ;;
    esac >"$TMP/offered"
    for word; do
        case $word in
            !*)
                if grep -qFxe "${word#!}" "$TMP/offered"; then
                    fail "$shell, '$line': ${word#!} is offered"
                fi
                ;;
            *) grep -qFxe "$word" "$TMP/offered" || {
                cat "$TMP/offered"
                fail "$shell, '$line': $word is not offered"
            } ;;
        esac
    done
}

in_fish() {
    (cd "$TMP/place" && fish --no-config -c "source $TMP/script.fish; complete -C '$1'" | cut -f 1)
}

# As readline calls the function: words cut at blanks and at "=".
in_bash() {
    (cd "$TMP/place" && LINE=$1 bash --norc -c '
        source "$0"
        spaced=${LINE//=/ = }
        read -r -a COMP_WORDS <<<"$spaced"
        [[ $LINE != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$LINE COMP_POINT=${#LINE}
        _attn_mt attn-mt
        printf "%s\n" "${COMPREPLY[@]}"' "$TMP/script.bash")
}

# In a pseudo-terminal, which prints the candidates.
in_zsh() {
    (cd "$TMP/place" && zsh -f "$TMP/ask.zsh" "$TMP/script.zsh" "$1" | tr -d '\r')
}
cat >"$TMP/ask.zsh" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -D -u; source $1"
zpty -w shell 'compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    typeset -a __hits
    builtin compadd -A __hits "$@"
    builtin compadd "$@"
    local status_=$?
    (( $#__hits )) && print -l "" "<"${^__hits}">"
    return status_
}'
zpty -w shell 'finish() { zle complete-word; print "\n<END>"; exit }; zle -N finish; bindkey "^I" finish'
zpty -w shell 'print "<""READY>"'
zpty -r -m shell output '*<READY>*'
zpty -w -n shell "$2"$'\t'
zpty -r -m shell output '*<END>*'
print -r -- $output | tr -d '\r' | sed -n 's/^<\(.*\)>$/\1/p'
zpty -d shell
END

tested=
for shell in bash zsh fish; do
    command -v $shell >/dev/null || continue
    tested="$tested $shell"
    offers $shell 'attn-mt tra' train translate '!bleu'
    offers $shell 'attn-mt help ' train completion
    offers $shell 'attn-mt completion ' bash zsh fish
    offers $shell 'attn-mt demo ' positions attention softmax multihead
    offers $shell 'attn-mt translate --al' --alignment --alignment-level
    offers $shell 'attn-mt translate --precision ' float32 bf16 int8
    offers $shell 'attn-mt bleu --metrics ' bleu chrf ter
    offers $shell 'attn-mt train --threads ' '!test.en'
    offers $shell 'attn-mt demo softmax --' --lengths --keys
    [ -z "$(sort "$TMP/offered" | uniq -d)" ] || fail "$shell offers options twice: $(cat "$TMP/offered")"
    if [ $shell = bash ]; then
        offers bash 'attn-mt train --set model.ce' model.cell=
        offers bash 'attn-mt train --set model.cell=' gru lstm
        offers bash 'attn-mt translate --precision=b' bf16 '!int8'
        offers bash 'attn-mt translate --alignment=' hard soft none
        offers bash 'attn-mt train --set data.train=' test.en
    fi
    if [ $shell = zsh ]; then
        offers zsh 'attn-mt train --set model.ce' model.cell=
        offers zsh 'attn-mt train --set model.cell=' model.cell=gru model.cell=lstm
        offers zsh 'attn-mt translate --precision=b' --precision=bf16
        offers zsh 'attn-mt train --set=data.train=te' test.en
    fi
    if [ $shell = fish ]; then
        offers fish 'attn-mt train --set model.ce' model.cell=
        offers fish 'attn-mt train --set model.cell=' model.cell=gru model.cell=lstm
        offers fish 'attn-mt translate --precision=b' --precision=bf16
        offers fish 'attn-mt train --set=data.train=te' --set=data.train=test.en
        offers fish 'attn-mt train --run ' 'runs one/' '!test.en'
        offers fish 'attn-mt train --init ' 'a model.safetensors'
    else
        offers $shell 'attn-mt train --init ' 'a model.safetensors'
        offers $shell 'attn-mt train --vocabulary ' 'a model.safetensors'
        offers $shell 'attn-mt translate -m ' 'a model.safetensors' test.en
        offers $shell 'attn-mt train --run ' 'runs one' '!test.en'
        offers $shell 'attn-mt inspect ' test.en
    fi
done
[ -n "$tested" ] || {
    echo "skipped: neither bash, zsh nor fish is installed"
    exit 77
}
echo "tested in$tested"
