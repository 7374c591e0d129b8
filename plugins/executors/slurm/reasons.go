package slurm

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
)

// explained has the meanings of Slurm's most frequent reasons.
var explained = map[string]string{
	"None":                   "Slurm has not looked at the job yet",
	"Resources":              "the nodes are in use",
	"Priority":               "jobs with a higher priority wait, too",
	"Dependency":             "it waits for another job",
	"JobHeldUser":            "it is held; scontrol release lets it start",
	"JobHeldAdmin":           "an administrator holds it",
	"PartitionDown":          "the partition is down",
	"PartitionInactive":      "the partition is inactive",
	"PartitionConfig":        "the partition does not have what it requests",
	"PartitionNodeLimit":     "more nodes than the partition has or allows, or some are down",
	"PartitionTimeLimit":     "the option time is more than the partition allows",
	"Licenses":               "a licence is in use",
	"Reservation":            "it waits for its reservation",
	"ReqNodeNotAvail":        "a node that it needs is down or reserved",
	"BadConstraints":         "no node has what it requests",
	"InvalidAccount":         "the account does not exist",
	"InvalidQOS":             "the QOS does not exist",
	"BeginTime":              "its time has not come yet",
	"Prolog":                 "the nodes are being prepared",
	"NodeDown":               "a node is down",
	"Nodes required for job": "nodes are down, drained or reserved",
}

// pendingWhy returns why a job waits: Slurm's reason and its meaning.
func pendingWhy(j *job) string {
	if j.state != "PENDING" {
		return "Slurm: " + strings.ToLower(j.state)
	}
	reason := strings.TrimSpace(j.reason)
	for name, meaning := range explained {
		if reason == name || strings.HasPrefix(reason, name+",") || strings.HasPrefix(reason, name+" ") {
			return "Slurm: " + reason + " (" + meaning + ")"
		}
	}
	if advice := adviceOnJob(reason); advice != "" {
		return "Slurm: " + reason + " (" + advice + ")"
	}
	if strings.HasPrefix(reason, "QOS") || strings.HasPrefix(reason, "Assoc") {
		return "Slurm: " + reason + " (a limit of the account or QOS is reached)"
	}
	return "Slurm: " + reason
}

// limitsOfJob match reasons and errors about a limit of each single job: neither fewer jobs nor waiting cure it.
var (
	mostOfJob  = lazily.Regexp(`\b(QOS|Assoc)Max\w*Per(Job|Node)(Limit)?\b`)
	leastOfJob = lazily.Regexp(`\bQOSMin\w+`)
)

// adviceOnJob says what to do about a limit of each single job that a text of Slurm names; "": it names none.
func adviceOnJob(text string) string {
	switch {
	case mostOfJob().MatchString(text):
		return "a limit of each job, also of a single one: request less, or use another QOS or account"
	case leastOfJob().MatchString(text):
		return "the QOS demands that each job requests more: do so, or use another QOS"
	}
	return ""
}

// somebody stands for the user who has cancelled a job, if Slurm does not say it.
const somebody = ", by scancel or an administrator"

// ended has the meanings of the states in which a job is over.
var ended = map[string]string{
	"CANCELLED":     "the job was cancelled" + somebody,
	"TIMEOUT":       "the job reached its time limit",
	"DEADLINE":      "the job reached its deadline",
	"NODE_FAIL":     "a node failed",
	"BOOT_FAIL":     "a node could not be started",
	"PREEMPTED":     "the job was preempted",
	"REVOKED":       "the job went to another cluster",
	"OUT_OF_MEMORY": "the job used more memory than it had; request more (resources: memory)",
	"COMPLETED":     "the job ended by itself",
	"FAILED":        "the job failed",
	"SUSPENDED":     "the job was suspended, and is cancelled: its trial continues in another job",
	"STOPPED":       "the job was stopped",
	completing:      "the job has ended, and Slurm still cleans up after it",
}

// cancelledWaiting is what is said of a job that was cancelled before it began.
const cancelledWaiting = "Slurm: CANCELLED: the job was cancelled while it waited" + somebody

