package process

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
)

// dial connects to the socket that the plugin announced, instead of go-plugin,
// which would connect to anything.
func (r *runner) dial(ctx context.Context, _ string) (net.Conn, error) {
	r.mu.Lock()
	socket := r.socket
	r.mu.Unlock()
	if err := r.inside(socket); err != nil {
		r.refuse(err)
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(conn.(*net.UnixConn), r.pid()); err != nil {
		r.refuse(err)
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// inside refuses sockets that are not in the directory made for this plugin.
func (r *runner) inside(socket string) error {
	within, err := filepath.Rel(r.dir, filepath.Clean(socket))
	if err != nil || within == ".." || strings.HasPrefix(within, "../") {
		return fmt.Errorf("its socket %q is not in PLUGIN_UNIX_SOCKET_DIR", brief(socket))
	}
	return nil
}
