package points

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// Memory keeps the points of trials that have not ended: parsing them from parameters again would
// be a third of all work of a simulation. It is for one goroutine.
type Memory struct{ points map[string]space.Point } // by parameters

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{map[string]space.Point{}} }

// Encode returns a function that finds points in memory, and others with find.
func (m *Memory) Encode(find func([]byte) (space.Point, error)) func([]byte) (space.Point, error) {
	return func(params []byte) (space.Point, error) {
		if p, ok := m.points[string(params)]; ok {
			return slices.Clone(p), nil
		}
		return find(params)
	}
}

// Suggest is [Suggest] with a memory of the trial's point. A nil Memory remembers nothing.
func (m *Memory) Suggest(e *config.Experiment, seed, index uint64, p space.Point) (core.Suggestion, error) {
	params, p, err := suggested(e, seed, index, p)
	if err == nil && m != nil {
		m.points[string(params)] = slices.Clone(p)
	}
	return core.Suggestion{Params: params}, err
}

// Forget drops the point of a trial that has ended.
func (m *Memory) Forget(params []byte) { delete(m.points, string(params)) }
