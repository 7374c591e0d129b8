package host

import (
	"context"
	"errors"
	"testing"

	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-024: an interrupt while a plugin opens does not wait for it, and has begun
// nothing.
func TestInterruptedWhileOpening(t *testing.T) {
	opening, release := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(release) })
	slow := searcherOf("slow", func(sdk.Problem) asked {
		close(opening)
		<-release
		return nil
	})
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\nsearcher: slow\ntrials: 5\n"), slow)
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-opening
		interrupt()
	}()
	if ended, err := run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", ended, err)
	}
	e, err := prepare.Load(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := storage.At(e.Storage + "/" + e.Name); err != nil || d.Exists() {
		t.Errorf("an experiment was begun in %s: %v", d.Path(), err)
	}
}

// B-024: nor does one who is asked a question.
func TestInterruptedWhileAsked(t *testing.T) {
	o, _ := quick(t, search("space: {x: {uniform: [0, 1]}}\ntrials: 1\n"))
	finish(t, o)
	ctx, interrupt := context.WithCancel(t.Context())
	asked := make(chan struct{})
	o.Resume, o.Ask = "prompt", func(string) bool { interrupt(); <-asked; return true }
	t.Cleanup(func() { close(asked) })
	if ended, err := run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", ended, err)
	}
}
