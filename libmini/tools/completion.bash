# Completes the words of libmini's programs: the program itself lists them (--complete).
_libmini_complete() {
    local IFS=$'\n'
    COMPREPLY=($("$1" --complete "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _libmini_complete mini minirun
