package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// Kinds of records. Never reuse a number.
const (
	kindExperimentStarted = iota + 1
	kindHostStarted
	kindSettingsChanged
	kindNodeJoined
	kindNodeLeft
	kindSuggestionsReceived
	kindTrialGiven
	kindMetricNamed
	kindAttemptStarted
	kindResultReported
	kindAttemptEnded
	kindCheckpointSaved
	kindSaveFailed
	kindSchedulerDecided
	kindStopRequested
	kindPauseRequested
	kindUnpauseRequested
	kindTrialReset
	kindInterrupted
	kindPluginFailed
	kindTicked
	kindOfferMade
	kindOfferWithdrawn
	kindTrialLearned
	kindModelExported
	kindStateHeld
	kindLeaseGranted
	kindLeasePending
	kindLeaseRefused
	kindLeaseEnding
	kindLeaseLost
	kindLeaseRouted
	kindBudgetJudged
)

// Append appends the record of an event at the running time at, which must not be negative.
func Append(out []byte, at int64, e core.Event) ([]byte, error) {
	out = binary.AppendUvarint(out, uint64(at))
	kind := kindOf(e)
	if kind == 0 {
		return nil, fmt.Errorf("record: no kind for %T", e)
	}
	out = binary.AppendUvarint(out, kind)
	f := fields{out: out}
	visit(&f, e)
	return f.out, f.err
}

// Parse is the inverse of Append, except that empty lists, texts and parameters become nil. The
// event does not share memory with b, except for the parameters of suggestions.
func Parse(b []byte) (at int64, e core.Event, err error) { return (*Pool)(nil).Parse(b) }

// Parse is like the function [Parse]. The event is valid until Free.
func (p *Pool) Parse(b []byte) (at int64, e core.Event, err error) {
	u, b, ok := uvarint(b)
	if !ok || u > math.MaxInt64 {
		return 0, nil, ErrMalformed
	}
	kind, b, ok := uvarint(b)
	if !ok {
		return 0, nil, ErrMalformed
	}
	if e = p.event(kind); e == nil {
		return 0, nil, ErrNewer
	}
	f := fields{reading: true, rest: b}
	f.next()
	visit(&f, e)
	if err := f.end(); err != nil {
		return 0, nil, err
	}
	return int64(u), e, nil
}

func kindOf(e core.Event) uint64 {
	switch e.(type) {
	case *core.ResultReported:
		return kindResultReported
	case *core.SchedulerDecided:
		return kindSchedulerDecided
	case *core.SuggestionsReceived:
		return kindSuggestionsReceived
	case *core.AttemptStarted:
		return kindAttemptStarted
	case *core.AttemptEnded:
		return kindAttemptEnded
	case *core.CheckpointSaved:
		return kindCheckpointSaved
	case *core.SaveFailed:
		return kindSaveFailed
	case *core.MetricNamed:
		return kindMetricNamed
	case *core.ExperimentStarted:
		return kindExperimentStarted
	case *core.HostStarted:
		return kindHostStarted
	case *core.SettingsChanged:
		return kindSettingsChanged
	case *core.NodeJoined:
		return kindNodeJoined
	case *core.NodeLeft:
		return kindNodeLeft
	case *core.TrialGiven:
		return kindTrialGiven
	case *core.StopRequested:
		return kindStopRequested
	case *core.PauseRequested:
		return kindPauseRequested
	case *core.UnpauseRequested:
		return kindUnpauseRequested
	case *core.TrialReset:
		return kindTrialReset
	case *core.Interrupted:
		return kindInterrupted
	case *core.PluginFailed:
		return kindPluginFailed
	case *core.Ticked:
		return kindTicked
	case *core.OfferMade:
		return kindOfferMade
	case *core.OfferWithdrawn:
		return kindOfferWithdrawn
	case *core.TrialLearned:
		return kindTrialLearned
	case *core.ModelExported:
		return kindModelExported
	case *core.StateHeld:
		return kindStateHeld
	case *core.BudgetJudged:
		return kindBudgetJudged
	}
	return kindOfLease(e)
}

func kindOfLease(e core.Event) uint64 {
	switch e.(type) {
	case *core.LeaseGranted:
		return kindLeaseGranted
	case *core.LeasePending:
		return kindLeasePending
	case *core.LeaseRefused:
		return kindLeaseRefused
	case *core.LeaseEnding:
		return kindLeaseEnding
	case *core.LeaseLost:
		return kindLeaseLost
	case *core.LeaseRouted:
		return kindLeaseRouted
	}
	return 0
}

