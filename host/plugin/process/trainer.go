package process

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/train"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// OpenTrainable implements plugin.Opener.
func (p *Process) OpenTrainable(ctx context.Context, options []byte) (plugin.Trainer, error) {
	if err := p.openOnce(sdk.KindTrainable); err != nil {
		return nil, err
	}
	client := pb.NewTrainableServiceClient(p.conn)
	m, err := client.OpenTrainable(ctx, &pb.OpenTrainableRequest{Options: options})
	if err != nil {
		return nil, p.callFailure(ctx, "Open", err)
	}
	t := &trainer{Process: p, client: client, traits: sdk.TrainableTraits{
		Reusable: m.GetReusable(), Shared: m.GetShared(), Saves: m.GetSaves(), Requests: m.GetRequests(),
	}}
	var streamCtx context.Context
	streamCtx, t.cancel = context.WithCancel(context.Background())
	if t.stream, err = client.Train(streamCtx); err != nil {
		t.cancel()
		return nil, p.callFailure(ctx, "Train", err)
	}
	return t, nil
}

// trainer is an opened trainable. Commands queue here; one goroutine sends all queued ones in one
// message. There is none while nothing is queued: a host has thousands of trainables.
type trainer struct {
	*Process
	client pb.TrainableServiceClient
	traits sdk.TrainableTraits
	stream pb.TrainableService_TrainClient
	cancel context.CancelFunc

	mu      sync.Mutex
	queue   []train.Command
	spare   []train.Command
	writing bool // a goroutine sends, or has failed
	closed  bool
}

// Traits implements plugin.Trainer.
func (t *trainer) Traits() sdk.TrainableTraits { return t.traits }

// Request implements plugin.Trainer.
func (t *trainer) Request(ctx context.Context, params []byte) ([]byte, error) {
	m, err := t.client.RequestResources(ctx, &pb.RequestResourcesRequest{Params: params})
	if err != nil {
		return nil, t.callFailure(ctx, "Request", err)
	}
	return m.GetResources(), nil
}

// Send implements plugin.Trainer.
func (t *trainer) Send(commands []train.Command) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return train.ErrClosed
	}
	t.queue = append(t.queue, commands...)
	t.startWriting()
	return nil
}

// Recv implements plugin.Trainer.
func (t *trainer) Recv() ([]train.Event, error) {
	for {
		m, err := t.stream.Recv()
		if err != nil {
			return nil, t.broken(err)
		}
		events, err := wire.TrainEventsFromProto(m)
		if err != nil {
			return nil, t.garbage("Train", err)
		}
		if len(events) > 0 {
			return events, nil
		}
	}
}

// broken returns why the stream ended, and stops the writer.
func (t *trainer) broken(err error) error {
	closed := t.end() || t.ending.Load()
	switch {
	case closed:
		return io.EOF
	case errors.Is(err, io.EOF):
		return t.garbage("Train", errors.New("it ended the stream"))
	}
	return t.callFailure(context.Background(), "Train", err)
}

// end closes the queue and reports whether it was already closed.
func (t *trainer) end() (already bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	already, t.closed = t.closed, true
	t.startWriting()
	return already
}

// startWriting starts write, unless it runs. t.mu is held.
func (t *trainer) startWriting() {
	if !t.writing {
		t.writing = true
		go t.write()
	}
}

// write sends queued commands until there are none, the trainer is closed or the stream breaks; Recv returns the
// reason.
func (t *trainer) write() {
	for {
		commands, closed := t.next()
		if closed {
			_ = t.stream.CloseSend()
		}
		if len(commands) == 0 {
			return
		}
		if err := t.stream.Send(wire.CommandsToProto(commands)); err != nil {
			if s, ok := status.FromError(err); ok && !errors.Is(err, io.EOF) {
				_ = t.garbage("Train", s.Err()) // a command that cannot be sent
			}
			return
		}
	}
}

// next returns the queued commands. If there are none, the caller must end: closed says that none will follow.
func (t *trainer) next() (commands []train.Command, closed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		t.writing = t.closed
		return nil, t.closed
	}
	out := t.queue
	clear(t.spare)
	t.queue, t.spare = t.spare[:0], out
	return out, false
}

// Close implements plugin.Trainer.
func (t *trainer) Close() error {
	t.end()
	err := t.Process.Close()
	t.cancel()
	return err
}
