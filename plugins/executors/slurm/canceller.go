package slurm

import (
	"context"
	"os/user"
	"strings"
	"sync/atomic"
	"time"
)

// accounting is what is known of Slurm's accounting.
type accounting struct {
	none  atomic.Bool   // it has not answered
	every time.Duration // how often it is asked why a job has ended
}

// accountingWithin is how long the accounting may take to say who has cancelled a job. The other leases wait.
const accountingWithin = 3 * time.Second

// cancelledBy begins the state of a cancelled job in the accounting; the number of the user follows.
const cancelledBy = "CANCELLED by "

// canceller returns who has cancelled a job: only Slurm's accounting says it, and not of tasks that have waited. "": it
// is not known. A cluster without accounting is asked once.
func (e *executor) canceller(ctx context.Context, id string) string {
	if e.accounting.none.Load() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, accountingWithin)
	defer cancel()
	out, err := e.slurm.run(ctx, "", "sacct", "--noheader", "--parsable2", "--allocations", "--jobs="+id,
		"--format=State")
	if err != nil {
		e.accounting.none.Store(true)
	}
	for line := range strings.Lines(out) {
		if number, ok := strings.CutPrefix(strings.TrimSpace(line), cancelledBy); ok && isNumber(number) {
			return userName(number)
		}
	}
	return ""
}

func userName(number string) string {
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return "the user " + number
}

// named replaces in a reason that somebody has cancelled a job by who has.
func named(why, who string) string {
	if who == "" {
		return why
	}
	return strings.Replace(why, somebody, " by "+who, 1)
}
