package link

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"
)

// Neither side accepts a certificate of another experiment's authority.
func TestForeignAuthority(t *testing.T) {
	w, foreign := openHub(t, t.TempDir()), openHub(t, t.TempDir())
	ticket, theirs := w.expect("th-1", 1), foreign.expect("th-1", 1)
	ticket.Dial, ticket.File, ticket.GraceSeconds = theirs.Dial[:1], "", 0
	err := <-run(t, ticket, 0, func(a *Agent) { a.Clock = newHandClock() }).ended
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "another host or program answers there") {
		t.Error(err)
	}
	key, priv, _ := ed25519.GenerateKey(rand.Reader)
	der, err := foreign.authority.agents(key, identity{"th-1", w.leases["th-1"].Epoch, 0})
	if err != nil {
		t.Fatal(err)
	}
	config := w.client()
	config.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: priv}}
	if conn, err := tls.Dial("tcp", w.Addresses()[0], config); err == nil {
		if a, err := readAnswer(conn); err == nil {
			t.Error("a foreign certificate is accepted:", a)
		}
	}
}

// An authority's file is read again, also one with a key of the kind that earlier hosts made.
func TestAuthorityFile(t *testing.T) {
	made, err := newAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	_, old, _ := ed25519.GenerateKey(rand.Reader)
	template := certificate("tunehost experiment", made.cert.NotBefore, made.cert.NotAfter)
	template.IsCA, template.BasicConstraintsValid = true, true
	der, err := x509.CreateCertificate(rand.Reader, template, template, old.Public(), old)
	if err != nil {
		t.Fatal(err)
	}
	cert, _ := x509.ParseCertificate(der)
	for _, a := range []*authority{made, {old, cert}} {
		text, err := a.text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseAuthority(text)
		if err != nil || !again.cert.Equal(a.cert) {
			t.Fatalf("%T: %v", a.key, err)
		}
		if _, err := again.hosts(); err != nil {
			t.Errorf("%T: %v", a.key, err)
		}
	}
}

// client returns the configuration with which an agent connects to the hub.
func (w *world) client() *tls.Config {
	return &tls.Config{RootCAs: w.authority.pool(), ServerName: serverName, MinVersion: tls.VersionTLS13,
		NextProtos: []string{protocol}, Time: w.authority.moment}
}

// An agent cannot pose as the host.
func TestAgentsAreNoHosts(t *testing.T) {
	w := openHub(t, t.TempDir())
	key, _, _ := ed25519.GenerateKey(rand.Reader)
	der, err := w.authority.agents(key, identity{"th-1", 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	cert, _ := x509.ParseCertificate(der)
	_, err = cert.Verify(x509.VerifyOptions{Roots: w.authority.pool(), CurrentTime: w.authority.moment(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err == nil {
		t.Error("the certificate of an agent serves for a host")
	}
}

// Connections without TLS 1.3, or of another version of the protocol, fail in the handshake.
func TestDowngrade(t *testing.T) {
	w := openHub(t, t.TempDir())
	for name, change := range map[string]func(*tls.Config){
		"TLS 1.2":          func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 },
		"another protocol": func(c *tls.Config) { c.NextProtos = []string{"tunehost-agent/0"} },
	} {
		config := w.client()
		change(config)
		if conn, err := tls.Dial("tcp", w.Addresses()[0], config); err == nil {
			t.Errorf("%s: %v", name, conn.ConnectionState())
		}
	}
}
