package host

import (
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/loading"
)

// Mistakes in plugins' options come in the order of the file.
func TestMistakesInOrder(t *testing.T) {
	file := write(t, `
version: 1
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits, options: {epoch: 12}}
space: {x: {uniform: [0, 1]}}
scheduler: {plugin: asha, grac: 1}
searcher: {plugin: tpe, startup: 3}
`).File
	e, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, u := range loading.Uses(e) {
		if u.Ref.Pos.Line < last || filepath.Base(u.Ref.Pos.File) != "test.yaml" {
			t.Errorf("%v comes after line %d", u.Ref.Pos, last)
		}
		last = u.Ref.Pos.Line
	}
}
