package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/serve/rerun"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
)

// Named is a request about an experiment.
type Named struct {
	Name string `path:"name" doc:"the id of the experiment, as in the list"`
}

// Numbered is a request about a trial.
type Numbered struct {
	Named
	ID string `path:"id" doc:"the number or the id of the trial"`
}

// answer is a body.
type answer[T any] struct{ Body T }

// with calls f with an experiment, up to date.
func (s *Server) with(name string, f func(*experiments.Shared) error) error {
	x, done, err := s.catalog.Get(name)
	if err != nil {
		return unopened(err)
	}
	defer done()
	return problem.Of(f(x))
}

// unopened is the problem of an experiment that the catalog does not give.
func unopened(err error) error {
	if errors.Is(err, experiments.ErrUnknown) {
		return problem.NotFound(err)
	}
	return problem.Unreadable(err)
}

// read registers an operation that answers with something of an experiment.
func read[I any, T any](s *Server, path, id, summary string, f func(context.Context, *I) (T, error)) {
	s.shared[http.MethodGet+" "+v1+path] = true
	huma.Register(s.api, huma.Operation{OperationID: id, Method: http.MethodGet, Path: v1 + path, Summary: summary,
		Tags: []string{"read"}}, func(ctx context.Context, in *I) (*answer[T], error) {
		body, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		return &answer[T]{body}, nil
	})
}

// readers registers the operations that change nothing.
func (s *Server) readers() {
	read(s, "/experiments", "list", "List the experiments, as `ls --json` does", s.list)
	read(s, "/experiments/{name}", "status", "Get the status of an experiment, as `status --json` does", s.status)
	read(s, "/experiments/{name}/trials", "trials", "Get trials, as `trials --json` does", s.trials)
	read(s, "/experiments/{name}/trials/{id}", "trial", "Get a trial, with its checkpoints and reasons", s.trial)
	read(s, "/experiments/{name}/trials/{id}/results", "results",
		"Get the results of a trial, as `results --json` does", s.results)
	read(s, "/experiments/{name}/best", "best", "Get the best trial, as `best --json` does", s.best)
	read(s, "/experiments/{name}/curve", "curve", "Get the best value so far, as `best --curve --json` does", s.curve)
	read(s, "/experiments/{name}/importance", "importance", "Get how much each parameter matters", s.importance)
	read(s, "/experiments/{name}/pareto", "pareto", "Get the Pareto front", s.pareto)
	read(s, "/experiments/{name}/lineage", "lineage", "Get which trials continued from others", s.lineage)
	read(s, "/experiments/{name}/resources", "resources", "Get the resources of an experiment, and their use",
		s.resources)
	read(s, "/experiments/{name}/losses", "losses", "Get what running trials would lose if the host ended now",
		s.losses)
	read(s, "/experiments/{name}/plugins", "plugins", "Get the plugins of an experiment", s.plugins)
}

type experimentList struct {
	Experiments []experiments.Item `json:"experiments"`
}

func (s *Server) list(context.Context, *struct{}) (x experimentList, err error) {
	if x.Experiments, err = s.catalog.List(); err != nil {
		return x, problem.Unreadable(err)
	}
	return x, nil
}

func (s *Server) status(_ context.Context, in *Named) (x view.Status, err error) {
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		if x, err = e.Status(time.Now()); err == nil {
			x.Unsteerable = s.unsteerable(e, x.State)
		}
		return err
	})
}

// unsteerable is why requests for an experiment are refused here; "": they are not.
func (s *Server) unsteerable(e *experiments.Shared, state string) string {
	switch {
	case e.IsElsewhere():
		return elsewhere(e, controlledThere).Error()
	case state == view.Running && e.Manual() && s.handlerOf(e) == nil:
		return e.Taken().Error()
	}
	return ""
}

type losses struct {
	Text string `json:"text" doc:"in words; empty if nothing would be lost"`
}

func (s *Server) losses(_ context.Context, in *Named) (x losses, err error) {
	return x, s.with(in.Name, func(e *experiments.Shared) error {
		status, err := e.Status(time.Now())
		if err != nil || status.State != view.Running {
			return err
		}
		return e.LookAt(func(m *core.Machine) {
			since := max(status.Elapsed-time.Duration(m.Now()), 0)
			x.Text = steer.Losses(m, since, e.TrialName)
		})
	})
}

type trialsQuery struct {
	Named
	State []string `query:"state" doc:"only trials in one of these states"`
	Where string   `query:"where" doc:"only trials for which the expression is true"`
	Sort  string   `query:"sort" doc:"as --sort of the command trials; - before it reverses the order"`

	Offset int      `query:"offset" minimum:"0" doc:"how many to skip"`
	Limit  int      `query:"limit" minimum:"1" maximum:"10000" default:"100" doc:"how many to return at most"`
	Fields []string `query:"fields" doc:"only these fields, beside trial and number"`
}

type trialPage struct {
	Total  int   `json:"total" doc:"how many trials there are"`
	Found  int   `json:"found" doc:"how many match, without offset and limit"`
	Trials []row `json:"trials"`
}

