package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
)

// QuietEnd is how long a user who has interrupted the host is not told what it waits for.
const QuietEnd = 3 * time.Second

// namedAwaited is how many trials are named.
const namedAwaited = 3

// SayAwaited tells the user what an interrupted host waits for, until the loop is over: after the pause, and ever more
// rarely.
func (h *Host) SayAwaited(pause time.Duration) { h.sayAwaited(pause, "") }

func (h *Host) sayAwaited(pause time.Duration, said string) {
	h.Setup.Options.Clock.AfterFunc(pause, func() {
		var text string
		if err := h.Look(func(v *view.State) { text = h.awaited(v) }); err != nil || text == "" {
			return // it has ended, or is about to
		}
		if text != said {
			h.Setup.Log.Warn(text)
			pause *= 2
		}
		h.sayAwaited(pause, text)
	})
}

// awaited says which trials have not ended yet, and what they do; "" where none runs.
func (h *Host) awaited(s *view.State) string {
	var doing []string
	m := s.Machine
	for no := range core.TrialNo(m.Trials()) {
		if m.State(no) != core.Running || len(doing) == namedAwaited {
			continue
		}
		what := "ends"
		if m.View(no).Saving || m.Spec().Saves {
			what = "saves a checkpoint" + h.progress(no)
		}
		doing = append(doing, s.TrialName(no)+" "+what)
	}
	more := ""
	if n := m.Count(core.Running) - len(doing); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	if len(doing) == 0 {
		return ""
	}
	return "the host waits for its trials: " + strings.Join(doing, ", ") + more +
		"; Ctrl-C again kills them now, and they resume from their last checkpoints"
}

// progress says how far the checkpoint of a trial is; "" if it is not known.
func (h *Host) progress(no core.TrialNo) string {
	if h.Saving == nil {
		return ""
	}
	if done, total := h.Saving(no); total > 0 {
		return ", " + storage.Share(done, total)
	}
	return ""
}
