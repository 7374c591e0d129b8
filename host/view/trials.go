package view

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/expr"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/internal/lazily"
)

// Chosen says which trials are wanted, in which order. The zero value is all of them, by number.
type Chosen struct {
	// Where is an expression over parameters, the last metrics and [config.TrialVars].
	Where string
	// States are the states of the wanted trials; none: any.
	States []core.State
	// Sort is an objective, one of [SortKeys], a parameter or another metric, the first of them that has the name. An
	// objective sorts from the best to the worst, all else from the least to the largest; a "-" before it reverses
	// the order. Trials without a value come last. NaN is the worst value of an objective, and comes after all other
	// values elsewhere.
	Sort string
	// Offset is how many of them are skipped at the beginning, Limit how many are returned at most; 0: no
	// limit.
	Offset, Limit int
}

// Page is a choice of trials, to be read in pieces.
type Page struct {
	// Total is how many trials there are, Fitting how many are wanted without Offset and Limit.
	Total, Fitting int
	// Numbers are the trials of the page, in order.
	Numbers []core.TrialNo

	of *Experiment
}

// pieceTrials is how many trials are examined while a host waits, for about a millisecond.
const pieceTrials = 256

// pieces calls f for all trials, a piece of them at a time.
func (e *Experiment) pieces(f func(s *State, from, to core.TrialNo)) error {
	return e.eachPiece(f, func() error { return nil })
}

// Choose finds the wanted trials. It keeps only the sort key of each.
func (e *Experiment) Choose(c Chosen) (*Page, error) {
	w, err := e.wanted(&c)
	if err != nil {
		return nil, err
	}
	if c.Where == "" && c.Sort == "" && len(c.States) == 0 {
		return e.byNumber(c)
	}
	var piece []Trial
	p := &Page{of: e}
	err = e.eachPiece(func(s *State, from, to core.TrialNo) {
		piece, p.Total = piece[:0], s.Machine.Trials()
		for no := from; no < to; no++ {
			piece = append(piece, s.Brief(no))
		}
	}, func() error { return w.take(piece) })
	if err != nil {
		return nil, err
	}
	if c.Sort != "" {
		slices.SortStableFunc(w.keys, w.order.compare)
	}
	p.Fitting = len(w.keys)
	for _, k := range cut(w.keys, c.Offset, c.Limit) {
		p.Numbers = append(p.Numbers, k.no)
	}
	return p, nil
}

// byNumber is Choose for all trials, which looks at none of them.
func (e *Experiment) byNumber(c Chosen) (*Page, error) {
	p := &Page{of: e}
	err := e.source.Look(func(s *State) { p.Total = s.Machine.Trials() })
	from := min(max(c.Offset, 0), p.Total)
	to := p.Total
	if c.Limit > 0 {
		to = min(to, from+c.Limit)
	}
	for no := from; no < to; no++ {
		p.Numbers = append(p.Numbers, core.TrialNo(no))
	}
	p.Fitting = p.Total
	return p, err
}

// Part returns a part of a page, as Offset and Limit of [Chosen] do.
func (p *Page) Part(offset, limit int) *Page {
	return &Page{Total: p.Total, Fitting: p.Fitting, Numbers: cut(p.Numbers, offset, limit), of: p.of}
}

