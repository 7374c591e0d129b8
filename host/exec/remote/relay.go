package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// Ranks prepare nodes for the programs of other ranks than 0.
type Ranks interface {
	// Place makes sure that the node of a bundle has what a program needs there, changes the program's paths, which are
	// those of rank 0's node, to those of that node, and returns the connection to its agent. It gives up when the
	// context ends.
	Place(ctx context.Context, lease core.LeaseID, bundle int, p *process.Program) (link.Session, error)
}

// Relay starts processes on other nodes of a lease, as the agent of a session requests, until the session
// ends. place prepares the node of a bundle, as [Ranks] do for the lease of the session.
func Relay(s link.Session, place func(ctx context.Context, bundle int, p *process.Program) (link.Session, error)) {
	for {
		purpose, conn, err := s.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			err := fmt.Errorf("agents open no streams of the kind %.100q", purpose.Kind)
			if purpose.Kind == message.StreamRank {
				err = relay(conn, place)
			}
			if err != nil {
				_ = message.NewWriter(conn).Put(message.No, message.RefusalOf(err))
			}
		}()
	}
}

// relay connects the agent that requests a process with the agent that starts it.
func relay(from net.Conn, place func(context.Context, int, *process.Program) (link.Session, error)) error {
	var want message.Rank
	if err := from.SetReadDeadline(time.Now().Add(answerTime)); err != nil {
		return err
	}
	if err := message.Expect(from, message.Ask, &want); err != nil {
		return err
	}
	if err := from.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	var s link.Session
	err := whileWanted(from, func(ctx context.Context) (err error) {
		s, err = place(ctx, want.Bundle, &want.Start.Program)
		return err
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	to, err := s.Open(ctx, link.Purpose{Kind: message.StreamStart})
	if err != nil {
		return err
	}
	if err := message.NewWriter(to).Put(message.Ask, want.Start); err != nil {
		return err
	}
	link.Splice(from, to)
	return nil
}

// errUnwanted says that a process ended before the program that it represents could start.
var errUnwanted = errors.New("the trial does not wait for this program any more")

// whileWanted does something that may take long. The context ends if the other side goes, which sends nothing before it
// has an answer.
func whileWanted(conn net.Conn, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	left := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(conn, make([]byte, 1))
		if !isTimeout(err) {
			cancel(errUnwanted)
		}
		left <- err
	}()
	err := do(ctx)
	if e := conn.SetReadDeadline(time.Now()); e != nil {
		return e
	}
	if e := <-left; !isTimeout(e) {
		return errUnwanted
	}
	return errors.Join(err, conn.SetReadDeadline(time.Time{}))
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
