package link

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"time"
)

// Ticket is what an agent needs to connect for the first time. It is a secret.
type Ticket struct {
	// Dial are the host's addresses, as host:port, in the order in which to try them.
	Dial []string `json:"dial"`
	// Authority is the certificate of the experiment's authority, DER.
	Authority []byte `json:"ca"`
	// Token is shown once for each bundle of the lease.
	Token string `json:"token"`
	// Lease and Epoch are what the token is for.
	Lease string `json:"lease"`
	Epoch uint64 `json:"epoch"`
	// Experiment is its name, for messages.
	Experiment string `json:"experiment"`
	// GraceSeconds is how long the agent waits for a host that does not answer.
	GraceSeconds float64 `json:"grace_seconds"`
	// File is a file with the host's present addresses. It can be read where the node has the host's file
	// system.
	File string `json:"file"`
}

const (
	maxTicket    = 64 << 10
	maxAddresses = 64
)

// Text returns the value of TUNEHOST_AGENT.
func (t Ticket) Text() string {
	text, _ := json.Marshal(t) // it cannot fail
	return base64.StdEncoding.EncodeToString(text)
}

var errTicket = errors.New("it is not what the host gives to an agent")

// ParseTicket reads the value of TUNEHOST_AGENT. Errors do not contain it.
func ParseTicket(text string) (t Ticket, err error) {
	if len(text) > maxTicket {
		return t, errTicket
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return t, errTicket
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&t); err != nil || d.More() {
		return Ticket{}, errTicket
	}
	if !t.whole() {
		return Ticket{}, errTicket
	}
	return t, nil
}

func (t *Ticket) whole() bool {
	_, err := x509.ParseCertificate(t.Authority)
	grace := t.GraceSeconds >= 0 && t.GraceSeconds < 1e9
	return err == nil && grace && validLease(t.Lease) && t.Token != "" && len(t.Dial) > 0 && addresses(t.Dial) &&
		(t.File == "" || filepath.IsAbs(t.File))
}

// Grace is how long the agent waits for a host that does not answer.
func (t *Ticket) Grace() time.Duration { return time.Duration(t.GraceSeconds * float64(time.Second)) }

// addresses reports whether a list has addresses to dial, and not too many.
func addresses(list []string) bool {
	for _, a := range list {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" || len(a) > 300 {
			return false
		}
	}
	return len(list) <= maxAddresses
}

const maxLease = 63

// validLease reports whether a text can be the name of a lease, which is also that of a file.
func validLease(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return name != "" && len(name) <= maxLease
}
