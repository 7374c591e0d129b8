package serve

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/web"
)

// reportBytes is how large a report is at most, for so many trials and each further reportTrials: it has as many
// points of curves, results and details as fit. The list of trials is whole in any case.
const reportBytes, reportTrials = 2_000_000, 1000

// portion says how much of an experiment a report has.
type portion struct {
	// trials is how many trials keep their results, in so many points, and everything else that only their page
	// shows.
	trials, points int
	// curves is how many learning curves each of so many metrics has, in so many curvePoints.
	curves, curvePoints, metrics int
	// history, timeline, lineage and columns are limits of these answers, events one of the journal.
	history, timeline, lineage, columns, events int
	// log is how many bytes of the host's log there are.
	log int
}

// portions are tried until a report is small enough; the last one is taken in any case.
var portions = []portion{
	{1000, 500, 1000, 100, 8, 500, 1000, 5000, 20000, 1000, 100_000},
	{1000, 100, 1000, 100, 8, 500, 1000, 5000, 20000, 1000, 100_000},
	{1000, 40, 1000, 60, 8, 500, 1000, 5000, 20000, 1000, 50_000},
	{1000, 20, 1000, 40, 4, 500, 1000, 2000, 20000, 500, 50_000},
	{1000, 10, 500, 20, 2, 500, 1000, 1000, 10000, 200, 20_000},
	{300, 10, 300, 20, 1, 300, 500, 500, 2000, 200, 20_000},
	{100, 10, 100, 10, 1, 200, 200, 200, 1000, 200, 5_000},
	{2, 2, 50, 10, 1, 100, 100, 100, 500, 50, 2_000},
}

// Report is the dashboard as one page that has the answers of the API inside, and needs no server.
type Report struct {
	Page []byte
	// Unread says, for each experiment that is only in the list, why it cannot be read.
	Unread []string
}

// Report returns a report of all experiments. Made is the time that it shows as its own. Of a running experiment it
// shows one moment: its answers agree with each other.
func (s *Server) Report(made time.Time) (Report, error) {
	o := s.Options
	o.Keys = ""
	still := New(o)
	still.catalog = experiments.Still(o.Folders...)
	return still.reported(made)
}

func (s *Server) reported(made time.Time) (r Report, err error) {
	list, err := s.catalog.List()
	if err != nil {
		return r, err
	}
	most, ids := 0, []string{}
	for _, x := range list {
		if x.Error != "" {
			r.Unread = append(r.Unread, x.ID+": "+x.Error)
			continue
		}
		most, ids = most+x.Trials, append(ids, x.ID)
	}
	if err := nothing(s.Folders, list, ids); err != nil {
		return r, err
	}
	most = max(most, reportTrials) * (reportBytes / reportTrials)
	a := &answers{server: s, known: map[string]reply{}}
	for _, n := range portions {
		if r.Page, err = a.page(made, ids, n); err != nil || len(r.Page) <= most {
			break
		}
	}
	return r, err
}

// nothing says why a report would have no experiment.
func nothing(folders []string, list []experiments.Item, ids []string) error {
	switch {
	case len(list) == 0:
		return usererror.Errorf("report: there is no experiment in %s", strings.Join(folders, ", "))
	case len(ids) == 0:
		return usererror.Errorf("report: %s", list[0].Error)
	}
	return nil
}

// reply is an answer of the API in a report; Status is set if it is a problem.
type reply struct {
	Status int             `json:"status,omitempty"`
	Body   json.RawMessage `json:"body"`
}

// answers collects what a report has inside.
type answers struct {
	server *Server
	// known are the replies so far, by their paths with all of their queries.
	known map[string]reply
	// kept are those of the present page, by the paths under which it looks for them.
	kept map[string]reply
}

// page returns a page with so much of the experiments.
func (a *answers) page(made time.Time, ids []string, n portion) ([]byte, error) {
	a.kept = map[string]reply{}
	if err := a.keep(v1+"/experiments", "", ""); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := a.experiment(v1+"/experiments/"+component(id), n); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	data, err := json.Marshal(struct {
		Made    time.Time        `json:"made"`
		Version string           `json:"version"`
		Answers map[string]reply `json:"answers"`
	}{made.UTC(), a.server.Version, a.kept})
	if err != nil {
		return nil, err
	}
	return web.Report(data)
}

// component is encodeURIComponent of JavaScript.
func component(text string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").
		Replace(url.QueryEscape(text))
}

