package wire_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/sdk/train"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// carried returns m after encoding and decoding.
func carried[M proto.Message](t *rapid.T, m, into M) M {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// same compares bit by bit except for the payload of NaNs; an empty list equals nil.
func same(t *rapid.T, want, got any) {
	nilness := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() != reflect.TypeFor[space.Point]() },
		cmpopts.EquateEmpty())
	if d := cmp.Diff(want, got, nilness, cmp.Comparer(sameFloat)); d != "" {
		t.Fatal(d)
	}
}

func sameFloat(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Float64bits(a) == math.Float64bits(b)
}

var number = rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1),
	math.Copysign(0, -1)}))

// point may be nil or empty, which are different.
var point = rapid.Custom(func(t *rapid.T) space.Point {
	if rapid.Bool().Draw(t, "none") {
		return nil
	}
	return append(space.Point{}, rapid.SliceOf(number).Draw(t, "point")...)
})

var text = rapid.String()

func event() *rapid.Generator[sdk.Event] {
	return rapid.Custom(func(t *rapid.T) sdk.Event {
		return sdk.Event{
			Number: rapid.Uint64().Draw(t, "number"), Kind: sdk.EventKind(rapid.IntRange(1,
				int(sdk.SearchEnded)).Draw(t, "kind")),
			Trial: rapid.Uint32().Draw(t, "trial"), Attempt: rapid.Uint32().Draw(t, "attempt"),
			Iteration: rapid.Uint64().Draw(t, "iteration"), Point: point.Draw(t, "p"),
			Losses: rapid.SliceOf(number).Draw(t, "losses"), Metrics: rapid.SliceOf(metric()).Draw(t, "metrics"),
			Seconds: number.Draw(t, "seconds"), SecondsTold: rapid.Bool().Draw(t, "told"),
			Again:  rapid.Bool().Draw(t, "again"),
			Reason: text.Draw(t, "reason"),
		}
	})
}

func metric() *rapid.Generator[sdk.Metric] {
	return rapid.Custom(func(t *rapid.T) sdk.Metric {
		return sdk.Metric{Name: text.Draw(t, "name"), Value: number.Draw(t, "value")}
	})
}

func expr(depth, params int) *rapid.Generator[*space.Expr] {
	return rapid.Custom(func(t *rapid.T) *space.Expr {
		e := &space.Expr{
			Op: space.Op(rapid.IntRange(1, int(space.If)).Draw(t, "op")), Param: rapid.IntRange(0, params-1).Draw(t,
				"param"),
			Number: number.Draw(t, "n"), Set: rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "set"),
		}
		if depth > 0 {
			e.Args = rapid.SliceOfN(expr(depth-1, params), 0, 3).Draw(t, "args")
		}
		return e
	})
}

func problem() *rapid.Generator[sdk.Problem] {
	return rapid.Custom(func(t *rapid.T) sdk.Problem {
		s := &space.Space{Opaque: rapid.Bool().Draw(t, "opaque")}
		n := rapid.IntRange(1, 4).Draw(t, "params")
		for range n {
			s.Params = append(s.Params, space.Param{
				Name: text.Draw(t, "name"), Kind: space.Kind(rapid.IntRange(1, 5).Draw(t, "kind")),
				Low: number.Draw(t, "low"), High: number.Draw(t, "high"), Log: rapid.Bool().Draw(t, "log"),
				Step: number.Draw(t, "step"), Mean: number.Draw(t, "mean"), SD: number.Draw(t, "sd"),
				Choices: rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "choices"), Grid: rapid.Bool().Draw(t,
					"grid"),
				When: rapid.OneOf(rapid.Just[*space.Expr](nil), expr(2, n)).Draw(t, "when"),
			})
		}
		s.Constraints = rapid.SliceOfN(expr(2, n), 0, 2).Draw(t, "constraints")
		return sdk.Problem{
			Space: s,
			Objectives: []sdk.Objective{{Metric: text.Draw(t, "metric"),
				Mode: rapid.SampledFrom([]sdk.Mode{sdk.Min, sdk.Max}).Draw(t, "mode")}},
			Seed: rapid.Uint64().Draw(t, "seed"), Trials: rapid.IntRange(0, 1<<40).Draw(t, "trials"),
			Concurrency: rapid.IntRange(0, 1<<20).Draw(t, "concurrency"),
			Request:     rapid.SampledFrom([][]byte{nil, []byte(`{"cpu":"1"}`)}).Draw(t, "request"),
			Capacity:    rapid.SampledFrom([][]byte{nil, []byte(`{"cpu":"16"}`)}).Draw(t, "capacity"),
		}
	})
}

