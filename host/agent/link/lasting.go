package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/agent/link/buffers"
)

// A session survives the end of the connection that carries it, if another connection takes its place before
// the session counts as silent. Both sides number the bytes that they send, and keep them until the other side
// has confirmed them. On the next connection each side first says how many bytes it has received, and the other
// side sends the rest again. So nothing that uses the session notices the break.
//
// Everything on a connection is a frame: how many bytes the sender has received so far, the length of its own
// bytes, and these bytes. A frame without bytes only confirms.
const (
	frameHead = 12
	// maxFrame bounds the bytes of a frame.
	maxFrame = 32 << 10
	// endOfAll is the length in the last frame of a session, which has no bytes; endOfLease is the same if the
	// session ends because the lease has ended.
	endOfAll   = 1<<32 - 1
	endOfLease = 1<<32 - 2
	// maxKept is how many bytes are kept for the other side to confirm; then writers wait.
	maxKept = 4 << 20
	// gently is for how many bytes of a session no frame is longer than gentle. TLS keeps a buffer for the longest
	// record that it has read: without this all sessions of a host would keep one for what plugins say at their start.
	// With frames of this length it stays at the 2 KB that the handshake needs.
	gently, gentle = 64 << 10, 448
	// confirmAfter is after how many bytes the other side is told. Beats tell it of the rest.
	confirmAfter = 256 << 10
	// idleBuffer is how large an empty buffer may be to be used again.
	idleBuffer = 64 << 10
	// flushWithin bounds the time in which the rest is sent when a session ends.
	flushWithin = time.Second
)

// lasting is a stream of bytes in both directions over one carrier after the other.
type lasting struct {
	// local and remote are the addresses of the first carrier.
	local, remote net.Addr
	ended         chan struct{} // closed when nothing more is sent

	mu      sync.Mutex
	changed *sync.Cond
	carrier net.Conn // nil: it broke
	mute    net.Conn // a carrier on which nothing can be sent any more
	sending bool     // a goroutine sends
	closed  bool     // by this side
	over    bool     // the other side has ended the session
	goodbye bool     // the side that has ended it says that the lease has ended
	waiting int      // for room, or for the end of the reading or of the sending

	in       *bufio.Reader // of the carrier
	left     int           // of the frame that is read
	reading  bool
	received uint64 // bytes
	told     uint64 // of which the other side was told

	breaks
	unconfirmed
}

// breaks are those of the carrier so far, with what took its place.
type breaks struct {
	turns int    // breaks and replacements, which alternate
	tell  func() // of them; nil: nobody wants to know
	why   error  // of the last break
}

// unconfirmed is what the other side has not confirmed.
type unconfirmed struct {
	kept []byte
	from uint64 // the number of the first kept byte
	next uint64 // the number of the byte to send next
}

func newLasting(carrier net.Conn) *lasting {
	l := &lasting{local: carrier.LocalAddr(), remote: carrier.RemoteAddr(), ended: make(chan struct{}),
		carrier: carrier, in: buffered(carrier)}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Read implements net.Conn. It waits for another carrier if there is none.
func (l *lasting) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for l.carrier == nil && !l.closed && !l.over {
			l.changed.Wait()
		}
		if l.closed || l.over {
			return 0, io.EOF
		}
		if n := l.readFrom(l.carrier, l.in, p); n > 0 {
			return n, nil
		}
	}
}

// buffered reads the heads of frames together with small frames. It is small: TLS below has a buffer of its own.
func buffered(carrier net.Conn) *bufio.Reader { return bufio.NewReaderSize(carrier, 256) }

// readFrom reads from a carrier. l.mu is held, but not while it reads.
func (l *lasting) readFrom(carrier net.Conn, in *bufio.Reader, p []byte) int {
	l.reading = true
	l.mu.Unlock()
	n, confirmed, err := l.readFrame(in, p)
	l.mu.Lock()
	l.reading = false
	l.received += uint64(n)
	if err == nil && confirmed != nil {
		err = l.confirm(*confirmed)
	}
	switch {
	case err == io.EOF && l.over: // the other side has ended the session
	case err != nil:
		l.lose(carrier, err)
	}
	if err != nil || l.waiting > 0 {
		l.changed.Broadcast()
	}
	l.sendLater()
	return n
}