// experiment keeps what the pages of one experiment read.
func (a *answers) experiment(at string, n portion) error {
	for _, x := range []struct{ path, query string }{
		{"", ""}, {"/space", ""}, {"/best", ""}, {"/importance", ""}, {"/pareto", ""}, {"/resources", ""},
		{"/plugins", ""}, {"/decisions", ""}, {"/file", ""}, {"/history", fmt.Sprintf("?points=%d", n.history)},
		{"/points", fmt.Sprintf("?limit=%d", n.columns)},
		{"/timeline", fmt.Sprintf("?spread=true&limit=%d", n.timeline)},
		{"/lineage", fmt.Sprintf("?limit=%d", n.lineage)},
		{"/host-log", fmt.Sprintf("?tail=%d", n.log)},
	} {
		if err := a.keep(at+x.path, "", x.query); err != nil {
			return err
		}
	}
	for _, f := range []func(string, portion) error{a.metrics, a.list, a.journal, a.trials} {
		if err := f(at, n); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps the reply to a request, under a path with the part of its query by which pages tell replies apart.
// A problem is kept, too: the page says what the server would have said.
func (a *answers) keep(path, part, query string) error {
	r, err := a.ask(path + query)
	a.kept[path+part] = r
	return err
}

// metrics keeps the curves and the importance of parameters of some metrics, the objectives first.
func (a *answers) metrics(at string, n portion) error {
	var space struct {
		Objectives []struct{ Metric string }
		Metrics    []string
	}
	if err := json.Unmarshal(a.kept[at+"/space"].Body, &space); err != nil {
		return err
	}
	var names []string
	for _, o := range space.Objectives {
		names = append(names, o.Metric)
	}
	for _, m := range space.Metrics {
		if !slices.Contains(names, m) {
			names = append(names, m)
		}
	}
	for i, m := range names[:min(len(names), max(n.metrics, len(space.Objectives)))] {
		part := "?metric=" + component(m)
		curves := fmt.Sprintf("%s&points=%d&trials=%d", part, n.curvePoints, n.curves)
		if err := a.keep(at+"/curves", part, curves); err != nil {
			return err
		}
		if err := a.keep(at+"/importance", part, part+mode(i < len(space.Objectives))); err != nil {
			return err
		}
	}
	return nil
}

// mode is the mode that the page of parameters asks for. If a metric is not an objective, its smallest values are
// the best.
func mode(objective bool) string {
	if objective {
		return ""
	}
	return "&mode=min"
}

// listPage is how many trials are read at a time.
const listPage = 10000

// list keeps the list of all trials.
func (a *answers) list(at string, _ portion) error {
	whole := struct {
		Total  int               `json:"total"`
		Found  int               `json:"found"`
		Trials []json.RawMessage `json:"trials"`
	}{}
	for len(whole.Trials)%listPage == 0 {
		page, before := whole, len(whole.Trials)
		page.Trials = nil
		if err := a.read(fmt.Sprintf("%s/trials?limit=%d&offset=%d", at, listPage, before), &page); err != nil {
			return err
		}
		whole.Total, whole.Found, whole.Trials = page.Total, page.Found, append(whole.Trials, page.Trials...)
		if len(page.Trials) == 0 {
			break
		}
	}
	whole.Trials = orEmpty(whole.Trials)
	return a.write(at+"/trials", whole)
}

// journal keeps the last entries of the record, without the objects behind their texts.
func (a *answers) journal(at string, n portion) error {
	var x struct {
		Total   uint64 `json:"total"`
		Next    uint64 `json:"next"`
		Entries []struct {
			Number  uint64          `json:"number"`
			Seconds json.RawMessage `json:"at_s"`
			Kind    string          `json:"kind"`
			Text    string          `json:"text"`
		} `json:"entries"`
	}
	if err := a.read(fmt.Sprintf("%s/journal?after=-%d&limit=%d", at, n.events, n.events), &x); err != nil {
		return err
	}
	return a.write(at+"/journal", x)
}

// trials keeps what the pages of trials read, beside the list. If there are too many trials, the best are among them.
func (a *answers) trials(at string, n portion) error {
	var points struct{ Numbers []int }
	if err := a.read(fmt.Sprintf("%s/points?limit=%d", at, n.trials), &points); err != nil {
		return err
	}
	for _, no := range points.Numbers {
		if err := a.trial(fmt.Sprintf("%s/trials/%d", at, no), n); err != nil {
			return err
		}
	}
	return nil
}

func (a *answers) trial(at string, n portion) error {
	var more struct {
		Checkpoints json.RawMessage `json:"checkpoints"`
		Reasons     json.RawMessage `json:"reasons"`
		ErrorLines  string          `json:"error_lines,omitempty"`
		Request     string          `json:"request,omitempty"`
		Rerun       string          `json:"rerun,omitempty"`
	}
	if err := a.read(at, &more); err != nil {
		return err
	}
	var results struct {
		Results []struct {
			Attempt   uint32          `json:"attempt"`
			Iteration uint64          `json:"iteration"`
			Metrics   json.RawMessage `json:"metrics"`
			Seconds   json.RawMessage `json:"time_total_s"`
		} `json:"results"`
	}
	if err := a.read(fmt.Sprintf("%s/results?points=%d", at, n.points), &results); err != nil {
		return err
	}
	if err := a.write(at, more); err != nil {
		return err
	}
	return a.write(at+"/results", results)
}
