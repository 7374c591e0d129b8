package link

import (
	"io"
	"net"
)

// Splice copies bytes both ways until one side has ended. Then it closes both, so that a plugin
// notices the end of its host, and the host the end of the plugin.
func Splice(a, b net.Conn) {
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() {
			// Not as an io.ReaderFrom: that would read ahead of what can be written.
			_, _ = io.Copy(struct{ io.Writer }{pair[0]}, struct{ io.Reader }{pair[1]})
			done <- struct{}{}
		}()
	}
	<-done
	_, _ = a.Close(), b.Close()
	<-done
}
