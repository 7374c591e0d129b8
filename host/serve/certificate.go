package serve

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/usererror"
)

// certificate reads the files of TLS; nil: HTTP.
func (s Site) certificate() (*tls.Certificate, error) {
	if s.Cert == "" {
		return nil, nil
	}
	cert, err := readFile("--tls-cert", s.Cert)
	if err != nil {
		return nil, err
	}
	key, err := readFile("--tls-key", s.Key)
	if err != nil {
		return nil, err
	}
	if encrypted(key) {
		return nil, usererror.Errorf("--tls-key %s: the key is encrypted, and the server asks for no password: write "+
			"a key without one to a file that only you can read: (umask 077; openssl pkey -in %s -out key.pem)", s.Key,
			s.Key)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, usererror.Errorf("--tls-cert %s, --tls-key %s: %w", s.Cert, s.Key, err)
	}
	return &pair, nil
}

// secure adds TLS.
func secure(l net.Listener, pair *tls.Certificate) net.Listener {
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*pair}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}})
}

// encrypted reports whether a file has keys with a password alone.
func encrypted(text []byte) (found bool) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return found
		}
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY", strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			found = true
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return false
		}
	}
}

// soon is how long before its end a certificate is worth a warning: a server may run for days.
const soon = 7 * 24 * time.Hour

// refusals say why clients do not accept a certificate at the hosts of the URLs, or soon will not. Who has signed it is
// not asked: clients can know an authority of their own.
func (s Site) refusals(cert *x509.Certificate, hosts []string, now time.Time) (list []string) {
	warn := func(format string, args ...any) {
		list = append(list, "--tls-cert "+s.Cert+": "+fmt.Sprintf(format, args...))
	}
	const refused = "browsers and programs refuse it"
	switch {
	case now.After(cert.NotAfter):
		warn("the certificate expired on %s, and %s: give a newer one", minute(cert.NotAfter), refused)
	case now.Before(cert.NotBefore):
		warn("the certificate is valid only from %s, and %s until then: give another one, or set the clock of this "+
			"machine if it is wrong", minute(cert.NotBefore), refused)
	case cert.NotAfter.Sub(now) < soon:
		warn("the certificate expires on %s: replace it and start the server again before that, because it reads the "+
			"file only when it starts", minute(cert.NotAfter))
	}
	if !forServers(cert) {
		warn("the certificate is not for servers (extended key usage), and %s: give one with serverAuth", refused)
	}
	names := namesIn(cert)
	if len(names) == 0 {
		warn("the certificate has no name of a server, and %s: give one with subjectAltName=%s", refused,
			alternative(hosts[0]))
		return list
	}
	for _, host := range hosts {
		var other x509.HostnameError
		if errors.As(cert.VerifyHostname(host), &other) {
			warn("the certificate is for %s, and %s at %s: give --host with a name that it has, or one with "+
				"subjectAltName=%s", names, refused, host, alternative(host))
		}
	}
	return list
}

// forServers reports whether a certificate may be that of a server.
func forServers(cert *x509.Certificate) bool {
	return len(cert.ExtKeyUsage)+len(cert.UnknownExtKeyUsage) == 0 ||
		slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageServerAuth) ||
		slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageAny)
}

// shownNames is how many names of a certificate a message has.
const shownNames = 3

// namesIn are the names and addresses in a certificate, in words; "": it has none.
func namesIn(cert *x509.Certificate) string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	if more := len(names) - shownNames; more > 0 {
		names = append(names[:shownNames], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// alternative is what a certificate for a host needs, as openssl writes it.
func alternative(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return "IP:" + host
	}
	return "DNS:" + host
}

// minute is a time for people who look at the clock of another machine.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02 at 15:04 UTC") }
