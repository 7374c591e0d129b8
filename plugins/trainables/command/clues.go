package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tunehost/tunehost/internal/lazily"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// clues are observations about a program that has reported no result; the best one becomes a hint
// for the user.
type clues struct {
	objectives []string
	inText     []*regexp.Regexp // match each objective before a number; nil: impossible
	patterns   bool             // lines are matched by expressions of the file

	lines atomic.Int64 // of stdout that are not results
	near  atomic.Int64 // of these, probably intended as results

	mu   sync.Mutex
	best string
	rank rank
	told bool // enough clues were reported
}

func newClues(objectives []string, patterns bool) *clues {
	c := &clues{objectives: objectives, patterns: patterns}
	for _, o := range objectives {
		re, _ := regexp.Compile(`(?i)(` + regexp.QuoteMeta(o) + `)(["']?\s*(?:[:=]|is|->|,)?\s*)` + numberPattern)
		c.inText = append(c.inText, re)
	}
	return c
}

// rank is the certainty of a clue.
type rank int

const (
	guess  rank = iota + 1 // some text with a number
	likely                 // the objective's name in a text
	broken                 // a line that is almost JSON
	sure                   // a line intended as a result that is not one
	wrongs                 // the objective with a value that is not a number
)

// enoughClues is the number of lines probably intended as results that cannot be a coincidence.
const enoughClues = 3

// enough reports this once, because the conclusion is expensive and later lines would repeat it.
func (c *clues) enough() bool {
	if c.near.Load() < enoughClues {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told {
		return false
	}
	c.told = true
	return true
}

// count counts a clue of this rank, and reports whether it is better than the best one so far: only
// then its text is made, because a program may print millions of lines.
func (c *clues) count(r rank) (better bool) {
	if r >= broken {
		c.near.Add(1)
	}
	return c.lacking(r)
}

// lacking reports whether a clue of this rank would be better than the best one so far.
func (c *clues) lacking(r rank) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return r > c.rank
}

func (c *clues) set(r rank, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r > c.rank {
		c.best, c.rank = fmt.Sprintf(format, args...), r
	}
}

// add counts a clue about a line, which ends its text.
func (c *clues) add(r rank, text string, line []byte) {
	if c.count(r) {
		c.set(r, "%s: %s", text, snippet(line))
	}
}

// stdout examines a line that is not a result; p is the parsed part.
func (c *clues) stdout(line []byte, p *printed, err error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	c.lines.Add(1)
	switch {
	case c.patterns:
		c.add(guess, "no line matched the expression of metrics for "+c.objective()+"; it printed", line)
	case err != nil:
		c.unreadable(line, err)
	case p != nil && p.wrong.name != "":
		if c.count(wrongs) {
			c.set(wrongs, "%s", p.noNumber())
		}
	case p != nil && len(p.Metrics) > 0:
		if c.count(sure) {
			c.set(sure, "%s", c.lacks("printed", p.Metrics))
		}
	case p == nil:
		c.text(line, "stdout")
	}
}

// unreadable handles a line that is almost JSON.
func (c *clues) unreadable(line []byte, err error) {
	if r := c.rankOf(line); c.count(r) {
		c.set(r, "%s: %s", almostJSON(line, err), snippet(line))
	}
}

func almostJSON(line []byte, err error) string {
	return "a line of stdout looked like JSON, but " + whyNotJSON(line, err)
}

// missed returns why a line is no result that begins like one with an objective; "": it is another line.
func (c *clues) missed(line []byte, p *printed, err error) string {
	line = bytes.TrimSpace(line)
	switch {
	case p != nil && p.wrong.name != "":
		return p.noNumber()
	case c.patterns || p != nil || !c.objectiveIsKey(line):
		return ""
	case err != nil:
		return almostJSON(line, err)
	case line[0] == '{' && bytes.IndexByte(line, '}') < 0:
		return "a line of stdout begins an object and does not end it, and a result must be on one line"
	case line[0] == '{' || line[0] == '[':
		return notAlone(line, bytes.IndexByte(line, '{'))
	}
	return ""
}

// objectiveIsKey reports whether a line has an objective where JSON, or what is almost JSON, has a key.
func (c *clues) objectiveIsKey(line []byte) bool {
	for _, o := range c.objectives {
		before, after, found := bytes.Cut(line, []byte(o))
		for ; found; before, after, found = bytes.Cut(after, []byte(o)) {
			if isKey(before, after) {
				return true
			}
		}
	}
	return false
}

// isKey reports whether a word is a key by what is before and after it, with any quotes.
func isKey(before, after []byte) bool {
	const around = " \t\"'"
	before, after = bytes.TrimRight(before, around), bytes.TrimLeft(after, around)
	first := bytes.HasSuffix(before, []byte("{")) || bytes.HasSuffix(before, []byte(","))
	return first && bytes.HasPrefix(after, []byte(":"))
}

