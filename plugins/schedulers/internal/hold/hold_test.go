package hold

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func observe(t *Trial, kind sdk.EventKind) (commands int, escaped bool) {
	var out sdk.Decisions
	escaped = t.Observe(&sdk.Event{Kind: kind}, &out)
	return len(out.Commands), escaped
}

func order(t *Trial, kind sdk.CommandKind) int {
	var out sdk.Decisions
	t.Order(sdk.Command{Kind: kind}, &out)
	return len(out.Commands)
}

func TestCommandWaitsForThePause(t *testing.T) {
	var trial Trial
	trial.Pause()
	if n := order(&trial, sdk.Resume); n != 0 || trial.Free() || trial.Held() {
		t.Fatalf("%d commands before the pause: %+v", n, trial)
	}
	if n, _ := observe(&trial, sdk.TrialPaused); n != 1 || !trial.Free() {
		t.Fatalf("%d commands at the pause: %+v", n, trial)
	}
}

func TestCommandToAPausedTrial(t *testing.T) {
	var trial Trial
	trial.Pause()
	observe(&trial, sdk.TrialPaused)
	if n := order(&trial, sdk.StopTrial); n != 1 || !trial.Ended() {
		t.Fatalf("%d commands: %+v", n, trial)
	}
	if n := order(&trial, sdk.Resume); n != 0 {
		t.Fatal("a command to an ended trial")
	}
}

func TestUserResumes(t *testing.T) {
	var trial Trial
	trial.Pause()
	observe(&trial, sdk.TrialPaused)
	if _, escaped := observe(&trial, sdk.TrialStarted); !escaped || !trial.Free() {
		t.Fatalf("escaped %v: %+v", escaped, trial)
	}
}

func TestRestartedWhileToStop(t *testing.T) {
	var trial Trial
	trial.Pause()
	order(&trial, sdk.StopTrial)
	_, escaped := observe(&trial, sdk.TrialStarted)
	if _, doomed := trial.StopPending(); escaped || trial.Free() || !doomed {
		t.Fatalf("escaped %v: %+v", escaped, trial)
	}
}

// A host died, or the trial failed, after its result was sent and before the verdict was executed:
// the next attempt starts first and is then paused.
func TestPausedLate(t *testing.T) {
	var trial Trial
	trial.Pause()
	if _, escaped := observe(&trial, sdk.TrialStarted); !escaped || !trial.Free() || !trial.Late() {
		t.Fatalf("escaped %v: %+v", escaped, trial)
	}
	observe(&trial, sdk.TrialPaused)
	if n := order(&trial, sdk.Resume); n != 1 || !trial.Free() {
		t.Fatalf("%d commands once it was paused: %+v", n, trial)
	}
}

func TestWokenBeforeALatePause(t *testing.T) {
	for _, wokenFirst := range []bool{false, true} {
		var trial Trial
		trial.Pause()
		if wokenFirst {
			order(&trial, sdk.Resume)
		}
		observe(&trial, sdk.TrialStarted)
		if !wokenFirst {
			order(&trial, sdk.Resume)
		}
		if !trial.Free() {
			t.Fatalf("its results do not count: %+v", trial)
		}
		if n, _ := observe(&trial, sdk.TrialPaused); n != 1 {
			t.Fatalf("%d commands at the pause: %+v", n, trial)
		}
		if n, _ := observe(&trial, sdk.TrialPaused); n != 0 || !trial.Free() {
			t.Fatalf("a later pause is somebody else's: %d commands, %+v", n, trial)
		}
	}
}