func must[T any](t *rapid.T) func(v T, err error) T {
	return func(v T, err error) T {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestRoundTrips(t *testing.T) {
	t.Run("problem", rapid.MakeCheck(func(t *rapid.T) {
		p := problem().Draw(t, "p")
		same(t, p, must[sdk.Problem](t)(wire.ProblemFromProto(carried(t, wire.ProblemToProto(p), &pb.Problem{}))))
	}))
	t.Run("events", rapid.MakeCheck(func(t *rapid.T) {
		es := rapid.SliceOfN(event(), 0, 5).Draw(t, "events")
		m := carried(t, &pb.DecideRequest{Events: wire.EventsToProto(es)}, &pb.DecideRequest{})
		same(t, es, wire.EventsFromProto(m.GetEvents()))
	}))
	t.Run("requests", rapid.MakeCheck(func(t *rapid.T) {
		rs := rapid.SliceOf(rapid.Custom(func(t *rapid.T) sdk.Request {
			return sdk.Request{Trial: rapid.Uint32().Draw(t, "trial"), Seed: rapid.Uint64().Draw(t, "seed"),
				Given: point.Draw(t, "given")}
		})).Draw(t, "requests")
		m := carried(t, &pb.SuggestRequest{Requests: wire.RequestsToProto(rs)}, &pb.SuggestRequest{})
		same(t, rs, wire.RequestsFromProto(m.GetRequests()))
	}))
	t.Run("suggestions", rapid.MakeCheck(func(t *rapid.T) {
		s := sdk.Suggestions{Status: sdk.Status(rapid.IntRange(0, 2).Draw(t, "status"))}
		for _, p := range rapid.SliceOf(rapid.SliceOfN(number, 1, 4)).Draw(t, "points") {
			s.Points = append(s.Points, p)
		}
		same(t, s, must[sdk.Suggestions](t)(wire.SuggestionsFromProto(carried(t, wire.SuggestionsToProto(s),
			&pb.SuggestResponse{}))))
	}))
	t.Run("decisions", rapid.MakeCheck(func(t *rapid.T) {
		d := decisions().Draw(t, "decisions")
		same(t, d, must[sdk.Decisions](t)(wire.DecisionsFromProto(carried(t, wire.DecisionsToProto(d),
			&pb.DecideResponse{}))))
	}))
	t.Run("traits", rapid.MakeCheck(func(t *rapid.T) {
		b := func(name string) bool { return rapid.Bool().Draw(t, name) }
		want := sdk.Traits{
			Independent: b("i"), Quiet: b("q"), RunAhead: rapid.IntRange(0, 1<<30).Draw(t, "ahead"),
			Metrics: b("m"), Saves: b("s"), CombinesGrid: b("g"), Requires: rapid.SliceOf(text).Draw(t, "requires"),
		}
		got, snapshots := wire.TraitsFromProto(carried(t, wire.TraitsToProto(want, true), &pb.Traits{}))
		same(t, want, got)
		same(t, true, snapshots)
	}))
	t.Run("commands", rapid.MakeCheck(func(t *rapid.T) {
		cs := rapid.SliceOf(command()).Draw(t, "commands")
		same(t, cs, must[[]train.Command](t)(wire.CommandsFromProto(carried(t, wire.CommandsToProto(cs),
			&pb.TrainRequest{}))))
	}))
	t.Run("train-events", rapid.MakeCheck(func(t *rapid.T) {
		es := rapid.SliceOf(trainEvent()).Draw(t, "events")
		same(t, es, must[[]train.Event](t)(wire.TrainEventsFromProto(carried(t, wire.TrainEventsToProto(es),
			&pb.TrainResponse{}))))
	}))
}

func TestReporterEventsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		es := rapid.SliceOf(reporterEvent()).Draw(t, "events")
		m := carried(t, &pb.ReportRequest{Events: wire.ReporterEventsToProto(es)}, &pb.ReportRequest{})
		same(t, es, wire.ReporterEventsFromProto(m.GetEvents()))
	})
}

