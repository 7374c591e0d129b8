#!/bin/sh
# A small batch system whose jobs are processes of this machine, in the folder of the first argument:
#   queue.sh FOLDER submit NAME NODES CPU SCRIPT
#   queue.sh FOLDER status|cancel ID
#   queue.sh FOLDER list NAME       queue.sh FOLDER end
#   queue.sh FOLDER serve           starts the jobs, if they are not to be children of who submits them
# The file FOLDER/faults has words, one a line, each for one call that comes next to the command
# before the dash: submit-lost (accepted, but no answer), submit-twice (two jobs), submit-rubbish,
# submit-fails, status-rubbish, status-fails, status-slow, status-silent (nothing, and success),
# status-mute, cancel-mute (nothing, and failure), status-killed, list-fails and so on.
# The file FOLDER/slots has how many jobs run at a time; without it there is no limit.
dir=$1 command=$2
mkdir -p "$dir/jobs" || exit 1

# fault takes the next fault of this command.
fault() {
	[ -s "$dir/faults" ] || return 0
	while ! mkdir "$dir/faults.lock" 2>/dev/null; do sleep 0.02; done
	word=$(grep -m1 "^$command-" "$dir/faults")
	if [ -n "$word" ]; then
		line=$(grep -n -m1 "^$command-" "$dir/faults" | cut -d: -f1)
		sed "${line}d" "$dir/faults" > "$dir/faults.new" && mv "$dir/faults.new" "$dir/faults"
	fi
	rmdir "$dir/faults.lock"
	echo "$word"
}

# accept makes a job and starts it in the background; it prints the job's id.
accept() {
	n=1
	while ! mkdir "$dir/jobs/$n.queue" 2>/dev/null; do n=$((n + 1)); done
	job=$dir/jobs/$n.queue
	echo "$1" > "$job/name"
	cp "$4" "$job/script"
	echo Q > "$job/state"
	echo "$2" > "$job/nodes"
	if [ -s "$dir/server" ] && kill -0 "$(cat "$dir/server")" 2>/dev/null; then
		mv "$job/script" "$job/ready"
	else
		start "$n.queue"
	fi
	echo "$n.queue"
}

start() {
	setsid "$0" "$dir" run "$1" "$(cat "$dir/jobs/$1/nodes")" > /dev/null 2>&1 < /dev/null &
	echo $! > "$dir/jobs/$1/pid"
}

# lives marks a job that was killed from outside as finished.
lives() {
	[ -s "$dir/jobs/$1/pid" ] && [ "$(cat "$dir/jobs/$1/state")" != F ] || return 0
	kill -0 "$(cat "$dir/jobs/$1/pid")" 2>/dev/null || finish "$1"
}

# run is the life of a job: it waits for a slot, and runs.
run() {
	job=$dir/jobs/$1
	slot=
	if [ -s "$dir/slots" ]; then
		while [ -z "$slot" ]; do
			for k in $(seq "$(cat "$dir/slots")"); do
				mkdir "$dir/slot.$k" 2>/dev/null && slot=$dir/slot.$k && break
			done
			[ -n "$slot" ] || sleep 0.05
		done
	fi
	echo "$slot" > "$job/slot"
	echo R > "$job/state"
	PBS_JOBID=$1 NODES=$2 /bin/sh "$job/script" > "$job/out" 2>&1
	finish "$1"
}

finish() {
	echo F > "$dir/jobs/$1/state"
	slot=$(cat "$dir/jobs/$1/slot" 2>/dev/null)
	[ -z "$slot" ] || rmdir "$slot" 2>/dev/null
}

word=$(fault)
case $word in
*-slow) sleep 30 ;;
*-fails) echo "queue: the server does not answer" >&2; exit 3 ;;
*-rubbish) echo "<html>502 Bad Gateway</html>"; exit 0 ;;
*-silent) exit 0 ;;
*-mute) exit 3 ;;
*-killed) kill -KILL $$ ;;
esac

case $command in
submit)
	[ "$5" -le 64 ] || { echo "queue: Job exceeds queue resource limits" >&2; exit 2; }
	id=$(accept "$3" "$4" "$5" "$6")
	[ "$word" != submit-twice ] || accept "$3" "$4" "$5" "$6"
	[ "$word" != submit-lost ] || { echo "queue: connection reset" >&2; exit 4; }
	echo "$id" ;;
run)
	run "$3" "$4" ;;
serve)
	echo $$ > "$dir/server"
	while [ -d "$dir" ]; do
		for job in "$dir"/jobs/*/ready; do
			[ -e "$job" ] && mv "$job" "${job%/ready}/script" && start "$(basename "${job%/ready}")"
		done
		sleep 0.05
	done ;;
status)
	[ -d "$dir/jobs/$3" ] || { echo "queue: Unknown Job Id $3" >&2; exit 5; }
	lives "$3"
	echo "Job Id: $3"
	echo "    job_state = $(cat "$dir/jobs/$3/state")"
	echo "    exec_host = queue-1/0+queue-2/0" ;;
cancel)
	[ -d "$dir/jobs/$3" ] || { echo "queue: Unknown Job Id $3" >&2; exit 5; }
	[ "$(cat "$dir/jobs/$3/state")" != F ] || { echo "queue: Job has finished" >&2; exit 6; }
	rm -f "$dir/jobs/$3/ready"
	kill -s KILL -- "-$(cat "$dir/jobs/$3/pid" 2>/dev/null)" 2>/dev/null
	finish "$3" ;;
list)
	for job in "$dir"/jobs/*; do
		[ -f "$job/name" ] && [ "$(cat "$job/name")" = "$3" ] && [ "$(cat "$job/state")" != F ] && basename "$job"
	done
	exit 0 ;;
launch) # starts a program once for each node
	nodes=$3
	mkdir -p "$dir/bin"
	printf '#!/bin/sh\necho "queue-$((PMI_RANK + 1))"\n' > "$dir/bin/hostname.$$"
	chmod +x "$dir/bin/hostname.$$" && mv "$dir/bin/hostname.$$" "$dir/bin/hostname"
	[ -e "$dir/same-node" ] || PATH=$(cd "$dir/bin" && pwd):$PATH
	shift 3
	k=0
	while [ $k -lt "$nodes" ]; do
		PMI_RANK=$k "$@" &
		k=$((k + 1))
	done
	wait ;;
end)
	[ ! -s "$dir/server" ] || kill -KILL "$(cat "$dir/server")" 2>/dev/null
	for job in "$dir"/jobs/*; do
		[ ! -f "$job/pid" ] || kill -s KILL -- "-$(cat "$job/pid")" 2>/dev/null
	done
	exit 0 ;;
esac
