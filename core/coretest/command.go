package coretest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/core/stat"
)

// command reads the arguments of one line.
type command struct{ d *datadriven.TestData }

func (c command) has(key string) bool { return c.d.HasArg(key) }

func (c command) text(key string) string {
	for _, a := range c.d.CmdArgs {
		if a.Key == key {
			return strings.Trim(strings.Join(a.Vals, ","), `"`)
		}
	}
	return ""
}

func (c command) number(key string) int64 {
	n, _ := strconv.ParseInt(c.text(key), 10, 64)
	return n
}

// rule returns a cause with an expression that holds for a result; nil for none.
func (c command) rule(key string, kind core.CauseKind) *core.Cause {
	if text := c.text(key); text != "" {
		return &core.Cause{Kind: kind, Text: text}
	}
	return nil
}

// failure returns why an attempt ended.
func (c command) failure() core.Cause {
	why := core.TrainableFailure(c.quoted())
	if c.has("damaged") {
		why.Kind = core.CauseDamaged
	}
	return why
}

// first returns the number that the command begins with.
func (c command) first() int64 {
	if len(c.d.CmdArgs) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(c.d.CmdArgs[0].Key, 10, 64)
	return n
}

// quoted returns the text given as why=(…).
func (c command) quoted() string { return c.text("why") }

func (c command) spec(s core.Spec) (core.Spec, error) {
	for _, a := range c.d.CmdArgs {
		if err := c.setting(&s, a.Key, strings.Trim(strings.Join(a.Vals, ","), `"`)); err != nil {
			return s, err
		}
	}
	if len(s.Objectives) == 0 {
		s.Objectives = []core.Objective{{Metric: "acc", Mode: stat.Max}}
	}
	return s, nil
}

func (c command) setting(s *core.Spec, key, v string) (err error) {
	n, _ := strconv.ParseInt(v, 10, 64)
	switch key {
	case "at":
	case "trials":
		s.Trials = n
	case "cpu":
		s.Request, err = cpu(v)
	case "extended":
		s.Extended = uint32(n)
	case "from":
		s.Start = &core.Start{Iteration: uint64(n)}
	case "repeat":
		s.Repeat = uint32(n)
	case "rules":
		s.Rules = core.Rules(n)
	case "overcommit":
		s.Overcommit = true
	case "lost":
		s.Lost = uint32(n)
	case "concurrency":
		s.Concurrency = uint32(n)
	case "retries":
		s.Retries = int32(n)
	case "ahead":
		s.RunAhead = uint32(n)
	case "every":
		s.Checkpoint.Every = uint64(n)
	case "keep":
		s.Checkpoint.Keep = uint32(n)
	case "disk":
		s.Checkpoint.DiskBytes = n
	case "score":
		s.Checkpoint.Score, s.Checkpoint.Mode = v, stat.Max
	case "mode":
		s.Checkpoint.Mode, err = stat.ParseMode(v)
	case "iterations":
		s.Stop.Iteration = uint64(n)
	case "trial_time":
		s.Stop.TimeNS = int64(duration(v))
	case "time":
		s.Budget.TimeNS = int64(duration(v))
	case "trials_failed":
		s.Budget.TrialsFailed = uint32(n)
	case "require":
		s.Required = append(s.Required, core.Required{Metric: v, By: "objective"})
	case "reach", "below":
		err = addRule(&s.Stop, v, key == "below")
	case "unleased":
		s.Leases = nil
	case "group": // two bundles, each with a GPU
		s.Request, err = resource.ParseRequest("spread(cpu=1,gpu=1;cpu=1,gpu=1)")
	case "leases", "idle", "own_requests", "most":
		s.Leases = leases(s.Leases, key, v, n)
	default:
		return setFlag(s, key)
	}
	return err
}

// addRule adds a rule METRIC:VALUE.
func addRule(s *core.StopRules, v string, below bool) (err error) {
	name, x, _ := strings.Cut(v, ":")
	r := core.MetricRule{Metric: name, Below: below}
	r.Value, err = strconv.ParseFloat(x, 64)
	s.Metrics = append(s.Metrics, r)
	return err
}

func setFlag(s *core.Spec, key string) error {
	flags := map[string]*bool{"at_end": &s.Checkpoint.AtEnd, "memory": &s.Checkpoint.PausesInMemory, "saves": &s.Saves,
		"quiet":       &s.Quiet,
		"independent": &s.Independent, "manual": &s.Manual, "fail_fast": &s.FailFast, "fail_raise": &s.FailRaise,
		"wait": &s.WaitForResources, "judged": &s.Budget.Judged, "timed": &s.Budget.Timed}
	if f, ok := flags[key]; ok {
		*f = true
		return nil
	}
	switch key {
	case "lenient":
		s.StrictMetrics = false
		return nil
	case "again":
		s.Again = core.ToSearcher | core.ToScheduler
		return nil
	}
	return fmt.Errorf("unknown setting %q", key)
}

// boot returns the machine's, which changes only with "host rebooted".
func (c command) boot() string {
	if c.has("rebooted") {
		return "another"
	}
	return "boot"
}

func (c command) node() ([]core.Event, error) {
	n := resource.Node{ID: uint32(c.first()), Name: "n" + c.d.CmdArgs[0].Key}
	var items []resource.Item
	for _, a := range c.d.CmdArgs[1:] {
		if a.Key == "at" || a.Key == "more" {
			continue
		}
		x, err := resource.ParseAmount(strings.Join(a.Vals, ""))
		if err != nil {
			return nil, err
		}
		items = append(items, resource.Item{Name: a.Key, Amount: x})
	}
	var err error
	n.Capacity, err = resource.NewBundle(items...)
	return []core.Event{&core.NodeJoined{Node: n, More: c.has("more")}}, err
}

func (c command) command() ([]core.Event, error) {
	x := core.Command{Trial: core.TrialNo(c.first()), Reason: "ordered by the scheduler"}
	switch c.d.Cmd {
	case "resume":
		x.Kind = core.Resume
	case "endtrial":
		x.Kind = core.EndTrial
	case "endall":
		x.Kind = core.EndAll
	case "resize":
		x.Kind = core.Resize
		r, err := cpu(c.text("cpu"))
		if err != nil {
			return nil, err
		}
		x.Request = &r
	case "exploit":
		x.Kind, x.Donor, x.Iteration = core.Exploit, core.TrialNo(c.number("donor")), uint64(c.number("iter"))
		if !c.has("bare") {
			x.Params = []byte(`{"x":"explored"}`)
		}
	}
	return []core.Event{&core.SchedulerDecided{Commands: []core.Command{x}}}, nil
}
