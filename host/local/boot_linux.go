package local

import (
	"os"
	"strings"
)

// Boot names this machine since it was started; "" where that cannot be known.
func Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
