package terminal

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// End is what the summary of an experiment shows when it has ended or was left.
type End struct {
	Status view.Status
	// Failed are trials in ERROR, the first ones if there are many.
	Failed []view.Subject
	// Dir is the experiment's directory as the user would type it.
	Dir string
	// File is the experiment file as the user typed it; "" if the experiment was resumed without one.
	File string
	// Args are the flags that File needs to be the same experiment.
	Args  []string
	Color bool
	// Width is that of the terminal; 0: not known.
	Width int
	// Below: a table is directly above.
	Below bool
	// URL is the experiment's URL, if its storage is elsewhere: commands accept it on every machine.
	URL string
	// Front are the trials of the Pareto front, if there are several objectives; nil: not known.
	Front []view.Trial
	// Objectives are the names of all objectives; with several, there may still be no Front.
	Objectives []string
	// Choices write the choices of parameters.
	Choices naming.Tellers
	// Notes are hints about the file, a line each.
	Notes []string
	// Unmet: each failed trial requests more than there is.
	Unmet bool
	// OwnPlugins: a plugin that does not come with tunehost is used, so that the user may have to repair
	// it.
	OwnPlugins bool
}

const (
	maxFailures     = 10
	maxFailureLines = 6
	labelWidth      = 8
	maxFront        = 10
	wideCommand     = 56 // longer ones do not move the others' texts away
)

// Summary writes the best trial, what failed, and what to do next (B-078, B-123). It does not say why the experiment
// itself has failed: the caller prints that as an error.
func Summary(w io.Writer, e End) error {
	s := &summary{End: e, paint: style(e.Color)}
	if e.Below {
		s.text.WriteString("\n")
	}
	s.title()
	if len(e.Front) > 0 {
		s.front()
	} else {
		s.bestTrial()
	}
	s.failures()
	s.notes()
	s.commands()
	_, err := io.WriteString(w, s.text.String())
	return err
}

type summary struct {
	End
	paint style
	text  strings.Builder
}

// item writes a line under a label, which only the first line shows.
func (s *summary) item(label, text string) {
	label = s.paint.paint(faint, label) + strings.Repeat(" ", labelWidth-len(label))
	s.text.WriteString(strings.TrimRight(label+text, " ") + "\n")
}

func (s *summary) title() {
	st := withoutFailure(s.Status)
	text := join(s.paint.paint(bold, clean(st.Name)), stateText(st, s.paint,
		math.MaxInt)+" after "+duration(st.Elapsed), counts(st, s.paint))
	s.text.WriteString(text + "\n\n")
}

func (s *summary) notes() {
	if len(s.Notes) == 0 {
		return
	}
	s.text.WriteString("\n")
	label := "note"
	for _, text := range s.Notes {
		s.item(label, clean(text))
		label = ""
	}
}

func (s *summary) bestTrial() {
	best := s.Status.Best
	if len(s.Objectives) > 1 && !s.noFront() {
		s.item("best", "`tunehost best "+untrusted.Word(cmp.Or(s.URL, s.Dir))+"` lists the trials that no other beats")
		return
	}
	if best == nil || len(s.Objectives) > 1 {
		s.item("best", clean(s.noBest()))
		return
	}
	s.item("best", fmt.Sprintf("%s by %s (%s)",
		s.paint.paint(bold, clean(s.Status.Objective.Metric)+" "+number(best.Value,
			6)), bestName(best), clean(best.Trial.ID))+failedNote(best))
	params := readParams(best.Trial.Params, s.Choices)
	name := 0
	for _, p := range params {
		name = max(name, width(p.name))
	}
	for _, p := range params {
		s.item("", pad(p.name, name, false)+"  "+p.text)
	}
	s.item("files", s.shown(best.Trial.Dir))
}

// noFront reports that no trial has all objectives. A summary in a hurry does not know the front: then a trial that has
// the first one may have the others, too.
func (s *summary) noFront() bool {
	unknown := s.Front == nil && s.Status.Best != nil
	return len(s.Front) == 0 && s.Status.Front == 0 && !unknown
}

