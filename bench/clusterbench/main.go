// Clusterbench measures experiments on the nodes of engines, each beside what the engine itself does in the same
// run. Slurm is a real one, which it brings up on this machine and removes again (internal/engines/slurm): it needs
// root. Other measures start agents as processes of this machine (the executor fake with agents: true).
//
//	go build -o /tmp/tunehost ./cmd/tunehost
//	go run ./bench/clusterbench /tmp/tunehost
//	go run ./bench/clusterbench -only leases /tmp/tunehost
//
// All nodes are this machine: what would happen on 64 nodes at the same time shares its processors here.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"text/tabwriter"

	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() {
	if binary := os.Getenv(realProgram); binary != "" {
		fmt.Fprintln(os.Stderr, syscall.Exec(binary, os.Args, os.Environ()))
		os.Exit(1)
	}
	if os.Getenv(serve.CookieKey) == serve.CookieValue { // a host has started it
		serve.Executor(crowdPlugin)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("clusterbench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	scale := flags.Float64("scale", 1, "multiplies the number of trials and results")
	only := flags.String("only", "", "measure only this: leases, start, trials, results, loss or crowd")
	parent := flags.String("dir", "", "write experiments below this folder, not the system's for temporary files")
	if flags.Parse(args) != nil {
		return 2
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: clusterbench [-scale X] [-only NAME] [-dir FOLDER] TUNEHOST")
		return 2
	}
	b := &bench{scale: *scale}
	if err := b.prepare(flags.Arg(0), *parent); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	err := errors.Join(b.table(stdout, *only), os.RemoveAll(b.dir))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// prepare makes the folders of the bench. The home is empty: a login shell, which each job is, starts as fast as it
// can there.
func (b *bench) prepare(binary, parent string) (err error) {
	if b.binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(parent, "clusterbench"); err != nil {
		return err
	}
	b.home = filepath.Join(b.dir, "home")
	return os.Mkdir(b.home, 0o700)
}

// A row is one figure: its name, its value, and what the engine does in the same run.
type row struct{ what, value, engine string }

var measures = []struct {
	name string
	run  func(*bench) (row, error)
}{
	{"leases", leases}, {"start", start}, {"trials", trials}, {"results", results}, {"loss", loss}, {"crowd", crowd},
}

// table measures and prints.
func (b *bench) table(out io.Writer, only string) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, m := range measures {
		if only != "" && m.name != only {
			continue
		}
		r, err := m.run(b)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\tload %s\n", r.what, r.value, r.engine, load())
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}