// completing is the state of a job some of whose processes or nodes are still being cleaned up.
const completing = "COMPLETING"

// finalState returns the state in which a job has ended, as far as Slurm says it.
func finalState(j *job, fields map[string]string) string {
	state := j.state
	if state == completing && fields["JobState"] != "" {
		state = fields["JobState"]
	}
	if state == completing && fields["Reason"] == "TimeLimit" {
		state = "TIMEOUT" // its processes are being killed
	}
	return state
}

// lostWhy returns why a lease is over: what scontrol says about its job, and the last line of its
// log.
func lostWhy(j *job, fields map[string]string, last string) string {
	state := finalState(j, fields)
	if state == "CANCELLED" && j.nodes == "" { // the reason is that for which it waited
		return cancelledWaiting
	}
	why := "Slurm: " + state
	if meaning := ended[state]; meaning != "" {
		why += ": " + meaning
	}
	if on := theNodes(j.nodes); !strings.Contains(last, on) { // a line of its script names its node
		why += "; it was on " + on
	}
	for _, name := range []string{"Reason", "ExitCode", "AdminComment", "SystemComment"} {
		value := fields[name]
		if value == "" || value == "None" || value == "(null)" || value == "0:0" || value == "NonZeroExitCode" {
			continue
		}
		why += "; " + name + " " + value
	}
	if last != "" {
		why += "; its last words: " + last
	}
	return why
}

// theNodes names the nodes of a job, as Slurm writes them; "": it has none.
func theNodes(nodes string) string {
	switch {
	case nodes == "":
		return ""
	case strings.ContainsAny(nodes, ",["):
		return "the nodes " + nodes
	}
	return "the node " + nodes
}

// never has the reasons for which a job waits until an administrator or another request changes
// something.
func never(j *job) bool {
	switch reason, _, _ := strings.Cut(j.reason, ","); reason {
	case "BadConstraints", "PartitionTimeLimit", "InvalidAccount", "InvalidQOS":
		return true
	default:
		return adviceOnJob(reason) != ""
	}
}

// doubtful has the reasons of jobs that can never start or whose nodes are down.
func doubtful(j *job) bool {
	return j.reason == "PartitionConfig" || j.reason == "PartitionNodeLimit"
}

// temporary matches errors of sbatch after which the call is repeated: the controller, the network or
// authentication does not work, or there are too many jobs.
var temporary = []string{"Unable to contact slurm controller", "Socket timed out", "Zero Bytes were transmitted",
	"Connection refused", "Connection reset", "Transport endpoint", "No route to host", "Communication connection",
	"Message receive failure", "Resource temporarily unavailable", "temporarily unable to accept job",
	"standby mode", "Protocol authentication error", "authentication", "Munge", "munge", "Job submit limit",
	"SubmitJob", "Too many", "Unable to resolve", "Header lengths", "Insufficient memory", "I/O error",
	"Slurm database", "Error in StateSave", "controller not responding", "fatal:"}

// limits match errors of sbatch about a limit of the account or the QOS, which other jobs have reached.
var limits = []string{"QOSMax", "QOSGrp", "AssocMax", "AssocGrp", "SubmitJob", "Job submit limit",
	"accounting/QOS policy"}

// advised adds to an error of sbatch about a limit what to do: the call is repeated, and jobs that end make room.
func (f *failure) advised() *failure {
	if !slices.ContainsFunc(limits, func(l string) bool { return strings.Contains(f.words, l) }) {
		return f
	}
	advised := *f
	advised.words += " (a limit of the account or QOS is reached: lower concurrency, or wait until jobs end)"
	return &advised
}

// refusal returns Slurm's message if it will never accept the job, or "".
func refusal(err *failure) string {
	if err.late || err.words == "" {
		return ""
	}
	for _, t := range temporary {
		if strings.Contains(err.words, t) {
			return ""
		}
	}
	if strings.Contains(err.words, "sbatch: ") || strings.Contains(err.words, "srun: ") {
		return err.words
	}
	return ""
}
