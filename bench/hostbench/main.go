// Hostbench measures the tunehost command from outside: trials and results a
// second, the start, and what an idle host costs.
//
//	go build -o /tmp/tunehost ./cmd/tunehost
//	go run ./bench/hostbench /tmp/tunehost
//
// Machines differ and are never idle, so that each figure stands beside a plain
// one of the same run: starting the same program in a bare loop, say. It is for
// those who change the host; package benchmarks measure its parts.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("hostbench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	scale := flags.Float64("scale", 1, "multiplies the number of trials and results")
	only := flags.String("only", "", "measure those whose name has this in it")
	parent := flags.String("dir", "", "write experiments below this folder, not the system's for temporary files")
	if flags.Parse(args) != nil {
		return 2
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: hostbench [-scale X] [-only NAME] [-dir FOLDER] TUNEHOST")
		return 2
	}
	dir, err := os.MkdirTemp(*parent, "hostbench")
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	b := &bench{binary: flags.Arg(0), dir: dir, scale: *scale}
	if err := table(stdout, b, *only); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// row is one figure: what, how much, and beside what.
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
