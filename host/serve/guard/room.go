package guard

import (
	"container/list"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// room is a listener with room for some connections. When it is full, a new connection takes the place of the oldest
// one that has not shown a token: who has none cannot keep out who has one.
type room struct {
	net.Listener
	most int

	mu     sync.Mutex
	change *sync.Cond // less is open, or the listener is closed
	open   int
	closed bool
	// strangers are the connections without a token, the oldest first.
	strangers *list.List
}

// Room returns a listener with room for so many connections of a [Server].
func Room(l net.Listener, most int) net.Listener {
	r := &room{Listener: l, most: most, strangers: list.New()}
	r.change = sync.NewCond(&r.mu)
	return r
}

// Accept implements net.Listener.
func (r *room) Accept() (net.Conn, error) {
	c, err := r.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return r.enter(c), nil
}

// Close implements net.Listener.
func (r *room) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.change.Broadcast()
	return r.Listener.Close()
}

// enter waits until there is room, which it makes if it can.
func (r *room) enter(c net.Conn) *guest {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.open >= r.most && !r.closed {
		oldest := r.strangers.Front()
		if oldest == nil {
			r.change.Wait()
			continue
		}
		g := oldest.Value.(*guest)
		r.leave(g)
		go func() { _ = g.Conn.Close() }() // over TLS that says good-bye, which can take a while
	}
	g := &guest{Conn: c, room: r, here: true}
	g.stranger = r.strangers.PushBack(g)
	r.open++
	return g
}

// leave counts a connection as closed. The caller has the lock.
func (r *room) leave(g *guest) {
	r.know(g)
	if g.here {
		g.here = false
		r.open--
		r.change.Signal()
	}
}

// know lets a connection stay. The caller has the lock.
func (r *room) know(g *guest) {
	if g.stranger != nil {
		r.strangers.Remove(g.stranger)
		g.stranger = nil
	}
}

// guest is a connection.
type guest struct {
	net.Conn
	room *room
	// stranger is its place among those without a token; nil: it has shown one, or is closed.
	stranger *list.Element
	// here says that it counts as open.
	here bool
}

// Close implements net.Conn.
func (g *guest) Close() error {
	g.room.mu.Lock()
	g.room.leave(g)
	g.room.mu.Unlock()
	return g.Conn.Close()
}

const (
	// lingering is how long what a refused request still sends is read, and mostLingering how much of it.
	lingering     = 2 * time.Second
	mostLingering = 8 << 20
)

// CloseWrite says that nothing more is sent, and reads on for a while. The server calls it after an answer to a request
// that it has not read: a connection that is closed with unread bytes is reset, and the client may lose the answer.
func (g *guest) CloseWrite() error {
	half, ok := g.Conn.(interface{ CloseWrite() error })
	if !ok {
		return nil
	}
	if err := half.CloseWrite(); err != nil {
		return err
	}
	if err := g.SetReadDeadline(time.Now().Add(lingering)); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, g.Conn, mostLingering)
	return err
}

type guestKey struct{}

// remember puts the connection of a request into its context.
func remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, c)
}

// welcome lets the connection of a request stay that had a token.
func welcome(r *http.Request) {
	if g, ok := r.Context().Value(guestKey{}).(*guest); ok {
		g.room.mu.Lock()
		defer g.room.mu.Unlock()
		g.room.know(g)
	}
}