func (s *Server) trials(_ context.Context, in *trialsQuery) (x trialPage, err error) {
	c := view.Chosen{Where: in.Where, Sort: in.Sort, Offset: in.Offset, Limit: in.Limit}
	for _, name := range in.State {
		state, err := parseState(name)
		if err != nil {
			return x, problem.Invalid(err)
		}
		c.States = append(c.States, state)
	}
	if err := checkFields(in.Fields); err != nil {
		return x, problem.Invalid(err)
	}
	return x, s.with(in.Name, func(e *experiments.Shared) error {
		page, err := e.Choose(c)
		if err != nil {
			return problem.Invalid(err)
		}
		x = trialPage{page.Total, page.Fitting, make([]row, 0, len(page.Numbers))}
		return page.Each(func(t *view.Trial) error {
			x.Trials = append(x.Trials, row{*t, in.Fields})
			return nil
		})
	})
}

// parseState reads the name of a state, in upper or lower case.
func parseState(name string) (core.State, error) {
	var names []string
	for _, state := range view.States {
		if strings.EqualFold(name, state.String()) {
			return state, nil
		}
		names = append(names, state.String())
	}
	return 0, fmt.Errorf("state %.100q: expected %s%s", name, strings.Join(names, ", "),
		nearest.Hint(strings.ToUpper(name), names))
}

// row is a trial in a list, perhaps without some of its fields.
type row struct {
	view.Trial
	fields []string
}

// always are the fields that a row has in any case.
var always = []string{"trial", "number"}

// MarshalJSON implements json.Marshaler.
func (r row) MarshalJSON() ([]byte, error) {
	text, err := r.Trial.MarshalJSON()
	if err != nil || len(r.fields) == 0 {
		return text, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	some := map[string]json.RawMessage{}
	for _, name := range append(r.fields, always...) {
		if v, ok := all[name]; ok {
			some[name] = v
		}
	}
	return json.Marshal(some)
}

// Schema implements huma.SchemaProvider: a trial, most of whose fields may be missing.
func (row) Schema(r huma.Registry) *huma.Schema {
	whole := r.Schema(reflect.TypeFor[view.Trial](), false, "")
	some := *whole
	some.Required, some.AdditionalProperties = always, nil
	return &some
}

// trialFields are the fields of a trial.
func trialFields() (names []string) {
	for _, f := range reflect.VisibleFields(view.Shapes()[reflect.TypeFor[view.Trial]()]) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func checkFields(fields []string) error {
	known := trialFields()
	for _, name := range fields {
		if !slices.Contains(known, name) {
			return fmt.Errorf("fields: a trial has no field %.100q%s", name, nearest.Hint(name, known))
		}
	}
	return nil
}

func (s *Server) trial(_ context.Context, in *Numbered) (x view.Detail, err error) {
	return x, s.withTrial(in, func(e *experiments.Shared, no core.TrialNo) (err error) {
		if x, err = e.Detail(no); err == nil {
			x.Rerun = rerun.Line(e.Facts, &x.Trial)
		}
		return err
	})
}

// withTrial calls f with a trial.
func (s *Server) withTrial(in *Numbered, f func(*experiments.Shared, core.TrialNo) error) error {
	return s.with(in.Name, func(e *experiments.Shared) error {
		no, err := e.Find(in.ID)
		if err != nil {
			return problem.NotFound(err)
		}
		return f(e, no)
	})
}

type resultsQuery struct {
	Numbered
	Points int    `query:"points" minimum:"0" default:"500" doc:"thin out to so many; extremes stay; 0: all"`
	Metric string `query:"metric" doc:"the metric whose extremes stay; by default the objective"`
}

type resultList struct {
	Results []view.Result `json:"results"`
}

func (s *Server) results(_ context.Context, in *resultsQuery) (x resultList, err error) {
	if in.Points == 1 {
		return x, problem.Invalid(errors.New("points 1: expected 2 or more, or 0 for all"))
	}
	return x, s.withTrial(&in.Numbered, func(e *experiments.Shared, no core.TrialNo) (err error) {
		if x.Results, err = e.Curves(no, in.Metric, in.Points); err != nil {
			return problem.Invalid(err)
		}
		x.Results = orEmpty(x.Results)
		return nil
	})
}

// orEmpty is a list that is not null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Scoped is a request that compares trials.
type Scoped struct {
	Scope string `query:"scope" default:"last" doc:"last, min, max, mean, mean5, mean10 or all values"`
}

// Measured is a request for what one metric says.
type Measured struct {
	Metric string `query:"metric" doc:"a metric instead of the objective"`
	Mode   string `query:"mode" doc:"min or max, for a metric that is not an objective"`
}

// BestQuery asks by a metric.
type BestQuery struct {
	Named
	Measured
	Scoped
}

func (q *BestQuery) query() (view.Query, error) {
	scope, err := view.ParseScope(q.Scope)
	if err != nil {
		return view.Query{}, problem.Invalid(err)
	}
	return view.Query{Metric: q.Metric, Mode: q.Mode, Scope: scope}, nil
}

func (s *Server) best(_ context.Context, in *BestQuery) (x view.Ranked, err error) {
	q, err := in.query()
	if err != nil {
		return x, err
	}
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		front := len(e.Objectives()) > 1 && q.Metric == ""
		if front && q.Mode != "" {
			return problem.Invalid(errors.New("mode: in a Pareto front each objective has its own: omit mode, or " +
				"name a metric"))
		}
		var ok bool
		switch x, ok, err = e.Best(q); {
		case err != nil:
			return problem.Invalid(err)
		case !ok:
			return noValue(e, q.Metric)
		}
		if front {
			x.Front, err = e.Front(q.Scope)
		}
		return err
	})
}

