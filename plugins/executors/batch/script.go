package batch

import (
	"fmt"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// The files of a lease in the executor's folder: its name and one of these.
const (
	scriptSuffix = ".sh"        // the job's script
	bundleSuffix = ".bundle.sh" // the script of each node, if there are several
	logSuffix    = ".log"       // what the job prints
	begunSuffix  = ".begun"     // a folder that the first job makes, with its id in the file "id"
	failedSuffix = ".failed"    // how the setup has failed, in one line
	placeSuffix  = ".at."       // and the number of a bundle: the node's name and its GPUs
)

// quote makes a text one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// job has the data for the scripts of a lease.
type job struct {
	plan   *plan
	dir    string // the executor's folder
	lease  string
	agent  *sdk.Agent // nil: jobs wait until the lease ends
	secret string
}

// script returns the script that the batch system runs. If the node sees the executor's
// folder, a job whose lease has ended or has another job ends at once.
func (j *job) script(launch []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!%s\n# The job of a lease of tunehost. This file is removed when the lease ends.\n", j.plan.shell)
	fmt.Fprintf(&b, "lease=%s\n", quote(j.dir+"/"+j.lease))
	b.WriteString(`if [ -d "${lease%/*}" ]; then
	[ -e "$lease` + scriptSuffix + `" ] && mkdir "$lease` + begunSuffix + `" 2>/dev/null || exit 0
	echo "${PBS_JOBID:-${LSB_JOBID:-${JOB_ID:-${FLUX_ENCLOSING_ID:-$SLURM_JOB_ID}}}}" > "$lease` + begunSuffix + `/id"
fi
`)
	b.WriteString("bundle=0\n")
	j.setup(&b)
	if launch == nil {
		return b.String() + j.start()
	}
	var start strings.Builder
	for _, word := range launch {
		start.WriteString(quote(word) + " ")
	}
	start.WriteString(quote(j.plan.shell))
	fmt.Fprintf(&b, `if [ -d "${lease%%/*}" ]; then exec %s "$lease%s"; fi
# No file brings the script to the other nodes.
%s=%s
export %[3]s
exec %[1]s -c 'eval "${%[3]s:?is not on this node: have launch pass the variable on, as in mpirun -x %[3]s}"'
`, start.String(), bundleSuffix, eachVariable, quote(j.onEach()))
	return b.String()
}

// eachVariable has the script of each node where the nodes do not see the executor's folder. Other users can read it as
// little as that file.
const eachVariable = "TUNEHOST_EACH"

// rank is the number of a bundle, from the variables of the programs that start one on each node. The setup may set
// one.
const rank = `bundle=
ranked() {
	for rank in "$OMPI_COMM_WORLD_RANK" "$PMIX_RANK" "$PMI_RANK" "$FLUX_TASK_RANK" "$PALS_RANKID" "$SLURM_PROCID" ` +
	`"$TUNEHOST_RANK"; do
		[ -n "$bundle" ] || bundle=$rank
	done
}
ranked
`

// mustRank is rank after the setup.
const mustRank = `ranked
[ -n "$bundle" ] || { echo "tunehost: launch tells no rank: set TUNEHOST_RANK, from 0" >&2; exit 1; }
`

// onEach returns the script of each node, for a job with several.
func (j *job) onEach() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!%s\nlease=%s\nunset %s\n%s", j.plan.shell, quote(j.dir+"/"+j.lease), eachVariable, rank)
	j.setup(&b)
	return b.String() + mustRank + j.start()
}

// setup writes the lines of the option setup. The first that fails ends the job, and its message is in a file of the
// executor's folder, or an agent tells the host if the node does not see that folder.
func (j *job) setup(b *strings.Builder) {
	if strings.TrimSpace(j.plan.setup) == "" {
		return
	}
	tell := ":"
	if j.agent != nil && j.secret != "" {
		tell = fmt.Sprintf("%s=\"$why\" %s=%s %s=\"${bundle:-0}\" %s agent",
			sdk.AgentFailureVariable, sdk.AgentVariable, quote(j.secret), sdk.AgentBundleVariable,
			quote(j.agent.Path))
	}
	b.WriteString(strings.NewReplacer("@FAILED@", failedSuffix, "@TELL@", tell, "@SETUP@", quote(named(j.plan.setup))).
		Replace(setupScript))
}

