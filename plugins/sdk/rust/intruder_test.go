package rust_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

// authority is a certificate authority and a certificate that it signed.
type authority struct {
	pem  string
	leaf tls.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	sign := func(c, parent *x509.Certificate, of, by *ecdsa.PrivateKey) []byte {
		c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, c, parent, of.Public(), by)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	caKey, leafKey := key(), key()
	ca := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caDER := sign(ca, ca, caKey, caKey)
	ca, err := x509.ParseCertificate(caDER)
	if err != nil {
		t.Fatal(err)
	}
	leaf := sign(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ca, leafKey, caKey)
	return authority{
		pem:  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})),
		leaf: tls.Certificate{Certificate: [][]byte{leaf}, PrivateKey: leafKey},
	}
}

// bare is a sample that was started without the host.
type bare struct {
	cmd    *exec.Cmd
	socket string
	roots  *x509.CertPool
	stderr *os.File // ends when the plugin does
}

// startBare starts a program with the environment of a plugin, and reads its handshake.
func startBare(t *testing.T, host authority, args ...string) *bare {
	t.Helper()
	dir, err := os.MkdirTemp("", "th") // sockets need short paths
	if err != nil {
		t.Fatal(err)
	}
	b := &bare{cmd: exec.CommandContext(t.Context(), args[0], args[1:]...), roots: x509.NewCertPool()}
	b.cmd.Env = []string{serve.CookieKey + "=" + serve.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=7,1",
		"PLUGIN_UNIX_SOCKET_DIR=" + dir, "PLUGIN_CLIENT_CERT=" + host.pem}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var w *os.File
	if b.stderr, w, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	b.cmd.Stderr = w
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	b.readHandshake(t, out)
	return b
}

func (b *bare) readHandshake(t *testing.T, out io.Reader) {
	t.Helper()
	line, err := bufio.NewReader(out).ReadString('\n')
	fields := strings.Split(strings.TrimSpace(line), "|")
	if err != nil || len(fields) != 6 || strings.Join(fields[:3], "|") != "1|1|unix" || fields[4] != "grpc" {
		t.Fatalf("the handshake is %q, %v", line, err)
	}
	b.socket = fields[3]
	der, err := base64.RawStdEncoding.DecodeString(fields[5])
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	b.roots.AddCert(cert)
}

// call requests the plugin's description with these credentials.
func (b *bare) call(t *testing.T, c credentials.TransportCredentials) (*grpc.ClientConn, error) {
	t.Helper()
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", b.socket)
	}
	conn, err := grpc.NewClient("passthrough:plugin", grpc.WithContextDialer(dial), grpc.WithTransportCredentials(c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = pb.NewSearcherServiceClient(conn).DescribeSearcher(ctx, &pb.DescribeSearcherRequest{})
	return conn, err
}

func (b *bare) tls(certs ...tls.Certificate) credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{Certificates: certs, RootCAs: b.roots, ServerName: "localhost",
		MinVersion: tls.VersionTLS13})
}

// Only the host can connect, and the plugin ends when the host is gone.
func TestIntruder(t *testing.T) {
	host := newAuthority(t)
	b := startBare(t, host, sample(t, "searcher"))
	for who, c := range map[string]credentials.TransportCredentials{
		"no certificate": b.tls(), "another authority's": b.tls(newAuthority(t).leaf),
		"no TLS": insecure.NewCredentials(),
	} {
		if _, err := b.call(t, c); err == nil {
			t.Errorf("%s: it was let in", who)
		}
	}
	conn, err := b.call(t, b.tls(host.leaf))
	if err != nil {
		t.Fatalf("the host was not let in: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Wait(); err == nil || b.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("when its host hung up, it ended with %v", b.cmd.ProcessState)
	}
}

// B-025: a plugin also ends if its host ended before it connected.
func TestOrphan(t *testing.T) {
	b := startBare(t, newAuthority(t), "/bin/sh", "-c", `"$0" & wait`, sample(t, "searcher"))
	if err := b.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := b.stderr.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(b.stderr); err != nil { // until the plugin has ended
		t.Error(err)
	}
}
