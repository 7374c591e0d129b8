package auto

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

// served is a variable that is set in plugin processes.
const served = "TUNEHOST_PLUGIN"

// report writes a line for the host's log, as plugins do (PROTOCOL.md). In the host's own process,
// which runs simulations, the line would go to the terminal, so it is dropped there.
func report(text string) {
	if os.Getenv(served) == "" && runtime.GOOS != "wasip1" {
		return
	}
	line, err := json.Marshal(map[string]string{"@level": "info", "@message": text})
	if err == nil {
		fmt.Fprintln(os.Stderr, string(line))
	}
}
