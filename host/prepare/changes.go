package prepare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
)

// past is a recorded experiment as it was at each stage: it began as the first one, is the last
// one now, and was extended between any two.
type past struct {
	stages     []*config.Experiment
	extensions []runfile.Extension
	// file is the recorded file alone, without what was set beside it; nil where it is valid only with that.
	file *config.Experiment
}

func pastOf(r *runfile.File, recorded *config.Experiment) (p past, err error) {
	for _, x := range r.Extensions {
		stage, err := r.ParseBefore(recorded.Source, x)
		if err != nil {
			return p, err
		}
		p.stages, p.extensions = append(p.stages, stage), append(p.extensions, x)
	}
	p.stages = append(p.stages, recorded)
	p.file, _ = r.ParseAlone(recorded.Source)
	return p, nil
}

func (p past) now() *config.Experiment { return p.stages[len(p.stages)-1] }

// extended is the last extension that changed a key; -1: none.
func (p past) extended(key string) int {
	for i := range slices.Backward(p.extensions) {
		if !config.Same(p.stages[i], p.stages[i+1], key) {
			return i
		}
	}
	return -1
}

// outdated reports whether the file has the value of a key from before its last extension: the
// user changed nothing, and the file lacks the extension. The recorded file has such a value, too, where
// the experiment began with another one by --set.
func (p past) outdated(file *config.Experiment, key string) bool {
	last := p.extended(key)
	return last >= 0 && (p.unchanged(file, key) ||
		slices.ContainsFunc(p.stages[:last+1], func(stage *config.Experiment) bool {
			return config.Same(stage, file, key)
		}))
}

// lacks reports whether an extension takes nothing from a change: the user changed neither the file nor --set, and
// the file lacks an earlier extension, or what the experiment began with by --set. What an earlier extension had from
// the file was edited, if it differs now.
func (p past) lacks(file *config.Experiment, d config.Change, key string) bool {
	return d.Pos.InFile() && !p.wasInFile(key) && (p.outdated(file, key) || p.unchanged(file, key))
}

// wasInFile reports whether the last extension of a key was in the file.
func (p past) wasInFile(key string) bool {
	last := p.extended(key)
	return last >= 0 && slices.Contains(p.extensions[last].InFile, extensionKey(key))
}

// back is the warning of an extension that an edit of the file takes back; "": it takes none back.
func (p past) back(file *config.Experiment, d config.Change, key string) string {
	if !d.Pos.InFile() || !p.outdated(file, key) {
		return ""
	}
	return fmt.Sprintf("%s: --extend: %s was extended on %s to %s, and goes back to %s, as the file says",
		file.PosOf(key), key, minute(p.extensions[p.extended(key)].Time), orNothing(p.now().Key(key)),
		orNothing(file.Key(key)))
}

// unchanged reports whether the file has the recorded file's value of a key.
func (p past) unchanged(file *config.Experiment, key string) bool {
	return p.file != nil && config.Same(p.file, file, key)
}

// changes are the differences between the recorded file and today's (B-083).
type changes struct {
	taken   []string // as KEY=VALUE
	ignored []string // as warnings
	program []string // a warning of another program
	moved   []string // a warning of another executor, which the user did not name
	back    []string // warnings of extensions that the file takes back
	// extends: taken has changes that only an extension accepts; those of the keys inFile are in the file.
	extends bool
	inFile  []string
	here    []string // keys of taken settings that hold until the file has others
	unheard []string // keys of --set that are ignored
}

func changesSince(r *runfile.File, recorded, file *config.Experiment, extend, here bool) (changes, error) {
	p, err := pastOf(r, recorded)
	if err != nil {
		return changes{}, usererror.Wrap(err)
	}
	return changesOf(p, file, extend, here)
}

// changesOf are the changes since the last stage. here: the directory is in the file's storage, under the file's name,
// so that nothing is ignored of others than at the beginning: it was copied, moved or renamed.
func changesOf(p past, file *config.Experiment, extend, here bool) (c changes, err error) {
	diff := slices.DeleteFunc(config.Diff(p.now(), file),
		func(d config.Change) bool { return here && (d.Key == "storage" || d.Key == "name") })
	c.program, c.moved = reprogrammed(diff), p.moved(file, diff)
	for _, d := range diff {
		if extend && extension(d, file) != "" {
			c.extend(p, file, d, partly(diff, file, d))
			continue
		}
		switch d.Effect {
		case config.Different:
			return c, usererror.Errorf("%s: %s has changed (it was %s, now it is %s), so this is another "+
				"experiment than the one in its directory: "+
				"begin it beside that one with --resume never, or give it another --name", d.Pos, d.Key,
				orNothing(d.Old), orNothing(d.New))
		case config.Ignored:
			c.ignore(p.ignored(file, d))
			if !d.Pos.InFile() {
				c.unheard = append(c.unheard, d.Key)
			}
		case config.Taken:
			if d.Pos.InFile() && !p.wasInFile(d.Key) && p.outdated(file, d.Key) {
				c.ignore(p.behind(file, d, extensionKey(d.Key)))
				continue
			}
			c.take(d.Key + "=" + orNull(d.New))
			c.here = append(c.here, d.Key)
		}
	}
	return c, nil
}

