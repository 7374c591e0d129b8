package slurm

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// Slurm says only seconds after it has signalled the processes of a job why it ends: a trial that has saved may have
// left the lease by then, and the lease is released. The host hears the reason nevertheless.

const (
	// glance is how long a release waits to know which jobs have ended without it.
	glance = time.Second
	// aftermathEvery is how often Slurm is asked why a job has ended, and aftermathTries how often at most: its
	// processes may live for KillWait, half a minute.
	aftermathEvery = 3 * time.Second
	aftermathTries = 15
)

// endedBefore returns the jobs of leases that are released because Slurm ends them, as far as it says so at once.
func (e *executor) endedBefore(ctx context.Context, leases []string) (list []job) {
	var ask []*lease
	for _, name := range leases {
		if l := e.leases[name]; l != nil && l.job != "" && (l.told.Kind == sdk.LeaseGranted || !l.completes.IsZero()) {
			ask = append(ask, l)
		}
	}
	if len(ask) == 0 || e.x.Agent == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	jobs, err := e.slurm.list(ctx, e.x.Prefix)
	if err != nil {
		return nil // the release matters more
	}
	for _, l := range ask {
		for _, j := range jobs[l.name] {
			if j.leader == l.job && j.offset == 0 && j.stage() == over {
				list = append(list, j)
			}
		}
	}
	return list
}

// explain tells the host why a job has ended whose lease is over, once Slurm says it.
func (e *executor) explain(lease string, j job) {
	for range aftermathTries {
		select {
		case <-time.After(e.accounting.every):
		case <-e.ctx.Done():
			return
		}
		if why, known := e.whyEnded(&j); known {
			if why != "" {
				e.tell(sdk.LeaseEvent{Lease: lease, Kind: sdk.LeaseLost, Why: oneLine(why)})
			}
			return
		}
	}
}

// unremarkable are the states of jobs that have ended by themselves, of which the host knows.
var unremarkable = map[string]bool{"COMPLETED": true, "FAILED": true}

// whyEnded returns why a job has ended, if Slurm knows it by now; "": there is nothing to say.
func (e *executor) whyEnded(j *job) (why string, known bool) {
	fields, err := e.slurm.show(e.ctx, j.shown())
	if err != nil {
		return "", errors.Is(err, errUnknown)
	}
	shown := *j
	shown.state = fields["JobState"]
	state := finalState(&shown, fields)
	if state == completing || state == "RUNNING" || unremarkable[state] {
		return "", unremarkable[state]
	}
	why = lostWhy(&shown, map[string]string{}, "")
	if !strings.Contains(why, somebody) || e.accounting.none.Load() {
		return why, true
	}
	who := e.canceller(e.ctx, j.shown())
	return named(why, who), who != "" || e.accounting.none.Load()
}
