package process

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"time"
)

// identity is the host's side of TLS: an authority that signs one client certificate.
// go-plugin's own AutoMTLS uses a self-signed certificate on P-521, which Python's and Rust's TLS
// refuse.
type identity struct {
	caPEM string // goes to the plugin
	leaf  tls.Certificate
}

// certLife is longer than any experiment; the keys are in memory only.
const certLife = 10 * 365 * 24 * time.Hour

// ownIdentity is that of this program for all of its plugins: they learn the authority's certificate alone, so none of
// them can connect to another as the host.
var ownIdentity = sync.OnceValues(newIdentity)

func newIdentity() (*identity, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := template(1, "tunehost")
	ca.IsCA, ca.KeyUsage = true, x509.KeyUsageCertSign
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := template(2, "tunehost host")
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return nil, err
	}
	return &identity{
		caPEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})),
		leaf:  tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: key},
	}, nil
}

func template(serial int64, name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber:          big.NewInt(serial),
		Subject:               pkix.Name{CommonName: name},
		DNSNames:              []string{"localhost"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certLife),
		BasicConstraintsValid: true,
	}
}

// clientTLS trusts no certificate until go-plugin puts the plugin's announced one into RootCAs.
func (id *identity) clientTLS() *tls.Config {
	c := &tls.Config{
		Certificates: []tls.Certificate{id.leaf},
		RootCAs:      x509.NewCertPool(),
		ServerName:   "localhost",
		MinVersion:   tls.VersionTLS13,
	}
	c.VerifyConnection = func(now tls.ConnectionState) error {
		share(c.RootCAs, now.PeerCertificates[0])
		return nil
	}
	return c
}

// share has a pool with one certificate refer to what the connection has parsed it to. go-plugin has parsed it once
// more, and a host may have a thousand processes.
func share(pool *x509.CertPool, verified *x509.Certificate) {
	same := x509.NewCertPool()
	same.AddCert(verified)
	if pool.Equal(same) {
		*pool = *same
	}
}
