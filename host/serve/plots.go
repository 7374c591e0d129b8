package serve

import (
	"context"

	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/view"
)

// plotters registers the operations for plots.
func (s *Server) plotters() {
	read(s, "/experiments/{name}/space", "space", "Get what is searched, for what, and how", s.space)
	read(s, "/experiments/{name}/points", "points", "Get the parameters and metrics of many trials, in columns",
		s.points)
	read(s, "/experiments/{name}/curves", "curves", "Get the learning curves of many trials", s.curves)
	read(s, "/experiments/{name}/history", "history", "Get the value of each trial, and the best so far", s.history)
	read(s, "/experiments/{name}/timeline", "timeline", "Get when and where trials ran", s.timeline)
	read(s, "/experiments/{name}/decisions", "decisions", "Get what the searcher and the scheduler have said, and "+
		"which trials the searcher has not suggested", s.decisions)
	read(s, "/experiments/{name}/journal", "journal", "Get entries of the record, as `journal` does", s.journal)
}

func (s *Server) space(_ context.Context, in *Named) (x view.Space, err error) {
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		x, err = e.Space()
		return err
	})
}

func (s *Server) decisions(_ context.Context, in *Named) (x view.Decisions, err error) {
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		x, err = e.Decisions()
		return err
	})
}

type curvesQuery struct {
	Named
	Metric string `query:"metric" doc:"by default the objective"`
	Points int    `query:"points" minimum:"0" default:"100" doc:"thin out each curve; extremes stay; 0: all"`
	Trials int    `query:"trials" minimum:"0" default:"2000" doc:"at most so many trials, with the best; 0: all"`
	Where  string `query:"where" doc:"only trials for which the expression is true"`
}

func (s *Server) curves(_ context.Context, in *curvesQuery) (x view.LearningCurves, err error) {
	q := view.CurvesQuery{Metric: in.Metric, Where: in.Where, Points: in.Points, Trials: in.Trials}
	if err := q.Check(); err != nil {
		return x, problem.Invalid(err)
	}
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		if x, err = e.LearningCurves(q); err != nil {
			return problem.Invalid(err)
		}
		return nil
	})
}

type historyQuery struct {
	BestQuery
	Points int `query:"points" minimum:"0" default:"500" doc:"thin out to so many; extremes stay; 0: all"`
}

func (s *Server) history(_ context.Context, in *historyQuery) (x view.Improving, err error) {
	q, err := in.query()
	if err != nil {
		return x, err
	}
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		if x, err = e.Improving(q, in.Points); err != nil {
			return problem.Invalid(err)
		}
		return nil
	})
}

type timelineQuery struct {
	Named
	Offset int     `query:"offset" minimum:"0" doc:"how many trials to skip"`
	Limit  int     `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"how many trials to return at most"`
	From   float64 `query:"from_s" minimum:"0" doc:"only trials that ran, were paused or saved after this running time"`
	To     float64 `query:"to_s" minimum:"0" doc:"the same, before this running time; 0: until now"`
	Spread bool    `query:"spread" doc:"if there are more than limit: trials that are evenly spread, not the first"`
}

func (s *Server) timeline(_ context.Context, in *timelineQuery) (x view.Timeline, err error) {
	q := view.TimelineQuery{Offset: in.Offset, Limit: in.Limit, From: in.From, To: in.To,
		Spread: in.Spread}
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		if x, err = e.Timeline(q); err != nil {
			return problem.Invalid(err)
		}
		return nil
	})
}

type pointsQuery struct {
	Named
	Limit int `query:"limit" minimum:"0" default:"20000" doc:"at most so many trials, with the best; 0: all"`
}

func (s *Server) points(_ context.Context, in *pointsQuery) (x view.Points, err error) {
	return x, s.with(in.Name, func(e *experiments.Shared) (err error) {
		x, err = e.Points(in.Limit)
		return err
	})
}
