package guard

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/usererror"
)

// Tokens give access: Full to everything, Read to what changes nothing.
type Tokens struct{ Full, Read string }

// rights of a token.
type rights int

const (
	none rights = iota
	reading
	steering
)

// NewTokens returns tokens that nobody knows.
func NewTokens() Tokens { return Tokens{Full: secret(), Read: secret()} }

// of returns the rights of a token. It takes as long for each wrong one. The empty text is no token.
func (t Tokens) of(token string) rights {
	full := subtle.ConstantTimeCompare([]byte(token), []byte(t.Full))
	read := subtle.ConstantTimeCompare([]byte(token), []byte(t.Read))
	switch {
	case token == "":
		return none
	case full == 1:
		return steering
	case read == 1:
		return reading
	}
	return none
}

// Names of the files of tokens in their folder.
const (
	fullName = "serve-token"
	readName = "serve-token-read"
)

// maxToken is longer than any token, in bytes.
const maxToken = 256

// Folder returns the user's folder for tokens.
func Folder() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", usererror.Errorf("there is no folder for the tokens of the server: %w; set HOME", err)
	}
	return filepath.Join(dir, "tunehost"), nil
}

// Load returns the tokens in a folder. It makes those that are missing, so that URLs and programs
// keep their access when the server starts again; fresh replaces both.
func Load(dir string, fresh bool) (t Tokens, err error) {
	if err := above(dir); err != nil {
		return t, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return t, usererror.Wrap(err)
	}
	if err := safe(dir); err != nil {
		return t, err
	}
	full, err := token(filepath.Join(dir, fullName), fresh)
	if err != nil {
		return t, err
	}
	read, err := token(filepath.Join(dir, readName), fresh)
	return Tokens{full, read}, err
}

// read returns the tokens in a folder.
func read(dir string) (t Tokens, err error) {
	if err := safe(dir); err != nil {
		return t, err
	}
	if t.Full, err = stored(filepath.Join(dir, fullName)); err != nil {
		return t, err
	}
	t.Read, err = stored(filepath.Join(dir, readName))
	return t, err
}

func token(path string, fresh bool) (string, error) {
	if !fresh {
		text, err := stored(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	text := secret()
	f, err := nolink.Temporary(path, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text + "\n")
	return text, nolink.Settle(f, path, err)
}

// stored reads a token that is this user's, and that nobody else can read.
func stored(path string) (string, error) {
	info, err := nolink.Lstat(path)
	if err == nil {
		err = own(path, info, os.Geteuid()) // before it is opened: only the owner may do that
	}
	if err != nil {
		return "", err
	}
	f, err := nolink.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil {
		err = own(path, info, os.Geteuid()) // it may be another by now
	}
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff"))
	if len(token) < 32 || strings.ContainsAny(token, " \n;,\"") {
		return "", usererror.Errorf("%s: this is not a token; remove the file, and the server makes another", path)
	}
	return token, nil
}

// String hides the tokens in logs.
func (t Tokens) String() string {
	return fmt.Sprintf("tokens of %d and %d bytes", len(t.Full), len(t.Read))
}
