# place: folder is one in /tmp that only this user can access. If another user has taken its name, it has a random
# name; all jobs of the user find it by its owner.
place() {
  local name=/tmp/tunehost-files-$UID
  mkdir -m 700 "$name" 2>/dev/null
  own "$name" "$name"-* && return
  mktemp -d "$name-XXXXXXXXXX" >/dev/null && own "$name"-*
}
# own FOLDER...: folder is the first that is a folder of this user, with mode 700. One look at each: another user may put
# something else in place of what is theirs.
own() {
  for folder; do
    if [ "$(stat -c %f:%u "$folder" 2>/dev/null)" = "41c0:$UID" ]; then return; fi
  done
  folder=
  return 1
}
# ready SHA256: program is the one with that content. Another one in its place is removed. The status is 2 if there is
# no folder for it.
ready() {
  place || return 2
  program=$folder/agent-$1
  if [ ! -f "$program" ] || [ -L "$program" ]; then return 1; fi
  if echo "$1  $program" | sha256sum --check --status; then chmod 700 "$program" && touch "$program"; return; fi
  rm -f "$program"
  return 1
}
# keep FILE SHA256: what Slurm has sent becomes the program. It is a copy: Slurm may still have the file open, so that
# it cannot be run (ETXTBSY).
keep() {
  local new=${1%.part}.new.part status
  cp "$1" "$new" && echo "$2  $new" | sha256sum --check --status && chmod 700 "$new" &&
    mv -f "$new" "${1%/*}/agent-$2"
  status=$?
  rm -f "$1" "$new"
  return $status
}
# await SHA256: ready within five minutes. The host sends the program when the job runs.
await() {
  local i
  for ((i = 0; i < 600; i++)); do
    ready "$1" 2>/dev/null && return
    if [ $? = 2 ]; then break; fi
    sleep 0.5
  done
  ready "$1" && return
  echo "the program was not sent to the node ${SLURMD_NODENAME:-$HOSTNAME}" >&2
  return 1
}
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