// readFrame reads what is left of a frame, or the head of the next one.
func (l *lasting) readFrame(in *bufio.Reader, p []byte) (n int, confirmed *uint64, err error) {
	if l.left > 0 {
		n, err = in.Read(p[:min(len(p), l.left)])
		l.left -= n
		return n, nil, err
	}
	var head [frameHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	received, length := binary.BigEndian.Uint64(head[:]), binary.BigEndian.Uint32(head[8:])
	switch {
	case length == endOfAll || length == endOfLease:
		l.mu.Lock()
		l.over, l.goodbye = true, length == endOfLease
		l.mu.Unlock()
		return 0, nil, io.EOF
	case length > maxFrame:
		return 0, nil, fmt.Errorf("a frame of %d bytes is longer than %d", length, maxFrame)
	}
	l.left = int(length)
	return 0, &received, nil
}

// confirm forgets what the other side has received. l.mu is held.
func (l *lasting) confirm(received uint64) error {
	if received < l.from || received > l.from+uint64(len(l.kept)) {
		return errCount
	}
	l.kept = l.kept[received-l.from:]
	l.from = received
	if len(l.kept) == 0 && cap(l.kept) > idleBuffer {
		l.kept = nil
	}
	return nil
}

var errCount = errors.New("the other side confirms bytes that were not sent")

// Write implements net.Conn. Bytes that are kept count as written. It sends them itself unless another goroutine sends,
// because a host has thousands of sessions.
func (l *lasting) Write(p []byte) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(p) > 0 {
		for len(l.kept) >= maxKept && !l.closed && !l.over {
			l.wait()
		}
		if l.closed || l.over {
			return n, net.ErrClosed
		}
		part := p[:min(len(p), maxKept-len(l.kept))]
		l.kept = append(l.kept, part...)
		p, n = p[len(part):], n+len(part)
		l.send()
	}
	return n, nil
}

// wait waits for a change that the reader makes. l.mu is held.
func (l *lasting) wait() {
	l.waiting++
	l.changed.Wait()
	l.waiting--
}

// send sends what is due, unless another goroutine does. l.mu is held, but not while it sends.
func (l *lasting) send() {
	if l.sending {
		return
	}
	l.sending = true
	for l.sends() && l.due() {
		l.sendOn(l.carrier, false)
	}
	l.sending = false
	if l.waiting > 0 {
		l.changed.Broadcast()
	}
}

// sendLater is send for those who must not wait. l.mu is held.
func (l *lasting) sendLater() {
	if l.sending || !l.sends() || !l.due() {
		return
	}
	go func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.send()
	}()
}

// sends reports whether something can be sent. l.mu is held.
func (l *lasting) sends() bool { return l.carrier != nil && l.carrier != l.mute }

// sendOn sends the next frame, or the last one of all. l.mu is held, but not while it sends.
func (l *lasting) sendOn(carrier net.Conn, last bool) {
	if l.sendFrame(carrier, last) != nil {
		l.mute = carrier // what the other side said before is read first: it may have ended the session
	}
}

// due reports whether there is something to send. l.mu is held.
func (l *lasting) due() bool {
	return l.next < l.from+uint64(len(l.kept)) || l.received-l.told >= confirmAfter
}

// sendFrame sends the next frame, or the last one of all. l.mu is held, but not while it sends.
func (l *lasting) sendFrame(carrier net.Conn, last bool) error {
	l.next = max(l.next, l.from)
	n := min(len(l.kept)-int(l.next-l.from), maxFrame) //nolint:gosec // it is at most maxKept
	if l.next < gently {
		n = min(n, gentle)
	}
	lent := buffers.Borrow(frameHead + n)
	defer lent.Return()
	buffer := lent.Bytes
	copy(buffer[frameHead:frameHead+n], l.kept[l.next-l.from:])
	l.next += uint64(n)
	l.told = l.received
	binary.BigEndian.PutUint64(buffer, l.received)
	binary.BigEndian.PutUint32(buffer[8:], uint32(n)) //nolint:gosec // it is at most maxFrame
	switch {
	case last && l.goodbye:
		binary.BigEndian.PutUint32(buffer[8:], endOfLease)
	case last:
		binary.BigEndian.PutUint32(buffer[8:], endOfAll)
	}
	l.mu.Unlock()
	_, err := carrier.Write(buffer[:frameHead+n])
	l.mu.Lock()
	return err
}

