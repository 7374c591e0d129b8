package attempt

import (
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/clock/clocktest"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// B-080: an order to stop answers no result that is not in the record yet; the answer follows when it is.
func TestAnswerFollowsRecord(t *testing.T) {
	recorded := Work{Recorded: Recorded{Attempt: 1}}
	stop := Work{Action: core.StopAttempt{Attempt: 1, Paused: true}}
	for how, c := range map[string]struct {
		work            []Work
		stopped, credit uint32 // credits of the order, and after it
	}{
		"recorded before": {[]Work{recorded, stop}, 1, 0},
		"recorded after":  {[]Work{stop, recorded}, 0, 1},
		"not recorded":    {[]Work{stop}, 0, 0},
		"the last one":    {[]Work{{Recorded: Recorded{Attempt: 1, Done: true}}, stop}, 0, 1},
		"of another run":  {[]Work{{Recorded: Recorded{Attempt: 2}}, stop}, 0, 0},
	} {
		t.Run(how, func(t *testing.T) {
			x, p := trains(t, clocktest.New(50))
			if !p.last(train.Start).Confirms {
				t.Error("the trial does not know that results are confirmed")
			}
			p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}}
			testplace.Soon(t, "the result", func() bool { return len(x.Inbox.Take(nil)) > 0 })
			for _, w := range c.work {
				x.Put(w)
			}
			x.Flush()
			testplace.Soon(t, "the order to stop", func() bool { return p.told(train.Stop) })
			if got := p.last(train.Stop); got.Credits != c.stopped || !got.Paused {
				t.Errorf("the order is %+v, want %d credits", got, c.stopped)
			}
			if got := p.last(train.Continue).Credits; got != c.credit {
				t.Errorf("%d credits, want %d", got, c.credit)
			}
		})
	}
}

// A trainable ends once its last result is answered: a checkpoint of that is saved before, or known to fail.
func TestLastSaveBeforeAnswer(t *testing.T) {
	for how, answer := range map[string]func(*Driver, *scripted){
		"saved":      func(_ *Driver, p *scripted) { p.say <- []train.Event{{Kind: train.Saved, Run: 1}} },
		"impossible": func(x *Driver, _ *scripted) { x.cannotSave(0, 1, 1, "no folder") },
	} {
		t.Run(how, func(t *testing.T) {
			x, p := trains(t, clocktest.New(50), func(o *Options) { o.Saved = func(string) {} })
			p.say <- []train.Event{{Kind: train.Result, Run: 1, Metrics: []sdk.Metric{{Name: "score", Value: 1}}}}
			testplace.Soon(t, "the result", func() bool { return len(x.Inbox.Take(nil)) > 0 })
			x.Put(Work{Recorded: Recorded{Attempt: 1, Done: true, Saves: true}})
			x.Put(Work{Action: core.SaveAttempt{Attempt: 1, ID: 1, Iteration: 1}, Dir: x.Storage.Trial("0")})
			x.Flush()
			testplace.Soon(t, "the order to save", func() bool { return p.told(train.Save) })
			if p.told(train.Continue) {
				t.Error("it is answered before")
			}
			answer(x, p)
			testplace.Soon(t, "the answer", func() bool { return p.told(train.Continue) })
			if got := p.last(train.Continue).Credits; got != 1 {
				t.Errorf("%d credits", got)
			}
		})
	}
}
