package host

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/runfile"
)

// past is a recorded experiment as it was at each stage of its life: the first one is what
// it began with, the last one what it is now, and between any two is an extension.
type past struct {
	stages []*config.Experiment
	times  []time.Time // of the extensions
}

func pastOf(r *runfile.File, recorded *config.Experiment) (p past, err error) {
	for n, x := range r.Extensions {
		stage, err := r.ParseAt(recorded.Source, n)
		if err != nil {
			return p, err
		}
		p.stages, p.times = append(p.stages, stage), append(p.times, x.Time)
	}
	p.stages = append(p.stages, recorded)
	return p, nil
}

func (p past) now() *config.Experiment { return p.stages[len(p.stages)-1] }

// extended is the last extension that changed a key; -1: none did.
func (p past) extended(key string) int {
	for i := len(p.times) - 1; i >= 0; i-- {
		if !config.Same(p.stages[i], p.stages[i+1], key) {
			return i
		}
	}
	return -1
}

// outdated says whether the file has of a key what the experiment had before its last
// extension of it: the user changed nothing, and the file does not know of the extension.
func (p past) outdated(file *config.Experiment, key string) bool {
	last := p.extended(key)
	return last >= 0 && slices.ContainsFunc(p.stages[:last+1], func(stage *config.Experiment) bool {
		return config.Same(stage, file, key)
	})
}

// changes are what differs between the recorded file and today's (B-083).
type changes struct {
	taken   []string // as KEY=VALUE
	ignored []string // as warnings
	program string   // the warning of another program; "" of the same
	// extends: among those taken is what only an extension takes.
	extends bool
}

func changesOf(p past, file *config.Experiment, extend bool) (c changes, err error) {
	diff := config.Diff(p.now(), file)
	c.program = reprogrammed(diff)
	for _, d := range diff {
		if set := extension(d, file); extend && set != "" {
			c.extends = true
			c.take(set)
			continue
		}
		switch d.Effect {
		case config.Different:
			return c, userError("%s: %s has changed (it was %s, now it is %s), so that this is another experiment than the one in its directory: "+
				"begin it beside that one with --resume never, or give it another --name", d.Pos, d.Key, orNothing(d.Old), orNothing(d.New))
		case config.Ignored:
			c.ignore(p.ignored(file, d))
		case config.Taken:
			c.take(d.Key + "=" + orNull(d.New))
		}
	}
	return c, nil
}

func (c *changes) take(set string) {
	if !slices.Contains(c.taken, set) {
		c.taken = append(c.taken, set)
	}
}

func (c *changes) ignore(text string) {
	if !slices.Contains(c.ignored, text) {
		c.ignored = append(c.ignored, text)
	}
}

// ignored is the warning of a change that is not taken.
func (p past) ignored(file *config.Experiment, d config.Change) string {
	if d.Pos.InFile() && p.outdated(file, extensionKey(d.Key)) {
		return p.behind(file, d)
	}
	since := "began with"
	if i := p.extended(d.Key); i >= 0 {
		since = "was extended to on " + minute(p.times[i])
	}
	return fmt.Sprintf("%s: the change of %s is ignored: an experiment goes on with what it %s (%s)%s",
		d.Pos, d.Key, since, orNothing(d.Old), orExtend(d, p.now(), file))
}

// behind is the warning of a file that does not know of an extension, as of one that was
// made with --set.
func (p past) behind(file *config.Experiment, d config.Change) string {
	key, value, here := extensionKey(d.Key), d.Old, d.New
	if key != d.Key {
		value, here = p.now().Key(key), file.Key(key)
	}
	return fmt.Sprintf("%s: %s was extended on %s to %s, and the experiment goes on with that; here it still is %s: write %s: %s into the file",
		file.PosOf(key), key, minute(p.times[p.extended(key)]), value, orNothing(here), strings.TrimPrefix(key, "space."), value)
}

func minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// extensionKey is the part of the file that an extension takes as a whole.
func extensionKey(path string) string {
	if key, _, _ := strings.Cut(path, "."); key == "searcher" || key == "scheduler" {
		return key
	}
	return path
}

// orExtend is how a change that is ignored could be taken.
func orExtend(d config.Change, old, now *config.Experiment) string {
	key, _, _ := strings.Cut(d.Key, ".")
	switch why := otherAxes(old, now); {
	case key == "space" && why != "":
		return "; --extend does not take it: " + why
	case extension(d, now) == "":
		return ""
	case key == "space":
		return "; --extend takes it where every trial so far could have run in it"
	case key == "scheduler":
		return "; --extend takes it when no trial is left to the old one"
	}
	return "; --extend takes it"
}
