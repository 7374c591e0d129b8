package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certified writes a certificate, which has signed itself, and its key.
func certified(t *testing.T, form x509.Certificate) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form.SerialNumber = big.NewInt(1)
	public, err := x509.CreateCertificate(rand.Reader, &form, &form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pemFile(t, "CERTIFICATE", public), pemFile(t, "PRIVATE KEY", secret)
}

func pemFile(t *testing.T, kind string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.ReplaceAll(kind, " ", "-")+".pem")
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRefusedCertificates: a server whose certificate no client accepts begins, and says why and what to do. One that
// has signed itself is allowed.
func TestRefusedCertificates(t *testing.T) {
	local, day := []net.IP{net.IPv4(127, 0, 0, 1)}, 24*time.Hour
	now := time.Now()
	valid := x509.Certificate{NotBefore: now.Add(-day), NotAfter: now.Add(90 * day), IPAddresses: local}
	change := func(f func(*x509.Certificate)) x509.Certificate {
		c := valid
		f(&c)
		return c
	}
	lab := change(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"lab.example.org"} })
	wild := change(func(c *x509.Certificate) { c.DNSNames = []string{"*.example.org", "a", "b", "c"} })
	for name, test := range map[string]struct {
		form  x509.Certificate
		hosts []string
		want  []string // of each warning
	}{
		"valid":     {form: valid},
		"its name":  {form: lab, hosts: []string{"LAB.example.org."}},
		"wild name": {form: wild, hosts: []string{"lab.example.org", "127.0.0.1"}},
		"expired": {form: change(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Hour) }),
			want: []string{"the certificate expired on " + minute(now.Add(-time.Hour))}},
		"not yet": {form: change(func(c *x509.Certificate) { c.NotBefore = now.Add(day) }),
			want: []string{"the certificate is valid only from " + minute(now.Add(day))}},
		"expires soon": {form: change(func(c *x509.Certificate) { c.NotAfter = now.Add(3 * day) }),
			want: []string{"the certificate expires on " + minute(now.Add(3*day))}},
		"no names": {form: change(func(c *x509.Certificate) { c.IPAddresses = nil }),
			want: []string{"has no name of a server, and browsers and programs refuse it: give one with " +
				"subjectAltName=IP:127.0.0.1"}},
		"another's": {form: lab, want: []string{"is for lab.example.org, and browsers and programs refuse it at " +
			"127.0.0.1: give --host with a name that it has, or one with subjectAltName=IP:127.0.0.1"}},
		"another name": {form: wild, hosts: []string{"lab", "x.example.org", "lab2"},
			want: []string{"is for *.example.org, a, b, 2 more, and", "refuse it at lab2"}},
		"of a client": {form: change(func(c *x509.Certificate) {
			c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		}), want: []string{"the certificate is not for servers"}},
		"two reasons": {form: change(func(c *x509.Certificate) { c.NotAfter, c.IPAddresses = now.Add(-day), nil }),
			want: []string{"expired", "no name"}},
	} {
		t.Run(name, func(t *testing.T) {
			cert, key := certified(t, test.form)
			o, err := open(t, Site{Listen: "127.0.0.1:0", Hosts: test.hosts, Cert: cert, Key: key})
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Warnings) != len(test.want) {
				t.Fatalf("the warnings are %q, want %q", o.Warnings, test.want)
			}
			for i, got := range o.Warnings {
				if !strings.HasPrefix(got, "--tls-cert "+cert+": ") || !strings.Contains(got, test.want[i]) ||
					strings.Contains(got, "\n") {
					t.Errorf("the warning is %q, want %q", got, test.want[i])
				}
			}
		})
	}
}

// TestEncryptedKey: the server says that a key has a password, and how to get one without.
func TestEncryptedKey(t *testing.T) {
	cert, _ := certified(t, x509.Certificate{NotAfter: time.Now().Add(time.Hour)})
	old := filepath.Join(t.TempDir(), "old.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: []byte("?"),
		Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"}})
	if err := os.WriteFile(old, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{old, pemFile(t, "ENCRYPTED PRIVATE KEY", []byte("?"))} {
		_, err := open(t, Site{Listen: "127.0.0.1:0", Cert: cert, Key: key})
		want := "--tls-key " + key + ": the key is encrypted"
		if err == nil || !strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), "openssl pkey -in "+key) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestAddressesThatCannotBe: a mistake in the address names the flag.
func TestAddressesThatCannotBe(t *testing.T) {
	for at, want := range map[string]string{"127.0.0.1:99999": "expected a port from 0 (any) to 65535",
		"127.0.0.1:nosuchport": "expected a port", "192.0.2.1:0": "name an address of this machine"} {
		_, err := open(t, Site{Listen: at, Insecure: true, Flag: "--serve"})
		if err == nil || !strings.HasPrefix(err.Error(), "--serve ") || !strings.Contains(err.Error(), at) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", at, err, want)
		}
	}
}
