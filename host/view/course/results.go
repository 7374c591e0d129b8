package course

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Results has the results of all trials that count. Each trial's are encoded one after the other, in about
// 13 bytes and 8 for each metric.
type Results struct {
	rows []rows // by trial
	// sets are the lists of metrics that results have had.
	sets [][]core.MetricID
	size int64
	// hosts is how many hosts there were so far.
	hosts uint32
}

// rows are the results of one trial.
type rows struct {
	text []byte
	n    uint32
	tail row
	// params are those of later results, if they differ from those that the trial was created with.
	params [][]byte
}

// row is the part of a result that the next one is encoded relative to.
type row struct {
	iteration uint64
	at, spent int64
	attempt   uint32
	set       uint32
	params    uint32
	host      uint32
}

// Result is one of a trial's results that count.
type Result struct {
	Iteration uint64
	Attempt   uint32
	// At is the running time at which it was recorded, Spent the trial's training time so far, both in nanoseconds.
	At, Spent int64
	// Host is the number of the host that recorded it, from 1.
	Host int
	// Last says that the trial ended with it.
	Last bool
	// Metrics are the names of Values; they are valid until the next call.
	Metrics []core.MetricID
	Values  []float64
	// Params are the parameters that it was measured with, if they are not those that the trial was created with.
	Params []byte
}

// Value returns the value of a metric.
func (r *Result) Value(id core.MetricID) (float64, bool) {
	for i, x := range r.Metrics {
		if x == id {
			return r.Values[i], true
		}
	}
	return 0, false
}

// Flags of an encoded result.
const (
	isLast = 1 << iota
	newAttempt
	newSet
	newParams
	newHost
)

// Count returns how many results of a trial count.
func (r *Results) Count(no core.TrialNo) int {
	if int(no) >= len(r.rows) {
		return 0
	}
	return int(r.rows[no].n)
}

func (r *Results) of(no core.TrialNo) *rows {
	for int(no) >= len(r.rows) {
		r.rows = append(r.rows, rows{})
	}
	return &r.rows[no]
}

func (r *Results) add(x *history.Step, o *core.Observation) {
	r.rewind(o.Trial, x.Machine.Since(o.Trial), o.Iteration-1)
	t := r.of(o.Trial)
	next := row{o.Iteration, x.Machine.Now(), x.Machine.TrainNS(o.Trial), o.Attempt, r.set(t.tail.set, o.Metrics),
		t.paramsNow(x.Machine, o.Trial), r.hosts}
	was := len(t.text)
	t.text = t.append(t.text, next, o)
	t.n, t.tail = t.n+1, next
	r.size += int64(len(t.text) - was)
}

// paramsNow returns the number of the present parameters.
func (t *rows) paramsNow(m *core.Machine, no core.TrialNo) uint32 {
	now, before := m.Params(no), m.FirstParams(no)
	if t.tail.params > 0 {
		before = t.params[t.tail.params-1]
	}
	if bytes.Equal(now, before) {
		return t.tail.params
	}
	t.params = append(t.params, bytes.Clone(now))
	return uint32(len(t.params))
}

// set returns the number of a list of metrics; like is a likely one.
func (r *Results) set(like uint32, metrics []core.Metric) uint32 {
	if int(like) < len(r.sets) && equal(r.sets[like], metrics) {
		return like
	}
	for i, set := range r.sets {
		if equal(set, metrics) {
			return uint32(i)
		}
	}
	ids := make([]core.MetricID, len(metrics))
	for i, x := range metrics {
		ids[i] = x.ID
	}
	r.sets = append(r.sets, ids)
	return uint32(len(r.sets) - 1)
}

func equal(ids []core.MetricID, metrics []core.Metric) bool {
	return slices.EqualFunc(ids, metrics, func(id core.MetricID, x core.Metric) bool { return id == x.ID })
}

// append encodes a result that follows the tail.
func (t *rows) append(b []byte, x row, o *core.Observation) []byte {
	flags := uint64(0)
	set := func(flag uint64, on bool) {
		if on {
			flags |= flag
		}
	}
	set(isLast, o.Last)
	set(newAttempt, x.attempt != t.tail.attempt)
	set(newSet, x.set != t.tail.set || t.n == 0)
	set(newParams, x.params != t.tail.params)
	set(newHost, x.host != t.tail.host)
	b = binary.AppendUvarint(b, flags)
	b = binary.AppendVarint(b, int64(x.iteration-t.tail.iteration))
	b = binary.AppendVarint(b, x.at-t.tail.at)
	b = binary.AppendVarint(b, x.spent-t.tail.spent)
	if flags&newAttempt != 0 {
		b = binary.AppendUvarint(b, uint64(x.attempt))
	}
	if flags&newSet != 0 {
		b = binary.AppendUvarint(b, uint64(x.set))
	}
	if flags&newParams != 0 {
		b = binary.AppendUvarint(b, uint64(x.params))
	}
	if flags&newHost != 0 {
		b = binary.AppendUvarint(b, uint64(x.host))
	}
	for _, m := range o.Metrics {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(m.Value))
	}
	return b
}

