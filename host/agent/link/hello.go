package link

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
)

// The first message of each connection, after the handshake, is a line of JSON. An agent without a
// certificate sends a request, and the host sends an answer and closes the connection. An agent with a
// certificate sends a greeting, the host answers it, and the session begins or continues.

// maxHello bounds such a line.
const maxHello = 16 << 10

// request asks for a certificate.
type request struct {
	Token  string `json:"token"`
	Lease  string `json:"lease"`
	Epoch  uint64 `json:"epoch"`
	Bundle int    `json:"bundle"`
	CSR    []byte `json:"csr"` // DER
}

// greeting is what an agent with a certificate says.
type greeting struct {
	// Session is the session that continues; "": a new one begins.
	Session string `json:"session,omitempty"`
	// Received is how many bytes of the session the agent has.
	Received uint64 `json:"received,omitempty"`
	// Try counts the greetings of a session: what comes late does not take the place of a later one.
	Try int `json:"try,omitempty"`
	// Ended says why the agent has ended its last session, if a new one begins; "": it had none.
	Ended string `json:"ended,omitempty"`
	// Failure says why nothing can run on the agent's bundle; "": something can. Nothing begins then.
	Failure string `json:"failure,omitempty"`
}

// answer is the host's answer.
type answer struct {
	Certificate []byte `json:"certificate,omitempty"` // DER
	Refused     string `json:"refused,omitempty"`
	// Session is the session that begins or continues; "": the host does not have it any longer.
	Session string `json:"session,omitempty"`
	// Received is how many bytes of the session the host has.
	Received uint64 `json:"received,omitempty"`
}

var errHello = errors.New("the other side does not speak the protocol of agents")

// readRequest reads a request, whose certificate request proves that the sender has its key.
func readRequest(r io.Reader) (q request, csr *x509.CertificateRequest, err error) {
	line, err := readLine(bufio.NewReaderSize(r, 4096), maxHello)
	if err != nil {
		return q, nil, err
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return q, nil, errHello
	}
	if csr, err = x509.ParseCertificateRequest(q.CSR); err != nil {
		return q, nil, errHello
	}
	return q, csr, csr.CheckSignature()
}

// readAnswer reads an answer.
func readAnswer(r io.Reader) (a answer, err error) { return a, readHello(r, &a) }

// readHello reads a line of JSON byte by byte, because the bytes after it belong to the session.
func readHello(r io.Reader, into any) error {
	line, err := readLine(bufio.NewReaderSize(oneByte{r}, 16), maxHello)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, into); err != nil {
		return errHello
	}
	return nil
}

// oneByte reads one byte at a time.
type oneByte struct{ io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 1)]) }

func say(w io.Writer, what any) error {
	line, err := json.Marshal(what)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}
