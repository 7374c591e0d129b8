package opening

import (
	"reflect"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// An output that the file does not name keeps its usual file.
func TestLogOption(t *testing.T) {
	for log, want := range map[config.Log]any{
		{}:                         false,
		{On: true}:                 true,
		{On: true, Stdout: "o"}:    map[string]string{"stdout": "o", "stderr": "stderr"},
		{On: true, Stderr: "e"}:    map[string]string{"stdout": "stdout", "stderr": "e"},
		{Stdout: "o", Stderr: "e"}: false,
	} {
		if got := logOption(log); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %v", log, got)
		}
	}
}

// An executor that cannot be opened is not started again.
func TestOverdueExecutor(t *testing.T) {
	got := overdue(sdk.KindExecutor, config.PluginRef{Name: "far"}, deadlines.Open, time.Second, 5*time.Second)
	if want := `executor "far" has not answered Open for 1s; it is given up after 5s (deadlines.open)`; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
