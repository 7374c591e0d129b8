package opening

import (
	"testing"

	"github.com/tunehost/tunehost/host/config"
)

// Files of reporters that have one name are told apart.
func TestRelayKeys(t *testing.T) {
	taken := map[string]int{}
	for name, want := range map[string]string{"./a/lines": "lines", "../../x y": "x_y", "..": "__"} {
		if got := relayKey(config.PluginRef{Name: name}, taken); got != want {
			t.Errorf("%s has the key %q, want %q", name, got, want)
		}
	}
	if got := relayKey(config.PluginRef{Name: "lines"}, taken); got != "lines-2" {
		t.Errorf("the second of a name has the key %q", got)
	}
}
