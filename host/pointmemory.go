package host

import (
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// pointMemory keeps the points of trials that have not ended: to find them again in the
// parameters would be a third of all work of a simulation. It is for one goroutine.
type pointMemory struct{ points map[string]space.Point } // by parameters

func newPointMemory() *pointMemory { return &pointMemory{map[string]space.Point{}} }

// encode is find for points that are not remembered.
func (m *pointMemory) encode(find func([]byte) (space.Point, error)) func([]byte) (space.Point, error) {
	return func(params []byte) (space.Point, error) {
		if p, ok := m.points[string(params)]; ok {
			return slices.Clone(p), nil
		}
		return find(params)
	}
}

// suggestion remembers the points that trials are made of.
func (m *pointMemory) suggestion(
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

func (m *pointMemory) forget(params []byte) { delete(m.points, string(params)) }
