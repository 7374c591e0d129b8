package curves

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// maxLine is the longest line, in bytes.
const maxLine = 16 << 20

// Load reads a table of configurations of a space.
func Load(path string, s *space.Space) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, unreadable(path, errors.New("this is a directory"))
	}
	t, err := Read(f, s)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return t, nil
}

// unreadable says what to name instead of a file that cannot be read.
func unreadable(path string, why error) error {
	if cause, ok := errors.AsType[*fs.PathError](why); ok {
		why = cause.Err
	}
	return fmt.Errorf("%s: %w; name a file of recorded curves, in JSON lines", path, why)
}

// Read reads a table. Errors begin with the line's number.
func Read(r io.Reader, s *space.Space) (*Table, error) {
	lines, err := plain(r)
	if err != nil {
		return nil, fmt.Errorf("1: %w", err)
	}
	t := reader{space: s, rule: Rule{Neighbours: 1}}
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := t.line(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf(" %w", err)
	}
	if len(t.rows) == 0 {
		return nil, errors.New("1: the table has no configuration")
	}
	table := New(s, t.rule, t.rows)
	table.Untimed = t.untimed
	return table, nil
}

// plain decompresses the file if necessary.
func plain(r io.Reader) (*bufio.Scanner, error) {
	b := bufio.NewReader(r)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		b = bufio.NewReader(z)
	}
	const mark = "\ufeff" // a byte order mark, which some editors write
	if begin, _ := b.Peek(len(mark)); string(begin) == mark {
		_, _ = b.Discard(len(mark))
	}
	lines := bufio.NewScanner(b)
	lines.Buffer(nil, maxLine)
	return lines, nil
}

type reader struct {
	space   *space.Space
	rule    Rule
	rows    []Row
	metrics []string
	untimed int
}

// line is a line of the file.
type line struct {
	Table      *int                `json:"table"`
	Neighbours int                 `json:"neighbours"`
	Epsilon    float64             `json:"epsilon"`
	Average    string              `json:"average"`
	Weights    map[string]float64  `json:"weights"`
	Params     json.RawMessage     `json:"params"`
	Metrics    map[string][]number `json:"metrics"`
	Seconds    json.RawMessage     `json:"seconds"`
	Iterations []uint64            `json:"iterations"`
	Failed     string              `json:"failed"`
	Cut        bool                `json:"cut"`
}

// number is a number that may be "NaN", "Infinity" or "-Infinity".
type number float64

