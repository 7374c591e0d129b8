package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// Facts are the facts about an experiment that are not in its record.
type Facts struct {
	Name string
	// Seed is the seed of every random choice.
	Seed uint64
	// Config is the experiment file as it was recorded.
	Config *config.Experiment
	// Created is when the experiment began.
	Created time.Time
	// Dir is the zero value if the experiment is only in memory.
	Dir storage.Dir

	// run is run.json; nil: it was not read.
	run *runfile.File
	// runsOn is the other machine whose host runs it, or "".
	runsOn string
	// elsewhere returns the place of a part of the directory, if this is a copy.
	elsewhere func(part string) string
}

// Named returns the cause of the end of the experiment with what the core does not know: the name of the searcher that
// is stuck.
func (f *Facts) Named(why core.Cause) core.Cause {
	if why.Is(core.CauseSearcherStuck) {
		why.By = f.Config.Searcher.Name
	}
	return why
}

// Objectives returns the objectives of the experiment file.
func (f *Facts) Objectives() []core.Objective {
	list := make([]core.Objective, len(f.Config.Objectives))
	for i, o := range f.Config.Objectives {
		list[i].Metric = o.Metric
		if o.Mode == "max" {
			list[i].Mode = stat.Max
		}
	}
	return list
}

func (f *Facts) isObjective(metric string) bool {
	return slices.ContainsFunc(f.Objectives(), func(o core.Objective) bool { return o.Metric == metric })
}

// ParamNames returns the full names of parameters, in the order of the file: searched, computed,
// constant.
func (f *Facts) ParamNames() []string {
	var names []string
	for i := range f.Config.Space.Params {
		names = append(names, f.Config.Space.Params[i].Name)
	}
	for i := range f.Config.Derived {
		names = append(names, f.Config.Derived[i].Name)
	}
	for i := range f.Config.Constants {
		names = append(names, f.Config.Constants[i].Name)
	}
	return names
}

// Repeated reports whether suggestions have several runs, so that trials name theirs.
func (f *Facts) Repeated() bool { return f.Config.Repeat > 1 }

// Compared is a number of what is compared by its values: trials or, if they have several runs, suggestions.
func (f *Facts) Compared(n int) string {
	thing := "trial"
	if f.Repeated() {
		thing = "suggestion"
	}
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// FewForImportance says that so few have a value that the importance of parameters is not known.
func (e *Experiment) FewForImportance(n int) string {
	have := " have a finite value"
	if n == 1 {
		have = " has a finite value"
	}
	return fmt.Sprintf("%s%s; importance needs %d", e.Compared(n), have, e.NeededForImportance())
}

// Place returns where the experiment is, for people: a directory, or what Elsewhere says.
func (f *Facts) Place() string {
	if f.elsewhere != nil {
		return f.elsewhere("")
	}
	return f.Dir.Path()
}

// IsElsewhere reports whether this is a copy of an experiment in another place.
func (f *Facts) IsElsewhere() bool { return f.elsewhere != nil }

// trialPlace is Place for a trial's directory.
func (f *Facts) trialPlace(dir string) string {
	if f.elsewhere != nil {
		return f.elsewhere("trials/" + filepath.Base(dir))
	}
	return dir
}

// Changed returns when something was recorded last.
func (f *Facts) Changed() time.Time {
	last := f.Created
	files, err := nolink.ReadDir(f.Dir.Journal())
	if err != nil {
		return last
	}
	for _, x := range files {
		if info, err := x.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// id returns the id of a trial.
func (f *Facts) id(no core.TrialNo) string { return naming.ID(f.Seed, uint32(no)) }

// TrialName returns how messages name a trial.
func (f *Facts) TrialName(no core.TrialNo) string { return fmt.Sprintf("trial %d (%s)", no, f.id(no)) }
