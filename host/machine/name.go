package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
)

// Name identifies this machine also after another start. It does not reveal /etc/machine-id, which is meant to stay on
// the machine.
func Name() string {
	name, _ := os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id") // not every system has one
	sum := sha256.Sum256(append([]byte("tunehost "+name+" "), id...))
	return hex.EncodeToString(sum[:8])
}
