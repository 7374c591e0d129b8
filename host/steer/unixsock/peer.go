package unixsock

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/host/untrusted"
)

// ForeignError says that an experiment's directory leads to a socket that is not one of
// a host of this user. Nothing was sent there.
type ForeignError struct{ Socket, Why string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("its file control names the socket %s, which is not a host of yours: %s; only the user who "+
		"runs an experiment can steer it",
		untrusted.Line(strconv.Quote(e.Socket), 256), untrusted.Line(e.Why, 256))
}

// checkAddress refuses an address at which somebody else could listen: a host's socket
// lies in a folder of the user's alone.
func checkAddress(socket string) error {
	if !filepath.IsAbs(socket) || strings.ContainsAny(socket, "\x00\n") {
		return &ForeignError{socket, "it is not a path of a socket"}
	}
	if err := runtimedir.Private(filepath.Dir(socket)); err != nil {
		if os.IsNotExist(err) {
			return err // a host that was killed has left its address
		}
		return &ForeignError{socket, err.Error()}
	}
	return nil
}

// checkListener refuses a listener that is neither this user nor the system's.
func checkListener(conn net.Conn, socket string) error {
	uid, known, err := listenerOf(conn)
	if err != nil || !known {
		return err
	}
	return checkUser(uid, socket)
}

func checkUser(uid int, socket string) error {
	if uid != os.Getuid() && uid != 0 {
		return &ForeignError{socket, fmt.Sprintf("the user %d listens there", uid)}
	}
	return nil
}