var makers = [...]func() core.Event{
	kindExperimentStarted:   func() core.Event { return new(core.ExperimentStarted) },
	kindHostStarted:         func() core.Event { return new(core.HostStarted) },
	kindSettingsChanged:     func() core.Event { return new(core.SettingsChanged) },
	kindNodeJoined:          func() core.Event { return new(core.NodeJoined) },
	kindNodeLeft:            func() core.Event { return new(core.NodeLeft) },
	kindSuggestionsReceived: func() core.Event { return new(core.SuggestionsReceived) },
	kindTrialGiven:          func() core.Event { return new(core.TrialGiven) },
	kindMetricNamed:         func() core.Event { return new(core.MetricNamed) },
	kindAttemptStarted:      func() core.Event { return new(core.AttemptStarted) },
	kindResultReported:      func() core.Event { return new(core.ResultReported) },
	kindAttemptEnded:        func() core.Event { return new(core.AttemptEnded) },
	kindCheckpointSaved:     func() core.Event { return new(core.CheckpointSaved) },
	kindSaveFailed:          func() core.Event { return new(core.SaveFailed) },
	kindSchedulerDecided:    func() core.Event { return new(core.SchedulerDecided) },
	kindStopRequested:       func() core.Event { return new(core.StopRequested) },
	kindPauseRequested:      func() core.Event { return new(core.PauseRequested) },
	kindUnpauseRequested:    func() core.Event { return new(core.UnpauseRequested) },
	kindTrialReset:          func() core.Event { return new(core.TrialReset) },
	kindInterrupted:         func() core.Event { return new(core.Interrupted) },
	kindPluginFailed:        func() core.Event { return new(core.PluginFailed) },
	kindTicked:              func() core.Event { return new(core.Ticked) },
	kindOfferMade:           func() core.Event { return new(core.OfferMade) },
	kindOfferWithdrawn:      func() core.Event { return new(core.OfferWithdrawn) },
	kindTrialLearned:        func() core.Event { return new(core.TrialLearned) },
	kindModelExported:       func() core.Event { return new(core.ModelExported) },
	kindStateHeld:           func() core.Event { return new(core.StateHeld) },
	kindLeaseGranted:        func() core.Event { return new(core.LeaseGranted) },
	kindLeasePending:        func() core.Event { return new(core.LeasePending) },
	kindLeaseRefused:        func() core.Event { return new(core.LeaseRefused) },
	kindLeaseEnding:         func() core.Event { return new(core.LeaseEnding) },
	kindLeaseLost:           func() core.Event { return new(core.LeaseLost) },
	kindLeaseRouted:         func() core.Event { return new(core.LeaseRouted) },
	kindBudgetJudged:        func() core.Event { return new(core.BudgetJudged) },
}

func newEvent(kind uint64) core.Event {
	if kind == 0 || kind >= uint64(len(makers)) {
		return nil
	}
	return makers[kind]()
}

// visit names every field of every event once, for both directions.
func visit(f *fields, e core.Event) {
	switch e := e.(type) {
	case *core.ResultReported:
		number32(f, 1, &e.Trial)
		number32(f, 2, &e.Attempt)
		f.u64(3, &e.Iteration)
		metrics(f, 4, &e.Metrics)
		if f.nothingMore() {
			return
		}
		f.str(5, &e.Checkpoint)
		f.boolean(6, &e.Done)
		wordsBefore(f, 7, &e.Stop, ruleCause)
		wordsBefore(f, 8, &e.StopAll, ruleCause)
		f.blob(9, &e.Values)
		causeAt(f, 10, &e.Stop)
		causeAt(f, 11, &e.StopAll)
	case *core.SchedulerDecided:
		schedulerDecided(f, e)
	case *core.SuggestionsReceived:
		suggestionsReceived(f, e)
	case *core.TrialGiven:
		suggestion(f, &e.Suggestion)
		f.boolean(3, &e.Extra)
		f.boolean(4, &e.Clone)
		number32(f, 5, &e.Donor)
	case *core.MetricNamed:
		number32(f, 1, &e.ID)
		f.str(2, &e.Name)
	case *core.AttemptStarted:
		attemptStarted(f, e)
	case *core.AttemptEnded:
		number32(f, 1, &e.Trial)
		number32(f, 2, &e.Attempt)
		was := f.words(3)
		f.boolean(4, &e.NeverStarted)
		f.boolean(5, &e.RestoreFailed)
		f.boolean(6, &e.Damaged)
		f.boolean(7, &e.Interrupted)
		if was != "" {
			e.Cause = attemptCause(was, e.Damaged)
		}
		cause(f, 8, &e.Cause)
	case *core.CheckpointSaved:
		number32(f, 1, &e.Trial)
		number32(f, 2, &e.Attempt)
		number32(f, 3, &e.ID)
		f.u64(4, &e.Iteration)
		f.i64(5, &e.Bytes)
	case *core.SaveFailed:
		number32(f, 1, &e.Trial)
		number32(f, 2, &e.Attempt)
		number32(f, 3, &e.ID)
		f.str(4, &e.Error)
		f.boolean(5, &e.GivenUp)
	default:
		visitRare(f, e)
	}
}