// rankOf ranks a line that is almost JSON by whether it has the objective.
func (c *clues) rankOf(line []byte) rank {
	for _, o := range c.objectives {
		if bytes.Contains(line, []byte(o)) {
			return wrongs
		}
	}
	return broken
}

// rankOfCut ranks the beginning of an object, whose end may have the objective.
func (c *clues) rankOfCut(line []byte) rank { return max(sure, c.rankOf(line)) }

func (c *clues) objective() string { return strings.Join(c.objectives, " or ") }

// kindOf describes a value for messages.
func kindOf(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("the text %.40q", v)
	case bool:
		return fmt.Sprint(v)
	case nil:
		return "null"
	}
	return "a list"
}

// lacks describes an object with numbers but without the objective.
func (c *clues) lacks(how string, metrics []sdk.Metric) string {
	text := fmt.Sprintf("it %s %s, and no %s", how, names(metrics), c.objective())
	var list []string
	for _, m := range metrics {
		list = append(list, m.Name)
	}
	if near := alike(c.objectives, list); near != "" {
		return fmt.Sprintf("%s; did you mean objective.metric: %s?", text, near)
	}
	return text
}

// alike returns the name most similar to one of the objectives, or the only one.
func alike(objectives, names []string) string {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("_-./ @", r) {
				return -1
			}
			return r
		}, strings.ToLower(s))
	}
	for _, o := range objectives {
		for _, n := range names {
			a, b := plain(o), plain(n)
			if a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a)) {
				return n
			}
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

const numberPattern = `([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)`

var anyNumber = lazily.Regexp(`([A-Za-z_][\w./@-]*)["']?\s*[:=]\s*` + numberPattern)

// text looks for JSON, or numbers with names, in a line that is not a JSON object.
func (c *clues) text(line []byte, where string) {
	if i := bytes.IndexByte(line, '{'); i >= 0 {
		c.embedded(line, i)
	}
	line = line[:min(len(line), maxLine)]
	if !bytes.ContainsAny(line, "0123456789") {
		return
	}
	if c.lacking(likely) {
		c.objectiveInText(line, where)
	}
	if c.lacking(guess) {
		c.numberInText(line)
	}
}

// maxLine is how much of a line is examined with expressions, which are slow.
const maxLine = 4 << 10

func (c *clues) objectiveInText(line []byte, where string) {
	for i, o := range c.objectives {
		if c.inText[i] == nil || !containsFold(line, o) {
			continue
		}
		if m := c.inText[i].FindSubmatch(line); m != nil {
			name, between := string(m[1]), string(m[2])
			c.set(likely, "it printed %s as text on %s; print JSON, such as {%q: 0.93}, or write in trainable "+
				`metrics: {%s: '%s(%s)'}`, snippet(line), where, o, o, strings.ReplaceAll(regexp.QuoteMeta(name+
				between), "'", "''"), `[-+.0-9eE]+`)
			return
		}
	}
}

// containsFold reports whether line contains word in any case; it is much faster than an expression.
func containsFold(line []byte, word string) bool {
	const bit = 'a' - 'A'
	for i := range max(0, len(line)-len(word)+1) {
		if line[i]|bit == word[0]|bit && bytes.EqualFold(line[i:i+len(word)], []byte(word)) {
			return true
		}
	}
	return false
}

func (c *clues) numberInText(line []byte) {
	if !bytes.ContainsAny(line, ":=") {
		return
	}
	for _, at := range anyNumber().FindAllSubmatchIndex(line, maxNumbers) {
		name := line[at[2]:at[3]]
		if ofPlace(line, at[2], at[1]) {
			continue
		}
		c.set(guess, "it printed %s, and no %s; did you mean objective.metric: %s, with metrics: {%s: REGEX} in "+
			"trainable?",
			snippet(line), c.objective(), name, name)
		return
	}
}

// maxNumbers is how many numbers of a line are looked at.
const maxNumbers = 10

// ofPlace reports whether a name and its number are a place in a file, as in a shell's message /a/run.sh: 4: text.
// Names of metrics are no paths.
func ofPlace(line []byte, name, end int) bool {
	inPath := name > 0 && bytes.IndexByte([]byte(`/\.~-`), line[name-1]) >= 0
	return inPath || end < len(line) && line[end] == ':'
}

// embedded handles JSON with other text around it, and JSON over several lines.
func (c *clues) embedded(line []byte, at int) {
	if text := notAlone(line, at); text != "" {
		c.add(c.rankOf(line), text, line)
		return
	}
	open := at == 0 && bytes.IndexByte(line, '}') < 0 && (len(line) == 1 || bytes.IndexByte(line, '"') > 0)
	if open && c.count(sure) {
		c.set(sure, "it printed JSON over several lines, and each result must be on one line (in Python "+
			"json.dumps without indent)")
	}
}

