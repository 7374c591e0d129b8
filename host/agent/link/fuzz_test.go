package link

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"net/url"
	"testing"
	"time"
)

// FuzzRequest: bytes from a stranger before the host knows who it is.
func FuzzRequest(f *testing.F) {
	_, key, _ := ed25519.GenerateKey(rand.Reader)
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		f.Fatal(err)
	}
	good, _ := json.Marshal(request{Token: "t", Lease: "th-1", Epoch: 1, CSR: csr})
	f.Add(append(good, '\n'))
	f.Add([]byte(`{"csr":"AAAA"}` + "\n"))
	f.Add(bytes.Repeat([]byte("x"), maxHello+1))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, csr, err := readRequest(bytes.NewReader(text))
		if err == nil && csr == nil {
			t.Error("no certificate request")
		}
		_, _ = readAnswer(bytes.NewReader(text))
	})
}

// FuzzTicket: the environment of an agent.
func FuzzTicket(f *testing.F) {
	a, err := newAuthority(time.Unix(1e9, 0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(Ticket{Dial: []string{"a:1"}, Authority: a.cert.Raw, Token: "t", Lease: "th-1", File: "/x"}.Text())
	f.Add("e30=")
	f.Fuzz(func(t *testing.T, text string) {
		ticket, err := ParseTicket(text)
		if err == nil && (len(ticket.Dial) == 0 || !validLease(ticket.Lease) || ticket.Grace() < 0) {
			t.Errorf("%+v", ticket)
		}
	})
}

// FuzzIdentity: the name in a certificate.
func FuzzIdentity(f *testing.F) {
	f.Add("th-1/7/0")
	f.Add("//")
	f.Fuzz(func(t *testing.T, name string) {
		who, err := identityOf(&x509.Certificate{URIs: []*url.URL{{Scheme: scheme, Opaque: name}}})
		if err == nil && who.bundle < 0 {
			t.Error(who)
		}
	})
}

// FuzzState: the files of an earlier host.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"port":1,"hosts":2,"dial":["a:1"]}`))
	f.Add([]byte(`{"epoch":1,"bundles":2,"token":"x","keys":{"0":"y"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if l, ok := parseExpected(text); ok && (l.Bundles < 1 || l.Token == "") {
			t.Error(l)
		}
		_, _ = parsePlace(text)
		_, _ = parseAuthority(text)
	})
}
