package asktell

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/jsontext"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Answer is one line for the caller.
type Answer interface{ append([]byte) []byte }

// Decision answers a report.
type Decision string

// Decisions.
const (
	Continue Decision = "continue"
	Pause    Decision = "pause"
	Stop     Decision = "stop"
)

// Word is an answer to an ask without a trial.
type Word string

// Words.
const (
	Wait     Word = "wait"
	Finished Word = "finished"
)

// Trial answers an ask. Params is a JSON object.
type Trial struct {
	ID     string
	Number uint32
	Params []byte
	// ResumeFrom is the iteration that the trial continues after; 0: it begins.
	ResumeFrom uint64
}

// Receipt answers a tell. Ignored says why its metrics do not count, or is "".
type Receipt struct{ Ignored string }

// BestTrial answers best; without an ID there is none. Value is that by which it is the best: with several runs of a
// suggestion their mean, while the metrics are those of one of them.
type BestTrial struct {
	ID      string
	Params  []byte
	Metrics []sdk.Metric
	Value   float64
}

// problem answers what cannot be done.
type problem struct{ error }

func (d Decision) append(b []byte) []byte {
	return append(append(append(b, `{"decision":"`...), d...), `"}`...)
}

func (w Word) append(b []byte) []byte {
	return append(append(append(b, `{"`...), w...), `":true}`...)
}

func (t Trial) append(b []byte) []byte {
	b = jsontext.AppendString(append(b, `{"trial":`...), t.ID)
	b = jsontext.AppendFloat(append(b, `,"number":`...), float64(t.Number))
	b = append(append(b, `,"params":`...), t.Params...)
	if t.ResumeFrom != 0 {
		b = jsontext.AppendFloat(append(b, `,"resume_from":`...), float64(t.ResumeFrom))
	}
	return append(b, '}')
}

func (t Receipt) append(b []byte) []byte {
	b = append(b, `{"ok":true`...)
	if t.Ignored != "" {
		b = jsontext.AppendString(append(b, `,"ignored":`...), t.Ignored)
	}
	return append(b, '}')
}

func (t BestTrial) append(b []byte) []byte {
	if t.ID == "" {
		return append(b, `{"best":null}`...)
	}
	b = jsontext.AppendString(append(b, `{"trial":`...), t.ID)
	b = append(append(b, `,"params":`...), t.Params...)
	b = append(b, `,"metrics":{`...)
	list := slices.SortedFunc(slices.Values(t.Metrics),
		func(x, y sdk.Metric) int { return strings.Compare(x.Name, y.Name) })
	for i, x := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.AppendString(b, x.Name), ':')
		b = jsontext.AppendFloat(b, x.Value)
	}
	return append(jsontext.AppendFloat(append(b, `},"value":`...), t.Value), '}')
}

func (p problem) append(b []byte) []byte {
	lines := strings.FieldsFunc(p.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	return append(jsontext.AppendString(append(b, `{"error":`...), strings.Join(lines, "; ")), '}')
}