// rewind removes the results of a trial after an iteration, from an attempt on: they were or will be reported again
// (B-061).
func (r *Results) rewind(no core.TrialNo, since uint32, iteration uint64) {
	if int(no) >= len(r.rows) {
		return
	}
	t := &r.rows[no]
	if t.n == 0 || t.tail.attempt < since || t.tail.iteration <= iteration {
		return
	}
	at, n, tail := 0, uint32(0), row{}
	for x := range r.decode(t) {
		if x.attempt >= since && x.iteration > iteration {
			break
		}
		at, n, tail = x.end, n+1, x.row
	}
	r.size -= int64(len(t.text) - at)
	t.text, t.n, t.tail = t.text[:at], n, tail
}

// clip frees what a trial that has ended does not need.
func (r *Results) clip(no core.TrialNo) {
	if int(no) < len(r.rows) {
		r.rows[no].text = slices.Clip(slices.Clone(r.rows[no].text))
	}
}

// decoded is a result while it is read.
type decoded struct {
	row
	end    int
	last   bool
	values []byte
}

// decode reads the results of a trial.
func (r *Results) decode(t *rows) func(yield func(decoded) bool) {
	return func(yield func(decoded) bool) {
		b := reader{text: t.text}
		var x decoded
		for range t.n {
			flags := b.uint()
			x.last = flags&isLast != 0
			x.iteration += uint64(b.int())
			x.at += b.int()
			x.spent += b.int()
			if flags&newAttempt != 0 {
				x.attempt = uint32(b.uint())
			}
			if flags&newSet != 0 {
				x.set = uint32(b.uint())
			}
			if flags&newParams != 0 {
				x.params = uint32(b.uint())
			}
			if flags&newHost != 0 {
				x.host = uint32(b.uint())
			}
			n := 8 * len(r.sets[x.set])
			x.values = b.text[b.at : b.at+n]
			b.at += n
			if x.end = b.at; !yield(x) {
				return
			}
		}
	}
}

// reader reads numbers.
type reader struct {
	text []byte
	at   int
}

func (r *reader) uint() uint64 {
	x, n := binary.Uvarint(r.text[r.at:])
	r.at += n
	return x
}

func (r *reader) int() int64 {
	x, n := binary.Varint(r.text[r.at:])
	r.at += n
	return x
}

func valueAt(b []byte, i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
}

// Each iterates over the results of a trial, in order. A result is valid until the next one.
func (r *Results) Each(no core.TrialNo) func(yield func(*Result) bool) {
	return func(yield func(*Result) bool) {
		if int(no) >= len(r.rows) {
			return
		}
		t := &r.rows[no]
		var out Result
		for x := range r.decode(t) {
			out = Result{Iteration: x.iteration, Attempt: x.attempt, At: x.at, Spent: x.spent, Last: x.last,
				Host: int(x.host), Metrics: r.sets[x.set], Values: out.Values[:0]}
			for i := range out.Metrics {
				out.Values = append(out.Values, valueAt(x.values, i))
			}
			if x.params > 0 {
				out.Params = t.params[x.params-1]
			}
			if !yield(&out) {
				return
			}
		}
	}
}

// Curve appends the iterations and values of a metric of a trial.
func (r *Results) Curve(no core.TrialNo, id core.MetricID, iterations []uint64, values []float64) ([]uint64,
	[]float64) {
	if int(no) >= len(r.rows) {
		return iterations, values
	}
	set, column := ^uint32(0), -1
	for x := range r.decode(&r.rows[no]) {
		if x.set != set {
			set, column = x.set, slices.Index(r.sets[x.set], id)
		}
		if column >= 0 {
			iterations, values = append(iterations, x.iteration), append(values, valueAt(x.values, column))
		}
	}
	return iterations, values
}

func (r *Results) bytes() int64 { return r.size + int64(cap(r.rows))*96 }
