package process

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// maxHandshake is the longest first line of stdout, in bytes: it contains a certificate.
const maxHandshake = 16 << 10

// The messages for authors and users when a handshake fails. plugins/sdk/PROTOCOL.md quotes them.
var errLongHandshake = fmt.Errorf("its first line on stdout is longer than %d bytes: "+
	"it is not a tunehost plugin, or it prints before the handshake", maxHandshake)

const (
	msgNoHandshake = "wrote %q on stdout where the handshake should be: " +
		"it is not a tunehost plugin, or it prints before the handshake"
	msgNewer = "it speaks protocol %d, this tunehost speaks %d: upgrade tunehost, or take a release of the plugin " +
		"for protocol %[2]d"
	msgOlder   = "it speaks protocol %d, this tunehost speaks %d: upgrade the plugin"
	msgNetwork = "it listens on %s; tunehost connects to unix sockets in PLUGIN_UNIX_SOCKET_DIR only"
	msgNotGRPC = "it speaks %q, not grpc"
	msgNoCert  = "it announced no certificate: plugins use TLS with the authority in PLUGIN_CLIENT_CERT"
)

// handshake is the line with which a plugin announces that it is ready:
//
//	1|PROTOCOL|unix|SOCKET|grpc|CERTIFICATE
type handshake struct {
	line    string
	address string
}

// parseHandshake reads the line of a plugin that this host can talk to.
func parseHandshake(raw string) (handshake, error) {
	line := strings.TrimSpace(raw)
	f := strings.Split(line, "|")
	if len(f) < 5 || f[0] != "1" {
		return handshake{}, fmt.Errorf(msgNoHandshake, brief(line))
	}
	version, err := strconv.Atoi(f[1])
	if err != nil {
		return handshake{}, fmt.Errorf(msgNoHandshake, brief(line))
	}
	if version > serve.Protocol {
		return handshake{}, fmt.Errorf(msgNewer, version, serve.Protocol)
	}
	if version < serve.Protocol {
		return handshake{}, fmt.Errorf(msgOlder, version, serve.Protocol)
	}
	if f[2] != "unix" {
		return handshake{}, fmt.Errorf(msgNetwork, brief(f[2]))
	}
	if f[4] != "grpc" {
		return handshake{}, fmt.Errorf(msgNotGRPC, brief(f[4]))
	}
	// go-plugin takes shorter fields for something else.
	if len(f) < 6 || len(f[5]) <= 50 {
		return handshake{}, errors.New(msgNoCert)
	}
	return handshake{line: line, address: f[3]}, nil
}

// brief returns the beginning of what a plugin wrote, for a message.
func brief(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
