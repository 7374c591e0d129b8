package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// QuietEnd is how long a user who has interrupted the host is not told what it waits for.
const QuietEnd = 3 * time.Second

// namedAwaited is how many trials are named.
const namedAwaited = 3

// SayAwaited tells the user what an interrupted host waits for, now and then, until the loop is
// over. said is what was said last.
func (h *Host) SayAwaited(said string) {
	h.Setup.Options.Clock.AfterFunc(QuietEnd, func() {
		var text string
		if err := h.Look(func(v *view.State) { text = awaited(v) }); err != nil || text == "" {
			return // it has ended, or is about to
		}
		if text != said {
			h.Setup.Log.Warn(text)
		}
		h.SayAwaited(text)
	})
}

// awaited says which trials have not ended yet, and what they do; "" where none runs.
func awaited(s *view.State) string {
	var doing []string
	m := s.Machine
	for no := range core.TrialNo(m.Trials()) {
		if m.State(no) != core.Running || len(doing) == namedAwaited {
			continue
		}
		what := "ends"
		if m.View(no).Saving || m.Spec().Saves {
			what = "saves a checkpoint"
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
