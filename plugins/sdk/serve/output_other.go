//go:build !unix && !wasip1

package serve

import (
	"errors"
	"os"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// printToFiles is not supported here: output of trials goes to the log.
func printToFiles(*sdk.Trial) (back func(), err error) { return func() {}, nil }

type logWriter struct{ stderr *os.File }

func (w logWriter) Write(b []byte) (int, error) { return w.stderr.Write(b) }

func joinOutputs() error { return errors.ErrUnsupported }
