#!/bin/sh
# Stands in for the commands of five batch systems, by the name under which it is called (a link to it). It takes the
# options that their manuals have, and no others, and prints what they print. Jobs are processes of this machine, in the
# folder of the link:
#   jobs/ID/     a job: name, script, state (waits, runs, over), pid
#   hold         while it exists, jobs wait
#   lost         the next submit makes a job, and its answer is lost
here=$(cd "$(dirname "$0")" && pwd)
system=$(cat "$here/system")
command=$(basename "$0")

becomes() { # JOB STATE
	echo "$2" > "$1/state.new" && mv "$1/state.new" "$1/state"
}

wrong() { # TEXT, STATUS: what the command says of a mistake
	echo "$1" >&2
	exit "${2:-1}"
}

# accept makes a job of a script, with the variable that tells a job its id.
accept() { # NAME, SCRIPT, LOG, VARIABLE, ID of number N with %
	n=1
	while ! mkdir "$here/jobs/$n" 2>/dev/null; do n=$((n + 1)); done
	job=$here/jobs/$n
	id=$(echo "$5" | sed "s/%/$n/")
	echo "$1" > "$job/name"
	cp "$2" "$job/script"
	becomes "$job" waits
	setsid "$here/run" "$job" "$4=$id" "$3" > /dev/null 2>&1 < /dev/null &
	echo $! > "$job/pid"
	if [ -e "$here/lost" ]; then
		rm "$here/lost"
		wrong "$command: connection reset by peer"
	fi
}

state() { # ID: sets number and state; state is none if there is no such job
	number=$(echo "$1" | sed 's/^[^0-9]*//; s/[^0-9].*//')
	state=none
	[ -z "$number" ] || [ ! -d "$here/jobs/$number" ] || state=$(cat "$here/jobs/$number/state")
}

end() { # ID
	kill -s KILL -- "-$(cat "$here/jobs/$number/pid")" 2>/dev/null
	becomes "$here/jobs/$number" over
}

named() { # NAME: the numbers of its jobs
	for job in "$here"/jobs/*; do
		[ -f "$job/name" ] && [ "$(cat "$job/name")" = "$1" ] && [ "$(cat "$job/state")" != over ] && basename "$job"
	done
}

run() { # JOB VARIABLE=ID LOG: the life of a job
	while [ -e "$here/hold" ]; do sleep 0.02; done
	becomes "$1" runs
	if [ "$system" = condor ]; then # the script is in the job's own folder
		cd "$1" || exit 1
	fi
	env "$2" /bin/sh "$1/script" > "$3" 2>&1
	becomes "$1" over
}

case $system/$command in
*/run)
	run "$@" ;;

pbs/qsub)
	while [ $# -gt 1 ]; do
		case $1 in
		-N) name=$2 ;;
		-l)
			case $2 in
			select=*:ncpus=9999*) wrong "qsub: Job exceeds queue and/or server resource limits" 188 ;;
			select=*:ncpus=* | place=scatter | walltime=*:*:*) ;;
			*) wrong "qsub: Illegal attribute or resource value" 170 ;;
			esac ;;
		-j) [ "$2" = oe ] || wrong "qsub: illegal -j value" 2 ;;
		-o) log=$2 ;;
		*) wrong "usage: qsub [-a date_time] [-A account_string]" 2 ;;
		esac
		shift 2
	done
	accept "$name" "$1" "$log" PBS_JOBID %.pbs01
	echo "$id" ;;
pbs/qstat)
	[ "$1" = -f ] || wrong "usage: qstat [-f] [job_identifier]" 2
	state "$2"
	case $state in
	none) wrong "qstat: Unknown Job Id $2" 153 ;;
	over) wrong "qstat: $2 Job has finished, use -x or -H to obtain historical job information" 35 ;;
	esac
	printf 'Job Id: %s\n    Job_Name = %s\n    Job_Owner = me@login.cluster\n' "$2" "$(cat "$here/jobs/$number/name")"
	if [ "$state" = waits ]; then
		printf '    job_state = Q\n    queue = workq\n    comment = Not Running: Insufficient amount of resource: ncpus\n\n'
	else
		printf '    resources_used.walltime = 00:00:07\n    job_state = R\n    queue = workq\n'
		printf '    exec_host = node-a/0*4+no\n\tde-b/0*4\n    exec_vnode = (node-a:ncpus=4)+(node-b:ncpus=4)\n\n'
	fi ;;
