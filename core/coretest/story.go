package coretest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/record"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// Story is one machine and what happened to it.
type Story struct {
	M      *core.Machine
	record [][]byte
	told   []string // the actions of each event
	at     int64
	ask    core.AskSearcher
	due    map[core.TrialNo][]uint64 // observations to decide
	saves  map[core.TrialNo][]save
	seen   uint64
}

type save struct {
	id        uint32
	iteration uint64
	memory    bool // with a pause, and for this host only
}

// New begins a story.
func New() *Story {
	return &Story{M: core.New(), due: map[core.TrialNo][]uint64{}, saves: map[core.TrialNo][]save{}}
}

// Run carries out one command and returns the resulting actions.
func (s *Story) Run(d *datadriven.TestData) (out string) {
	c := command{d}
	if v := c.text("at"); v != "" {
		s.at = int64(duration(v))
	}
	switch d.Cmd {
	case "trials":
		return s.trials()
	case "means":
		return s.means()
	case "usage":
		return s.usage()
	case "leases":
		return s.leases()
	}
	events, err := s.events(c)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	for _, e := range events {
		text, err := s.Apply(e)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		out += text
	}
	if out == "" {
		return "nothing\n"
	}
	return out
}

// Apply records an event, applies what was recorded and returns the actions as text.
func (s *Story) Apply(e core.Event) (string, error) {
	b, err := record.Append(nil, s.at, e)
	if err != nil {
		return "", err
	}
	s.record = append(s.record, b)
	at, e, err := record.Parse(b)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, a := range s.M.Apply(at, e) {
		s.note(a)
		out.WriteString(s.print(a))
	}
	s.told = append(s.told, out.String())
	return out.String(), Check(s.M)
}

// Replay applies the record to a new machine and reports the first difference.
func (s *Story) Replay() error {
	again := New()
	again.record = nil
	for i, b := range s.record {
		at, e, err := record.Parse(b)
		if err != nil {
			return err
		}
		var out strings.Builder
		for _, a := range again.M.Apply(at, e) {
			out.WriteString(again.print(a))
		}
		if out.String() != s.told[i] {
			return fmt.Errorf("event %d (%T) replays differently:\n%s\nbut it was:\n%s", i, e, out.String(), s.told[i])
		}
	}
	if a, b := s.trials(), again.trials(); a != b {
		return fmt.Errorf("the replayed trials differ:\n%s\nbut they were:\n%s", b, a)
	}
	return nil
}

// note remembers what later commands answer.
func (s *Story) note(a core.Action) {
	switch a := a.(type) {
	case core.AskSearcher:
		s.ask = a
	case *core.Tell:
		s.seen++
		if a.Observation.Number != s.seen {
			panic("observations have a gap")
		}
		if a.Observation.Due {
			s.due[a.Observation.Trial] = append(s.due[a.Observation.Trial], a.Observation.Number)
		}
	case core.SaveAttempt:
		s.saves[a.Trial] = append(s.saves[a.Trial], save{id: a.ID, iteration: a.Iteration})
	case core.TakeCheckpoint:
		if a.Again {
			s.saves[a.Trial] = slices.DeleteFunc(s.saves[a.Trial], func(x save) bool { return x.id == a.ID })
		}
		s.saves[a.Trial] = append(s.saves[a.Trial], save{id: a.ID, iteration: a.Iteration})
	case core.StopAttempt:
		if a.SaveID != 0 {
			s.saves[a.Trial] = append(s.saves[a.Trial], save{id: a.SaveID, iteration: s.M.View(a.Trial).Iteration})
		}
	case core.StartAttempt:
		s.saves[a.Trial] = nil
	}
}