func attemptStarted(f *fields, e *core.AttemptStarted) {
	number32(f, 1, &e.Trial)
	number32(f, 2, &e.Attempt)
	number32(f, 3, &e.PID)
	f.boolean(4, &e.Told)
}

func schedulerDecided(f *fields, e *core.SchedulerDecided) {
	for i := 0; element(f, 1, i, &e.Decisions); i++ {
		decision(f, &e.Decisions[i])
		f.over()
	}
	for i := 0; element(f, 2, i, &e.Commands); i++ {
		command(f, &e.Commands[i])
		f.over()
	}
	f.u64(3, &e.Through)
}

func suggestionsReceived(f *fields, e *core.SuggestionsReceived) {
	f.u64(1, &e.Ask)
	for i := 0; element(f, 2, i, &e.Suggestions); i++ {
		suggestion(f, &e.Suggestions[i])
		f.over()
	}
	number32(f, 3, &e.Status)
}

func leasedBundle(f *fields, b *core.LeasedBundle) {
	f.str(1, &b.Node)
	texts(f, 2, &b.Devices)
}

func visitRare(f *fields, e core.Event) {
	switch e := e.(type) {
	case *core.ExperimentStarted:
		asJSON(f, 1, &e.Spec)
	case *core.SettingsChanged:
		asJSON(f, 1, &e.Spec)
	case *core.HostStarted:
		f.i64(1, &e.Wall)
		number32(f, 2, &e.PID)
		f.str(3, &e.Host)
		f.str(4, &e.Boot)
	case *core.NodeJoined:
		asJSON(f, 1, &e.Node)
		f.boolean(2, &e.More)
	case *core.NodeLeft:
		number32(f, 1, &e.ID)
	case *core.PluginFailed:
		if was := f.words(1); was != "" {
			e.Cause = pluginCause(was)
		}
		cause(f, 2, &e.Cause)
	case *core.TrialLearned:
		f.str(1, &e.From)
		f.blob(2, &e.Params)
		metrics(f, 3, &e.Metrics)
		f.u64(4, &e.Iteration)
		f.i64(5, &e.TrainNS)
		f.boolean(6, &e.Failed)
		for i := 0; element(f, 7, i, &e.Results); i++ {
			learnedResult(f, &e.Results[i])
			f.over()
		}
	case *core.BudgetJudged:
		causeAt(f, 1, &e.Cause)
	case *core.ModelExported:
		number32(f, 1, &e.Trial)
		number32(f, 2, &e.Attempt)
		f.str(3, &e.Format)
		f.i64(4, &e.Bytes)
		f.str(5, &e.Error)
		f.boolean(6, &e.GivenUp)
	case *core.StateHeld:
		number32(f, 1, &e.Trial)
		number32(f, 2, &e.Attempt)
		number32(f, 3, &e.ID)
		f.u64(4, &e.Iteration)
	default:
		visitRequest(f, e)
	}
}

// visitRequest is for what users ask for.
func visitRequest(f *fields, e core.Event) {
	switch e := e.(type) {
	case *core.StopRequested:
		number32(f, 1, &e.Trial)
		f.boolean(2, &e.All)
		f.str(3, &e.Reason)
		if e.Reason == byUser {
			e.Reason = ""
		}
	case *core.PauseRequested:
		number32(f, 1, &e.Trial)
		f.boolean(2, &e.All)
	case *core.UnpauseRequested:
		number32(f, 1, &e.Trial)
		f.boolean(2, &e.All)
	case *core.TrialReset:
		number32(f, 1, &e.Trial)
		f.boolean(2, &e.Scratch)
		f.boolean(3, &e.Fresh)
		f.boolean(4, &e.Unstarted)
		f.boolean(5, &e.Steered)
	default:
		visitLease(f, e)
	}
}