// eachPiece is pieces with a second function after each piece, during which no host waits.
func (e *Experiment) eachPiece(look func(s *State, from, to core.TrialNo), then func() error) error {
	for next, more := core.TrialNo(0), true; more; {
		err := e.source.Look(func(s *State) {
			n := core.TrialNo(s.Machine.Trials())
			to := min(next+pieceTrials, n)
			look(s, next, to)
			next, more = to, to < n
		})
		if err == nil {
			err = then()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func cut[T any](list []T, offset, limit int) []T {
	list = list[min(max(offset, 0), len(list)):]
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return list
}

// Each makes the trials of the page, one after the other.
func (p *Page) Each(f func(*Trial) error) error {
	for rest := p.Numbers; len(rest) > 0; {
		piece := rest[:min(pieceTrials, len(rest))]
		rest = rest[len(piece):]
		trials := make([]Trial, 0, len(piece))
		err := p.of.source.Look(func(s *State) {
			for _, no := range piece {
				trials = append(trials, s.Trial(no))
			}
		})
		for i := range trials {
			if err == nil {
				err = f(&trials[i])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Trials returns the trials of the page.
func (p *Page) Trials() (list []Trial, err error) {
	list = make([]Trial, 0, len(p.Numbers))
	return list, p.Each(func(t *Trial) error { list = append(list, *t); return nil })
}

// Trials returns the wanted trials, all at once.
func (e *Experiment) Trials(c Chosen) ([]Trial, error) {
	p, err := e.Choose(c)
	if err != nil {
		return nil, err
	}
	return p.Trials()
}

// wanted selects trials and remembers their keys.
type wanted struct {
	facts  *Facts
	states []core.State
	where  *expr.Program // nil: any
	params bool          // where has parameters
	keyOf  func(*Trial) key
	order  order
	keys   []key
}

func (e *Experiment) wanted(c *Chosen) (w *wanted, err error) {
	w = &wanted{facts: e.Facts, states: c.States, keyOf: func(*Trial) key { return key{} }}
	failed := e.source.Look(func(s *State) {
		if c.Where != "" {
			w.where, err = s.where(c.Where)
			w.params = w.where != nil && (len(w.where.Uses()) > 0 || strings.Contains(c.Where, "params"))
		}
		if err == nil && c.Sort != "" {
			err = s.sorting(w, c.Sort)
		}
	})
	return w, errors.Join(failed, err)
}

func (s *State) where(text string) (*expr.Program, error) {
	p, err := s.Config.Where(text)
	if err != nil {
		return nil, fmt.Errorf("--where: %w", cmp.Or(s.asShown(text), s.misspelt(text), err))
	}
	for _, name := range p.Metrics() {
		if err := s.checkName(text, name); err != nil {
			return nil, fmt.Errorf("--where: %w", cmp.Or(s.asShown(text), err))
		}
	}
	return p, nil
}

// inExpressions returns how expressions write the names of metrics, parameters and the host's own values, by these
// names with dots: tables have the slashes of groups, which divide in an expression.
func (s *State) inExpressions() map[string]string {
	known := map[string]string{}
	for v := range config.TrialVars {
		known[v] = v
	}
	for _, name := range s.MetricNames() {
		known[dotted(name)] = inExpression("metrics", name)
	}
	for _, name := range s.ParamNames() {
		known[dotted(name)] = inExpression("params", name)
	}
	return known
}

func dotted(name string) string { return strings.ReplaceAll(name, "/", ".") }

// inExpression returns how an expression writes a name that is one of the kind: with dots between groups, or as a text
// in brackets, if it has more than letters and digits, or is a word of the language.
func inExpression(kind, name string) string {
	for part := range strings.SplitSeq(name, "/") {
		if part != identifier().FindString(part) || strings.Contains(part, ".") || reserved[part] {
			return fmt.Sprintf("%s[%q]", kind, name)
		}
	}
	return dotted(name)
}

// reserved are the words of the language of expressions.
var reserved = map[string]bool{"as": true, "break": true, "const": true, "continue": true, "else": true, "false": true,
	"for": true, "function": true, "if": true, "import": true, "in": true, "let": true, "loop": true, "package": true,
	"namespace": true, "null": true, "return": true, "true": true, "var": true, "void": true, "while": true}

// asShown returns the mistake of a name that is written as tables show it: "model/lr" divides model by lr, and "a b" is
// no name.
func (s *State) asShown(text string) error {
	bare := literal().ReplaceAllString(text, "")
	type named struct{ kind, name string }
	var all []named
	for _, name := range s.ParamNames() {
		all = append(all, named{"params", name})
	}
	for _, name := range s.MetricNames() {
		all = append(all, named{"metrics", name})
	}
	slices.SortStableFunc(all, func(a, b named) int { return len(b.name) - len(a.name) }) // "a b" has "a"
	for _, n := range all {
		form := inExpression(n.kind, n.name)
		for _, word := range []string{n.name, n.kind + "." + dotted(n.name)} {
			if form != word && dotted(word) != n.kind+"."+form && stands(bare, word) {
				return placed(text, word, fmt.Sprintf("%q is written %s in an expression", word, form))
			}
		}
	}
	return nil
}

// stands reports whether a text has a name where a value may be: "in" is none in `x in [1, 2]`.
func stands(text, name string) bool {
	at := wordAt(text, name)
	if at < 0 || !reserved[name] {
		return at >= 0
	}
	before := strings.TrimRight(text[:at], " \t\n")
	return before == "" || strings.ContainsAny(before[len(before)-1:], "(&|!=<>+-*/%,?:")
}

// wordAt returns where a text has a name that is no part of a longer one; -1: nowhere.
func wordAt(text, name string) int {
	part := func(s string) bool { return s != "" && (s[0] == '/' || identifier().MatchString(s[:1]) || s[0] == '.') }
	for at := 0; ; at++ {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return -1
		}
		at += i
		if !part(text[max(at-1, 0):at]) && !part(text[at+len(name):]) {
			return at
		}
	}
}

// placed is a mistake of a name in an expression, with its place there.
func placed(text, name, msg string) error {
	at := wordAt(text, dotted(name))
	if at < 0 {
		at = wordAt(text, name) // in quotes
	}
	if at < 0 {
		return errors.New(msg)
	}
	return &expr.Error{Column: utf8.RuneCountInString(text[:at]) + 1, Msg: msg}
}

// literal is a text in an expression, identifier a name.
var (
	literal    = lazily.Regexp(`'(\\.|[^'\\])*'|"(\\.|[^"\\])*"`)
	identifier = lazily.Regexp(`[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*`)
)

// misspelt returns the mistake of the first name in a wrong expression that is nearly a known one: an unknown name is
// taken as a metric, a number, and what is wrong with that says nothing of the name.
func (s *State) misspelt(text string) error {
	names := slices.Collect(maps.Keys(s.inExpressions()))
	for _, name := range identifier().FindAllString(literal().ReplaceAllString(text, ""), -1) {
		err := s.checkName(text, name)
		if err != nil && !slices.Contains(names, name) && nearest.Of(name, names) != "" {
			return err
		}
	}
	return s.unknownCondition(text, names)
}

// logic are the operators between which a name stands that is meant to be true or false.
var logic = lazily.Regexp(`&&|\|\|`)

// unknownCondition returns the mistake of the first unknown name that is a condition by itself.
func (s *State) unknownCondition(text string, names []string) error {
	for _, part := range logic().Split(literal().ReplaceAllString(text, "''"), -1) {
		name := strings.Trim(part, "!() \t\n")
		alone := name != "" && name == identifier().FindString(name)
		if alone && name != "true" && name != "false" && !slices.Contains(names, name) {
			if err := s.checkName(text, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *wanted) take(list []Trial) error {
	for i := range list {
		t := &list[i]
		fits, err := w.fits(t)
		if err != nil {
			return err
		}
		if fits {
			k := w.keyOf(t)
			k.no = t.Number
			w.keys = append(w.keys, k)
		}
	}
	return nil
}

func (w *wanted) fits(t *Trial) (bool, error) {
	if len(w.states) > 0 && !slices.Contains(w.states, t.State) {
		return false, nil
	}
	if w.where == nil {
		return true, nil
	}
	ok, err := w.where.Bool(w.facts.values(t, w.params))
	if err != nil && !errors.Is(err, expr.ErrUnknownValue) {
		return false, fmt.Errorf("--where: %w", err)
	}
	return ok, nil
}

// checkName is checkMetric for a name of an expression, with all names that it may have meant.
func (s *State) checkName(text, name string) error {
	if s.checkMetric(name) == nil {
		return nil
	}
	known, hint := s.inExpressions(), ""
	if near := nearest.Of(name, slices.Collect(maps.Keys(known))); known[near] == near && near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	} else if near != "" {
		hint = "; did you mean " + known[near] + "?"
	}
	return placed(text, name, expr.Quote(dotted(name))+" is neither a parameter nor a metric that was reported"+hint)
}

// values are those of a trial for an expression; its parameters are read only where they are needed.
func (f *Facts) values(t *Trial, params bool) expr.Values {
	var known map[string]any
	if params {
		known = f.Config.Values(t.Params)
	}
	metrics := make(map[string]float64, len(t.Metrics))
	for _, m := range t.Metrics {
		metrics[m.Name] = m.Value
	}
	return expr.Values{Params: known, Metrics: metrics, Vars: map[string]any{
		"trial": t.ID, "number": int64(t.Number), "state": t.State.String(), "iteration": int64(t.Iteration),
		"results": int64(t.Results), "failures": int64(t.Failures), "error": t.Error, "reason": t.Reason,
		"cause": t.Cause.Kind.String()}}
}

// SortKeys are the sort keys beside metrics and parameters. Those of [runKey] stand back behind a metric or a parameter
// of the same name, which could be sorted by before they were there.
var SortKeys = []string{"number", "state", "iteration", "results", "failures", "started", "ended", "time", "attempts",
	"node", "cause"}

// key is a trial's value to sort by; ok is false if it has none.
type key struct {
	no     core.TrialNo
	number float64
	text   string
	ok     bool
}

// order is the order of keys.
type order struct {
	mode      stat.Mode
	reverse   bool
	objective bool
}

func (o order) compare(x, y key) int {
	if x.ok != y.ok || !x.ok {
		return -compareBool(x.ok, y.ok)
	}
	c := cmp.Or(stat.Compare(x.number, y.number, o.mode), strings.Compare(x.text, y.text))
	switch {
	case o.reverse && o.objective: // NaN is the worst
		return -c
	case o.reverse:
		return cmp.Or(stat.Compare(x.number, y.number, other(o.mode)), strings.Compare(y.text, x.text))
	}
	return c
}

func other(m stat.Mode) stat.Mode {
	if m == stat.Min {
		return stat.Max
	}
	return stat.Min
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// sorting gives trials their sort keys.
func (s *State) sorting(w *wanted, by string) error {
	by, reverse := strings.CutPrefix(by, "-")
	w.order = order{mode: s.modeOf(by), reverse: reverse, objective: s.isObjective(by)}
	w.keyOf = func(t *Trial) key {
		v, ok := t.Metric(by)
		return key{number: v, ok: ok}
	}
	if w.order.objective { // also where a parameter or another key has its name
		return nil
	}
	return s.sortingOther(w, by)
}

// sortingOther gives trials their sort keys where those are not of an objective.
func (s *State) sortingOther(w *wanted, by string) error {
	asMetric := w.keyOf
	if w.keyOf = fixedKey(by); w.keyOf != nil {
		return nil
	}
	if slices.Contains(s.ParamNames(), by) {
		w.keyOf = func(t *Trial) key { return paramKey(w.facts.Config.Values(t.Params)[by]) }
		return nil
	}
	if w.keyOf = runKey(by); w.keyOf != nil && s.Machine.Metric(by) == 0 {
		return nil
	}
	w.keyOf = asMetric
	if err := s.checkMetric(by); err != nil {
		known := slices.Concat(s.MetricNames(), s.ParamNames(), SortKeys)
		return fmt.Errorf("--sort: %s is neither a metric that was reported nor a parameter%s", expr.Quote(by),
			nearest.Hint(by,
				known))
	}
	return nil
}

// modeOf returns an objective's mode. For another metric it is unknown which values are good: the
// least comes first.
func (f *Facts) modeOf(metric string) stat.Mode {
	for _, o := range f.Objectives() {
		if o.Metric == metric {
			return o.Mode
		}
	}
	return stat.Min
}

func fixedKey(by string) func(*Trial) key {
	switch by {
	case "number":
		return func(t *Trial) key { return key{number: float64(t.Number), ok: true} }
	case "state":
		return func(t *Trial) key { return key{number: float64(t.State), ok: true} }
	case "iteration":
		return func(t *Trial) key { return key{number: float64(t.Iteration), ok: true} }
	case "results":
		return func(t *Trial) key { return key{number: float64(t.Results), ok: true} }
	case "failures":
		return func(t *Trial) key { return key{number: float64(t.Failures), ok: true} }
	case "started":
		return func(t *Trial) key { return key{number: float64(t.Started.UnixNano()), ok: !t.Started.IsZero()} }
	case "ended":
		return func(t *Trial) key { return key{number: float64(t.Ended.UnixNano()), ok: !t.Ended.IsZero()} }
	case "time":
		return func(t *Trial) key { return key{number: t.Seconds, ok: true} }
	}
	return nil
}

// runKey returns the keys of how a trial ran.
func runKey(by string) func(*Trial) key {
	switch by {
	case "attempts":
		return func(t *Trial) key { return key{number: float64(t.Attempt), ok: true} }
	case "node":
		return func(t *Trial) key { return key{text: t.Node, ok: t.Node != ""} }
	case "cause":
		return func(t *Trial) key { return key{text: t.Cause.Kind.String(), ok: t.Cause.Kind != core.CauseNone} }
	}
	return nil
}

func paramKey(v any) key {
	switch v := v.(type) {
	case nil:
		return key{}
	case int64:
		return key{number: float64(v), ok: true}
	case float64:
		return key{number: v, ok: true}
	}
	return key{text: fmt.Sprint(v), ok: true}
}