func reporterEvent() *rapid.Generator[sdk.ReporterEvent] {
	return rapid.Custom(func(t *rapid.T) sdk.ReporterEvent {
		e := sdk.ReporterEvent{
			Number: rapid.Uint64().Draw(t, "number"), Kind: sdk.ReporterEventKind(rapid.IntRange(1,
				int(sdk.ReportRemoved)).Draw(t, "kind")),
			Time: time.Unix(0, rapid.Int64().Draw(t, "time")), Iteration: rapid.Uint64().Draw(t, "iteration"),
			Restored: rapid.Uint64().Draw(t, "restored"), Resumed: rapid.Bool().Draw(t, "resumed"), Reason: text.Draw(t,
				"reason"),
		}
		if rapid.Bool().Draw(t, "of a trial") {
			e.Trial = &sdk.ReportedTrial{
				Number: rapid.Uint32().Draw(t, "trial"), ID: text.Draw(t, "id"), Dir: text.Draw(t,
					"dir"), State: text.Draw(t, "state"),
				Attempt: rapid.Uint32().Draw(t, "attempt"), Params: rapid.SliceOf(rapid.Byte()).Draw(t,
					"params"), Error: text.Draw(t, "error"),
			}
		}
		if rapid.Bool().Draw(t, "a result") {
			e.Result = &sdk.ReportedResult{
				Metrics: rapid.SliceOf(metric()).Draw(t, "metrics"), Totals: rapid.SliceOf(metric()).Draw(t, "totals"),
				Iteration: rapid.Uint64().Draw(t, "i"), Done: rapid.Bool().Draw(t, "done"), TimeTotal: number.Draw(t,
					"total"),
				TimeThisIter: number.Draw(t, "iter"), PID: rapid.Uint32().Draw(t, "pid"), Host: text.Draw(t, "host"),
				Restored: rapid.Bool().Draw(t, "r"), IterationsSinceRestore: rapid.Uint64().Draw(t, "since"),
				TimeSinceRestore: number.Draw(t, "time since"), Again: rapid.Bool().Draw(t,
					"again"), Values: rapid.SampledFrom([][]byte{nil, []byte(`{"note":"x"}`)}).Draw(t, "values"),
			}
		}
		return e
	})
}

func decisions() *rapid.Generator[sdk.Decisions] {
	return rapid.Custom(func(t *rapid.T) (d sdk.Decisions) {
		for range rapid.IntRange(0, 3).Draw(t, "decisions") {
			d.Decisions = append(d.Decisions, sdk.Decision{
				Event: rapid.Uint64().Draw(t, "event"), Verdict: sdk.Verdict(rapid.IntRange(0, 2).Draw(t, "verdict")),
				Until: rapid.Uint64().Draw(t, "until"), Reason: text.Draw(t, "reason"),
			})
		}
		for range rapid.IntRange(0, 3).Draw(t, "commands") {
			d.Commands = append(d.Commands, sdk.Command{
				Kind: sdk.CommandKind(rapid.IntRange(1, 4).Draw(t, "kind")), Trial: rapid.Uint32().Draw(t, "trial"),
				Donor: rapid.Uint32().Draw(t, "donor"), Iteration: rapid.Uint64().Draw(t, "iteration"),
				Point: point.Draw(t, "point"), Resources: rapid.SliceOf(rapid.Byte()).Draw(t,
					"resources"), Reason: text.Draw(t, "reason"),
			})
		}
		return d
	})
}

