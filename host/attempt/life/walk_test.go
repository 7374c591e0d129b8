package life_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt/life"
)

// walk is an attempt to which anything may happen at any time, and what it has brought about.
type walk struct {
	*rand.Rand
	l             *life.Life
	dir, launch   bool // is under way
	making, clear int  // models, and their clearing, under way
	ends, leaves  int
	asked, given  uint32 // saves
}

// TestWalks: whatever happens, in whatever order, an attempt ends once, leaves its process once,
// and answers each save once.
func TestWalks(t *testing.T) {
	for seed := range uint64(20_000) {
		w := &walk{Rand: rand.New(rand.NewPCG(seed, 1)), dir: true}
		o := life.Options{Programs: w.IntN(2) == 0}
		if w.IntN(2) == 0 {
			o.Export = []string{"onnx", "json"}
		}
		w.l = life.New(o)
		for step := 0; w.l.State() != life.Ended; step++ {
			w.step(step)
		}
		if w.ends != 1 || w.leaves != 1 || w.asked != w.given {
			t.Fatalf("seed %d: %d ends, leaves its process %d times, %d of %d saves are answered", seed, w.ends,
				w.leaves, w.given, w.asked)
		}
	}
}

// step has something happen. In the end, everything that is under way has an outcome.
func (w *walk) step(n int) {
	e := w.outcome(n)
	switch {
	case e != nil:
	case n > 200:
		e = life.ProcessLost{Error: "the end"}
	default:
		e = w.any()
	}
	for _, a := range w.l.Apply(e) {
		w.take(a)
	}
}

// outcome is that of something which is under way.
func (w *walk) outcome(n int) life.Event {
	switch {
	case n <= 200 && w.IntN(4) > 0:
	case w.dir:
		w.dir = false
		if w.IntN(4) == 0 {
			return life.DirFailed{End: core.AttemptEnded{Cause: core.TrainableFailure("no")}}
		}
		return life.DirReady{}
	case w.launch:
		w.launch = false
		if w.IntN(4) == 0 {
			return life.LaunchFailed{Error: "no"}
		}
		return life.Assigned{Warm: w.IntN(2) == 0}
	case w.making > 0:
		w.making--
		return life.ExportMade{Format: "onnx"}
	case w.clear > 0:
		w.clear--
		return life.ExportsCleared{}
	}
	return nil
}

func (w *walk) any() life.Event {
	yes := func() bool { return w.IntN(2) == 0 }
	why := core.TrainableFailure("why")
	switch w.IntN(13) {
	case 0:
		return life.Started{Waiting: yes()}
	case 1:
		return life.InvalidReport{Cause: why}
	case 2, 3:
		return life.Saved{Iteration: uint64(w.IntN(2)), Full: yes(), Error: []string{"", "why"}[w.IntN(2)]}
	case 4:
		return life.Exported{Format: []string{"onnx", "json", "odd"}[w.IntN(3)]}
	case 5:
		return w.ifPlaced(life.Finished{NeverStarted: yes(), Full: yes()})
	case 6:
		return w.ifPlaced(life.ProcessLost{Short: yes(), Doomed: yes()})
	case 7:
		if !w.over() {
			w.asked++
			return life.SaveAsked{Save: life.Save{ID: w.asked}}
		}
	case 8:
		if yes() && !w.over() {
			w.asked++
			return life.Stop{Save: life.Save{ID: w.asked, Memory: yes()}}
		}
		return life.Stop{Paused: yes()}
	case 9:
		return life.Kill{}
	case 10:
		return life.WaitOver{}
	case 11:
		return life.NotBegun{Cause: why, Others: yes()}
	case 12:
		return life.Silent{Cause: why}
	}
	return life.WaitOver{}
}

func (w *walk) over() bool { return w.l.State() >= life.Exporting }

// ifPlaced: an attempt without a process hears nothing from one.
func (w *walk) ifPlaced(e life.Event) life.Event {
	if s := w.l.State(); s < life.Starting {
		return life.Kill{}
	}
	return e
}

func (w *walk) take(a life.Action) {
	switch a.(type) {
	case life.Launch, life.Renew, life.Retry:
		w.launch = true
	case life.Commit, life.Hold, life.FailSave, life.SaveAgain:
		w.given++
	case life.CommitExport:
		w.making++
	case life.ClearExports:
		w.clear++
	case life.Leave:
		w.leaves++
	case life.End:
		w.ends++
	}
}
