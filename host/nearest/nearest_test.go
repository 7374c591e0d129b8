package nearest

import "testing"

func TestOf(t *testing.T) {
	known := []string{"objective", "objectives", "trials", "trial_name", "stop", "storage"}
	for name, want := range map[string]string{
		"objectve": "objective", "trails": "trials", "TRIALS": "trials", "trial-name": "trial_name",
		"trial": "trials", "stpo": "stop", "sto": "stop", "entirely": "", "": "",
	} {
		if got := Of(name, known); got != want {
			t.Errorf("Of(%q) = %q, want %q", name, got, want)
		}
	}
}