// boundary is what the record has of changes as one of its extensions, nil for nothing. Settings of --set hold until
// the file has others, except those that are given with an extension. Before the first extension that is so anyway.
func (c *changes) boundary(r *runfile.File, now time.Time) *runfile.Extension {
	x := runfile.Extension{Overrides: len(r.Overrides), Time: now.UTC(), InFile: c.inFile}
	switch {
	case c.extends:
		return &x
	case len(c.here) == 0 || len(r.Extensions) == 0:
		return nil
	}
	x.Set, x.InFile = true, c.here
	return &x
}

// partly reports whether --set gives a part of what an extension replaces as a whole, such as one option of the
// searcher that the file names.
func partly(diff []config.Change, file *config.Experiment, d config.Change) bool {
	key := extensionKey(d.Key)
	return file.PosOf(key).InFile() && slices.ContainsFunc(diff, func(x config.Change) bool {
		return extensionKey(x.Key) == key && !x.Pos.InFile()
	})
}

// extend takes a change that only an extension accepts, or leaves what an earlier one has made. Of a key that was
// set in part, the rest is what it was extended to.
func (c *changes) extend(p past, file *config.Experiment, d config.Change, partly bool) {
	key, set := extensionKey(d.Key), extension(d, file)
	if partly {
		key, set = d.Key, d.Key+"="+orNull(d.New)
	}
	if p.lacks(file, d, key) {
		c.ignore(p.behind(file, d, key))
		return
	}
	if text := p.back(file, d, key); text != "" && !slices.Contains(c.back, text) {
		c.back = append(c.back, text)
	}
	if whole := extensionKey(key); d.Pos.InFile() && !slices.Contains(c.inFile, whole) {
		c.inFile = append(c.inFile, whole)
	}
	c.extends = true
	c.take(set)
}

// moved warns of an executor that was given with --set, and is not any more: the file did not change, and
// the experiment continues elsewhere.
func (p past) moved(file *config.Experiment, diff []config.Change) []string {
	was, now := p.now().Executor.Name, file.Executor.Name
	i := slices.IndexFunc(diff, func(d config.Change) bool { return strings.HasPrefix(d.Key, "executor") })
	if was == now || i < 0 || !diff[i].Pos.InFile() || !p.unchanged(file, "executor") || p.outdated(file, "executor") {
		return nil
	}
	return []string{fmt.Sprintf("%s: it ran on %s so far, and continues on %s, since --set executor=%s is not "+
		"given again: give it, or write executor: %s into the file", diff[i].Pos, place(was), place(now), was, was)}
}

// place is an executor for people.
func place(executor string) string {
	if executor == config.LocalExecutor {
		return "this machine"
	}
	return fmt.Sprintf("the executor %q", executor)
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

// ignored is the warning of a change that is ignored.
func (p past) ignored(file *config.Experiment, d config.Change) string {
	if d.Pos.InFile() && p.outdated(file, extensionKey(d.Key)) {
		return p.behind(file, d, extensionKey(d.Key))
	}
	since := "began with"
	if i := p.extended(d.Key); i >= 0 {
		since = "was extended to on " + minute(p.extensions[i].Time)
	}
	return fmt.Sprintf("%s: the change of %s is ignored: an experiment keeps what it %s (%s)%s",
		d.Pos, d.Key, since, orNothing(d.Old), orExtend(d, p.now(), file))
}

// behind is the warning of a file that lacks an extension, such as one that was made with
// --set.
func (p past) behind(file *config.Experiment, d config.Change, key string) string {
	value, here := d.Old, d.New
	if key != d.Key {
		value, here = p.now().Key(key), file.Key(key)
	}
	if p.extended(key) < 0 {
		return fmt.Sprintf("%s: --extend: the experiment began with %s=%s by --set, and keeps that value; here it is "+
			"%s: --set %s=%s --extend would change it", file.PosOf(key), key, value, orNothing(here), key,
			orNothing(here))
	}
	last, was := p.extensions[p.extended(key)], "extended"
	if last.Set || d.Effect == config.Taken {
		was = "set"
	}
	return fmt.Sprintf("%s: %s was %s on %s to %s, and the experiment keeps that value; here it is still %s: "+
		"write %s: %s into the file",
		file.PosOf(key), key, was, minute(last.Time), value, orNothing(here), inSpace(key), value)
}

// inSpace is the name of a parameter as it stands in the space; other keys keep their path.
func inSpace(key string) string {
	if strings.HasPrefix(key, "space.") {
		return key[strings.LastIndexByte(key, '.')+1:]
	}
	return key
}

func minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// extensionKey is the part of the file that an extension replaces as a whole.
func extensionKey(path string) string {
	if key, _, _ := strings.Cut(path, "."); key == "searcher" || key == "scheduler" {
		return key
	}
	return path
}

// orExtend says how an ignored change could be accepted.
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

// orNull is the value of an override for a key that was removed.
func orNull(b []byte) string {
	if b == nil {
		return "null"
	}
	return string(b)
}

func orNothing(b []byte) string {
	if b == nil {
		return "nothing"
	}
	return string(b)
}
