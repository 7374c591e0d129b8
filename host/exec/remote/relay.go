package remote

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
)

// Relay starts processes on other nodes of a lease, as the agent of a session requests, until the session
// ends. bundle returns the connection to the agent of another bundle.
func Relay(s link.Session, bundle func(index int) (link.Session, error)) {
	for {
		purpose, conn, err := s.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			err := fmt.Errorf("agents open no streams of the kind %.100q", purpose.Kind)
			if purpose.Kind == message.StreamRank {
				err = relay(conn, bundle)
			}
			if err != nil {
				_ = message.NewWriter(conn).Put(message.No, message.RefusalOf(err))
			}
		}()
	}
}

// relay connects the agent that requests a process with the agent that starts it.
func relay(from net.Conn, bundle func(int) (link.Session, error)) error {
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
	s, err := bundle(want.Bundle)
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