pbs/qdel)
	state "$1"
	case $state in
	none) wrong "qdel: Unknown Job Id $1" 153 ;;
	over) wrong "qdel: Job has finished $1" 35 ;;
	esac
	end ;;
pbs/qselect)
	[ "$1" = -N ] || wrong "usage: qselect [-N name]" 2
	for n in $(named "$2"); do echo "$n.pbs01"; done ;;

lsf/bsub)
	while :; do
		case $1 in
		-J) name=$2 ;;
		-n) [ "$2" -lt 9999 ] || wrong "Too many processors requested. Job not submitted." 255 ;;
		-M | -W | -gpu) ;;
		-R)
			case $2 in
			span\[ptile=*\] | rusage\[mem=*\]) ;;
			*) wrong "Bad resource requirement syntax. Job not submitted." 255 ;;
			esac ;;
		-o) log=$2 ;;
		-*) wrong "bsub: illegal option -- ${1#-}" 255 ;;
		*) break ;;
		esac
		shift 2
	done
	[ "$1" = /bin/sh ] || wrong "bsub: $1: Permission denied" 126
	accept "$name" "$2" "$log" LSB_JOBID %
	echo "Job <$n> is submitted to default queue <normal>." ;;
lsf/bjobs)
	[ "$1" = -noheader ] || wrong "bjobs: illegal option" 255
	if [ "$2" = -J ]; then
		[ "$4 $5" = "-o jobid" ] || wrong "bjobs: illegal option" 255
		found=$(named "$3")
		[ -n "$found" ] || wrong "Job <$3> is not found" 255
		echo "$found"
		exit 0
	fi
	[ "$2 $3" = "-o stat exec_host delimiter=';'" ] || wrong "bjobs: bad output format" 255
	state "$4"
	case $state in
	none) wrong "Job <$4> is not found" 255 ;;
	waits) echo "PEND;-" ;;
	runs) echo "RUN;4*node-a:4*node-b" ;;
	over) echo "EXIT;4*node-a:4*node-b" ;;
	esac ;;
lsf/bkill)
	state "$1"
	case $state in
	none) wrong "Job <$1>: No matching job found" 255 ;;
	over) wrong "Job <$1>: Job has already finished" 255 ;;
	esac
	end
	echo "Job <$1> is being terminated" ;;

sge/qsub)
	while [ $# -gt 1 ]; do
		case $1 in
		-terse) shift; continue ;;
		-N) name=$2 ;;
		-S) [ "$2" = /bin/sh ] || wrong "qsub: Unknown option" 1 ;;
		-pe)
			[ "$2" = smp ] || wrong "Unable to run job: job rejected: the requested parallel environment \"$2\" does not exist." 1
			[ "$3" -lt 9999 ] || wrong 'Unable to run job: error: no suitable queues.' 1
			shift ;;
		-l)
			case $2 in
			h_vmem=* | gpu=* | h_rt=*) ;;
			*) wrong "Unable to run job: unknown resource \"${2%%=*}\"." 1 ;;
			esac ;;
		-j) [ "$2" = y ] || wrong "qsub: invalid option" 1 ;;
		-o) log=$2 ;;
		*) wrong "qsub: Unknown option $1" 1 ;;
		esac
		shift 2
	done
	accept "$name" "$1" "$log" JOB_ID %
	echo "$id" ;;
