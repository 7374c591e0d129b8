//go:build !wasip1

package serve

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
	"time"
)

// certLife is far beyond any experiment; the key lives in memory only.
const certLife = 10 * 365 * 24 * time.Hour

// serverTLS is the plugin's side of the connection: a certificate of its own,
// made for this process, and only the host let in. go-plugin could do the same,
// on P-521, whose first use alone takes longer than all the rest of the start.
func serverTLS(hostCA string) (*tls.Config, error) {
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM([]byte(hostCA)) {
		return nil, errors.New("PLUGIN_CLIENT_CERT is not a certificate: this host speaks another protocol")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certLife),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    clients,
		MinVersion:   tls.VersionTLS13,
	}, nil
}

// announce puts the certificate into the handshake line, which go-plugin leaves
// empty for a certificate that it has not made. Until go-plugin has printed the
// line, os.Stdout is a pipe.
func announce(c *tls.Config) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	stdout := os.Stdout
	os.Stdout = w
	go func() {
		in := bufio.NewReader(r)
		line, _ := in.ReadString('\n')
		cert := base64.RawStdEncoding.EncodeToString(c.Certificates[0].Certificate[0])
		_, _ = fmt.Fprintf(stdout, "%s%s\n", strings.TrimSpace(line), cert)
		_, _ = io.Copy(stdout, in) // what else is written to this pipe is log
	}()
	return nil
}
