package view_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/storage/lack"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// watched is an experiment whose status is read again and again while it runs.
type watched struct {
	*testing.T
	w *viewtest.Writer
	e *view.Recorded
	// was is the last estimate.
	was view.Left
}

func watch(t *testing.T, trials, iterations, cpus uint64, more string, set ...func(*viewtest.Writer)) *watched {
	t.Helper()
	w := write(t, fmt.Sprintf("version: 1\nobjective: {metric: accuracy, mode: max}\nspace: {lr: {uniform: [0, 1]}}\n"+
		"trials: %d\n%s", trials, more))
	lock, err := journal.LockDir(w.Dir.Path(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Unlock() })
	w.Iterations = iterations
	for _, set := range set {
		set(w)
	}
	w.Start(cpus)
	w.Run(0)
	return &watched{T: t, w: w, e: open(t, w)}
}

func learns(w *viewtest.Writer) { w.Learns = true }

func (x *watched) left() view.Left {
	x.Helper()
	if _, err := x.e.Refresh(); err != nil {
		x.Fatal(err)
	}
	s, err := x.e.Status(x.w.Now())
	if err != nil {
		x.Fatal(err)
	}
	return s.Left
}

// pass lets time pass second by second, and fails if the estimate grows meanwhile.
func (x *watched) pass(seconds int) {
	x.Helper()
	for range seconds {
		x.w.Wait(time.Second)
		now := x.left()
		if x.was.Known && now.Seconds > x.was.Seconds*1.03 {
			x.Fatalf("at %v: %v s are left, and were %v s a second before", x.w.Now(), now.Seconds, x.was.Seconds)
		}
		x.was = now
	}
}

// near fails unless the estimate is within a quarter of the truth.
func (x *watched) near(truth float64) {
	x.Helper()
	now := x.left()
	if !now.Known || math.Abs(now.Seconds-truth) > truth/4 {
		x.Fatalf("at %v: %+v, %v s are left in truth", x.w.Now(), now, truth)
	}
}

// B-120: what a trial without a checkpoint has lost with its host says nothing about what is left of it.
func TestTimeLeftOfATrialThatBeganAnew(t *testing.T) {
	x := watch(t, 1, 100, 1, "stop: {iteration: 20}\n")
	x.w.Run(12)
	x.near(8)
	x.w.Wait(time.Second)
	x.w.Host(x.w.Now(), 1)
	x.w.Run(4)
	x.near(16)
	x.w.Host(x.w.Now(), 1)
	x.w.Run(10)
	x.near(10)
}

// B-120: what running trials have done counts, and the last wave is whole.
func TestTimeLeftOfEvenTrials(t *testing.T) {
	x := watch(t, 30, 1, 3, "")
	if now := x.left(); now.String() != "time left not known yet" {
		t.Errorf("no trial has ended: %q", now)
	}
	for wave := range 10 {
		for second := range 29 {
			x.pass(1)
			if wave > 0 {
				x.near(float64(300 - wave*30 - second - 1))
			}
		}
		x.w.Run(1)
	}
	if now := x.left(); now.Known || now.String() != "" {
		t.Errorf("all has ended: %+v", now)
	}
}

// B-120: a trial that a user has stopped says nothing about how long trials take.
func TestTimeLeftAfterAStopByHand(t *testing.T) {
	x := watch(t, 8, 1, 1, "")
	x.pass(5)
	x.w.Event(&core.StopRequested{Trial: 0})
	x.w.Run(0)
	if now := x.left(); now.Known {
		t.Errorf("nothing has ended by itself: %+v", now)
	}
	for trial := range 7 {
		for second := range 299 {
			x.pass(1)
			if trial > 0 {
				x.near(float64(7*300 - trial*300 - second - 1))
			}
		}
		x.w.Run(1)
	}
}

// B-120: where the file says how many iterations a trial makes, the first ones are enough.
func TestTimeLeftFromIterations(t *testing.T) {
	x := watch(t, 6, 100, 2, "stop: {iteration: 20}\n")
	if now := x.left(); now.Known {
		t.Errorf("before the first result: %+v", now)
	}
	x.w.Wait(9 * time.Second)
	x.w.Run(1)
	for i := 1; i < 59; i++ {
		x.near(float64(600 - 10*i))
		x.was = x.left()
		x.pass(9)
		x.w.Run(1)
	}
}

// B-120: a trial that takes longer than others counts as about to end.
func TestTimeLeftOfALongTrial(t *testing.T) {
	x := watch(t, 2, 1, 1, "")
	x.w.Wait(9 * time.Second)
	x.w.Run(1)
	x.near(10)
	for _, event := range []core.Event{&core.PauseRequested{All: true}, &core.UnpauseRequested{All: true}} {
		x.w.Event(event)
		x.w.Flush()
		if now, paused := x.left(), x.w.Machine.Paused(); now.Expected == paused {
			t.Errorf("paused %v: %+v", paused, now)
		}
	}
	x.was = x.left()
	x.pass(50)
	if x.was.Seconds != 0 || x.was.String() != "less than a minute left" {
		t.Errorf("%+v", x.was)
	}
}

