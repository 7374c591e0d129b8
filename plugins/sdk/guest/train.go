package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/service"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// trainable answers the calls of a trainable and trains.
type trainable struct {
	*service.Trainable
	host Host
}

func (t *trainable) train(ctx context.Context, m *pb.GuestTrainRequest) (*pb.GuestTrainResponse, error) {
	opened, _, err := t.Opened()
	if err != nil {
		return nil, err
	}
	trial := wire.TrialFromProto(m.GetTrial())
	if trial == nil {
		return nil, &service.Error{Code: service.InvalidArgument, Text: "there is no trial to train"}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{ctx: ctx, host: t.host, trial: *trial, restored: m.GetRestored(), state: m.GetState(),
		iteration: trial.Iteration}
	return outcome(r.call(opened)), nil
}

// outcome encodes how training ended; a stop is not an error.
func outcome(err error) *pb.GuestTrainResponse {
	if err == nil || errors.Is(err, sdk.ErrStopped) {
		return &pb.GuestTrainResponse{}
	}
	if e, ok := errors.AsType[*sdk.RestoreError](err); ok {
		return &pb.GuestTrainResponse{Error: valid(e.Err.Error()), RestoreFailed: true}
	}
	return &pb.GuestTrainResponse{Error: valid(err.Error())}
}

// valid replaces invalid UTF-8, which protobuf cannot carry.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// run is one attempt, which the author's code sees as [sdk.Run].
type run struct {
	ctx      context.Context
	host     Host
	trial    sdk.Trial
	restored bool
	state    []byte
	// iteration of the last result
	iteration uint64

	mu   sync.Mutex
	halt chan struct{} // closed when the trial was told to stop; nil until Stopped is called
}

var (
	_ sdk.Run         = (*run)(nil)
	_ sdk.StateKeeper = (*run)(nil)
	_ sdk.Stopper     = (*run)(nil)
	_ sdk.Rejecter    = (*run)(nil)
	_ sdk.Hinter      = (*run)(nil)
)

// call runs the author's code; a panic becomes its error, and the stack is logged.
func (r *run) call(t sdk.Trainable) (err error) {
	defer func() {
		if v := recover(); v != nil {
			r.host.Log(abi.Error, fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return t.Train(r.ctx, r)
}

// Trial implements sdk.Run.
func (r *run) Trial() sdk.Trial { return r.trial }

// Log implements sdk.Run.
func (r *run) Log(line string) { r.host.Log(abi.Info, line) }

// Hint implements sdk.Hinter.
func (r *run) Hint(text string) { r.host.Log(abi.Warn, text) }

// Reject implements sdk.Rejecter.
func (r *run) Reject(text string) { r.host.Log(abi.Warn, "rejected: "+text) }

var errNoFiles = errors.New("a WASM module has no files to save to: its trainable must report with sdk.ReportState")

// Report implements sdk.Run. A save function that needs a directory gets an error when it is
// called.
func (r *run) Report(res sdk.Result, save func(dir string) error) error {
	if save == nil {
		return r.ReportState(res, nil)
	}
	return r.ReportState(res, func() ([]byte, error) { return nil, errNoFiles })
}

// ReportState implements sdk.StateKeeper.
func (r *run) ReportState(res sdk.Result, state func() ([]byte, error)) error {
	if res.Checkpoint != "" {
		return errNoFiles
	}
	message, err := proto.Marshal(wire.GuestReportToProto(res, state != nil))
	if err != nil {
		return err
	}
	r.iteration = cmp.Or(res.Iteration, r.iteration+1)
	answer := r.host.Report(message)
	for answer == abi.Save {
		if message, err = proto.Marshal(r.saved(state)); err != nil {
			return err
		}
		answer = r.host.Saved(message)
	}
	return verdict(answer)
}

// saved returns the message after Save.
func (r *run) saved(state func() ([]byte, error)) *pb.GuestSaved {
	if state == nil {
		return &pb.GuestSaved{Error: sdk.Unsaved(r.iteration)}
	}
	b, err := state()
	if err != nil {
		return &pb.GuestSaved{Error: valid(err.Error())}
	}
	return &pb.GuestSaved{State: b}
}

func verdict(a abi.Answer) error {
	switch a {
	case abi.Continue:
		return nil
	case abi.Stop:
		return sdk.ErrStopped
	case abi.Pause:
		return sdk.ErrPaused
	}
	return fmt.Errorf("the host answered a result with %d, which this SDK does not know", a)
}

// RestoredState implements sdk.StateKeeper.
func (r *run) RestoredState() ([]byte, error) {
	if !r.restored {
		return nil, nil
	}
	return append([]byte{}, r.state...), nil
}

// stopEvery is the polling interval of a trial that waits for a stop.
const stopEvery = 10 * time.Millisecond

// Stopped implements sdk.Stopper. Code that only computes must call it again to see a stop, because
// nothing else runs in a module meanwhile.
func (r *run) Stopped() <-chan struct{} {
	r.mu.Lock()
	if r.halt == nil {
		r.halt = make(chan struct{})
		go r.listen()
	}
	r.mu.Unlock()
	r.ask()
	return r.halt
}

// Paused reports, after Stopped is closed, whether the trial will continue later.
func (r *run) Paused() bool { return r.host.Stopped() == abi.Pause }

// listen polls while the author's code waits.
func (r *run) listen() {
	for r.ctx.Err() == nil && !r.ask() {
		time.Sleep(stopEvery)
	}
}

// ask closes halt when the trial was told to stop.
func (r *run) ask() (stopped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.halt:
		return true
	default:
	}
	if r.host.Stopped() == abi.Continue {
		return false
	}
	close(r.halt)
	return true
}
