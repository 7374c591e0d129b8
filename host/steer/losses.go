package steer

import (
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
)

// losses are the losses of running trials that are paused without a new checkpoint.
type losses struct {
	again, back []loss // from the beginning, from their last checkpoint
}

// loss is the loss of one trial.
type loss struct {
	trial      core.TrialNo
	iterations uint64
	time       time.Duration
}

// lossesOf looks at one trial, or at all of them. A trainable that saves when it is
// asked loses nothing: a pause makes a checkpoint first. Nor does a worker, which keeps
// what it has learned. since is the time since the machine's last event.
func lossesOf(m *core.Machine, no core.TrialNo, all bool, since time.Duration) (x losses) {
	if m.Spec().Saves || m.Spec().Manual {
		return x
	}
	first, end := no, no+1
	if all {
		first, end = 0, core.TrialNo(m.Trials())
	}
	for no := first; no < end; no++ {
		if m.State(no) == core.Running {
			x.add(m, no, since)
		}
	}
	return x
}

// Losses says in one line what running trials would lose if the host ended now; "" for nothing. since is the time
// since the machine's last event.
func Losses(m *core.Machine, since time.Duration, name func(core.TrialNo) string) string {
	lost := lossesOf(m, 0, true, since)
	return lost.text(name)
}

func (x *losses) add(m *core.Machine, no core.TrialNo, since time.Duration) {
	v, from := m.View(no), m.From(no)
	done := v.At - min(from.Iteration, v.At)
	switch {
	case from.ID == 0 || from.Trial == core.NoTrial:
		own := v.TrainNS - m.SpentNS(no) // what earlier attempts have trained is lost already
		x.again = append(x.again, loss{no, done, time.Duration(own) + since})
	case done > 0:
		x.back = append(x.back, loss{trial: no, iterations: done})
	}
}

// text describes the losses in one line; "" if there are none.
func (x *losses) text(name func(core.TrialNo) string) string {
	var parts []string
	if n := len(x.again); n > 0 {
		parts = append(parts, fmt.Sprintf("%s no checkpoint and would begin again (%s)",
			count(n, "running trial has", "running trials have"), lostOf(x.again, name)))
	}
	if n := len(x.back); n > 0 {
		parts = append(parts, fmt.Sprintf("%s back to the last checkpoint (%s)",
			count(n, "running trial would go", "running trials would go"), lostOf(x.back, name)))
	}
	return strings.Join(parts, "; ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// lostOf sums up, and names the trial that loses the most.
func lostOf(list []loss, name func(core.TrialNo) string) string {
	var sum loss
	worst := list[0]
	for _, x := range list {
		sum.iterations += x.iterations
		sum.time += x.time
		if x.iterations > worst.iterations || x.iterations == worst.iterations && x.time > worst.time {
			worst = x
		}
	}
	if len(list) == 1 {
		return name(worst.trial) + ": " + worst.text() + " lost"
	}
	return sum.text() + " lost in all; the most, " + worst.text() + ", by " + name(worst.trial)
}

func (x loss) text() string {
	text := count(int(x.iterations), "iteration", "iterations")
	if x.time > 0 {
		text += fmt.Sprintf(", %s of training", x.time.Round(time.Second))
	}
	return text
}
