package runfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
)

// The last field of run.json is the SHA-256 of the text without it, so that a bit that flips is found where the text
// would still be JSON. An earlier version writes none.
const (
	sealed = ",\n  \"sum\": \""
	closed = "\"\n}"
)

var errChanged = errors.New("it is not as tunehost wrote it")

// seal ends a JSON object, which has fields, with its sum.
func seal(text []byte) []byte {
	text, _ = bytes.CutSuffix(text, []byte("\n}"))
	return slices.Concat(text, []byte(sealed), []byte(sumOf(text)), []byte(closed+"\n"))
}

// checkSeal checks the sum of a text that has one.
func checkSeal(text []byte) error {
	if !bytes.Contains(text, []byte(`"sum": "`)) {
		return nil
	}
	text = bytes.TrimRight(text, "\n")
	at := bytes.LastIndex(text, []byte(sealed))
	if at < 0 || string(text[at:]) != sealed+sumOf(text[:at])+closed {
		return errChanged
	}
	return nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
