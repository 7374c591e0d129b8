package link

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/storage"
)

const (
	// serverName is the name in the host's certificate. Each experiment has an authority of its own, so
	// that all hosts may have the same name.
	serverName = "host.tunehost.internal"
	// protocol is agreed in the handshake: another version of either side is an error there.
	protocol = "tunehost-agent/2"
	scheme   = "tunehost"
)

// The certificates of an experiment are valid as long as their authority. What ends earlier is the
// lease, which the host knows. The years before its beginning are for nodes whose clocks are behind.
const (
	validBefore = 10 * 365 * 24 * time.Hour
	validAfter  = 50 * 365 * 24 * time.Hour
)

// authority signs the certificates of one experiment.
type authority struct {
	key  crypto.Signer
	cert *x509.Certificate
}

const maxAuthority = 16 << 10

// newKey makes a key. The curve is P-256, because the tables that crypto/ed25519 makes in each process before it signs
// and before it checks take 1 ms, of 64 agents that start together on a few processors too.
func newKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// openAuthority reads the experiment's authority, or makes it.
func openAuthority(dir string, now time.Time) (*authority, error) {
	path := filepath.Join(dir, "authority.pem")
	text, err := storage.ReadFile(path, maxAuthority)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		a, err := parseAuthority(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: move it away, and the next host makes another; agents that run will not "+
				"connect to it", path, err)
		}
		return a, nil
	}
	a, err := newAuthority(now)
	if err != nil {
		return nil, err
	}
	if text, err = a.text(); err != nil {
		return nil, err
	}
	return a, storage.WriteFile(path, text)
}

func newAuthority(now time.Time) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := certificate("tunehost experiment", now.Add(-validBefore), now.Add(validAfter))
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{key, cert}, err
}

func certificate(name string, from, until time.Time) *x509.Certificate {
	serial := make([]byte, 16)
	_, _ = rand.Read(serial) // it never fails
	return &x509.Certificate{SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: from, NotAfter: until}
}

// text is the content of the authority's file: the key and the certificate.
func (a *authority) text() ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})...), err
}

var errAuthority = errors.New("it is not the key and the certificate of an experiment")

func parseAuthority(text []byte) (*authority, error) {
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, errAuthority
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil || !cert.IsCA {
		return nil, errAuthority
	}
	switch key := pair.PrivateKey.(type) {
	case *ecdsa.PrivateKey:
		return &authority{key, cert}, nil
	case ed25519.PrivateKey: // of an experiment that began with an earlier tunehost
		return &authority{key, cert}, nil
	}
	return nil, errAuthority
}

// hosts returns a certificate for the host's side.
func (a *authority) hosts() (tls.Certificate, error) {
	key, err := newKey()
	if err != nil {
		return tls.Certificate{}, err
	}
	template := certificate("host", a.cert.NotBefore, a.cert.NotAfter)
	template.DNSNames = []string{serverName}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// agents returns a certificate for the side of an agent, whose key nobody else has seen.
func (a *authority) agents(key any, who identity) ([]byte, error) {
	template := certificate("agent", a.cert.NotBefore, a.cert.NotAfter)
	template.URIs = []*url.URL{who.url()}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return x509.CreateCertificate(rand.Reader, template, a.cert, key, a.key)
}

// moment returns a time at which the certificates are valid. The lease decides which of them count, not
// the time, because the clocks of nodes are sometimes wrong.
func (a *authority) moment() time.Time { return momentOf(a.cert) }

func momentOf(cert *x509.Certificate) time.Time { return cert.NotBefore.Add(time.Hour) }

// pool returns a pool with only this authority.
func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// identity says which agent has a certificate.
type identity struct {
	lease  string
	epoch  uint64
	bundle int
}

func (i identity) url() *url.URL {
	return &url.URL{Scheme: scheme, Opaque: fmt.Sprintf("%s/%d/%d", i.lease, i.epoch, i.bundle)}
}

var errIdentity = errors.New("the certificate is not of an agent")

// identityOf reads the identity from a certificate, which the handshake has verified.
func identityOf(cert *x509.Certificate) (i identity, err error) {
	if len(cert.URIs) != 1 || cert.URIs[0].Scheme != scheme {
		return i, errIdentity
	}
	parts := strings.Split(cert.URIs[0].Opaque, "/")
	if len(parts) != 3 {
		return i, errIdentity
	}
	var err1, err2 error
	i.lease = parts[0]
	i.epoch, err1 = strconv.ParseUint(parts[1], 10, 64)
	i.bundle, err2 = strconv.Atoi(parts[2])
	if err1 != nil || err2 != nil || i.bundle < 0 {
		return i, errIdentity
	}
	return i, nil
}

// digest returns a text that identifies a secret or a key.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
