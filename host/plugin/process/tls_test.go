package process

import (
	"crypto/tls"
	"crypto/x509"
	"runtime"
	"testing"
	"weak"
)

// parsed is a certificate, parsed once more.
func parsed(t *testing.T, from tls.Certificate) *x509.Certificate {
	t.Helper()
	c, err := x509.ParseCertificate(from.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The certificate that go-plugin has parsed is not kept beside that of the connection, and stays the only one that is
// trusted.
func TestOneCertificate(t *testing.T) {
	mine, err := newIdentity()
	other, err2 := newIdentity()
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	c := mine.clientTLS()
	announced := parsed(t, mine.leaf)
	c.RootCAs = x509.NewCertPool() // as go-plugin does
	c.RootCAs.AddCert(announced)
	gone, kept := weak.Make(announced), parsed(t, mine.leaf)
	if err := c.VerifyConnection(tls.ConnectionState{PeerCertificates: []*x509.Certificate{kept}}); err != nil {
		t.Error(err)
	}
	if runtime.GC(); gone.Value() != nil {
		t.Error("it is kept")
	}
	share(c.RootCAs, parsed(t, other.leaf))
	want := x509.NewCertPool()
	if want.AddCert(kept); !c.RootCAs.Equal(want) {
		t.Error("another certificate is trusted")
	}
	runtime.KeepAlive(kept)
}