func visitLease(f *fields, e core.Event) {
	switch e := e.(type) {
	case *core.LeaseGranted:
		number32(f, 1, &e.Lease)
		for i := 0; element(f, 2, i, &e.Bundles); i++ {
			leasedBundle(f, &e.Bundles[i])
			f.over()
		}
		f.i64(3, &e.Until)
	case *core.LeasePending:
		number32(f, 1, &e.Lease)
		f.str(2, &e.Why)
	case *core.LeaseRefused:
		number32(f, 1, &e.Lease)
		f.str(2, &e.Why)
	case *core.LeaseEnding:
		number32(f, 1, &e.Lease)
		f.i64(2, &e.At)
		f.str(3, &e.Why)
	case *core.LeaseLost:
		number32(f, 1, &e.Lease)
		f.str(2, &e.Why)
	case *core.LeaseRouted:
		number32(f, 1, &e.Lease)
		f.boolean(2, &e.Direct)
		f.str(3, &e.Why)
	}
}

func suggestion(f *fields, s *core.Suggestion) {
	f.blob(1, &s.Params)
	request(f, 2, &s.Request)
}

func decision(f *fields, d *core.Decision) {
	f.u64(1, &d.Number)
	number32(f, 2, &d.Verdict)
	f.u64(3, &d.Until)
	f.str(4, &d.Reason)
}

func learnedResult(f *fields, r *core.LearnedResult) {
	f.u64(1, &r.Iteration)
	metrics(f, 2, &r.Metrics)
	f.i64(3, &r.TrainNS)
}

func command(f *fields, c *core.Command) {
	number32(f, 1, &c.Kind)
	number32(f, 2, &c.Trial)
	number32(f, 3, &c.Donor)
	f.u64(4, &c.Iteration)
	f.blob(5, &c.Params)
	request(f, 6, &c.Request)
	f.str(7, &c.Reason)
}

func request(f *fields, number int, r **resource.Request) {
	if !f.reading {
		if *r != nil {
			f.bytes(number, []byte((*r).Key()))
		}
		return
	}
	if f.hit(number, counted) {
		*r = new(resource.Request)
		if err := (*r).UnmarshalText(f.b); err != nil {
			f.fail(err)
		}
		f.next()
	}
}

func asJSON[T any](f *fields, number int, v *T) {
	if !f.reading {
		var b []byte
		b, f.err = json.Marshal(v)
		f.bytes(number, b)
		return
	}
	if f.hit(number, counted) {
		if err := fromJSON(f.b, v); err != nil {
			f.stop(err)
		}
		f.next()
	}
}

// fromJSON is strict: a newer version wrote unknown names.
func fromJSON[T any](b []byte, v *T) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	strict := json.NewDecoder(bytes.NewReader(b))
	strict.DisallowUnknownFields()
	if strict.Decode(new(T)) != nil {
		return ErrNewer
	}
	return nil
}

func metrics(f *fields, number int, v *[]core.Metric) {
	if f.reading {
		if f.hit(number, counted) {
			f.unpack(v)
			f.next()
		}
		return
	}
	if len(*v) == 0 {
		return
	}
	n := 0
	for _, x := range *v {
		n += uvarintLen(uint64(x.ID)) + 8
	}
	f.tag(number, counted)
	f.out = binary.AppendUvarint(f.out, uint64(n))
	for _, x := range *v {
		f.out = binary.AppendUvarint(f.out, uint64(x.ID))
		f.out = binary.LittleEndian.AppendUint64(f.out, math.Float64bits(x.Value))
	}
}

func uvarintLen(u uint64) int {
	n := 1
	for ; u >= 0x80; u >>= 7 {
		n++
	}
	return n
}

func (f *fields) unpack(v *[]core.Metric) {
	list := (*v)[:0]
	if n := len(f.b) / 9; cap(list) < n {
		list = make([]core.Metric, 0, n)
	}
	for b := f.b; len(b) > 0; {
		id, rest, ok := uvarint(b)
		if !ok || len(rest) < 8 || id > math.MaxUint32 {
			f.fail(nil)
			return
		}
		list = append(list, core.Metric{ID: core.MetricID(id),
			Value: math.Float64frombits(binary.LittleEndian.Uint64(rest))})
		b = rest[8:]
	}
	*v = list
}