// notAlone returns what is around an object that begins at this place of a line; "": nothing, or it is none.
func notAlone(line []byte, at int) string {
	end := bytes.LastIndexByte(line, '}')
	switch {
	case line[0] == '[' && json.Valid(line):
		return "a line of stdout is a JSON list, and must be an object alone, without [ ]"
	case end > at && json.Valid(line[at:end+1]):
		return "a line of stdout has JSON with other text around it, and must be the object alone"
	}
	return ""
}

// Common mistakes in writing JSON.
var notJSON = []struct {
	pattern func() *regexp.Regexp
	why     string
}{
	{lazily.Regexp(`\b(?:np|numpy|torch|tensor|array|tf)[\w.]*\(`),
		"%s… is not a number of JSON: convert it, in Python with float(x)"},
	{lazily.Regexp(`[{,]\s*'`), "it has single quotes, as Python prints a dict: print(json.dumps(x)) writes " +
		"double ones"},
	{lazily.Regexp(`\b(?:True|False|None)\b`), "%s is Python, not JSON: print(json.dumps(x)) writes JSON"},
	{lazily.Regexp(`[:\[,]\s*[-+]?(?:nan|inf)\b`),
		"nan and inf are not JSON: write NaN, Infinity or -Infinity, as json.dumps does"},
	{lazily.Regexp(`,\s*[}\]]`), "it has a comma before a closing brace"},
	{lazily.Regexp(`[{,]\s*[A-Za-z_]\w*\s*:`), "its names have no quotes: print(json.dumps(x)) writes them"},
	{lazily.Regexp(`[0-9],[0-9]+\s*[,}]`), "its number has a comma instead of a point"},
	{lazily.Regexp(`:\s*[-+]?\.[0-9]`), "its number begins with a point: write 0.5 instead of .5"},
}

func whyNotJSON(line []byte, err error) string {
	for _, n := range notJSON {
		if found := n.pattern().Find(line[:min(len(line), maxLine)]); found != nil {
			if strings.Contains(n.why, "%s") {
				return fmt.Sprintf(n.why, bytes.TrimRight(found, "("))
			}
			return n.why
		}
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("%v at column %d", syntax, syntax.Offset+1)
	}
	return err.Error()
}

// maxSnippet is how many characters of a line are shown.
const maxSnippet = 80

func snippet(line []byte) string {
	r := []rune(strings.ToValidUTF8(string(line[:min(len(line), 4*maxSnippet)]), "?"))
	text := string(r[:min(len(r), maxSnippet)])
	if len(text) < len(line) {
		text += "…"
	}
	return fmt.Sprintf("%q", text)
}

// continued reports whether the trial may have reported everything before this attempt, so that a
// missing result is not a mistake: it continues from a checkpoint, or was restarted and may have
// kept its own state.
func (a *attempt) continued() bool {
	return a.trial.Restore != "" || a.trial.Iteration > 0 || a.trial.Attempt > 1
}

// conclusion returns the most likely reason for the missing result.
func (c *clues) conclusion(a *attempt) string {
	if a.continued() {
		return c.certain()
	}
	if text := c.stderr(a); text != "" {
		return text
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	example := `a result is a line such as {"NAME": 0.93} on stdout`
	if len(c.objectives) > 0 {
		example = fmt.Sprintf("a result is a line such as {%q: 0.93} on stdout", c.objectives[0])
	}
	switch {
	case c.best != "":
		return c.best
	case c.lines.Load() == 0:
		return "it printed nothing to stdout; " + example
	}
	return "nothing that it printed looks like a result; " + example
}

// certain returns a clue that is valid whatever came before.
func (c *clues) certain() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rank < broken {
		return ""
	}
	return c.best
}

// maxLooked is how much of stderr is examined.
const maxLooked = 64 << 10

// stderr looks for results in stderr.
func (c *clues) stderr(a *attempt) string {
	if a.stderr.File == nil || a.stderr == a.stdout {
		return ""
	}
	text, err := io.ReadAll(io.NewSectionReader(a.stderr, a.stderr.from, maxLooked))
	if err != nil {
		return ""
	}
	r := reader{objectives: a.p.o.Objectives, patterns: a.p.patterns}
	for line := range bytes.Lines(text) {
		if p, err := r.read(line); err == nil && p != nil && p.objective {
			return "it printed its results to stderr, which is for messages; print them to stdout"
		}
		if !c.patterns {
			c.text(bytes.TrimSpace(line), "stderr")
		}
	}
	return ""
}
