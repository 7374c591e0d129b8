package opening

import (
	"reflect"
	"testing"

	"github.com/tunehost/tunehost/host/config"
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