func (s *summary) noBest() string {
	switch {
	case len(s.Objectives) > 1:
		return "no trial has finite values of " + s.allObjectives()
	case s.Status.NoBest != "":
		return s.Status.NoBest
	}
	return "no trial has reported " + s.Status.Objective.Metric
}

// allObjectives are the names of several objectives, in a sentence.
func (s *summary) allObjectives() string {
	last := len(s.Objectives) - 1
	return strings.Join(s.Objectives[:last], ", ") + " and " + s.Objectives[last]
}

// failedNote says that the best trial failed after it had reported its value.
func failedNote(best *view.Ranked) string {
	if best.Runs > 1 || best.Trial.State != core.Errored {
		return ""
	}
	return ", which has failed later"
}

// front lists the Pareto front.
func (s *summary) front() {
	count := s.paint.paint(bold, plural(len(s.Front), "trial"))
	s.item("best", count+" that no other beats in "+clean(s.allObjectives()))
	for _, t := range s.Front[:min(len(s.Front), maxFront)] {
		var values []string
		for _, name := range s.Objectives {
			v, _ := t.Metric(name)
			values = append(values, clean(name)+" "+number(v, 6))
		}
		s.item("", join(trialName(t.Number)+"  "+strings.Join(values, "  "), s.paint.paint(faint,
			paramText(readParams(t.Params, s.Choices)))))
	}
	if more := len(s.Front) - maxFront; more > 0 {
		s.item("", fmt.Sprintf("… %d more", more))
	}
}

// shown returns a path below the experiment's directory as the user would type it.
func (s *summary) shown(path string) string {
	if rel, err := filepath.Rel(s.Status.Dir, path); err == nil && filepath.IsLocal(rel) {
		path = filepath.Join(s.Dir, rel)
	}
	return clean(path)
}

// failures lists failed trials, those with the same message together.
func (s *summary) failures() {
	total := max(s.Status.Counts[core.Errored], len(s.Failed))
	if total == 0 {
		return
	}
	s.text.WriteString("\n")
	label := "failed"
	groups := sameMessage(s.Failed)
	told := 0
	for _, g := range groups[:min(len(groups), maxFailures)] {
		told += len(g.trials)
		s.item(label, s.paint.paint(red, g.names()))
		for _, line := range messageLines(g.message) {
			s.item("", "  "+line)
		}
		if t := g.trials[0]; t.Attempt > 0 { // otherwise it has no folder
			s.item("", "  "+s.paint.paint(faint, "all of it: "+s.shown(filepath.Join(t.Dir, "error.txt"))))
		}
		label = ""
	}
	switch more := total - told; {
	case told == 0:
		s.item(label, plural(total, "trial"))
	case more > 0:
		s.item(label, fmt.Sprintf("… %d more", more))
	}
}

// group is trials that failed with the same message, except for the paths of their own files.
type group struct {
	message string
	trials  []view.Subject
}

func sameMessage(trials []view.Subject) []*group {
	var list []*group
	by := map[string]*group{}
	for _, t := range trials {
		said := t.Error
		if t.Dir != "" {
			said = strings.ReplaceAll(said, t.Dir, "")
		}
		g := by[said]
		if g == nil {
			g = &group{message: t.Error}
			by[said] = g
			list = append(list, g)
		}
		g.trials = append(g.trials, t)
	}
	return list
}

func (g *group) names() string {
	const few = 3
	var names []string
	for _, t := range g.trials[:min(len(g.trials), few)] {
		names = append(names, trialName(t.Number))
	}
	text := strings.Join(names, ", ")
	if more := len(g.trials) - few; more > 0 {
		text += fmt.Sprintf(" and %d more with the same message", more)
	}
	return text
}

