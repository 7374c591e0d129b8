package journalview

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// describer describes events by reflection over their fields, so that it works for new events.
type describer struct {
	metric func(core.MetricID) string
	// result finds the result that a decided observation was about.
	result func(number uint64) (place, bool)
	trials []core.TrialNo // found so far
}

// place is a trial's result.
type place struct {
	trial     core.TrialNo
	iteration uint64
}

var verdicts = map[core.Verdict]string{core.Continue: "continue", core.Pause: "pause", core.Stop: "stop"}

var commands = map[core.CommandKind]string{core.Resume: "resume", core.EndTrial: "end", core.EndAll: "end all",
	core.Exploit: "exploit", core.Resize: "resize"}

var statuses = map[core.SearcherStatus]string{core.SearcherReady: "ready", core.SearcherWaits: "waits",
	core.SearcherExhausted: "exhausted"}

// fields returns the fields of a struct that are not zero.
func (t *describer) fields(v reflect.Value) (list object) {
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		no, isTrial := reflect.TypeAssert[core.TrialNo](x)
		switch {
		case !f.IsExported():
		case isTrial && !t.names(v, f.Name):
		case isTrial:
			t.trials = append(t.trials, no)
			list = append(list, Field{snake(f.Name), no})
		case f.Anonymous && x.Kind() == reflect.Struct:
			list = append(list, t.fields(x)...)
		case x.IsZero():
		case f.Type == reflect.TypeFor[core.Cause]():
			list = append(list, describeCause("error", "cause", x.Interface().(core.Cause))...)
		case f.Type == reflect.TypeFor[*core.Cause]():
			list = append(list, describeCause(snake(f.Name), snake(f.Name)+"_cause", *x.Interface().(*core.Cause))...)
		default:
			list = append(list, t.field(f.Name, x))
		}
	}
	return list
}

// describeCause describes a cause, for people and for programs.
func describeCause(text, kind string, c core.Cause) object {
	return object{{text, c.String()}, {kind, c.Kind.String()}}
}

// names reports whether a trial's number in a struct means a trial: 0 is a valid number.
func (t *describer) names(v reflect.Value, field string) bool {
	switch e := v.Interface().(type) {
	case core.TrialGiven:
		return e.Clone
	case core.Command:
		return field == "Trial" || e.Kind == core.Exploit
	}
	all := v.FieldByName("All")
	return !all.IsValid() || !all.Bool()
}

func (t *describer) field(name string, v reflect.Value) Field {
	switch n := v.Interface().(type) {
	case int64:
		if short, ok := strings.CutSuffix(name, "NS"); ok {
			return Field{snake(short) + "_s", time.Duration(n).Seconds()}
		}
		if name == "Wall" || name == "Until" || name == "At" { // times of day; of a lease
			return Field{snake(name), time.Unix(0, n).UTC().Format(time.RFC3339Nano)}
		}
	}
	return Field{snake(name), t.value(v)}
}

// value converts a value for JSON and text.
func (t *describer) value(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case []core.Metric:
		return t.metrics(x)
	case []byte:
		return raw(x)
	case core.Decision:
		return t.decision(x)
	case core.Verdict:
		return verdicts[x]
	case core.CommandKind:
		return commands[x]
	case core.SearcherStatus:
		return statuses[x]
	case encoding.TextMarshaler:
		if text, err := x.MarshalText(); err == nil {
			return string(text)
		}
	case float64:
		return view.Float(x)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return t.value(v.Elem())
	case reflect.Struct:
		return t.fields(v)
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = t.value(v.Index(i))
		}
		return list
	case reflect.String:
		return v.String()
	}
	return v.Interface()
}

// decision names the result that it decides on.
func (t *describer) decision(d core.Decision) object {
	var list object
	if p, ok := t.result(d.Number); ok {
		t.trials = append(t.trials, p.trial)
		list = object{{"trial", p.trial}, {"iteration", p.iteration}}
	} else {
		list = object{{"number", d.Number}}
	}
	list = append(list, Field{"verdict", verdicts[d.Verdict]})
	if d.Until != 0 {
		list = append(list, Field{"until", d.Until})
	}
	if d.Reason != "" {
		list = append(list, Field{"reason", d.Reason})
	}
	return list
}

func (t *describer) metrics(list []core.Metric) (o object) {
	for _, m := range list {
		o = append(o, Field{t.metric(m.ID), view.Float(m.Value)})
	}
	return o
}

// raw returns JSON as it was recorded.
func raw(b []byte) any {
	if json.Valid(b) {
		return json.RawMessage(bytes.Clone(b)) // entries outlive the record that they were read from
	}
	return string(b)
}

// snake converts a Go name for JSON: ResultReported is result_reported.
func snake(name string) string {
	var b strings.Builder
	before := rune('A')
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}
