package files

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/jsontext"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// Format is a kind of file for results.
type Format uint8

// Formats.
const (
	JSONL Format = iota // result.jsonl
	CSV                 // progress.csv
)

// ParseFormat reads a name of config.Formats, which has them in the order of the constants.
func ParseFormat(name string) (Format, bool) {
	i := slices.Index(config.Formats(), name)
	return Format(max(i, 0)), i >= 0
}

// File is the name of the file.
func (f Format) File() string { return [...]string{"result.jsonl", "progress.csv"}[f] }

// maxColumns is how many metrics have a column in progress.csv, so that a trainable that always
// reports new names cannot make rows longer without end.
const maxColumns = 2000

var before = [...]*[4]string{
	JSONL: {`{"iteration":`, `,"attempt":`, `,"event_number":`, `,"done":`},
	CSV:   {"", ",", ",", ","},
}

func appendJSON(b []byte, e *view.Event, f *fields) []byte {
	r := e.Result
	b = markOf(e).append(b, before[JSONL])
	for i := range f.all {
		if !f.all[i].unused {
			b = f.numbers.AppendFloat(append(b, f.all[i].json...), f.value(r, i))
		}
	}
	b = appendValues(b, r.Values, f)
	b = jsontext.AppendString(append(b, `,"trial_id":`...), e.Trial.ID)
	b = f.numbers.AppendFloat(append(b, `,"time_total_s":`...), r.TimeTotal)
	b = f.numbers.AppendFloat(append(b, `,"time_this_iter_s":`...), r.TimeThisIter)
	b = appendTimestamp(append(b, `,"timestamp":`...), e)
	b = strconv.AppendUint(append(b, `,"pid":`...), uint64(r.PID), 10)
	b = jsontext.AppendString(append(b, `,"host":`...), r.Host)
	if e.Trial.Since > 1 && len(e.Trial.Params) > 0 && !f.has(paramsField) {
		b = append(append(b, `,"`+paramsField+`":`...), e.Trial.Params...)
	}
	if r.Restored {
		b = strconv.AppendUint(append(b, `,"iterations_since_restore":`...), r.IterationsSinceRestore, 10)
		b = f.numbers.AppendFloat(append(b, `,"time_since_restore":`...), r.TimeSinceRestore)
	}
	return append(b, "}\n"...)
}

// appendValues appends the values that are not metrics, under names that neither the host nor a metric
// has.
func appendValues(b, values []byte, f *fields) []byte {
	jsontext.Members(values, func(name string, value []byte) {
		if slices.Contains(hostFields, name) || name == paramsField ||
			slices.ContainsFunc(f.all, func(x field) bool { return x.name == name }) {
			name = valuePrefix + name
		}
		b = append(jsontext.AppendString(append(b, ','), name), ':')
		b = append(b, value...)
	})
	return b
}

// appendTimestamp appends seconds since 1970 with milliseconds.
func appendTimestamp(b []byte, e *view.Event) []byte {
	return strconv.AppendFloat(b, float64(e.Time.UnixMilli())/1000, 'f', 3, 64)
}

// appendCSV appends the host's columns, then a cell for each metric's column.
func appendCSV(b []byte, e *view.Event, f *fields, cells []cell) []byte {
	r := e.Result
	b = markOf(e).append(b, before[CSV])
	b = appendText(append(b, ','), e.Trial.ID)
	b = f.numbers.AppendNumber(append(b, ','), r.TimeTotal)
	b = f.numbers.AppendNumber(append(b, ','), r.TimeThisIter)
	b = appendTimestamp(append(b, ','), e)
	b = strconv.AppendUint(append(b, ','), uint64(r.PID), 10)
	b = appendText(append(b, ','), r.Host)
	b = append(b, ',')
	if r.Restored {
		b = strconv.AppendUint(b, r.IterationsSinceRestore, 10)
	}
	b = append(b, ',')
	if r.Restored {
		b = f.numbers.AppendNumber(b, r.TimeSinceRestore)
	}
	for _, c := range cells {
		b = append(b, ',')
		if c.set {
			b = f.numbers.AppendNumber(b, c.value)
		}
	}
	return append(b, '\n')
}

// cell is a metric's place in a row; without a value it is empty.
type cell struct {
	value float64
	set   bool
}

// appendText appends a cell of text, quoted if necessary.
func appendText(b []byte, s string) []byte {
	s = columnName(s)
	if !strings.ContainsAny(s, "\",") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

// columnName keeps a row on one line, and is no formula.
func columnName(s string) string {
	return untrusted.Cell(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
}

func appendHeader(b []byte, metrics []string) []byte {
	b = append(b, strings.Join(hostFields, ",")...)
	for _, name := range metrics {
		b = appendText(append(b, ','), name)
	}
	return append(b, '\n')
}

// readHeader returns the metrics' columns; false for a header that is not ours.
func readHeader(line []byte) ([]string, bool) {
	names, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil || len(names) < len(hostFields) {
		return nil, false
	}
	for i, name := range hostFields {
		if names[i] != name {
			return nil, false
		}
	}
	return names[len(hostFields):], true
}