func command() *rapid.Generator[train.Command] {
	bytes := rapid.SliceOf(rapid.Byte())
	bundle := rapid.Custom(func(t *rapid.T) sdk.Bundle {
		return sdk.Bundle{Node: text.Draw(t, "node"), Resources: bytes.Draw(t, "amounts"),
			Devices: rapid.SliceOf(text).Draw(t, "gpus"), Address: text.Draw(t, "address")}
	})
	return rapid.Custom(func(t *rapid.T) train.Command {
		c := train.Command{
			Kind: train.CommandKind(rapid.IntRange(1, 5).Draw(t, "kind")), Run: rapid.Uint64().Draw(t, "run"),
			Credits: rapid.Uint32().Draw(t, "credits"), Dir: text.Draw(t, "dir"), Paused: rapid.Bool().Draw(t,
				"paused"),
		}
		if rapid.Bool().Draw(t, "trial") {
			c.Confirms = rapid.Bool().Draw(t, "confirms")
			c.Trial = &sdk.Trial{
				ID: text.Draw(t, "id"), Number: rapid.Uint32().Draw(t, "n"), Attempt: rapid.Uint32().Draw(t, "a"),
				Experiment: text.Draw(t, "e"), Params: bytes.Draw(t, "params"), Options: bytes.Draw(t, "options"),
				Seed: rapid.Uint64().Draw(t, "seed"), Dir: text.Draw(t, "d"), Restore: text.Draw(t, "r"),
				Iteration: rapid.Uint64().Draw(t, "i"), Resources: bytes.Draw(t,
					"resources"), Devices: rapid.SliceOf(text).Draw(t, "devices"),
				CheckpointEvery: rapid.Uint64().Draw(t, "every"), RunAhead: rapid.IntRange(0, 1<<30).Draw(t,
					"ahead"), GraceSeconds: number.Draw(t, "grace"),
				CheckpointAtEnd: rapid.Bool().Draw(t, "end"), Bundles: rapid.SliceOf(bundle).Draw(t, "bundles"),
				Export: rapid.SliceOf(text).Draw(t, "export"), ExportDir: text.Draw(t, "x"),
			}
			if rapid.Bool().Draw(t, "logs") {
				c.Trial.Logs = &sdk.Logs{Stdout: text.Draw(t, "out"), Stderr: text.Draw(t, "err")}
			}
		}
		return c
	})
}

func trainEvent() *rapid.Generator[train.Event] {
	return rapid.Custom(func(t *rapid.T) train.Event {
		return train.Event{
			Kind: train.EventKind(rapid.IntRange(1, 7).Draw(t, "kind")), Run: rapid.Uint64().Draw(t,
				"run"), PID: rapid.Uint32().Draw(t, "pid"),
			Metrics: rapid.SliceOf(metric()).Draw(t, "metrics"), Iteration: rapid.Uint64().Draw(t, "iteration"),
			Checkpoint: text.Draw(t, "checkpoint"), Done: rapid.Bool().Draw(t, "done"), Error: text.Draw(t,
				"error"), Text: text.Draw(t, "text"),
			RestoreFailed: rapid.Bool().Draw(t, "restore"), NeverStarted: rapid.Bool().Draw(t,
				"never"), Format: text.Draw(t, "format"),
			Values: rapid.SampledFrom([][]byte{nil, []byte(`{"note":"x"}`)}).Draw(t,
				"values"), Hint: rapid.Bool().Draw(t, "hint"), Waiting: rapid.Bool().Draw(t, "waiting"),
		}
	})
}

