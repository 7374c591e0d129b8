package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
)

// missing matches messages about a missing file; quoted and bareFile match its name.
var (
	missing  = lazily.Regexp(`(?i)no such file|cannot find|can't open|not found`)
	quoted   = lazily.Regexp("[\"'`\u2018]([^\"'`\u2019]+)[\"'`\u2019]")
	bareFile = lazily.Regexp(`(?:^|[\s:=])([\w][\w./-]*)`)
)

// noFile matches a last line that says which file is missing; gone matches its name without quotes.
var (
	noFile = lazily.Regexp(`(?i)no such file or directory|\bENOENT\b|FileNotFound`)
	gone   = lazily.Regexp(`(?i)([^\s:"'` + "`" + `]+): no such file`)
)

// hintElsewhere handles a program that looked in the trial's directory for a file that lies beside
// the experiment file, or that it may have meant to find in another directory.
func (a *attempt) hintElsewhere(words []byte) {
	if a.p.o.CWD != "" || a.p.o.BaseDir == "" {
		return
	}
	for line := range bytes.Lines(words) {
		if !missing().Match(line) {
			continue
		}
		if name := a.elsewhere(string(line)); name != "" {
			a.results.hint("elsewhere", "%s lies beside the experiment file, and trials run in directories of their "+
				"own: "+
				"write cwd: . in trainable, or give its path as an argument of the command", name)
			return
		}
	}
	a.hintRelative(words)
}

// hintRelative says where the program starts, if it ended because a file with a relative path is missing.
func (a *attempt) hintRelative(words []byte) {
	last := lastOwnLine(strings.Split(lastLines(words), "\n"))
	if !noFile().MatchString(last) {
		return
	}
	if name := a.relative(last); name != "" {
		a.results.hint("relative", "it looked for %s in the directory of its trial, where it starts: to start it in "+
			"another one, write cwd in trainable (cwd: . is the folder of the experiment file), or give it the whole "+
			"path", name)
	}
}

// relative returns the relative path in a line about a missing file; "" if there is none. Some programs name a file in
// their directory by its whole path.
func (a *attempt) relative(line string) string {
	line = strings.ReplaceAll(line, "can't", "cannot") // its mark is no quote
	names := append(quoted().FindAllStringSubmatch(line, -1), gone().FindAllStringSubmatch(line, -1)...)
	for _, m := range slices.Backward(names) {
		name := m[1]
		if filepath.IsAbs(name) {
			rel, err := filepath.Rel(a.trial.Dir, name)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			name = rel
		}
		if strings.ContainsAny(name, "./") && !strings.Contains(name, "://") {
			return name
		}
	}
	return ""
}

func (a *attempt) elsewhere(line string) string {
	for _, form := range []*regexp.Regexp{quoted(), bareFile()} {
		for _, m := range form.FindAllStringSubmatch(line, -1) {
			name := strings.TrimRight(m[1], ".:,")
			if name == "" || !filepath.IsLocal(name) || name == "." {
				continue
			}
			if _, err := os.Stat(filepath.Join(a.p.o.BaseDir, name)); err == nil {
				return name
			}
		}
	}
	return ""
}