// setupScript runs the setup. What it says on stderr is kept until its end, because the last line is in the message.
// Its text is a word, so that an open quote or here-document in it ends with it. In bash, exit does not lead to the
// ~/.bash_logout of a login shell before the setup has failed; as sh, bash lets nobody define it.
const setupScript = `failed() { # STATUS COMMAND
	set +e
	trap - EXIT
	[ -z "$BASH_VERSION" ] || { trap - ERR; unset -f exit; }
	exec 2>&3
	cat "$said" >&2
	last=$(tail -n 1 "$said" |
		sed 's/^[^ ]*: \(eval: \)\{0,1\}\(line \)\{0,1\}[0-9]*: \(eval: \)\{0,1\}//' | cut -c 1-120)
	command=$2
	[ "$2" != 'eval "$setup"' ] || command=
	node=$(hostname 2>/dev/null || uname -n)
	why="the setup failed${command:+ at: $command} (exit status $1) on the node $node${last:+: $last}"
	echo "tunehost: $why" >&2
	rm -f "$said"
	if [ -d "${lease%/*}" ]; then
		(umask 077 && echo "$why" > "$lease@FAILED@")
	else
		@TELL@
	fi
	exit "$1"
}
at=
said=$(mktemp) || exit
exec 3>&2 2>"$said"
trap 'failed $? "${at:-$BASH_COMMAND}"' EXIT
setup=@SETUP@
if [ -n "$BASH_VERSION" ]; then
	trap 'at=$BASH_COMMAND' ERR
	set -E
	case :$SHELLOPTS: in
	*:posix:*) ;;
	*) eval 'exit() {
		set -- "${1-$?}" "${at:-exit${1+ $1}}"
		if [ "$BASH_SUBSHELL" = 0 ]; then failed "$@"; fi
		builtin exit "$1"
	}' ;;
	esac
fi
set -e
eval "$setup"
set +e
[ -z "$BASH_VERSION" ] || { set +E; unset -f exit; }
trap - EXIT
[ -z "$BASH_VERSION" ] || trap - ERR
exec 2>&3 3>&-
cat "$said" >&2
rm -f "$said"
`

// nested begins what a shell may continue on the next line.
var nested = lazily.Regexp("<<|[({`\\\\|&]\\s*$|\\b(if|then|else|elif|for|while|until|do|case|select)\\b|[({]\\s")

// named returns the lines of a setup, each after its name for the message, if each of them is a command of its own.
// Otherwise only bash can say which one has failed.
func named(setup string) string {
	var b strings.Builder
	for line := range strings.Lines(setup) {
		line = strings.TrimSpace(line)
		if nested().MatchString(line) || strings.Count(line, "'")%2 == 1 || strings.Count(line, `"`)%2 == 1 {
			return strings.TrimRight(setup, "\n")
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			fmt.Fprintf(&b, "at=%s\n%s\n", quote(line), line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// start returns the commands for each node after the setup: they write the place of the bundle, and start the agent.
func (j *job) start() string {
	var b strings.Builder
	b.WriteString(`if [ -d "${lease%/*}" ]; then
	(umask 077 && { hostname; echo "$CUDA_VISIBLE_DEVICES"; } > "$lease` + placeSuffix + `$bundle.new")
	mv "$lease` + placeSuffix + `$bundle.new" "$lease` + placeSuffix + `$bundle"
fi
`)
	if j.agent == nil || j.secret == "" {
		b.WriteString("while [ -e \"$lease" + scriptSuffix + "\" ]; do sleep 1; done\n")
		return b.String()
	}
	fmt.Fprintf(&b, "agent=%s\n", quote(j.agent.Path))
	fmt.Fprintf(&b, `if ! [ -x "$agent" ]; then
	echo "tunehost: $agent is not on $(hostname): put it where all nodes have it" >&2
	exit 1
fi
sum=$(sha256sum "$agent" 2>/dev/null | cut -d " " -f 1)
if [ -n "$sum" ] && [ "$sum" != %s ]; then
	echo "tunehost: $agent on $(hostname) is another version than the host's" >&2
	exit 1
fi
`, quote(j.agent.SHA256))
	fmt.Fprintf(&b, "%s=%s\n%s=$bundle\nexport %s %s\nexec \"$agent\" agent\n", sdk.AgentVariable, quote(j.secret),
		sdk.AgentBundleVariable, sdk.AgentVariable, sdk.AgentBundleVariable)
	return b.String()
}
