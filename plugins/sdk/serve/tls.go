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
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/tunehost/tunehost/plugins/sdk/quick"
)

// certLife is far longer than any experiment; the key exists in memory only.
const certLife = 10 * 365 * 24 * time.Hour

// serverTLS is the plugin's side of the connection: a certificate made for this process, and access
// only for the host. go-plugin could do the same with P-521, whose first use takes longer than the
// rest of the start.
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

// quickTLS is what go-plugin uses, over a connection of package quick.
func quickTLS(c *tls.Config) credentials.TransportCredentials { return quickly{credentials.NewTLS(c)} }

type quickly struct {
	credentials.TransportCredentials
}

// handshakeLimit is gRPC's own limit, which ends with the connection that package quick takes over.
const handshakeLimit = 2 * time.Minute

// ServerHandshake implements credentials.TransportCredentials.
func (q quickly) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	own := quick.Own(c)
	_ = own.SetDeadline(time.Now().Add(handshakeLimit))
	secure, who, err := q.TransportCredentials.ServerHandshake(own)
	_ = own.SetDeadline(time.Time{})
	if err != nil {
		return nil, nil, err
	}
	return &gentle{Conn: secure, left: gently}, who, nil
}

// A gentle connection writes little at a time at first. TLS keeps a buffer for the longest record that it has read:
// without this a host of a thousand processes would keep one for what each of them says at its start.
type gentle struct {
	net.Conn
	left int // bytes to write in this way
}

// gently is for how many bytes, and atATime how many of them: the buffer stays at the 2 KB that the handshake needs.
const gently, atATime = 64 << 10, 460

// Write implements net.Conn. gRPC calls it from one goroutine.
func (g *gentle) Write(p []byte) (n int, err error) {
	for g.left > 0 && len(p)-n > atATime && err == nil {
		var m int
		m, err = g.Conn.Write(p[n : n+atATime])
		n += m
		g.left -= m
	}
	if err != nil {
		return n, err
	}
	m, err := g.Conn.Write(p[n:])
	g.left -= m
	return n + m, err
}

// announce adds the certificate to the handshake line, because go-plugin adds only certificates of
// its own. Until go-plugin has printed the line, os.Stdout is a pipe.
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
		_, _ = io.Copy(stdout, in) // any other output to this pipe is log
	}()
	return nil
}
