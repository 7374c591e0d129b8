package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
)

// missing matches messages about a missing file; quoted and bareFile match its name.
var (
	missing  = lazily.Regexp(`(?i)no such file|cannot find|can't open|not found`)
	quoted   = lazily.Regexp("[\"'`\u2018]([^\"'`\u2019]+)[\"'`\u2019]")
	bareFile = lazily.Regexp(`(?:^|[\s:=])([\w][\w./-]*)`)
)

// hintElsewhere handles a program that looked in the trial's directory for a file that lies beside
// the experiment file.
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
