package batch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/internal/shelltext"
	"github.com/tunehost/tunehost/plugins/sdk/option"
)

// options are the options as they are written. Fields of texts that are empty are those of the
// system.
type options struct {
	System system
	texts
	Args      []string
	Setup     string
	Shell     string
	Time      string
	Notice    float64
	Poll      float64
	Timeout   float64
	Resources []string
	Env       []string
}

// maxSeconds keeps times within what a time.Duration holds.
const maxSeconds = 1e9

var declared = option.Declare(func(o *options) []option.Option {
	return slices.Concat(o.commands(), o.patterns(), o.limits())
})

func (o *options) commands() []option.Option {
	return []option.Option{
		option.Enum("system", &o.System, "", "The batch system whose commands and patterns are the defaults; other: "+
			"no commands, and patterns that fit many systems. Empty: guessed from the first word of submit.",
			"pbs", "lsf", "sge", "condor", "flux", other, ""),
		option.String("submit", &o.Submit, "", "The command that submits {script} and prints the job's id. All "+
			"commands are words as a shell splits them, run without a shell, with placeholders in braces; {? ... ?} "+
			"is left out if a placeholder in it has no value; an empty one is that of the system. Placeholders of "+
			"submit: name, cpu, gpu, memory (MiB), memory_per_cpu, nodes, slots (nodes x cpu), time (H:MM:SS), "+
			"minutes, seconds, script, script_name, log, args, and resources."),
		option.String("status", &o.Status, "", "The command that prints the state of the job {id}; without {id}, "+
			"those of all jobs, each in a line that begins with its id."),
		option.String("cancel", &o.Cancel, "", "The command that cancels the job {id}."),
		option.String("list", &o.List, "", "The command that prints the ids of the user's jobs called {name}, or "+
			"without {name} a line for each job with its name. It finds a job that was submitted just before a crash."),
		option.String("launch", &o.Launch, "", "The command that starts a program once on each node of a job with "+
			"several nodes, for leases with several bundles; submit must have {nodes} then. Placeholders: nodes, "+
			"cpu, gpu."),
		option.Of("args", &o.Args, nil, option.List(option.Text()), "Further arguments of submit, at {args}."),
		option.String("setup", &o.Setup, "", "Lines of shell that each job runs first, such as module load cuda."),
		option.Of("shell", &o.Shell, "/bin/sh", option.NonEmpty(), "The shell of the job's script, in its first line."),
		option.Of("resources", &o.Resources, nil, option.List(option.NonEmpty()),
			"Other resources that trials may ask for: names, which are placeholders of submit."),
		option.Of("env", &o.Env, nil, option.List(option.NonEmpty()), "Names of further environment variables that "+
			"the commands see: they see PATH, HOME, and what batch systems use, and no other variable of the host."),
	}
}

func (o *options) patterns() []option.Option {
	return []option.Option{
		option.String("id", &o.ID, "", "A pattern of the job's id in what submit prints: its first group, if it has "+
			"one. All patterns are regular expressions (RE2); an empty one is that of the system."),
		option.String("pending", &o.Pending, "", "A pattern of a waiting job in what status prints."),
		option.String("running", &o.Running, "", "A pattern of a running job in what status prints."),
		option.String("ended", &o.Ended, "", "A pattern of a job that has ended, or is unknown, in what status or "+
			"cancel prints."),
		option.String("refused", &o.Refused, "", "A pattern of a permanent refusal in what a failed submit prints; "+
			"other failures are tried again."),
		option.String("hosts", &o.Hosts, "", "A pattern of the nodes of a running job in what status prints."),
		option.String("listed", &o.Listed, "", "A pattern of the job's id in a line that list prints."),
	}
}

func (o *options) limits() []option.Option {
	seconds := option.Above(0).To(maxSeconds)
	return []option.Option{
		option.String("time", &o.Time, "", "The wall time of a job, such as 4h, 90m or 1d12h; empty: the system's."),
		option.Float("notice", &o.Notice, 60, option.From(0).To(maxSeconds),
			"Seconds before the end of the wall time at which trials are told to save, less than time."),
		option.Float("poll", &o.Poll, 5, seconds, "Seconds between two looks at the jobs."),
		option.Float("timeout", &o.Timeout, 30, seconds, "Seconds after which a command that does not end is killed."),
	}
}

