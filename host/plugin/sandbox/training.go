package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// training is one attempt in an instance of its own. The module calls report and saved, and waits.
// Meanwhile run.Report waits in another goroutine for the host, and for the module when the host wants
// the state.
type training struct {
	run     sdk.Run
	answers chan answer     // what report and saved return
	states  chan saved      // what the module has handed over
	over    chan struct{}   // closed when the module has returned
	killed  <-chan struct{} // closed when the trial was killed, or its host is gone
	asked   bool            // the module was told to save, and has not saved yet
}

// answer is what the host answers to the module, or says that nobody does.
type answer struct {
	abi.Answer
	killed bool
}

// saved is a state, or the reason why there is none.
type saved struct {
	state []byte
	err   error
}

// trainable trains in fresh instances of a module, opened with options.
type trainable struct {
	module  *module
	options []byte
}

// open makes an instance that is ready to train.
func (t *trainable) open(ctx context.Context) (*instance, error) {
	i, err := t.module.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	request := &pb.OpenTrainableRequest{Options: t.options}
	if err := forward(ctx, i, pb.TrainableService_OpenTrainable_FullMethodName, request,
		&pb.OpenTrainableResponse{}); err != nil {
		i.close(ctx)
		return nil, err
	}
	return i, nil
}

// Train implements sdk.Trainable.
func (t *trainable) Train(ctx context.Context, run sdk.Run) error {
	request, err := begin(run.Trial())
	if err != nil {
		return err
	}
	i, err := t.open(ctx)
	if err != nil {
		return plain(err)
	}
	defer i.close(ctx)
	i.training = newTraining(ctx, run)
	defer close(i.training.over)
	ended := &pb.GuestTrainResponse{}
	if err := forward(ctx, i, pb.GuestService_GuestTrain_FullMethodName, request, ended); err != nil {
		switch {
		case i.killed:
			return sdk.ErrKilled
		case i.dead != nil:
			return i.lastWords()
		}
		return plain(err)
	}
	return outcome(ended)
}

// lastWords is the error of a module that broke off a training, with what helps to find out why.
func (i *instance) lastWords() error {
	text := status.Convert(i.dead).Message()
	if size, most := uint64(i.mod.Memory().Size()), i.of.config.memory(); size > most/2 {
		text += fmt.Sprintf("; its memory had grown to %d of %d MiB (sandbox.memory)", size>>20, most>>20)
	}
	return errors.New(text + i.said.last())
}

func newTraining(ctx context.Context, run sdk.Run) *training {
	return &training{run: run, answers: make(chan answer), states: make(chan saved), over: make(chan struct{}),
		killed: ctx.Done()}
}

// plain converts a gRPC error to one that fails a trial.
func plain(err error) error { return errors.New(status.Convert(err).Message()) }

func outcome(m *pb.GuestTrainResponse) error {
	switch {
	case m.GetRestoreFailed():
		return &sdk.RestoreError{Err: errors.New(m.GetError())}
	case m.GetError() != "":
		return errors.New(m.GetError())
	}
	return nil
}

// begin makes the call's request, with the state to restore.
func begin(t sdk.Trial) (*pb.GuestTrainRequest, error) {
	var state []byte
	if t.Restore != "" {
		var err error
		if state, err = restore(filepath.Join(t.Restore, sdk.StateFile)); err != nil {
			return nil, &sdk.RestoreError{Err: err}
		}
	}
	return wire.GuestTrialToProto(t, state), nil
}

// restore reads a state; it is never nil.
func restore(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	state, err := io.ReadAll(io.LimitReader(f, abi.MaxStateBytes+1))
	if err == nil && len(state) > abi.MaxStateBytes {
		err = fmt.Errorf("%s is larger than the %d MiB allowed", file, abi.MaxStateBytes>>20)
	}
	return state, err
}

// report is the imported function.
func (t *training) report(message []byte) abi.Answer {
	if t.asked {
		panic(&violation{"called report when saved was due"})
	}
	m := &pb.GuestReport{}
	if err := proto.Unmarshal(message, m); err != nil {
		panic(&violation{"reported an invalid message: " + err.Error()})
	}
	result, saves := wire.GuestReportFromProto(m)
	var save func(string) error
	if saves {
		save = t.save
	}
	go func() {
		select {
		case t.answers <- answerTo(t.run.Report(result, save)):
		case <-t.over:
		}
	}()
	return t.next()
}

// next waits for the answer to the module.
func (t *training) next() abi.Answer {
	a := <-t.answers
	if a.killed {
		panic(&unanswered{})
	}
	t.asked = a.Answer == abi.Save
	return a.Answer
}

// answerTo converts a run's answer for the module.
func answerTo(err error) answer {
	switch {
	case err == nil:
		return answer{Answer: abi.Continue}
	case errors.Is(err, sdk.ErrKilled):
		return answer{killed: true}
	case errors.Is(err, sdk.ErrPaused):
		return answer{Answer: abi.Pause}
	}
	return answer{Answer: abi.Stop}
}

// save is called by run.Report: it asks the module for its state and writes it.
func (t *training) save(dir string) error {
	select {
	case t.answers <- answer{Answer: abi.Save}:
	case <-t.over:
		return errNoState
	}
	select {
	case s := <-t.states:
		if s.err != nil {
			return s.err
		}
		return os.WriteFile(filepath.Join(dir, sdk.StateFile), s.state, 0o600)
	case <-t.over:
		return errNoState
	}
}

var errNoState = errors.New("the module returned without handing over its state")

// saved is the imported function.
func (t *training) saved(message []byte) abi.Answer {
	if !t.asked {
		panic(&violation{"called saved without being asked to save"})
	}
	m := &pb.GuestSaved{}
	if err := proto.Unmarshal(message, m); err != nil {
		panic(&violation{"saved an invalid message: " + err.Error()})
	}
	s := saved{state: m.GetState()}
	if m.GetError() != "" {
		s.err = errors.New(m.GetError())
	}
	t.states <- s
	return t.next()
}

// stopped is the imported function.
func (t *training) stopped() abi.Answer {
	s, ok := t.run.(sdk.Stopper)
	if !ok {
		return abi.Continue
	}
	select {
	case <-s.Stopped():
	default:
		return abi.Continue
	}
	select {
	case <-t.killed:
		panic(&unanswered{})
	default:
	}
	if p, ok := t.run.(sdk.Pauser); ok && p.Paused() {
		return abi.Pause
	}
	return abi.Stop
}
