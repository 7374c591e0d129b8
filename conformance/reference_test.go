package conformance_test

import (
	"testing"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/samples/reporter/lines"
)

// The reference plugins pass, in process and as processes.
func TestReferenceSearcher(t *testing.T) {
	t.Run("in-process", func(t *testing.T) { conformance.RunSearcher(t, conformance.InProcess(reference.Searcher)) })
	t.Run("process", func(t *testing.T) {
		conformance.RunSearcher(t, process(sdk.KindSearcher), conformance.Options{Short: true})
	})
}

func TestReferenceScheduler(t *testing.T) {
	t.Run("in-process", func(t *testing.T) { conformance.RunScheduler(t, conformance.InProcess(reference.Scheduler)) })
	t.Run("process", func(t *testing.T) {
		conformance.RunScheduler(t, process(sdk.KindScheduler), conformance.Options{Short: true})
	})
}

func TestReferenceTrainable(t *testing.T) {
	t.Run("in-process", func(t *testing.T) { conformance.RunTrainable(t, conformance.InProcess(reference.Trainable)) })
	t.Run("process", func(t *testing.T) {
		conformance.RunTrainable(t, process(sdk.KindTrainable), conformance.Options{Short: true})
	})
}

func TestReferenceExecutor(t *testing.T) {
	t.Run("in-process", func(t *testing.T) { conformance.RunExecutor(t, conformance.InProcess(reference.Executor)) })
	t.Run("process", func(t *testing.T) {
		conformance.RunExecutor(t, process(sdk.KindExecutor), conformance.Options{Short: true})
	})
}

// The sample passes as well, so the suite does not depend on the reference.
func TestSampleReporter(t *testing.T) {
	conformance.RunReporter(t, conformance.InProcess(lines.Plugin))
}

func process(kind sdk.Kind) conformance.Open {
	config, ok := plugins.Config(kind, "reference")
	if !ok {
		panic(kind)
	}
	return conformance.Process(config)
}
