package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/journalview"
)

func (a *app) journalCommand() *cobra.Command {
	j := &journaling{app: a}
	cmd := &cobra.Command{
		Use:   "journal DIR [TRIAL]",
		Short: "Show the record of all events, in words",
		Long: `Show the record of all events, in words: each event with its number and the experiment's
running time. An experiment is resumed from this record, and replay runs it again. With
TRIAL, a number or an id, only events of that trial are shown.`,
		Example: `  tunehost journal results/digits
  tunehost journal results/digits 17
  tunehost journal results/digits --last 20 --follow
  tunehost journal results/digits --json | jq 'select(.event == "scheduler_decided")'`,
		Args: wants(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			j.tail = cmd.Flags().Changed("last")
			return j.run(args)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&j.follow, "follow", "f", false, "print new events until the host ends")
	f.Uint64Var(&j.from, "from", 1, "start at the event with this `NUMBER`")
	f.UintVarP(&j.last, "last", "n", 0, "show only the last `COUNT` events")
	jsonFlag(f, &j.json, "print one JSON object a line for each event")
	return cmd
}

// journaling prints a record.
type journaling struct {
	*app
	follow, json bool
	from         uint64
	last         uint
	tail         bool // only the last ones

	dir   storage.Dir
	trial *core.TrialNo // nil: all
	held  []*journalview.Entry
}

func (j *journaling) run(args []string) error {
	if j.follow {
		return j.here(args[0], "it can be followed only there", func(at string) error { return j.read(at, args) })
	}
	return j.fetched(args[0], func(at string, _ bool) error { return j.read(at, args) })
}

func (j *journaling) read(at string, args []string) error {
	var err error
	if j.dir, err = storage.At(at); err != nil {
		return err
	}
	if err := cmp.Or(j.dir.CheckOwn(), j.dir.Look()); err != nil {
		return err
	}
	if !j.dir.Exists() {
		return runfile.Missing(j.dir)
	}
	r, err := journalview.Open(j.dir)
	if err != nil {
		return err
	}
	defer r.Close()
	if len(args) == 2 {
		if err := j.find(args[1]); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return j.print(ctx, r)
}

// find finds the named trial.
func (j *journaling) find(text string) error {
	return j.with(j.dir.Path(), func(e *view.Recorded) error {
		no, err := e.Find(text)
		j.trial = &no
		return asUsage(err)
	})
}

// followEvery is how often the command looks for new records.
const followEvery = 200 * time.Millisecond

func (j *journaling) print(ctx context.Context, r *journalview.Reader) error {
	for {
		holder, err := journal.Holder(j.dir.Path()) // asked first: a host that ends has recorded its end
		if err != nil {
			return err
		}
		if err := j.printNew(r); err != nil {
			return errors.Join(j.release(), err)
		}
		if err := j.release(); err != nil {
			return err
		}
		if holder == nil {
			return j.end(r)
		}
		if !j.follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followEvery):
		}
	}
}

// printNew prints the new records.
func (j *journaling) printNew(r *journalview.Reader) error {
	return r.Each(func(e *journalview.Entry) error {
		if e.Number < j.from || j.trial != nil && !e.About(*j.trial) {
			return nil
		}
		journalview.Explain(j.dir, e)
		return j.put(e)
	})
}

// put prints an entry, or holds it back while only the last ones are wanted.
func (j *journaling) put(e *journalview.Entry) error {
	if !j.tail {
		return j.show(e)
	}
	if j.held = append(j.held, e); uint(len(j.held)) > j.last {
		j.held = j.held[1:]
	}
	return nil
}

// release prints what was held back. Later entries are new.
func (j *journaling) release() error {
	held := j.held
	j.held, j.tail = nil, false
	for _, e := range held {
		if err := j.show(e); err != nil {
			return err
		}
	}
	return nil
}

func (j *journaling) show(e *journalview.Entry) error {
	if j.json {
		return j.line(e)
	}
	text := fmt.Sprintf("%6d  %10.3fs  %-20s %s", e.Number, e.At.Seconds(), e.Kind(), e.Text())
	_, err := fmt.Fprintln(j.out, strings.TrimRight(text, " "))
	return err
}

// end says what is wrong with the record's end.
func (j *journaling) end(r *journalview.Reader) error {
	cut, err := r.Cut()
	if err != nil {
		return err
	}
	if cut != nil {
		fmt.Fprintf(j.err, "the end of the record was torn by a crash, and the next host cuts it off: %s\n", cut)
	}
	return nil
}
