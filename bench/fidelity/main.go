// Fidelity measures searchers together with schedulers on tables of recorded trainings, in virtual
// time and in this process, so that an idea is tried in seconds.
//
//	go run ./bench/fidelity -problems DIR -pairs random+asha,tpe+asha -seeds 5
//
// DIR has a manifest.json and one folder for each table. A run has four workers, and as
// much time as -horizon full trainings of the mean configuration need. Its regret is (the best value
// seen at any iteration - the best of the table) / (the median of random configurations - the best of
// the table). The experiments are those of `tunehost asktell`, so a run has the same trials as one
// from outside with the same seed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	problems, pairs, tables string
	seeds, first, workers   int
	horizon, cost           float64
}

func run(args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("fidelity", flag.ContinueOnError)
	flags.StringVar(&s.problems, "problems", "", "the folder with manifest.json")
	flags.StringVar(&s.pairs, "pairs", "random+asha,auto+asha", "searcher+scheduler, …")
	flags.StringVar(&s.tables, "tables", ".", "only tables whose name matches this expression")
	flags.IntVar(&s.seeds, "seeds", 3, "the number of runs on each table")
	flags.IntVar(&s.first, "first", 0, "the first seed")
	flags.IntVar(&s.workers, "workers", 4, "the number of workers")
	flags.Float64Var(&s.horizon, "horizon", 100, "the length of a run, in full trainings")
	flags.Float64Var(&s.cost, "cost", -1, "the searchers' option cost, if it is not negative")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	return s.measure(out)
}

// measure runs all pairs on all tables.
func (s *settings) measure(out io.Writer) error {
	only, err := regexp.Compile(s.tables)
	if err != nil {
		return fmt.Errorf("-tables: %w", err)
	}
	tables, err := load(s.problems)
	if err != nil {
		return fmt.Errorf("-problems: %w", err)
	}
	for name := range strings.SplitSeq(s.pairs, ",") {
		var all []score
		for _, p := range tables {
			if !only.MatchString(p.ID) {
				continue
			}
			list, err := s.repeat(p, name)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, p.ID, err)
			}
			fmt.Fprintf(out, "%-20s %-12s %v\n", name, p.ID, total(list))
			all = append(all, list...)
		}
		fmt.Fprintf(out, "%-20s %-12s %v\n", name, "all", total(all))
	}
	return nil
}

// repeat runs a pair on a table with each seed.
func (s *settings) repeat(p *problem, name string) (list []score, err error) {
	searcher, scheduler, _ := strings.Cut(name, "+")
	what := pair{map[string]any{"plugin": searcher}, map[string]any{"plugin": scheduler}}
	if s.cost >= 0 {
		what.Searcher["cost"] = s.cost
	}
	switch scheduler {
	case "asha", "pasha", "hyperband", "bohb":
		what.Scheduler["max"] = p.Table.Resources
	case "promotion":
		what.Scheduler = map[string]any{"plugin": "asha", "type": "promotion", "max": p.Table.Resources}
	case "":
		what.Scheduler["plugin"] = "fifo"
	}
	for seed := s.first; seed < s.first+s.seeds; seed++ {
		begun := processorTime()
		r, err := p.run(context.Background(), what, seed, s.workers, s.horizon)
		if err != nil {
			return nil, err
		}
		list = append(list, p.score(r, s.horizon, processorTime()-begun))
	}
	return list, nil
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
