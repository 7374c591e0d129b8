package chaos

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// injectFault crashes, fails or hangs if configured for iteration i.
func (a *attempt) injectFault(i uint64) error {
	if a.FailTimes > 0 && a.trial.Attempt > a.FailTimes {
		return nil
	}
	switch i {
	case a.CrashAt:
		return a.crash(i)
	case a.FailAt:
		return fmt.Errorf("chaos: fail_at %d in attempt %d", i, a.trial.Attempt)
	case a.HangAt:
		return a.hang()
	}
	return nil
}

func (a *attempt) crash(i uint64) error {
	why := fmt.Sprintf("chaos: crash_at %d in attempt %d: %s", i, a.trial.Attempt, a.Crash)
	switch a.Crash {
	case crashExit:
		a.process.Exit(a.ExitCode)
	case crashKill:
		a.process.Kill()
	case crashPanicElsewhere:
		a.process.Crash(why)
	default:
		panic(why)
	}
	return fmt.Errorf("%s (intercepted)", why)
}

// hang returns when the trial was told to stop, unless it ignores stops.
func (a *attempt) hang() error {
	if a.Stubborn {
		a.process.Block()
		return sdk.ErrStopped
	}
	return a.pause(maxSeconds)
}

// result returns the metrics of iteration i, sorted by name.
func (a *attempt) result(i uint64) (sdk.Result, error) {
	r := sdk.Result{Iteration: i, Done: a.Done && i == a.Iterations}
	for name, value := range a.Metrics {
		r.Metrics = append(r.Metrics, sdk.Metric{Name: name, Value: value})
	}
	score, loss := a.curve(i)
	r.Metrics = append(r.Metrics, sdk.Metric{Name: a.LossMetric, Value: loss})
	if i != a.MissingAt {
		r.Metrics = append(r.Metrics, sdk.Metric{Name: a.ScoreMetric, Value: score})
	}
	slices.SortFunc(r.Metrics, func(x, y sdk.Metric) int { return cmp.Compare(x.Name, y.Name) })
	if a.OwnCheckpointEvery > 0 && i%a.OwnCheckpointEvery == 0 {
		dir, err := a.ownCheckpoint(i)
		r.Checkpoint = dir
		return r, err
	}
	return r, nil
}

func (a *attempt) curve(i uint64) (score, loss float64) {
	switch i {
	case a.NaNAt:
		return math.NaN(), math.NaN()
	case a.InfAt:
		return math.Inf(1), math.Inf(-1)
	}
	const pace = 5
	score = a.Quality * (1 - math.Exp(-float64(i)/pace))
	score += a.Noise * rand.New(rand.NewPCG(a.trial.Seed, i)).NormFloat64()
	return score, 1 - score
}

func (a *attempt) ownCheckpoint(i uint64) (string, error) {
	dir := filepath.Join(a.trial.Dir, fmt.Sprintf("chaos-%d-%d", a.trial.Attempt, i))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, a.save(dir, i)
}

func (a *attempt) fork() error {
	for range a.ForkChildren {
		pid, err := a.process.Spawn(a.DetachChildren)
		if err != nil {
			return fmt.Errorf("chaos: fork_children: %w", err)
		}
		a.run.Log(fmt.Sprintf("chaos: started child process %d", pid))
	}
	return nil
}

// floodOutput floods the outputs and the log.
func (a *attempt) floodOutput(i uint64) {
	if a.FloodOutput > 0 {
		stdout, stderr := a.process.outputs()
		for n := range a.FloodOutput {
			fmt.Fprintf(stdout, "chaos: iteration %d, line %d on stdout\n", i, n)
			fmt.Fprintf(stderr, "chaos: iteration %d, line %d on stderr\n", i, n)
		}
	}
	for n := range a.Garbage {
		a.run.Log(nonsense[int(n)%len(nonsense)])
	}
	if a.BigLog > 0 {
		a.run.Log(strings.Repeat("x", int(a.BigLog)))
	}
}

// nonsense has text that is difficult for logs, terminals and parsers.
var nonsense = []string{
	`{"score": 0.9, "loss"`,
	"\xff\xfe\x00 no text",
	"\x1b[2J\x1b[31m\a control",
	`{"score": "high"}`,
	"two\nlines\r\nand a return",
	`{"decision": "stop"}`,
	"",
	`1|1|unix|/tmp/nowhere|grpc`,
	strings.Repeat("[", 10_000),
	"\u202eright to left, and \u0000 nothing",
}

// fill returns memory that is really allocated: every page was written.
func fill(mebibytes uint32) []byte {
	if mebibytes == 0 {
		return nil
	}
	return bytes.Repeat([]byte{0xc4}, int(mebibytes)<<20)
}