// B-120: trials that the searcher has no points for are not waited for.
func TestTimeLeftOfAnExhaustedSearcher(t *testing.T) {
	x := watch(t, 30, 1, 2, "", learns, func(w *viewtest.Writer) { w.Points = 3 })
	x.w.Wait(9 * time.Second)
	x.w.Run(1)
	x.near(10)
	x.w.Wait(9 * time.Second)
	x.w.Run(1)
	if now := x.left(); now.Expected {
		t.Errorf("all has ended: %+v", now)
	}
}

// B-120: nobody knows how long an experiment takes in which no trial runs, because its searcher does not answer, hangs,
// or fails and is started again. A moment is no wait.
func TestNoTimeLeftWhileTheSearcherIsAwaited(t *testing.T) {
	x := watch(t, 30, 1, 1, "", learns)
	x.w.Wait(9 * time.Second)
	x.w.Run(1)
	x.w.Mute = true
	x.w.Wait(9 * time.Second)
	x.w.Run(1)
	x.waits("")
	x.near(280)
	x.w.Wait(3 * time.Second)
	x.waits("no trial runs until searcher auto answers")
	x.w.Event(&core.SuggestionsReceived{Ask: 2, Status: core.SearcherWaits})
	x.w.Flush()
	x.waits("no trial runs until searcher auto has a suggestion")
}

// B-035: what waits for more resources than there are is said, with the reason, and nobody knows how long it takes.
func TestNoTimeLeftWhileResourcesAreAwaited(t *testing.T) {
	const none = "; no node has that much; there is cpu 2 on node lab; the nearest that fits is cpu 2 on node lab"
	x := watch(t, 30, 1, 2, "wait_for_resources: true\n", learns, func(w *viewtest.Writer) { w.Mute = true })
	four, err := resource.Plain(resource.Item{Name: "cpu", Amount: resource.Whole(4)})
	if err != nil {
		t.Fatal(err)
	}
	large := core.Suggestion{Params: []byte(`{"lr":0.5}`), Request: &four}
	x.w.Event(&core.SuggestionsReceived{Ask: 0, Suggestions: []core.Suggestion{large}})
	x.w.Flush()
	x.waits("trial 0 waits until there is more, and what is behind it waits, too: resources: asked for cpu 4" + none)
	if now := x.left(); now.Expected {
		t.Errorf("%+v", now)
	}
	x.w.Event(&core.PauseRequested{Trial: 0})
	x.w.Flush()
	x.waits("")
}

// B-120: the same while trials run and the searcher is overdue.
func TestNoTimeLeftWhileTheSearcherIsOverdue(t *testing.T) {
	x := watch(t, 30, 1, 2, "", learns)
	x.w.Wait(9 * time.Second)
	x.w.Run(1)
	x.near(140)
	x.w.Mute = true
	x.w.Event(&core.StopRequested{Trial: 2})
	x.w.Run(0)
	x.near(140)
	x.w.Wait(time.Minute)
	if now := x.left(); now.Expected {
		t.Errorf("%+v", now)
	}
}

// waits fails unless the status says that the experiment waits for so much, without an estimate.
func (x *watched) waits(want string) {
	x.Helper()
	if _, err := x.e.Refresh(); err != nil {
		x.Fatal(err)
	}
	s, err := x.e.Status(x.w.Now())
	if err != nil || s.Waiting != want || s.Left.Expected != (want == "") {
		x.Errorf("at %v: waiting %q, %+v, %v; want %q", x.w.Now(), s.Waiting, s.Left, err, want)
	}
}

// B-087, B-120: nobody knows how long it takes until the disk has room. The status says what the disk lacks, in the
// words of the host.
func TestNoTimeLeftWhileTheDiskHasNoRoom(t *testing.T) {
	x := watch(t, 30, 1, 1, "")
	for _, missing := range append(lack.Kinds, lack.Nothing) {
		if err := x.w.Dir.NoteLack(missing); err != nil {
			t.Fatal(err)
		}
		x.waits(missing.Waits())
	}
	if text := lack.Inodes.Waits(); !strings.HasPrefix(text, "no file can be made on the disk (no inode is free): ") {
		t.Error(text)
	}
}

// B-120
func TestTimeLeftInWords(t *testing.T) {
	for _, c := range []struct {
		left view.Left
		want string
	}{
		{view.Left{}, ""},
		{view.Left{Expected: true}, "time left not known yet"},
		{view.Left{Expected: true, Known: true, Seconds: 59}, "less than a minute left"},
		{view.Left{Expected: true, Known: true, Seconds: 1239}, "about 21m left"},
		{view.Left{Expected: true, Known: true, Seconds: 1e15}, "more than a year left"},
	} {
		if got := c.left.String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.left, got, c.want)
		}
	}
}

// B-120: where short trials end first, as with a scheduler that stops most of them early, those that train for longer
// count with what they have trained so far.
func TestTimeLeftWhileShortTrialsEnd(t *testing.T) {
	x := watch(t, 20, 1, 2, "")
	for short := range core.TrialNo(6) {
		no := short
		if no > 0 {
			no++ // trial 1 trains on
		}
		x.w.Wait(2 * time.Second)
		x.w.Complete(no)
	}
	// As long as the short ones, 13 further trials would take 13 s at two places.
	if now := x.left(); !now.Known || now.Seconds < 20 {
		t.Errorf("%+v", now)
	}
}
