package points

import (
	"slices"

	"github.com/tunehost/tunehost/core"
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

// Suggestion returns suggest with a memory of the points that it makes trials of.
func (m *Memory) Suggestion(
	suggest func(uint64, space.Point) (core.Suggestion, error),
) func(uint64, space.Point) (core.Suggestion, error) {
	return func(index uint64, p space.Point) (core.Suggestion, error) {
		g, err := suggest(index, p) // drops what does not exist from p
		if err == nil {
			m.points[string(g.Params)] = slices.Clone(p)
		}
		return g, err
	}
}

// Forget drops the point of a trial that has ended.
func (m *Memory) Forget(params []byte) { delete(m.points, string(params)) }
