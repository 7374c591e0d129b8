// Package machine says which machine this is: computers that are copies of each other have the same name.
package machine

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
