// Servebench measures `tunehost serve` with a large experiment: how long each answer takes that a page of the
// dashboard needs, how much memory the server has, how long a reader waits in a Chromium and how smoothly the list
// of trials scrolls, how soon an open page shows a result, and what ten open pages cost a running host.
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
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("servebench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	trials := flags.Int("trials", 100_000, "the trials of the large experiment, with 27 results each")
	rounds := flags.Int("rounds", 30, "how often the running host is measured with pages, and without, 8 s each time")
	browser := flags.Bool("browser", true, "measure what a reader waits for, in a Chromium")
	only := flags.Bool("live", false, "measure only how soon an open page shows a result, which takes a minute")
	beside := flags.Bool("pages", false, "measure only what ten open pages cost a running host")
	train := flags.Duration("train", 0, "how long a trial of the running host takes for a result")
	kept := flags.String("keep", "", "use the large experiment in this folder; write it there if there is none")
	if flags.Parse(args) != nil {
		return 2
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: servebench [-trials N] [-rounds N] [-browser=false] [-live] [-pages] [-train D] "+
			"[-keep FOLDER] TUNEHOST")
		return 2
	}
	dir, err := os.MkdirTemp("", "servebench")
	if err == nil {
		err = measure(stdout, flags.Arg(0), dir, settings{*kept, *trials, *rounds, *browser, *only, *beside, *train})
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// settings are what is measured.
type settings struct {
	kept           string
	trials, rounds int
	browser        bool
	live, pages    bool
	train          time.Duration
}

func measure(out io.Writer, binary, dir string, s settings) error {
	switch {
	case s.live:
		return live(out, binary, dir)
	case s.pages:
		return pages(out, binary, dir, s.rounds, s.train)
	}
	if s.kept == "" {
		s.kept = filepath.Join(dir, "large")
	}
	home := filepath.Join(dir, "home")
	err := write(s.kept, s.trials)
	if err == nil {
		err = large(out, binary, home, s.kept)
	}
	if err == nil && s.browser {
		err = seen(out, binary, home, s.kept)
	}
	if err == nil && s.browser {
		err = live(out, binary, dir)
	}
	if err == nil && s.rounds > 0 {
		err = pages(out, binary, dir, s.rounds, s.train)
	}
	return err
}
