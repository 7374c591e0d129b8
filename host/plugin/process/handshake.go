package process

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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
	msgBadCert = "the certificate that it announced is none: it must be DER in base64 without padding"
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
	if len(f) < 6 || f[5] == "" {
		return handshake{}, errors.New(msgNoCert)
	}
	if der, err := base64.RawStdEncoding.DecodeString(f[5]); err != nil || !isCertificate(der) {
		return handshake{}, errors.New(msgBadCert)
	}
	return handshake{line: line, address: f[3]}, nil
}

func isCertificate(der []byte) bool {
	_, err := x509.ParseCertificate(der)
	return err == nil
}

// opening is the stdout of a plugin: go-plugin gets the first line if it is a usable handshake, and the rest is log.
type opening struct {
	runner *runner
	line   []byte
	over   bool // the line has ended
	rest   *lineWriter
}

// Write implements io.Writer and never fails.
func (o *opening) Write(p []byte) (int, error) {
	rest := p
	if !o.over {
		rest = o.first(p)
	}
	_, _ = o.rest.Write(rest)
	return len(p), nil
}

// first takes what belongs to the first line.
func (o *opening) first(p []byte) (rest []byte) {
	part, rest, ended := bytes.Cut(p, []byte{'\n'})
	o.line = append(o.line, part...)
	if ended || len(o.line) >= maxHandshake {
		o.end()
	}
	return rest
}

// end ends the first line.
func (o *opening) end() {
	switch {
	case o.over:
		return
	case len(o.line) >= maxHandshake:
		o.runner.refuse(errLongHandshake)
	case len(o.line) > 0:
		o.runner.shakeHands(string(o.line))
	}
	o.over, o.line = true, nil
	_ = o.runner.handshake.Close()
}

// Close ends the last line.
func (o *opening) Close() error {
	o.end()
	return o.rest.Close()
}

// shakeHands passes the first line to go-plugin.
func (r *runner) shakeHands(line string) {
	h, err := parseHandshake(line)
	if err != nil {
		r.refuse(err)
		return
	}
	r.mu.Lock()
	r.socket = h.address
	r.mu.Unlock()
	_, _ = io.WriteString(r.handshake, h.line+"\n")
}

// brief returns the beginning of what a plugin wrote, for a message.
func brief(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
