# The lines of $setup run. If one of them ends the shell, failed STATUS COMMAND is called, with an empty COMMAND if none
# has failed. Their text is a word, so that an open quote or here-document in it ends with it.
at= reported=
ended() { # STATUS COMMAND
  set +e
  trap - ERR
  if [ -n "$reported" ]; then return; fi
  reported=1
  if [ "$2" = 'eval "$setup"' ]; then failed "$1" ""; else failed "$1" "${2//$'\n'/ }"; fi
}
exit() { # the login shell's ~/.bash_logout comes next: it has no part in the setup
  local status=${1-$?}
  if [ "$BASH_SUBSHELL" = 0 ]; then ended "$status" "exit${1+ $*}"; fi
  builtin exit "$status"
}
trap 'ended $? "${at:-$BASH_COMMAND}"' EXIT
trap 'at=$BASH_COMMAND' ERR
set -eE
eval "$setup"
set +eE
trap - ERR EXIT
unset -f exit
