package prepare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
)

// reprogrammed returns a warning if new trials run another program than earlier trials.
func reprogrammed(changes []config.Change) []string {
	var keys []string
	for _, d := range changes {
		if slices.Contains(programKeys, d.Key) {
			keys = append(keys, d.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	first := changes[slices.IndexFunc(changes, func(d config.Change) bool { return d.Key == keys[0] })]
	return []string{fmt.Sprintf("%s: changed: %s: trials from now on run another program, and are compared with "+
		"what earlier ones have reported; "+
		"if that is not intended, start a new experiment with --resume never", first.Pos, strings.Join(keys, ", "))}
}

// programKeys are the keys that decide which program runs.
var programKeys = []string{"trainable.command", "trainable.cwd", "trainable.env", "trainable.plugin",
	"trainable.options", "trainable.metrics",
	"trainable"}