// messageLines keeps the first line, which says what happened, and the last ones, where a program says
// why.
func messageLines(message string) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(message)) {
		lines = append(lines, strings.TrimRight(clean(strings.TrimRight(line, "\r\n")), " "))
	}
	if len(lines) > maxFailureLines {
		tail := lines[len(lines)-maxFailureLines+2:]
		lines = append([]string{lines[0], "…"}, tail...)
	}
	return lines
}

// commands says what to do next.
func (s *summary) commands() {
	dir := untrusted.Word(cmp.Or(s.URL, s.Dir))
	list := [][2]string{{"tunehost trials " + dir, "all trials"}}
	switch {
	case len(s.Objectives) > 1 && s.noFront():
	case len(s.Objectives) > 1:
		list = append(list, [2]string{"tunehost best " + dir, "the best trials with their parameters"})
	case s.Status.Best != nil:
		list = append(list, [2]string{"tunehost best " + dir, "the best trial again"})
	}
	list = append(list, s.goingOn(dir)...)
	s.text.WriteString("\n")
	wide := 0
	for _, c := range list {
		if w := width(c[0]); w <= wideCommand && s.fits(w, c[1]) {
			wide = max(wide, w)
		}
	}
	label := "next"
	for _, c := range list {
		what := s.paint.paint(faint, c[1])
		if s.fits(max(wide, width(c[0])), c[1]) {
			s.item(label, pad(c[0], wide, false)+"  "+what)
		} else {
			s.item(label, c[0])
			s.item("", "  "+what)
		}
		label = ""
	}
}

// fits reports whether a text has room on the line of a command so wide.
func (s *summary) fits(command int, text string) bool {
	return s.Width <= 0 || labelWidth+command+2+width(text) <= s.Width
}

// again returns the command that resumes the experiment, with those flags whose value is wanted.
func (s *summary) again(wanted func(value string) bool) string {
	text := "tunehost run " + untrusted.Word(s.File)
	for i := 0; i+1 < len(s.Args); i += 2 {
		if wanted(s.Args[i+1]) {
			text += " " + untrusted.Word(s.Args[i]) + " " + untrusted.Word(s.Args[i+1])
		}
	}
	return text
}

// goingOn returns the commands that run more of the experiment, each with what it does.
func (s *summary) goingOn(dir string) (list [][2]string) {
	st := s.Status
	add := func(command, what string) { list = append(list, [2]string{command, what}) }
	again, more := "tunehost resume "+dir, ""
	if s.File != "" {
		again = s.again(func(string) bool { return true })
	}
	failedAgain, moreFailed := again, "" // failed trials that run again are no longer failed
	usedUp := st.UsedUp()
	for _, l := range usedUp {
		if s.File == "" && s.needs(l) {
			add("tunehost set "+dir+" "+l.Set(), "first, for the "+l.Name+" is used up")
		}
	}
	if s.File != "" {
		again, more = s.raised(usedUp)
		failedAgain, moreFailed = s.raised(slices.DeleteFunc(usedUp, func(l view.Limit) bool { return l.Failed }))
	}
	if st.Cause.Is(core.CauseSchedulerStuck) {
		again += " --unpause"
		add(again, "continue the paused trials"+more)
	} else if what := s.left(); what != "" {
		add(again, what+s.ifMet()+more)
	}
	if n := st.NeverStarted; n > 0 {
		what := "run the " + plural(n, "trial") + " that never started" + more
		if len(list) > 0 {
			what = "the same, and " + what
		}
		add(again+" --unstarted", what)
	}
	if st.Paused {
		add("tunehost unpause "+dir, "then, because it is paused")
	}
	if s.File != "" && st.State == "finished" && st.Planned > 0 && st.Best != nil && len(st.UsedUp()) == 0 &&
		st.HeldBudget() == "" {
		add(s.furtherTrials())
	}
	if st.Counts[core.Errored] > 0 {
		add(failedAgain+" --errored", s.failedAgain()+moreFailed)
	}
	if s.noneReported() && s.File != "" {
		add(s.again(func(string) bool { return true })+" --resume never",
			"start a new experiment, if the space or the objective has to change")
	}
	if s.OwnPlugins && st.State == "failed" && !st.Unmet() {
		add(again+" --accept-plugins", "the same, once the plugin is repaired")
	}
	return list
}