// Text in another encoding must not break the connection.
func TestInvalidUTF8IsReplaced(t *testing.T) {
	m := wire.TrainEventsToProto([]train.Event{{Kind: train.Log, Text: "\xff", Metrics: []sdk.Metric{{Name: "a\xfe"}}}})
	if _, err := proto.Marshal(m); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownValuesAreErrors(t *testing.T) {
	unknown := map[string]error{}
	_, unknown["kind"] = wire.ProblemFromProto(&pb.Problem{Space: &pb.Space{Params: []*pb.Param{{}}}})
	_, unknown["op"] = wire.ProblemFromProto(&pb.Problem{Space: &pb.Space{Constraints: []*pb.Expr{{Op: 99}}}})
	_, unknown["param"] = wire.ProblemFromProto(&pb.Problem{Space: &pb.Space{Constraints: []*pb.Expr{{Op: 2,
		Param: 1}}}})
	_, unknown["status"] = wire.SuggestionsFromProto(&pb.SuggestResponse{Status: 9})
	_, unknown["verdict"] = wire.DecisionsFromProto(&pb.DecideResponse{Decisions: []*pb.Decision{{Verdict: 9}}})
	_, unknown["command"] = wire.DecisionsFromProto(&pb.DecideResponse{Commands: []*pb.Command{{}}})
	_, unknown["train command"] = wire.CommandsFromProto(&pb.TrainRequest{Commands: []*pb.TrainCommand{{Kind: 9}}})
	_, unknown["train event"] = wire.TrainEventsFromProto(&pb.TrainResponse{Events: []*pb.TrainEvent{{}}})
	for what, err := range unknown {
		if err == nil {
			t.Errorf("an unknown %s is taken", what)
		}
	}
}

// FuzzDecode feeds arbitrary bytes to every decoder: a decoded value must be encoded and decoded to
// the same value.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	b, _ := proto.Marshal(wire.ProblemToProto(sdk.Problem{Space: &space.Space{Params: []space.Param{{Name: "x",
		Kind: space.Real}}}}))
	f.Add(b)
	b, _ = proto.Marshal(wire.TrainEventsToProto([]train.Event{{Kind: train.Result,
		Metrics: []sdk.Metric{{Name: "a", Value: 1}}}}))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		again(t, b, &pb.Problem{}, wire.ProblemFromProto, wire.ProblemToProto)
		again(t, b, &pb.SuggestResponse{}, wire.SuggestionsFromProto, wire.SuggestionsToProto)
		again(t, b, &pb.DecideResponse{}, wire.DecisionsFromProto, wire.DecisionsToProto)
		again(t, b, &pb.TrainRequest{}, wire.CommandsFromProto, wire.CommandsToProto)
		again(t, b, &pb.TrainResponse{}, wire.TrainEventsFromProto, wire.TrainEventsToProto)
	})
}

func again[M proto.Message, T any](t *testing.T, b []byte, m M, from func(M) (T, error), to func(T) M) {
	if proto.Unmarshal(b, m) != nil {
		return
	}
	v, err := from(m)
	if err != nil {
		return
	}
	w, err := from(to(v))
	if err != nil {
		t.Fatalf("%T does not decode again: %v", m, err)
	}
	if d := cmp.Diff(v, w, cmpopts.EquateEmpty(), cmp.Comparer(sameFloat)); d != "" {
		t.Fatal(d)
	}
}

// Later versions may have more kinds of lease events: an unknown one breaks nothing.
func TestUnknownLeaseEvent(t *testing.T) {
	for _, k := range []pb.LeaseEvent_Kind{-1, 0, pb.LeaseEvent_KIND_REFUSED + 1, 256 + pb.LeaseEvent_KIND_LOST} {
		got := wire.LeaseEventsFromProto(&pb.WatchResponse{Events: []*pb.LeaseEvent{{Lease: "a", Kind: k}}})
		if len(got) != 1 || got[0].Lease != "a" || got[0].Kind != 0 {
			t.Error(k, got)
		}
	}
}