// lose notes that a carrier broke. l.mu is held.
func (l *lasting) lose(carrier net.Conn, why error) {
	hardClose(carrier)
	if l.carrier != carrier {
		return // there is another one already
	}
	l.carrier, l.in, l.why = nil, nil, why
	l.turn()
}

// turn counts a break or a replacement. l.mu is held.
func (l *lasting) turn() {
	l.turns++
	l.changed.Broadcast()
	if l.tell != nil {
		go l.tell()
	}
}

// watch has f called after breaks of the carrier and replacements, by a goroutine of its own each time.
func (l *lasting) watch(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell = f
	if l.turns > 0 {
		go f()
	}
}

// state returns how often the carrier broke or was replaced, and why it broke last. It is broken after an odd
// number of times.
func (l *lasting) state() (turns int, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turns, l.why
}

// trouble returns why the carrier broke, while there is no other; nil: nothing is wrong with it.
func (l *lasting) trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.carrier != nil {
		return nil
	}
	return l.why
}

// broken reports whether nothing carries the session.
func (l *lasting) broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.carrier == nil
}

// suspend gives up the carrier, and returns how many bytes were received: the other side sends what follows on
// the next carrier.
func (l *lasting) suspend() (received uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.carrier != nil {
		l.lose(l.carrier, errReplaced)
	}
	for l.reading {
		l.wait()
	}
	return l.received
}

var errReplaced = errors.New("the other side has connected again")

// carry continues on another carrier, after suspend. The other side has received so many bytes.
func (l *lasting) carry(carrier net.Conn, theirs uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.over {
		return net.ErrClosed
	}
	if err := l.confirm(theirs); err != nil {
		return err
	}
	l.carrier, l.in, l.left, l.next = carrier, buffered(carrier), 0, theirs
	l.turn()
	l.sendLater()
	return nil
}

// Close implements net.Conn. The rest is sent within a short time, unless nothing carries it.
func (l *lasting) Close() error {
	if l.close() {
		close(l.ended)
	}
	<-l.ended
	return nil
}

// close ends the stream; false: another goroutine does, or has.
func (l *lasting) close() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.closed = true
	if l.carrier != nil {
		_ = l.carrier.SetWriteDeadline(time.Now().Add(flushWithin))
	}
	l.changed.Broadcast()
	for l.sending {
		l.wait()
	}
	l.send()
	l.sending = true // nothing follows the last frame
	if l.sends() {
		l.sendOn(l.carrier, true)
	}
	if l.carrier != nil {
		hardClose(l.carrier)
		l.carrier = nil
	}
	return true
}

// sayGoodbye has the last frame say that the lease has ended.
func (l *lasting) sayGoodbye() {
	l.mu.Lock()
	l.goodbye = true
	l.mu.Unlock()
}

// dismissed reports whether the other side has said that the lease has ended.
func (l *lasting) dismissed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over && l.goodbye
}

// hardClose closes a connection without a last word, which might wait for the other side.
func hardClose(conn net.Conn) {
	if inner, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = inner.NetConn()
	}
	_ = conn.Close()
}

// LocalAddr implements net.Conn.
func (l *lasting) LocalAddr() net.Addr { return l.local }

// RemoteAddr implements net.Conn.
func (l *lasting) RemoteAddr() net.Addr { return l.remote }

// SetDeadline implements net.Conn. There are no deadlines: the keepalive ends the session.
func (l *lasting) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (l *lasting) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn.
func (l *lasting) SetWriteDeadline(time.Time) error { return nil }
