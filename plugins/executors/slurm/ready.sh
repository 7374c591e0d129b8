# ready PATH SHA256: the program is there, in a folder of this user's own, with that content. Another one
# is removed. Its status is 2 if the folder cannot be used.
ready() {
  local dir=${1%/*} mode
  mkdir -m 700 "$dir" 2>/dev/null
  mode=$(stat -c %a "$dir")
  if [ -L "$dir" ] || [ ! -O "$dir" ] || [ "$mode" != 700 ]; then
    echo "$dir on the node ${SLURMD_NODENAME:-$HOSTNAME} is another user's, or open to others: remove it" >&2
    return 2
  fi
  [ -f "$1" ] && [ ! -L "$1" ] || return 1
  if echo "$2  $1" | sha256sum --check --status; then chmod 700 "$1" && touch "$1"; else rm -f "$1"; return 1; fi
}
# await PATH SHA256: ready within five minutes. The host sends the program when the job runs.
await() {
  local i
  for ((i = 0; i < 600; i++)); do
    ready "$1" "$2" && return
    [ $? = 2 ] && return
    sleep 0.5
  done 2>&1 | tail -n 1 >&2
}
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
