package terminal

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/view"
)

// fake is an experiment at an instant: done of the planned trials have ended.
type fake struct {
	planned int
	done    int
	failed  int
	elapsed time.Duration
	state   string
	events  []view.Event // not returned yet
}

func (f *fake) Events() []view.Event {
	events := f.events
	f.events = nil
	return events
}

const fakeRunning, fakePaused, fakePending = 4, 3, 7

func amount(text string) resource.Amount {
	a, err := resource.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

func (f *fake) Status() view.Status {
	st := view.Status{Name: "digits", Dir: "/home/ada/results/digits", State: f.state, Planned: int64(f.planned),
		Quality: view.Quality{Objective: core.Objective{Metric: "accuracy", Mode: stat.Max}},
		Spent:   view.Spent{Elapsed: f.elapsed},
		Counts:  map[core.State]int{core.Terminated: f.done - f.failed, core.Errored: f.failed},
		Resources: []resource.Usage{{Name: "cpu", Used: amount("6"), Total: amount("8")},
			{Name: "gpu", Used: amount("0.5"), Total: amount("1")},
			{Name: "memory", Used: amount("2GiB"), Total: amount("16GiB")}}}
	if f.state == "running" {
		st.Counts[core.Running], st.Counts[core.Paused], st.Counts[core.Pending] = fakeRunning, fakePaused, fakePending
	}
	for _, n := range st.Counts {
		st.Made += int64(n)
	}
	if f.state == "running" && f.done > 0 {
		st.Left = view.Left{Expected: true, Known: true, Seconds: 1239}
	}
	if f.done > 0 {
		st.Best = &view.Ranked{Value: 0.97312345, Trial: view.Trial{Subject: view.Subject{Number: 3, ID: "k3f9",
			Params: params(3),
			Dir:    "/home/ada/results/digits/trials/00003_k3f9_lr=0.013"}}}
	}
	return st
}

func (f *fake) Rows(perState int) []view.Trial {
	st := f.Status()
	var rows []view.Trial
	next := f.done
	for _, s := range []core.State{core.Running, core.Paused, core.Pending} {
		for i := range st.Counts[s] {
			if i < perState {
				rows = append(rows, f.row(s, next))
			}
			next++
		}
	}
	for i := range min(perState, f.failed) {
		rows = append(rows, f.row(core.Errored, i*9))
	}
	for i := range min(perState, f.done-f.failed) {
		rows = append(rows, f.row(core.Terminated, f.done-1-i))
	}
	return rows
}

func (f *fake) row(s core.State, no int) view.Trial {
	r := inState(s)
	r.Number, r.Params = core.TrialNo(no), params(no)
	value := 0.5 + 0.49*math.Abs(math.Sin(float64(no)))
	if s == core.Errored {
		value = math.NaN()
	}
	if s != core.Pending {
		r.Iteration, r.Metrics = uint64(no%9+1), []view.Metric{{Name: "accuracy", Value: value}}
		r.Seconds = float64(no%17+3) * 7
	}
	return r
}

func inState(s core.State) view.Trial { return view.Trial{Subject: view.Subject{State: s}} }

func params(no int) []byte {
	lr := math.Pow(10, -4*math.Abs(math.Cos(float64(no))))
	text := fmt.Sprintf(`{"lr":%v,"net":{"layers":%d,"units":%d},"optimizer":"%s","data":"mnist"`, lr, no%3+1,
		8<<(no%5), []string{"sgd", "adam"}[no%2])
	if no%2 == 0 {
		text += fmt.Sprintf(`,"momentum":%.17f`, float64(no%10)/10)
	}
	return []byte(text + "}")
}

func failures(n int) []view.Subject {
	var list []view.Subject
	for i := range n {
		t := view.Subject{Number: core.TrialNo(i * 9), Attempt: 1,
			Dir: fmt.Sprintf("/home/ada/results/digits/trials/%05d_x", i*9),
			Error: "exit status 1; its last lines:\n  File \"train.py\", line 31, in fit\nValueError: " +
				"\x1b[31mnegative\x1b[0m dimension"}
		if i == 1 {
			t.Error = "killed by SIGSEGV\n" + strings.Repeat("frame\n", 20) + "the end"
		}
		list = append(list, t)
	}
	return list
}