// plan is the options, read.
type plan struct {
	submit, status, cancel, list, launch template
	canList                              bool
	expressions
	args, resources, env        []string
	setup, shell                string
	time, notice, poll, timeout time.Duration
}

// expressions are the patterns; refused and hosts may be nil.
type expressions struct {
	id, pending, running, ended, refused, hosts, listedAs *regexp.Regexp
}

// gangs reports whether a lease can have several bundles.
func (p *plan) gangs() bool { return p.submit.uses("nodes") && len(p.launch.parts) > 0 }

// read reads the options of an experiment.
func read(text []byte) (*plan, error) {
	o, err := declared.Read(text)
	if err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	p := &plan{args: o.Args, resources: o.Resources, env: o.Env, setup: o.Setup, shell: o.Shell,
		notice: span(o.Notice), poll: span(o.Poll), timeout: span(o.Timeout)}
	if err := errors.Join(o.checkWords(), o.readTime(p)); err != nil {
		return nil, firstOf(err)
	}
	if err := o.readTemplates(p); err != nil {
		return nil, err
	}
	return p, o.readPatterns(p)
}

// firstOf returns the first of joined errors, because a mistake is one line.
func firstOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

func span(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// complete fills in what the system determines.
func (o *options) complete() error {
	if o.System == "" && o.Submit == "" {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(systems)), func(s system) bool { return s == other })
		return fmt.Errorf("option \"system\" is missing; allowed: %s, or the options submit, status and "+
			"cancel", list(names))
	}
	named := o.System
	if named == "" {
		named = guess(o.Submit)
	}
	own := o.texts
	o.texts = own.over(systems[named])
	if own.List == "" && !strings.Contains(o.Submit, "{name}") {
		o.List = "" // the user's own submit does not name its jobs
	}
	if own.Launch == "" && !strings.Contains(o.Submit, "{nodes}") {
		o.Launch = ""
	}
	for _, c := range []struct{ name, text string }{{"submit", o.Submit}, {"status", o.Status}, {"cancel", o.Cancel}} {
		if strings.TrimSpace(c.text) == "" {
			return fmt.Errorf("option %q is missing; allowed: a command, or name the batch system with the "+
				"option system",
				c.name)
		}
	}
	return nil
}

func list(names []system) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}

// guess returns the system of a submit command.
func guess(submit string) system {
	first, _, _ := strings.Cut(strings.TrimSpace(submit), " ")
	return cmp.Or(guesses[first[strings.LastIndexByte(first, '/')+1:]], other)
}

// over returns the texts of a system, overridden by the user's.
func (o *texts) over(s texts) texts {
	return texts{
		Submit: cmp.Or(o.Submit, s.Submit), Status: cmp.Or(o.Status, s.Status), Cancel: cmp.Or(o.Cancel, s.Cancel),
		List: cmp.Or(o.List, s.List), Launch: cmp.Or(o.Launch, s.Launch), ID: cmp.Or(o.ID, s.ID),
		Pending: cmp.Or(o.Pending, s.Pending), Running: cmp.Or(o.Running, s.Running), Ended: cmp.Or(o.Ended, s.Ended),
		Refused: cmp.Or(o.Refused, s.Refused), Hosts: cmp.Or(o.Hosts, s.Hosts),
		Listed: cmp.Or(o.Listed, s.Listed, `^\s*(\d\S*)`),
	}
}

// basic are the placeholders of submit beside the user's own resources.
var basic = []string{"name", "cpu", "gpu", "memory", "memory_per_cpu", "nodes", "slots", "time", "minutes", "seconds",
	"script", "script_name", "log", "args"}

// resourceForm is a name that can be a placeholder.
var resourceForm = lazily.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkWords refuses values that would break the script, or the placeholders.
func (o *options) checkWords() error {
	for _, r := range o.Resources {
		if !resourceForm().MatchString(r) || slices.Contains(basic, r) {
			return option.Wrong("resources", o.Resources, "names of letters, digits and _ other than %s",
				strings.Join(basic, ", "))
		}
	}
	if strings.ContainsAny(o.Shell, "\r\n\x00") || !strings.HasPrefix(o.Shell, "/") {
		return option.Wrong("shell", o.Shell, "the path of a shell, such as /bin/bash")
	}
	return o.checkSetup()
}

