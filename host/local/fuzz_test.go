package local

import (
	"strings"
	"testing"
)

// FuzzOverride checks that a value of --resources is refused in one line, or that the nodes offer it
// within the bounds.
func FuzzOverride(f *testing.F) {
	for _, text := range []string{"cpu=16,gpu=2,memory=64GiB", "3xcpu=4", "cpu=1e999", "gpu=-1", "cpu=,",
		"100000xcpu=1", "999999999999xcpu=1", "gpu=0.5", "a b=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, err := range []error{overridden(t, text), virtual(t, text)} {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Fatalf("several lines: %q", err)
			}
		}
	})
}

func overridden(t *testing.T, text string) error {
	n, err := Override(Node{Name: "here", GPUs: []GPU{{ID: "7"}}}, text)
	if len(n.GPUs) > maxGPUs {
		t.Fatalf("%d GPUs", len(n.GPUs))
	}
	return err
}

func virtual(t *testing.T, text string) error {
	nodes, err := Virtual(text)
	if len(nodes) > maxNodes || err == nil && len(nodes) == 0 {
		t.Fatalf("%d nodes", len(nodes))
	}
	return err
}