func (s *Story) events(c command) ([]core.Event, error) {
	switch c.d.Cmd {
	case "start":
		spec, err := c.spec(core.Spec{Rules: core.NewestRules, Trials: 1, StrictMetrics: true})
		return []core.Event{&core.ExperimentStarted{Spec: spec}}, err
	case "settings":
		spec, err := c.spec(*s.M.Spec())
		return []core.Event{&core.SettingsChanged{Spec: spec}}, err
	case "host":
		return []core.Event{&core.HostStarted{Wall: 1_700_000_000_000_000_000, PID: 1, Host: "h", Boot: c.boot()}}, nil
	case "node":
		return c.node()
	case "lost":
		return []core.Event{&core.NodeLeft{ID: uint32(c.first())}}, nil
	case "suggest":
		return s.suggest(c)
	case "learn":
		return s.learn(c)
	case "give":
		return []core.Event{&core.TrialGiven{Suggestion: params(s.M.Trials()), Extra: c.has("extra"),
			Clone: c.has("clone"), Donor: core.TrialNo(c.number("clone"))}}, nil
	case "run":
		return s.run(c), nil
	case "result":
		return s.result(c)
	case "decide":
		return s.decide(c)
	case "resume", "endtrial", "endall", "resize", "exploit":
		return c.command()
	case "end":
		no := core.TrialNo(c.first())
		why := c.failure()
		if text := c.text("instead"); text != "" {
			why = core.Cause{Kind: core.CauseNoResult, Text: text}
		}
		return []core.Event{&core.AttemptEnded{Trial: no, Attempt: s.attempt(c, no), Cause: why,
			NeverStarted: c.has("never"), RestoreFailed: c.has("badrestore"), Damaged: c.has("damaged"),
			Interrupted: c.has("interrupted")}}, nil
	case "saved", "unsaved", "held":
		return s.saved(c)
	case "exported":
		no := core.TrialNo(c.first())
		return []core.Event{&core.ModelExported{Trial: no, Attempt: s.attempt(c, no), Format: c.text("as"),
			Bytes: c.number("bytes"), Error: c.quoted(), GivenUp: c.has("given-up")}}, nil
	}
	return s.user(c)
}

func (s *Story) user(c command) ([]core.Event, error) {
	no, all := core.TrialNo(c.first()), c.has("all")
	switch c.d.Cmd {
	case "stop":
		return []core.Event{&core.StopRequested{Trial: no, All: all}}, nil
	case "pause":
		return []core.Event{&core.PauseRequested{Trial: no, All: all}}, nil
	case "unpause":
		return []core.Event{&core.UnpauseRequested{Trial: no, All: all}}, nil
	case "reset":
		return []core.Event{&core.TrialReset{Trial: no, Scratch: c.has("scratch"), Fresh: c.has("fresh"),
			Unstarted: c.has("unstarted"), Steered: c.has("steered")}}, nil
	case "interrupt":
		return []core.Event{&core.Interrupted{}}, nil
	case "giveup":
		return []core.Event{&core.PluginFailed{Cause: core.Cause{Kind: core.CausePluginFailed, Text: c.quoted()}}}, nil
	case "judged":
		return []core.Event{&core.BudgetJudged{Cause: c.rule("all", core.CauseBudgetExpression)}}, nil
	case "tick":
		return []core.Event{&core.Ticked{}}, nil
	case "lease":
		return s.lease(c)
	case "offer":
		return []core.Event{&core.OfferMade{}}, nil
	case "withdraw":
		return []core.Event{&core.OfferWithdrawn{}}, nil
	}
	return nil, fmt.Errorf("unknown command %q", c.d.Cmd)
}

// learn reads the values of metrics, or "failed"; way is an iteration on the way.
func (s *Story) learn(c command) ([]core.Event, error) {
	r, err := s.result(c)
	if err != nil {
		return nil, err
	}
	last := r[len(r)-1].(*core.ResultReported)
	var way []core.LearnedResult
	if n := c.number("way"); n != 0 {
		way = []core.LearnedResult{{Iteration: uint64(n), Metrics: last.Metrics}}
	}
	e := &core.TrialLearned{From: "another, trial " + c.d.CmdArgs[0].Key, Params: params(int(c.first())).Params,
		Metrics: last.Metrics, Iteration: last.Iteration, Failed: c.has("failed"), Results: way}
	return append(r[:len(r)-1], e), nil
}

func params(n int) core.Suggestion {
	return core.Suggestion{Params: fmt.Appendf(nil, `{"x":%d}`, n)}
}

