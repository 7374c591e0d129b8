package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// job is a job, or a component of a heterogeneous one, as squeue lists it.
type job struct {
	id     string // of the component, a number
	leader string // of the whole; of the task of an array: the array's number, "_" and the index
	offset int    // of the component
	name   string
	state  string
	reason string
	nodes  string
	end    time.Time // zero: not known
	// preempted: Slurm has begun to preempt the job, which ends after its grace time.
	preempted bool
	note      string // the comment
}

// The columns of squeue. The comment, which may contain anything, is the last one. Each line ends with a bar,
// so that a line that was cut short is recognised. The end of a job without a time limit is not shown, also
// when it is preempted; PreemptTime is.
const (
	squeueFormat = "JobID:|,JobArrayID:|,Name:|,State:|,Reason:|,NodeList:|,EndTime:|,PreemptTime:|,Comment:|"
	squeueHeader = "JOBID|JOBID|NAME|STATE|REASON|NODELIST|END_TIME|PREEMPT_TIME|COMMENT|"
	columns      = 9
)

// noLimit is the time that Slurm gives to jobs without a limit, less a little.
const noLimit = 360 * 24 * time.Hour

// list returns the jobs of this user whose names begin with a prefix, by the names of their leases, also those that
// ended a while ago. Tasks of an array that wait have a line each (--array); those that are cancelled then have none.
func (s *slurm) list(ctx context.Context, prefix string) (map[string][]job, error) {
	out, err := s.run(ctx, "", "squeue", "--me", "--array", "--states=all", "--Format="+squeueFormat)
	if err != nil {
		return nil, err
	}
	return parseListing(out, prefix)
}

func parseListing(out, prefix string) (map[string][]job, error) {
	_, body, ok := strings.Cut(out, squeueHeader+"\n")
	if !ok {
		return nil, fmt.Errorf("squeue printed something else than a list of jobs: %q", shortened(out))
	}
	list := map[string][]job{}
	for line := range strings.Lines(body) {
		j, err := parseJob(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(j.name, prefix) {
			name := j.leaseName(prefix)
			list[name] = append(list[name], j)
		}
	}
	return list, nil
}

func parseJob(line string) (j job, err error) {
	line, ended := strings.CutSuffix(line, "|")
	f := strings.SplitN(line, "|", columns)
	if !ended || len(f) != columns || !isNumber(f[0]) {
		return j, fmt.Errorf("squeue printed a line that is none of a list of jobs: %q", shortened(line))
	}
	j = job{id: f[0], leader: f[1], name: f[2], state: f[3], reason: f[4], nodes: f[5], note: f[8]}
	if leader, offset, het := strings.Cut(f[1], "+"); het {
		j.leader = leader
		if j.offset, err = strconv.Atoi(offset); err != nil {
			return j, fmt.Errorf("squeue printed the job %q", shortened(f[1]))
		}
	}
	if seconds, err := strconv.ParseInt(f[6], 10, 64); err == nil && seconds > 0 {
		j.end = time.Unix(seconds, 0)
	}
	j.preempted = isNumber(f[7])
	if time.Until(j.end) > noLimit {
		j.end = time.Time{}
	}
	return j, nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}

// shortened returns the beginning of a command's output.
func shortened(text string) string {
	const most = 80
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// stage is the meaning of a state of Slurm for a lease.
type stage uint8

const (
	waiting stage = iota
	running
	over
)

// stages has the states in which a job is not over.
var stages = map[string]stage{"PENDING": waiting, "CONFIGURING": waiting, "REQUEUED": waiting,
	"REQUEUE_HOLD": waiting, "REQUEUE_FED": waiting, "SPECIAL_EXIT": waiting, "RESV_DEL_HOLD": waiting,
	"POWER_UP_NODE": waiting, "RUNNING": running, "SIGNALING": running, "STAGE_OUT": running, "RESIZING": running,
	"EXPEDITING": waiting}

func (j *job) stage() stage {
	if s, ok := stages[j.state]; ok {
		return s
	}
	return over
}

// held reports whether a job holds resources or will hold some. A suspended job does.
func (j *job) held() bool {
	return j.stage() != over || j.state == "SUSPENDED" || j.state == "STOPPED"
}
