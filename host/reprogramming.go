package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
)

// reprogrammed warns where trials run another program from now on than earlier ones did; ""
// where they do not.
func reprogrammed(changes []config.Change) string {
	var keys []string
	for _, d := range changes {
		if slices.Contains(programKeys, d.Key) {
			keys = append(keys, d.Key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	first := changes[slices.IndexFunc(changes, func(d config.Change) bool { return d.Key == keys[0] })]
	return fmt.Sprintf("%s: changed: %s: trials from now on run another program, and are compared with what earlier ones have reported; "+
		"where that is not meant, begin anew with --resume never", first.Pos, strings.Join(keys, ", "))
}

// programKeys are what results depend on.
var programKeys = []string{"trainable.command", "trainable.cwd", "trainable.env", "trainable.plugin", "trainable.options", "trainable.metrics",
	"trainable"}