sge/qstat)
	if [ "$1" = -j ]; then
		found=$(named "$2")
		if [ -z "$found" ]; then
			printf 'Following jobs do not exist: \n%s\n' "$2" >&2
			exit 1
		fi
		for n in $found; do
			printf '==============================================================\n'
			printf 'job_number:                 %s\nowner:                      me\njob_name:                   %s\n' "$n" "$2"
		done
		exit 0
	fi
	list=$(for job in "$here"/jobs/*; do
		[ -f "$job/state" ] || continue
		queue= letters=qw
		case $(cat "$job/state") in
		over) continue ;;
		runs) queue=all.q@node-a.cluster letters=r ;;
		esac
		printf '%7s 0.55500 %-10.10s me           %-5s 11/23/2026 07:00:00 %-30s     4        \n' "$(basename "$job")" \
			"$(cat "$job/name")" $letters $queue
	done)
	[ -n "$list" ] || exit 0
	echo 'job-ID  prior   name       user         state submit/start at     queue                          slots ja-task-ID '
	echo '-----------------------------------------------------------------------------------------------------------------'
	echo "$list" ;;
sge/qdel)
	state "$1"
	case $state in
	none | over) wrong "denied: job \"$1\" does not exist" 1 ;;
	esac
	end
	echo "me has deleted job $1" ;;

condor/condor_submit)
	[ "$1" = -terse ] || wrong "ERROR: unknown option $1"
	shift
	while [ "$1" != -queue ]; do
		case $1 in
		batch_name=*) name=${1#*=} ;;
		transfer_input_files=*) script=${1#*=} ;;
		output=*) log=${1#*=} ;;
		request_cpus=9999*) wrong "ERROR: Submit requirement NAME evaluated to non-True: requirement rejected" ;;
		universe=vanilla | executable=/bin/sh | transfer_executable=false | arguments=* | should_transfer_files=YES) ;;
		error=* | request_cpus=* | request_memory=* | request_gpus=* | periodic_remove=*) ;;
		/dev/null) ;;
		*) wrong "ERROR: Can't open file $1" ;;
		esac
		shift
	done
	accept "$name" "$script" "$log" CONDOR_ID %
	echo "$n.0 - $n.0" ;;
condor/condor_q)
	if [ "$1" = -constraint ]; then
		[ "$3 $4" = "-af ClusterId" ] || wrong "condor_q: unknown option"
		name=${2#JobBatchName == \"}
		named "${name%\"}"
		exit 0
	fi
	[ "$2 $3 $4" = "-af JobStatus RemoteHost" ] || wrong "condor_q: unknown option"
	state "$1"
	case $state in
	waits) echo "1 undefined" ;;
	runs) echo "2 slot1_1@node-a.cluster" ;;
	esac ;; # jobs that are over have left the queue
condor/condor_rm)
	state "$1"
	case $state in
	none | over) wrong "Couldn't find/remove all jobs in cluster $1" ;;
	esac
	end
	echo "All jobs in cluster $1 have been marked for removal" ;;

flux/flux)
	sub=$1
	shift
	case $sub in
	batch)
		while [ $# -gt 1 ]; do
			case $1 in
			--job-name=*) name=${1#*=} ;;
			-c9999*) wrong "flux-batch: ERROR: [Errno 22] unsatisfiable request" ;;
			-N* | -n* | -c* | -g* | -t*m) ;;
			--output=*) log=${1#*=} ;;
			*) wrong "flux-batch: error: unrecognized arguments: $1" 2 ;;
			esac
			shift
		done
		accept "$name" "$1" "$log" FLUX_ENCLOSING_ID ƒ%kLp
		echo "$id" ;;
	jobs)
		[ "$1" = -n ] || wrong "flux-jobs: error" 2
		case $2 in
		--name=*)
			[ "$3 $4" = "-o {id.f58}" ] || wrong "flux-jobs: error: unknown format" 2
			for n in $(named "${2#*=}"); do echo "ƒ${n}kLp"; done ;;
		-o)
			[ "$3" = "{status_abbrev};{nodelist}" ] || wrong "flux-jobs: error: unknown format" 2
			state "$4"
			case $state in
			none) wrong "flux-jobs: ERROR: JobID $4 unknown" ;;
			waits) echo "S;" ;;
			runs) echo "R;node[08-09,11]" ;;
			over) echo "CA;node[08-09,11]" ;;
			esac ;;
		esac ;;
	cancel)
		state "$1"
		case $state in
		none) wrong "flux-cancel: ERROR: $1: unknown job id" ;;
		over) wrong "flux-cancel: ERROR: $1: job is inactive" ;;
		esac
		end ;;
	esac ;;
*)
	wrong "$command: command not found" 127 ;;
esac
exit 0
