package auto

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

// served is the variable that the processes of plugins have.
const served = "TUNEHOST_PLUGIN"

// report writes a line for the host's log, as plugins do (PROTOCOL.md). In the
// host's own process, where experiments are simulated, it would be on the screen, a
// thousand times.
func report(text string) {
	if os.Getenv(served) == "" && runtime.GOOS != "wasip1" {
		return
	}
	line, err := json.Marshal(map[string]string{"@level": "info", "@message": text})
	if err == nil {
		fmt.Fprintln(os.Stderr, string(line))
	}
}
