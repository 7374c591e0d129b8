package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Same reports whether the store has the experiment of a working directory, as far as both are known: another one of
// the same name has another run.
func (s *Store) Same(ctx context.Context, dir string) (bool, error) {
	text, err := s.get(ctx, runFile)
	if err != nil && !errors.Is(err, ErrNone) {
		return false, err
	}
	own, err := nolink.ReadFile(filepath.Join(dir, runFile), maxSmall)
	if err != nil {
		return true, nil // reading the experiment reports it
	}
	there, here := runIn(text), runIn(own)
	return there == "" || here == "" || there == here, nil
}

func runIn(text []byte) string {
	var r struct {
		RunID string `json:"run_id"`
	}
	if json.Unmarshal(text, &r) != nil {
		return ""
	}
	return r.RunID
}
