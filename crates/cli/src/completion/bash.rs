//! Completion in bash, which takes colons and equals signs for words of their own: `go-nethttp:2cpu` is three. The
//! script puts them together again, and cuts off what bash has already.

use std::{ffi::OsString, io, path::Path};

use clap::Command;
use clap_complete::env::{self, EnvCompleter};

/// The script. `words` are those that a shell would give to a command; the last one is what stands before the cursor.
const SCRIPT: &str = r#"
_complete_NAME() {
    local typed=("${COMP_WORDS[@]:0:COMP_CWORD}") words=() word glued=no
    if [[ -z $2 && ${COMP_WORDS[COMP_CWORD]} == [:=] ]]; then
        typed+=("${COMP_WORDS[COMP_CWORD]}")
    fi
    for word in "${typed[@]}" "$2"; do
        if [[ $glued == yes || $word == [:=]* ]] && (( ${#words[@]} > 1 )); then
            words[${#words[@]}-1]+="$word"
        else
            words+=("$word")
        fi
        [[ $word == *[:=] ]] && glued=yes || glued=no
    done
    local last="${words[${#words[@]}-1]}"
    local before="${last%"$2"}"
    local IFS=$'\013'
    COMPREPLY=( $( \
        _CLAP_IFS="$IFS" \
        _CLAP_COMPLETE_INDEX="$(( ${#words[@]} - 1 ))" \
        VAR="bash" \
        COMPLETER -- "${words[@]}" 2> /dev/null \
    ) )
    if [[ -n $before ]]; then
        COMPREPLY=( "${COMPREPLY[@]#"$before"}" )
    fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} != *[=/:] ]]; then
        compopt +o nospace 2> /dev/null
    fi
}
complete -o nospace -o bashdefault -o nosort -F _complete_NAME BIN 2> /dev/null ||
    complete -o nospace -o bashdefault -F _complete_NAME BIN
"#;

pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        env::Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        program: &str,
        completer: &str,
        into: &mut dyn io::Write,
    ) -> io::Result<()> {
        let completer = shlex::try_quote(completer).map_err(io::Error::other)?;
        let script = SCRIPT
            .replace("NAME", name)
            .replace("BIN", program)
            .replace("COMPLETER", &completer)
            .replace("VAR", variable);
        into.write_all(script.trim_start().as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        into: &mut dyn io::Write,
    ) -> io::Result<()> {
        env::Bash.write_complete(command, words, folder, into)
    }
}