func (s *Story) suggest(c command) ([]core.Event, error) {
	e := &core.SuggestionsReceived{Ask: s.ask.Ask}
	if c.has("late") {
		e.Ask-- // an answer to the previous question
	}
	for i := range int(c.first()) {
		g := params(s.M.Trials() + i)
		if v := c.text("cpu"); v != "" {
			r, err := cpu(v)
			if err != nil {
				return nil, err
			}
			g.Request = &r
		}
		e.Suggestions = append(e.Suggestions, g)
	}
	switch {
	case c.has("wait"):
		e.Status = core.SearcherWaits
	case c.has("exhausted"):
		e.Status = core.SearcherExhausted
	}
	return []core.Event{e}, nil
}

func (s *Story) attempt(c command, no core.TrialNo) uint32 {
	if v := c.text("attempt"); v != "" {
		return uint32(c.number("attempt"))
	}
	if int(no) >= s.M.Trials() {
		return 1
	}
	return s.M.View(no).Attempt
}

func (s *Story) run(c command) (events []core.Event) {
	for _, a := range c.d.CmdArgs {
		if n, err := strconv.Atoi(a.Key); err == nil {
			no := core.TrialNo(n)
			events = append(events, &core.AttemptStarted{Trial: no, Attempt: s.attempt(c, no), PID: 100 + uint32(n)})
		}
	}
	return events
}

func (s *Story) result(c command) ([]core.Event, error) {
	no := core.TrialNo(c.first())
	r := &core.ResultReported{Trial: no, Attempt: s.attempt(c, no), Done: c.has("done"),
		Checkpoint: c.text("checkpoint"), Stop: c.rule("rule", core.CauseExpression), StopAll: c.rule("all",
			core.CauseBudgetExpression), Iteration: uint64(c.number("iter"))}
	events := []core.Event{}
	named := s.M.Metrics()
	for _, a := range c.d.CmdArgs[1:] {
		x, err := strconv.ParseFloat(strings.Join(a.Vals, ""), 64)
		if err != nil || a.Key == "iter" || a.Key == "attempt" || a.Key == "at" ||
			a.Key == "way" {
			continue
		}
		id := s.M.Metric(a.Key)
		if id == 0 {
			named++
			id = core.MetricID(named)
			events = append(events, &core.MetricNamed{ID: id, Name: a.Key})
		}
		r.Metrics = append(r.Metrics, core.Metric{ID: id, Value: x})
	}
	return append(events, r), nil
}

// decide reads "N VERDICT" groups, and commands of the same answer in the lines below.
func (s *Story) decide(c command) ([]core.Event, error) {
	e := &core.SchedulerDecided{}
	var d *core.Decision
	for _, a := range c.d.CmdArgs {
		if n, err := strconv.Atoi(a.Key); err == nil {
			no := core.TrialNo(n)
			if len(s.due[no]) == 0 {
				return nil, fmt.Errorf("no decision is owed to trial %d", n)
			}
			e.Decisions = append(e.Decisions, core.Decision{Number: s.due[no][0]})
			s.due[no] = s.due[no][1:]
			d = &e.Decisions[len(e.Decisions)-1]
			continue
		}
		switch a.Key {
		case "stop":
			d.Verdict, d.Reason = core.Stop, "worse than the others"
		case "pause":
			d.Verdict, d.Reason = core.Pause, "waits at a rung"
		case "until":
			d.Until = uint64(c.number("until"))
		case "why":
			d.Reason = c.quoted()
		}
	}
	for line := range strings.Lines(c.d.Input) {
		orders, err := order(line)
		if err != nil {
			return nil, err
		}
		e.Commands = append(e.Commands, orders...)
	}
	return []core.Event{e}, nil
}

// order reads a line below a decision.
func order(line string) ([]core.Command, error) {
	name, args, err := datadriven.ParseLine(line)
	if err != nil {
		return nil, err
	}
	events, err := command{&datadriven.TestData{Cmd: name, CmdArgs: args}}.command()
	if err != nil {
		return nil, err
	}
	return events[0].(*core.SchedulerDecided).Commands, nil
}

