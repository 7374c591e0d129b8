package command

import "testing"

// A program that starts others on several nodes: its summary is what one of them said, not what the launcher says
// of their end.
func TestTelling(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"  loading", "  no GPU here"}, "  no GPU here"},
		{[]string{"  no GPU here", "  srun: error: n2: task 1: Exited with exit code 1",
			"  slurmstepd: error: *** STEP 4.1 ON n1 CANCELLED ***"}, "  no GPU here"},
		{[]string{"  srun: error: Unable to create step"}, "  srun: error: Unable to create step"},
	} {
		if got := lastOwnLine(c.lines); got != c.want {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
}
