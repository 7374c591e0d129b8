package files

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/jsontext"
	"github.com/tunehost/tunehost/host/view"
)

// hostFields are the names of the host's own fields (B-016), in the order of progress.csv. The first
// four are a row's mark.
var hostFields = []string{"iteration", "attempt", "event_number", "done", "trial_id", "time_total_s",
	"time_this_iter_s",
	"timestamp", "pid", "host", "iterations_since_restore", "time_since_restore"}

// ownPrefix is the prefix of metrics whose names the host uses.
const ownPrefix = "metric/"

// valuePrefix is the prefix of other values whose name is taken.
const valuePrefix = "value/"

// fields says how the values of a result are named in files. Results with the same names share one.
type fields struct {
	metrics, totals []string // as reported
	all             []field  // metrics, then totals
	// numbers writes the numbers of a result, which each of its files gets.
	numbers jsontext.Numbers
}

// paramsField has the parameters of a result that was measured with other parameters than the trial's
// first.
const paramsField = "trial_params"

func (f *fields) has(name string) bool {
	return slices.ContainsFunc(f.all, func(x field) bool { return x.name == name })
}

type field struct {
	name   string
	json   []byte // `,"name":`
	unused bool   // a later one has the same name
}

func (f *fields) fits(r *view.Report) bool {
	return sameNames(f.metrics, r.Metrics) && sameNames(f.totals, r.Totals)
}

func sameNames(names []string, metrics []view.Metric) bool {
	if len(names) != len(metrics) {
		return false
	}
	for i := range names {
		if names[i] != metrics[i].Name {
			return false
		}
	}
	return true
}

func newFields(r *view.Report) *fields {
	f := &fields{metrics: namesOf(r.Metrics), totals: namesOf(r.Totals)}
	seen := map[string]int{}
	for i, name := range slices.Concat(f.metrics, f.totals) {
		taken := slices.Contains(hostFields, name) || i < len(f.metrics) && slices.Contains(f.totals, name)
		if taken {
			name = ownPrefix + name
		}
		if before, ok := seen[name]; ok {
			f.all[before].unused = true
		}
		seen[name] = i
		key := append(jsontext.AppendString([]byte{','}, name), ':')
		f.all = append(f.all, field{name: columnName(name), json: key})
	}
	return f
}

func namesOf(metrics []view.Metric) []string {
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = strings.Clone(m.Name)
	}
	return names
}

// value returns the value of all[i].
func (f *fields) value(r *view.Report, i int) float64 {
	if i < len(r.Metrics) {
		return r.Metrics[i].Value
	}
	return r.Totals[i-len(r.Metrics)].Value
}

// maxNamings limits the remembered namings: trainables that alternate between training and evaluation
// have two.
const maxNamings = 8

// naming finds the fields of a result, mostly those of the previous one.
type naming struct{ known []*fields }

func (n *naming) of(r *view.Report) *fields {
	for i, f := range n.known {
		if f.fits(r) {
			n.known[0], n.known[i] = n.known[i], n.known[0]
			return f
		}
	}
	f := newFields(r)
	n.known = slices.Insert(n.known, 0, f)
	n.known = n.known[:min(len(n.known), maxNamings)]
	return f
}