// noValue says why there is no best trial.
func noValue(e *experiments.Shared, metric string) error {
	why, err := e.NoValue(metric)
	if err != nil {
		return err
	}
	return problem.NotFound(errors.New(why))
}

type curveOf struct {
	Steps []view.Step `json:"steps"`
}

type curveQuery struct {
	Named
	Measured
	Scope string `query:"scope" enum:"last,all" doc:"without effect: each result counts"`
}

func (s *Server) curve(_ context.Context, in *curveQuery) (x curveOf, err error) {
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		if x.Steps, err = e.Curve(view.Query{Metric: in.Metric, Mode: in.Mode}); err != nil {
			return problem.Invalid(err)
		}
		x.Steps = orEmpty(x.Steps)
		return nil
	})
}

type importanceQuery struct {
	BestQuery
	Top float64 `query:"top" default:"0.1" doc:"the share of the trials that count as the best"`
}

type importanceOf struct {
	Trials     int          `json:"trials" doc:"how many trials, or suggestions with several runs, this is based on"`
	Importance []view.Share `json:"importance"`
	Cautions   []string     `json:"cautions,omitempty" doc:"why the shares are to be taken with caution"`
}

func (s *Server) importance(_ context.Context, in *importanceQuery) (x importanceOf, err error) {
	q, err := in.query()
	if err != nil {
		return x, err
	}
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		x.Importance, x.Trials, err = e.Importance(q, in.Top)
		switch {
		case err != nil:
			return problem.Invalid(err)
		case x.Importance == nil:
			return problem.Conflict(errors.New(e.FewForImportance(x.Trials)))
		}
		x.Cautions, err = e.Cautions(q, in.Top, x.Importance)
		return err
	})
}

type paretoQuery struct {
	Named
	Scoped
}

type front struct {
	Trials []view.Trial `json:"trials"`
}

func (s *Server) pareto(_ context.Context, in *paretoQuery) (x front, err error) {
	scope, err := view.ParseScope(in.Scope)
	if err != nil {
		return x, problem.Invalid(err)
	}
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		x.Trials, err = e.Front(scope)
		x.Trials = orEmpty(x.Trials)
		return err
	})
}

type lineageQuery struct {
	Named
	Limit int `query:"limit" minimum:"0" default:"5000" doc:"at most so many, those with parents first; 0: all"`
}

type lineageOf struct {
	Stretches []view.Stretch `json:"stretches" doc:"a parent is an index in this list"`
	Best      *int           `json:"best" doc:"the index of the best, or of the first run of the best suggestion"`
	Bests     []int          `json:"bests" doc:"the index of the best, or those of the runs of the best suggestion"`
	Total     int            `json:"total" doc:"how many there are, without limit"`
}

func (s *Server) lineage(_ context.Context, in *lineageQuery) (x lineageOf, err error) {
	return x, s.with(in.Name, func(e *experiments.Shared) error {
		l, err := e.Lineage()
		if err != nil {
			return err
		}
		x.Total = l.Cut(in.Limit)
		x.Stretches = orEmpty(l.Stretches)
		if x.Bests = orEmpty(l.Best()); len(x.Bests) > 0 {
			x.Best = &x.Bests[0]
		}
		return nil
	})
}

type amounts struct {
	Used  resource.Amount `json:"used"`
	Total resource.Amount `json:"total"`
}

type resourceList struct {
	Resources map[string]amounts `json:"resources"`
	Leases    *view.Leases       `json:"leases" doc:"of an executor; null where trials run on this machine"`
}

func (s *Server) resources(_ context.Context, in *Named) (x resourceList, err error) {
	x.Resources = map[string]amounts{}
	return x, s.with(in.Name, func(e *experiments.Shared) error {
		status, err := e.Status(time.Now())
		for _, u := range status.Resources {
			x.Resources[u.Name] = amounts{u.Used, u.Total}
		}
		x.Leases = status.Leases
		return err
	})
}

type pluginsOf struct {
	Plugins []view.Plugin `json:"plugins"`
}

func (s *Server) plugins(_ context.Context, in *Named) (x pluginsOf, err error) {
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		x.Plugins, err = e.Plugins()
		x.Plugins = orEmpty(x.Plugins)
		return err
	})
}
