package machine

import "os"

// Here identifies this machine since its last start, and its space of process numbers; "" where that
// is unknown.
func Here() string {
	boot := Boot()
	numbers, err := os.Readlink("/proc/self/ns/pid")
	if boot == "" || err != nil {
		return ""
	}
	return boot + " " + numbers
}
