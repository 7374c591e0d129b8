package slurm

import (
	"slices"
	"testing"
)

// A refusal names what the user has chosen: the arguments as they were read, and the partitions that there are.
func TestRefusalNamesWhatWasChosen(t *testing.T) {
	b := newBench(t)
	b.write("sinfo", "#!/bin/sh\necho main; echo long\n", 0o755)
	b.Args = []string{"-xn4", "n2"}
	for lease, x := range map[string]struct{ says, want string }{
		"th-a-1": {"sbatch: error: Unable to open file n2",
			`sbatch: error: Unable to open file n2; the option args is ["-xn4" "n2"]`},
		"th-a-2": {"sbatch: error: invalid partition specified: gpu",
			`sbatch: error: invalid partition specified: gpu; there are main, long; the option args is ["-xn4" "n2"]`},
	} {
		b.does("sbatch", x.says)
		b.must(b.allocate(lease))
		b.mu.Lock()
		if want := lease + " refused: " + x.want; !slices.Contains(b.heard, want) {
			t.Errorf("%q, want %q", b.heard, want)
		}
		b.mu.Unlock()
	}
	b.GPU = "gpu:a100"
	if got, want := b.shown(), `; the option gpu is "gpu:a100"; the option args is ["-xn4" "n2"]`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