// checkSetup finds an open quote before a job waits for nodes. Their sh may be another one than that of this machine.
func (o *options) checkSetup() error {
	if strings.ContainsRune(o.Setup, 0) {
		return option.Wrong("setup", o.Setup, "lines of shell")
	}
	if said := shelltext.Mistake(o.Setup, []string{o.Shell, "-n"}, shelltext.Bash); said != "" {
		return option.Wrong("setup", o.Setup, "lines of shell; %s says of these: %s", o.Shell, said)
	}
	return nil
}

// dayForm matches the days of a time, which package time does not read.
var dayForm = lazily.Regexp(`^(\d{1,5})d(.*)$`)

// readTime reads the wall time.
func (o *options) readTime(p *plan) error {
	if o.Time == "" {
		return nil
	}
	allowed := "a time from 1m, such as 4h, 90m or 1d12h"
	text, days := o.Time, 0
	if m := dayForm().FindStringSubmatch(text); m != nil {
		_, _ = fmt.Sscan(m[1], &days)
		text = cmp.Or(m[2], "0s")
	}
	d, err := time.ParseDuration(text)
	p.time = d + time.Duration(days)*24*time.Hour
	if err != nil || p.time < time.Second || p.time > maxSeconds*time.Second {
		return option.Wrong("time", o.Time, "%s", allowed)
	}
	if p.notice >= p.time {
		return option.Wrong("notice", o.Notice, "less than time, which is %s", o.Time)
	}
	return nil
}

// readTemplates reads the commands.
func (o *options) readTemplates(p *plan) error {
	for _, c := range []struct {
		name, text string
		into       *template
		known      []string
	}{
		{"submit", o.Submit, &p.submit, slices.Concat(basic, o.Resources)},
		{"status", o.Status, &p.status, []string{"id"}},
		{"cancel", o.Cancel, &p.cancel, []string{"id"}},
		{"list", o.List, &p.list, []string{"name"}},
		{"launch", o.Launch, &p.launch, []string{"nodes", "cpu", "gpu"}},
	} {
		t, err := parseTemplate(c.text, c.known)
		if err != nil {
			return fmt.Errorf("option %q is wrong %w", c.name, err)
		}
		*c.into = t
	}
	p.canList = strings.TrimSpace(o.List) != ""
	return o.checkTemplates(p)
}

// checkTemplates refuses commands that cannot work for any trial.
func (o *options) checkTemplates(p *plan) error {
	switch {
	case !p.submit.uses("script") && !p.submit.uses("script_name"):
		return option.Wrong("submit", o.Submit, "a command with {script}, the job's script")
	case !p.cancel.uses("id"):
		return option.Wrong("cancel", o.Cancel, "a command with {id}, the job's id")
	case len(o.Args) > 0 && !p.submit.uses("args"):
		return option.Wrong("args", o.Args, "arguments only if submit has {args}")
	case p.time > 0 && !p.submit.uses("time") && !p.submit.uses("minutes") && !p.submit.uses("seconds"):
		return option.Wrong("time", o.Time, "a time only if submit has {time}, {minutes} or {seconds}")
	}
	return nil
}

// readPatterns reads the regular expressions.
func (o *options) readPatterns(p *plan) error {
	for _, c := range []struct {
		name, text string
		into       **regexp.Regexp
	}{
		{"id", o.ID, &p.id}, {"pending", o.Pending, &p.pending}, {"running", o.Running, &p.running},
		{"ended", o.Ended, &p.ended}, {"refused", o.Refused, &p.refused}, {"hosts", o.Hosts, &p.hosts},
		{"listed", o.Listed, &p.listedAs},
	} {
		if c.text == "" {
			continue
		}
		re, err := regexp.Compile("(?m)" + c.text)
		if err != nil {
			return option.Wrong(c.name, c.text, "a regular expression (RE2); %s",
				strings.ReplaceAll(err.Error(), "\n", " "))
		}
		*c.into = re
	}
	return nil
}
