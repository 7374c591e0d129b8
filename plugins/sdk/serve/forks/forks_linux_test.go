package forks

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// B-015: values that JSON has no number for arrive as they are.
func TestTold(t *testing.T) {
	var m told
	const text = `{"kind":2,"metrics":[["a",1],["b/c","nan"],["d","-inf"],["e",1e400]],"iteration":3,"values":"{}"}`
	if err := json.Unmarshal([]byte(text), &m); err == nil {
		t.Error("a number that is out of range is taken")
	}
	if err := json.Unmarshal([]byte(strings.Replace(text, "1e400", `"inf"`, 1)), &m); err != nil {
		t.Fatal(err)
	}
	e := m.event(7)
	if !math.IsNaN(e.Metrics[1].Value) || e.Metrics[1].Name != "b/c" {
		t.Error(e.Metrics)
	}
	e.Metrics[1].Value = 0
	want := train.Event{Kind: train.Result, Run: 7, Iteration: 3, Values: []byte("{}"), Metrics: []sdk.Metric{
		{Name: "a", Value: 1}, {Name: "b/c"}, {Name: "d", Value: math.Inf(-1)}, {Name: "e", Value: math.Inf(1)}}}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got %+v, want %+v", e, want)
	}
}

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	var sent []byte
	for _, value := range []any{[]any{"fork", 1}, long, struct{}{}} {
		data, err := frame(value)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, data...)
	}
	var got []string
	r, buffer := bytes.NewReader(append(sent, 9, 0, 0, 0, '1')), []byte(nil)
	for {
		body, err := readFrame(r, &buffer)
		if err != nil {
			break
		}
		got = append(got, string(body))
	}
	if want := []string{`["fork",1]`, `"` + long + `"`, "{}"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %d frames", len(got))
	}
	if _, err := readFrame(bytes.NewReader([]byte{0, 0, 0, 255}), &buffer); err == nil {
		t.Error("a frame of 4 GB is read")
	}
}

// What is no message ends a trial at once: a length that rubbish happens to be is not waited for.
func TestRubbish(t *testing.T) {
	for _, rubbish := range []string{"\xff\xff\xff\xff\xff\xff\xff\xff", "GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x01",
		"\x00\x00\x00\x00", "\x03\x00\x00\x00{}\n\x02\x00\x00\x00[]"} {
		ours, theirs, err := pair()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		defer theirs.Close()
		if _, err := theirs.WriteString(rubbish); err != nil {
			t.Fatal(err)
		}
		r := &run{conn: ours, session: &session{out: train.NewQueue()}}
		if err := r.listen(); err == nil {
			t.Errorf("%q is understood", rubbish)
		}
	}
}
