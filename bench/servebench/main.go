// Servebench measures `tunehost serve` with a large experiment: how long each answer takes that a page of the
// dashboard needs, how much memory the server has, and what ten open pages cost a running host.
//
//	go build -o /tmp/tunehost ./cmd/tunehost
//	go run ./bench/servebench /tmp/tunehost
//
// The large experiment has 100,000 trials and 2.7 million results; -trials changes that.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("servebench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	trials := flags.Int("trials", 100_000, "the trials of the large experiment, with 27 results each")
	rounds := flags.Int("rounds", 5, "how often the running host is measured with pages, and without")
	kept := flags.String("keep", "", "use the large experiment in this folder; write it there if there is none")
	if flags.Parse(args) != nil {
		return 2
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: servebench [-trials N] [-rounds N] [-keep FOLDER] TUNEHOST")
		return 2
	}
	dir, err := os.MkdirTemp("", "servebench")
	if err == nil {
		err = measure(stdout, flags.Arg(0), dir, *kept, *trials, *rounds)
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func measure(out io.Writer, binary, dir, kept string, trials, rounds int) error {
	if kept == "" {
		kept = filepath.Join(dir, "large")
	}
	if err := write(kept, trials); err != nil {
		return err
	}
	if err := large(out, binary, filepath.Join(dir, "home"), kept); err != nil {
		return err
	}
	if rounds == 0 {
		return nil
	}
	return pages(out, binary, dir, rounds)
}