// needs reports whether what can continue needs a larger budget.
func (s *summary) needs(l view.Limit) bool {
	return s.left() != "" || s.Status.NeverStarted > 0 || s.Status.Counts[core.Errored] > 0 && !l.Failed
}

// raised returns the command that resumes the experiment with larger budgets, and what it says about them.
func (s *summary) raised(limits []view.Limit) (command, more string) {
	command = s.again(func(arg string) bool {
		return !slices.ContainsFunc(limits, func(l view.Limit) bool { return strings.HasPrefix(arg, l.Key+"=") })
	})
	var gives []string
	for _, l := range limits {
		command += " --set " + l.Set()
		gives = append(gives, l.More)
	}
	if len(limits) > 0 {
		more = ", with " + strings.Join(gives, " and ")
	}
	return command, more
}

// failedAgain says what --errored does. If every trial has failed and none has reported, they fail
// again unless something is changed.
func (s *summary) failedAgain() string {
	switch {
	case s.Unmet:
		return "run the failed trials again, once there is as much as they request"
	case s.noneReported():
		return "run the failed trials again, after the cause is corrected, such as the program or its command in " +
			"the file"
	}
	return "run the failed trials again"
}

// noneReported: all trials have failed, and none has reported a value of the objective.
func (s *summary) noneReported() bool {
	st := s.Status
	total := 0
	for _, n := range st.Counts {
		total += n
	}
	failed := st.Counts[core.Errored]
	return failed > 0 && failed+st.NeverStarted == total && st.Best == nil && len(s.Objectives) <= 1
}

// left returns the rest of the experiment's plan; "" if nothing. What a stop or a budget has ended is
// not continued.
func (s *summary) left() string {
	st := s.Status
	unmade := st.Planned - st.Made
	switch {
	case st.State == "interrupted" && (st.Counts[core.Running] > 0 || st.Begun.Resumable < st.Begun.Trials):
		return "continue; what ran " + st.Restarts()
	case st.State == "interrupted" || st.State == "failed":
		return "continue where it stopped"
	case st.Exhausted:
		return ""
	case st.Planned < 0:
		return "continue with further trials" + st.OnceChanged()
	case unmade > 0:
		return "continue with the " + plural(int(unmade), "trial") + " not yet made" + st.OnceChanged()
	}
	return ""
}

// furtherTrials is the command that runs more trials than were planned, or, if the searcher has no more points,
// those that another one suggests.
func (s *summary) furtherTrials() (command, what string) {
	if s.Status.Exhausted && s.Status.Made < s.Status.Planned {
		return s.again(func(arg string) bool { return !strings.HasPrefix(arg, "searcher") }) +
			" --set searcher=NAME --extend", "run the rest with another searcher"
	}
	return s.again(func(arg string) bool { return !strings.HasPrefix(arg, "trials=") }) + " --set trials=N",
		"run more trials, N in total" + s.besides()
}

// besides says that N does not count the trials that the user has added.
func (s *summary) besides() string {
	if s.Status.Added == 0 {
		return ""
	}
	return fmt.Sprintf(" besides the %d added", s.Status.Added)
}

// ifMet says what has to be changed before an experiment continues that failed because of its request.
func (s *summary) ifMet() string {
	switch {
	case !s.Status.Unmet():
		return ""
	case s.File != "" && s.Status.Cause.Is(core.CauseLeaseRefused):
		return ", once what was refused is corrected: resources, or options of the executor"
	case s.File != "":
		return ", once it requests no more than there is"
	}
	if s.Status.Cause.Is(core.CauseLeaseRefused) {
		return ", once the executor grants what it refused"
	}
	return ", once there is as much as trials request"
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