func (x *number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`, "null":
		*x = number(math.NaN())
	case `"Infinity"`:
		*x = number(math.Inf(1))
	case `"-Infinity"`:
		*x = number(math.Inf(-1))
	default:
		f, err := strconv.ParseFloat(string(b), 64)
		if err != nil {
			return json.Unmarshal(b, (*float64)(x)) // its error says what is wrong
		}
		*x = number(f)
	}
	return nil
}

// malformed says what is wrong with a line, and how one looks.
func malformed(err error) error {
	what := "it is not JSON: " + err.Error()
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what = fmt.Sprintf("%s: found a %s where it does not belong", cmp.Or(e.Field, "the line"), e.Value)
	} else if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		what = "the key " + field + " is unknown"
	}
	return fmt.Errorf(`%s; write {"params": {"lr": 0.1}, "metrics": {"loss": [0.9, 0.5]}}, and perhaps seconds, `+
		"iterations, failed or cut", what)
}

func (t *reader) line(b []byte) error {
	var l line
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return malformed(err)
	}
	if l.Table != nil {
		return t.header(&l)
	}
	row, err := t.row(&l)
	if err == nil {
		t.rows = append(t.rows, row)
	}
	return err
}

func (t *reader) header(l *line) error {
	switch {
	case *l.Table != 1:
		return fmt.Errorf("it is a table of version %d; this tunehost reads version 1", *l.Table)
	case len(t.rows) > 0:
		return errors.New("the line that says how values are found must come first")
	case l.Neighbours < 0 || l.Epsilon < 0:
		return errors.New("neighbours and epsilon must not be negative")
	case l.Average != "" && l.Average != "mean" && l.Average != "log":
		return fmt.Errorf("average is %q; it is mean or log", l.Average)
	case l.Neighbours > 1 && l.Epsilon == 0:
		return errors.New("more than one neighbour need an epsilon above 0, for example 0.001")
	}
	for name, weight := range l.Weights {
		if !slices.ContainsFunc(t.space.Params, func(p space.Param) bool { return p.Name == name }) {
			return fmt.Errorf("it has a weight for %q, which is not a parameter of the space", name)
		}
		if weight < 0 {
			return fmt.Errorf("the weight of %q is negative", name)
		}
	}
	t.rule = Rule{Neighbours: l.Neighbours, Epsilon: l.Epsilon, Log: l.Average == "log", Weights: l.Weights}
	return nil
}

func (t *reader) row(l *line) (row Row, err error) {
	if row.Point, err = t.space.Encode(l.Params); err != nil {
		return row, err
	}
	row.Failed, row.Cut = l.Failed, l.Cut
	if len(l.Seconds) == 0 {
		t.untimed++
	}
	if row.Metrics, err = t.names(l); err != nil {
		return row, err
	}
	seconds, err := l.times()
	if err != nil {
		return row, err
	}
	for k := range l.length() {
		r := Report{Iteration: uint64(k + 1), Seconds: seconds[k]}
		if len(l.Iterations) > 0 {
			r.Iteration = l.Iterations[k]
		}
		for _, name := range row.Metrics {
			r.Values = append(r.Values, float64(l.Metrics[name][k]))
		}
		row.Reports = append(row.Reports, r)
	}
	return row, nil
}

// names returns the names of the metrics, which are the same in each row.
func (t *reader) names(l *line) ([]string, error) {
	var names []string
	for name, values := range l.Metrics {
		names = append(names, name)
		if len(values) != l.length() {
			return nil, fmt.Errorf("metric %q has %d values, others have %d", name, len(values), l.length())
		}
	}
	slices.Sort(names)
	switch {
	case len(names) == 0 && l.Failed == "":
		return nil, errors.New("the configuration has no metrics")
	case t.metrics == nil:
		t.metrics = names
	case !slices.Equal(names, t.metrics) && len(names) > 0:
		return nil, fmt.Errorf("its metrics are %q, but earlier lines have %q", names, t.metrics)
	}
	return t.metrics, nil
}

// length returns how many reports there are.
func (l *line) length() (n int) {
	for _, values := range l.Metrics {
		n = max(n, len(values))
	}
	return n
}

// times returns the training time at each report; it never goes back.
func (l *line) times() ([]float64, error) {
	n := l.length()
	if len(l.Iterations) > 0 && len(l.Iterations) != n {
		return nil, fmt.Errorf("it has %d iterations for %d values", len(l.Iterations), n)
	}
	if !slices.IsSorted(l.Iterations) {
		return nil, errors.New("its iterations go back")
	}
	times := make([]float64, n)
	for k := range times {
		times[k] = float64(k + 1)
	}
	if len(l.Seconds) == 0 {
		return times, nil
	}
	var whole float64
	if json.Unmarshal(l.Seconds, &whole) == nil {
		for k := range times {
			times[k] *= whole / float64(n)
		}
		return times, checkTimes(times)
	}
	if err := json.Unmarshal(l.Seconds, &times); err != nil || len(times) != n {
		return nil, fmt.Errorf("seconds must be a number, or a list of %d", n)
	}
	return times, checkTimes(times)
}

func checkTimes(times []float64) error {
	if len(times) > 0 && times[0] < 0 || !slices.IsSorted(times) {
		return errors.New("its seconds are negative or go back")
	}
	return nil
}
