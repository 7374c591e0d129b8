package journalview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/view"
)

// Entry is one record.
type Entry struct {
	// Number is its place, from 1.
	Number uint64
	// At is the experiment's running time.
	At time.Duration
	// Time is the time of day; zero before a host has recorded it.
	Time time.Time
	// Event is what happened, such as "result_reported".
	Event string
	// Fields has details. Zero values are omitted, except numbers of trials.
	Fields []Field

	trials    []core.TrialNo
	extension uint32
}

// Explain adds to entries what is beside the record of the experiment in a directory: what an extension has changed.
func Explain(dir storage.Dir, list ...*Entry) {
	var run *runfile.File
	for _, e := range list {
		if e.extension == 0 {
			continue
		}
		if run == nil {
			var err error
			if run, _, err = runfile.Read(dir); err != nil {
				return
			}
		}
		var sets []any
		for _, set := range run.Extension(e.extension) {
			sets = append(sets, set)
		}
		e.Fields = append(e.Fields, Field{"extension", sets})
	}
}

// Field is one detail of an event. Its value can be written as JSON.
type Field struct {
	Name  string
	Value any
}

// object is a value that has fields itself.
type object []Field

// About reports whether a trial is named.
func (e *Entry) About(no core.TrialNo) bool { return slices.Contains(e.trials, no) }

// Kind returns the event in words.
func (e *Entry) Kind() string { return strings.ReplaceAll(e.Event, "_", " ") }

// Text returns the fields on one line that is safe on a terminal.
func (e *Entry) Text() string {
	var b strings.Builder
	for i, f := range e.Fields {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Name + "=")
		write(&b, f.Value)
	}
	return strings.Map(escape, b.String())
}

func escape(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// write writes a value for people.
func write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case object:
		between(b, "{", "}", len(v), func(i int) { b.WriteString(v[i].Name + ": "); write(b, v[i].Value) })
	case []any:
		between(b, "[", "]", len(v), func(i int) { write(b, v[i]) })
	case string:
		b.WriteString(quoted(v))
	case json.RawMessage:
		b.WriteString(forPeople.Replace(string(v)))
	case view.Float:
		b.WriteString(strconv.FormatFloat(float64(v), 'g', 6, 64))
	default:
		text, err := json.Marshal(v)
		if err != nil {
			text = fmt.Append(nil, v)
		}
		b.Write(text)
	}
}

// forPeople writes characters as themselves that encoding/json escapes for web pages.
var forPeople = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

func between(b *strings.Builder, open, end string, n int, item func(int)) {
	b.WriteString(open)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		item(i)
	}
	b.WriteString(end)
}

// quoted quotes a text unless it is a single word.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-:/+", r)
	}) {
		return s
	}
	return strconv.Quote(s)
}

// MarshalJSON writes one flat object.
func (e *Entry) MarshalJSON() ([]byte, error) {
	o := object{{"number", e.Number}, {"at_s", e.At.Seconds()}}
	if !e.Time.IsZero() {
		o = append(o, Field{"time", e.Time.UTC().Format(time.RFC3339Nano)})
	}
	return append(append(o, Field{"event", e.Event}), e.Fields...).MarshalJSON()
}

// MarshalJSON keeps the order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		b.WriteString(strconv.Quote(f.Name) + ":")
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
