package digits

import (
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// checkpointFile is the name of the file in a checkpoint's directory.
const checkpointFile = "digits.gob"

// checkpointVersion changes with the fields of checkpoint.
const checkpointVersion = 1

// A checkpoint is the state that a run needs to continue after an epoch.
type checkpoint struct {
	Version   int
	Sizes     []int
	Epoch     uint64
	Weights   []float64
	Optimizer string
	Moments   []float64
	Steps     uint64
}

// save writes the state to dir; the host ensures that a checkpoint is complete.
func (t *training) save(dir string) error {
	f, err := os.Create(filepath.Join(dir, checkpointFile))
	if err != nil {
		return err
	}
	err = gob.NewEncoder(f).Encode(checkpoint{
		Version: checkpointVersion, Sizes: t.net.sizes, Epoch: t.epoch,
		Weights: t.net.weights, Optimizer: t.opt.name, Moments: t.opt.moments, Steps: t.opt.steps,
	})
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// restore continues from the checkpoint in dir. Every error is a [sdk.RestoreError].
func (t *training) restore(dir string) error {
	c, err := readCheckpoint(filepath.Join(dir, checkpointFile))
	if err == nil {
		err = t.take(c)
	}
	if err != nil {
		return &sdk.RestoreError{Err: err}
	}
	return nil
}

func readCheckpoint(path string) (c checkpoint, err error) {
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// take applies c to the training. If the optimizer differs from the checkpoint's, it starts with
// the weights and a new state.
func (t *training) take(c checkpoint) error {
	switch {
	case c.Version != checkpointVersion:
		return fmt.Errorf("its version is %d, this plugin reads version %d", c.Version, checkpointVersion)
	case !slices.Equal(c.Sizes, t.net.sizes):
		return fmt.Errorf("its layers have sizes %v, layers and units ask for %v", c.Sizes, t.net.sizes)
	case len(c.Weights) != len(t.net.weights):
		return fmt.Errorf("it has %d weights, layers of its sizes have %d", len(c.Weights), len(t.net.weights))
	}
	if c.Optimizer == t.opt.name {
		if len(c.Moments) != len(t.opt.moments) {
			return fmt.Errorf("it has %d moments of %s, want %d", len(c.Moments), c.Optimizer, len(t.opt.moments))
		}
		copy(t.opt.moments, c.Moments)
		t.opt.steps = c.Steps
	}
	copy(t.net.weights, c.Weights)
	t.epoch = c.Epoch
	return nil
}
