// Hostbench measures the tunehost command from outside: trials and results per second, the start,
// and the cost of an idle host.
//
//	go build -o /tmp/tunehost ./cmd/tunehost
//	go run ./bench/hostbench /tmp/tunehost
//	go run ./bench/hostbench -against /tmp/older /tmp/tunehost
//
// Machines differ and are never idle, so each figure is next to a baseline of the same run, such as
// starting the same program in a plain loop. Use it when you change the host; package benchmarks
// measure its parts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("hostbench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	scale := flags.Float64("scale", 1, "multiplies the number of trials and results")
	only := flags.String("only", "", "measure those whose name has this in it")
	against := flags.String("against", "", "run this binary in turn with the other, and print the ratios of costs")
	parent := flags.String("dir", "", "write experiments below this folder, not the system's for temporary files")
	if flags.Parse(args) != nil {
		return 2
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: hostbench [-scale X] [-only NAME] [-dir FOLDER] [-against OTHER] TUNEHOST")
		return 2
	}
	dir, err := os.MkdirTemp(*parent, "hostbench")
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := measure(stdout, flags.Arg(0), *against, dir, *scale, *only); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// measure prints the figures of one binary, or what it costs beside another.
func measure(out io.Writer, binary, against, dir string, scale float64, only string) error {
	b := &bench{binary: binary, dir: filepath.Join(dir, "new"), scale: scale}
	old := &bench{binary: against, dir: filepath.Join(dir, "old"), scale: scale}
	if err := errors.Join(os.Mkdir(b.dir, 0o700), os.Mkdir(old.dir, 0o700)); err != nil {
		return err
	}
	if against != "" {
		return compare(out, old, b, only)
	}
	return table(out, b, only)
}

// A row is one figure: its name, its value, and the baseline.
type row struct{ what, figure, beside string }

// table measures and prints, one line after the other.
func table(out io.Writer, b *bench, only string) error {
	fmt.Fprintln(out, machine())
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, m := range measures {
		if !strings.Contains(m.name, only) {
			continue
		}
		r, err := m.run(b)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.what, r.figure, r.beside)
	}
	return w.Flush()
}
