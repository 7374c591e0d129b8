package process

import (
	"strings"
	"testing"
)

// FuzzHandshake checks that a program's first line is a handshake of this protocol with a socket and a
// certificate, or gives a reason in one short line.
func FuzzHandshake(f *testing.F) {
	cert := strings.Repeat("M", 60)
	for _, line := range []string{"1|1|unix|/tmp/x|grpc|" + cert, "1|99999999999999999999|unix|/tmp/x|grpc|" + cert,
		"1|1|tcp|127.0.0.1:1|grpc|" + cert,
		"1|-1|unix||grpc|" + cert, "\x1b[2J1|1", "", "|||||", "2|1|unix|/x|grpc|" + cert} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h, err := parseHandshake(line)
		if err != nil {
			if len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q", err)
			}
			return
		}
		fields := strings.Split(h.line, "|")
		if len(fields) < 6 || fields[2] != "unix" || fields[3] != h.address || len(fields[5]) <= 50 {
			t.Fatalf("%q is taken as %+v", line, h)
		}
	})
}