func (s *Story) saved(c command) ([]core.Event, error) {
	no := core.TrialNo(c.first())
	if len(s.saves[no]) == 0 {
		return nil, fmt.Errorf("no save of trial %d is under way", no)
	}
	x := s.saves[no][0]
	s.saves[no] = s.saves[no][1:]
	if v := c.number("iter"); v != 0 {
		x.iteration = uint64(v)
	}
	if c.d.Cmd == "unsaved" {
		return []core.Event{&core.SaveFailed{Trial: no, Attempt: s.attempt(c, no), ID: x.id, Error: c.quoted(),
			GivenUp: c.has("given-up")}}, nil
	}
	if c.d.Cmd == "held" {
		return []core.Event{&core.StateHeld{Trial: no, Attempt: s.attempt(c, no), ID: x.id,
			Iteration: x.iteration}}, nil
	}
	return []core.Event{&core.CheckpointSaved{Trial: no, Attempt: s.attempt(c, no), ID: x.id, Iteration: x.iteration,
		Bytes: max(1, c.number("bytes"))}}, nil
}

func (s *Story) trials() string {
	var out strings.Builder
	for no := range s.M.Trials() {
		v := s.M.View(core.TrialNo(no))
		fmt.Fprintf(&out, "%d %s", no, v.State)
		if v.Attempt > 0 {
			fmt.Fprintf(&out, " attempt %d, iteration %d, %d results", v.Attempt, v.Iteration, v.Results)
		}
		if v.NeverStarted {
			out.WriteString(", never started")
		}
		if n := s.M.Dirs(core.TrialNo(no)); n > 0 {
			fmt.Fprintf(&out, ", directory %d", n)
		}
		s.M.EachSummary(core.TrialNo(no), func(id core.MetricID, x stat.Summary) {
			fmt.Fprintf(&out, ", %s %v (min %v, max %v)", s.M.MetricName(id), x.Last, x.Min, x.Max)
		})
		for _, x := range s.M.Exports(core.TrialNo(no)) {
			fmt.Fprintf(&out, ", %s: %d bytes %s", x.Format, x.Bytes, x.Error)
		}
		if v.Cause.Kind != core.CauseNone {
			fmt.Fprintf(&out, ": %s", printCause(&v.Cause))
		}
		out.WriteString("\n" + s.stretches(v))
	}
	if o, why := s.M.Outcome(); o != 0 {
		fmt.Fprintln(&out, strings.TrimSpace(fmt.Sprintf("experiment %s %s", o, printCause(&why))))
	}
	return out.String()
}

// stretches prints the stretches of a trial that has several, or that is in one without a result.
func (s *Story) stretches(v core.View) string {
	list := s.M.Stretches(v.Number)
	if len(list) == 1 && v.Since == list[0].Attempt {
		return ""
	}
	var out strings.Builder
	for _, x := range list {
		fmt.Fprintf(&out, "  %s from attempt %d to iteration %d, %d results", x.Params, x.Attempt, x.Iteration,
			x.Results)
		if sum, ok := s.M.SummaryIn(&x, 1); ok {
			fmt.Fprintf(&out, ", %s %v (min %v, max %v)", s.M.MetricName(1), sum.Last, sum.Min, sum.Max)
		}
		fmt.Fprintf(&out, ", checkpoints #%d to #%d\n", x.After+1, x.Through)
	}
	fmt.Fprintf(&out, "  known by %s, own checkpoint #%d, training at %d since attempt %d\n", v.Params, v.Own.ID, v.At,
		v.Since)
	return out.String()
}

// means prints the means of all values, of the last ten and of the last five, by trial and metric.
func (s *Story) means() string {
	var out strings.Builder
	for no := range s.M.Trials() {
		s.M.EachSummary(core.TrialNo(no), func(id core.MetricID, x stat.Summary) {
			fmt.Fprintf(&out, "%d %s: %v of %d, %v of ten, %v of five\n", no, s.M.MetricName(id), x.Mean, x.Count,
				x.Mean10, x.Mean5)
		})
	}
	return out.String()
}

func (s *Story) usage() string {
	var parts []string
	for _, u := range s.M.Usage() {
		parts = append(parts, u.String())
	}
	return strings.Join(parts, ", ") + "\n"
}

func cpu(v string) (resource.Request, error) {
	a, err := resource.ParseAmount(v)
	if err != nil {
		return resource.Request{}, err
	}
	return resource.Plain(resource.Item{Name: "cpu", Amount: a})
}

func duration(v string) time.Duration {
	d, err := time.ParseDuration(v)
	if err != nil {
		panic(err)
	}
	return d
}
