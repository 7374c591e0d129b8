package local

import (
	"os"
	"strings"
)

// Boot identifies this machine since its last start; "" if that is unknown.
func Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
