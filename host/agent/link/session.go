package link

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-yamux/v5"

	"github.com/tunehost/tunehost/host/clock"
)

// Session is a connection between a host and an agent. Both sides open streams on it. It continues on another
// connection if the one that carries it breaks, see [lasting]. Streams end with their session, and a session that has
// ended never comes back: the agent begins another one.
type Session interface {
	// Open opens a stream. It does not wait until the other side has accepted it.
	Open(ctx context.Context, purpose Purpose) (net.Conn, error)
	// Accept waits for the next stream that the other side has opened.
	Accept() (Purpose, net.Conn, error)
	// Done is closed when the session has ended.
	Done() <-chan struct{}
	// Context ends soon after the session.
	Context() context.Context
	// Close ends the session and all its streams.
	Close() error
}

// Purpose says what a stream is for.
type Purpose struct {
	Kind string          `json:"kind"`
	Args json.RawMessage `json:"args,omitempty"`
}

// HalfCloser is implemented by all streams: CloseWrite ends what this side sends, and the other side
// reads io.EOF after it. Close ends both directions; what the other side sends later is thrown away.
type HalfCloser interface{ CloseWrite() error }

const (
	// MaxPurpose bounds a purpose in bytes.
	MaxPurpose = 1 << 20
	// purposeBuffer is for reading it. The buffer lives as long as its stream, and a host has thousands of streams.
	purposeBuffer = 512
	// maxUnread is how many streams may wait to be accepted.
	maxUnread = 64
	// maxStreams is how many streams the other side may have open.
	maxStreams = 4096
	// purposeWithin is how long a new stream may take to send its purpose.
	purposeWithin = 10 * time.Second
	// window is how many bytes of one stream may be on their way.
	window = 1 << 20
)

// Over returns a session over any connection, such as the standard input and output of a program.
// One side is the host's and the other is not. It has no keepalive: the session ends with the
// connection.
func Over(rwc io.ReadWriteCloser, host bool) (Session, error) {
	s, err := newSession(plain{rwc}, host, clock.System{})
	if err != nil {
		return nil, err
	}
	go s.listen()
	return s, nil
}

// Pipe returns both ends of a session in memory.
func Pipe() (host, agent Session) {
	a, b := net.Pipe()
	h, err1 := Over(a, true)
	g, err2 := Over(b, false)
	if err := errors.Join(err1, err2); err != nil {
		panic(err) // the configuration is wrong
	}
	return h, g
}

type session struct {
	mux      *yamux.Session
	clock    clock.Clock
	host     bool
	conn     *heard   // the connection that the keepalive watches; nil: it has none
	rope     *lasting // below conn
	id       string   // given by the host
	tries    int      // greetings of it, see greeting.Try
	before   string   // why the agent has ended the session before it, see greeting.Ended
	resuming sync.Mutex
	accepted chan *stream
	streams  atomic.Int64 // that are open, or were open at the end
	pulse    pulse
	leaving  atomic.Bool // this agent's node is taken away soon
	context  context.Context
	finish   context.CancelFunc // of context
	tale     tale

	mu    sync.Mutex
	why   error    // why it has ended
	alive net.Conn // the stream of the keepalive
}

func newSession(conn net.Conn, host bool, c clock.Clock) (*session, error) {
	config := yamux.DefaultConfig()
	config.EnableKeepAlive = false // the keepalive is our own, by the given clock
	config.LogOutput = io.Discard
	config.MaxStreamWindowSize, config.ReadBufSize = window, 256 // TLS below has a buffer of its own
	config.AcceptBacklog, config.MaxIncomingStreams = maxUnread, maxStreams
	role := yamux.Client
	if host {
		role = yamux.Server
	}
	mux, err := role(conn, config, nil)
	if err != nil {
		return nil, err
	}
	s := &session{mux: mux, clock: c, host: host, accepted: make(chan *stream, maxUnread)}
	s.context, s.finish = context.WithCancel(context.Background())
	s.tale.announced, s.tale.notice = context.WithCancel(context.Background())
	return s, nil
}

// keptSession is a session with a keepalive, which other connections may carry later.
func keptSession(conn net.Conn, host bool, c clock.Clock) (*session, error) {
	l := newLasting(conn)
	h := &heard{Conn: l, clock: c, last: c.Now()}
	s, err := newSession(h, host, c)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	s.conn, s.rope = h, l
	s.watch(h)
	go s.listen()
	return s, nil
}

// Open implements Session.
func (s *session) Open(ctx context.Context, purpose Purpose) (net.Conn, error) {
	conn, err := s.openStream(ctx, purpose)
	if err != nil {
		return nil, err
	}
	s.streams.Add(1)
	conn.counted.Store(true)
	return conn, nil
}

func (s *session) openStream(ctx context.Context, purpose Purpose) (*stream, error) {
	header, err := json.Marshal(purpose)
	if err != nil {
		return nil, err
	}
	if len(header) >= MaxPurpose {
		return nil, fmt.Errorf("the purpose of the stream has %d bytes, not less than %d", len(header), MaxPurpose)
	}
	conn, err := s.mux.OpenStream(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, s.ended(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Reset() })
	if _, err = conn.Write(append(header, '\n')); !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Reset()
		return nil, s.ended(err)
	}
	return &stream{Stream: conn, session: s, in: conn}, nil
}

// listen accepts streams until the session ends. It reads the purposes of up to maxUnread streams
// at a time. The others wait in the multiplexer, which refuses streams beyond its own limit.
func (s *session) listen() {
	defer s.finish()
	places := make(chan struct{}, maxUnread)
	for {
		conn, err := s.mux.AcceptStream()
		if err != nil {
			return
		}
		select {
		case places <- struct{}{}:
		case <-s.Done():
			return
		}
		go func() {
			defer func() { <-places }()
			s.greet(conn)
		}()
	}
}

// greet reads the purpose of a stream, and passes the stream to Accept.
func (s *session) greet(conn *yamux.Stream) {
	line := bufio.NewReaderSize(conn, purposeBuffer)
	in := &stream{Stream: conn, session: s, in: line}
	onTime := s.clock.AfterFunc(purposeWithin, func() { _ = conn.Reset() })
	purpose, err := readPurpose(line)
	if !onTime() || err != nil {
		_ = conn.Reset()
		return
	}
	if s.conn != nil && !s.host && purpose.Kind == kindAlive {
		s.setAlive(in)
		return
	}
	in.purpose = purpose
	s.streams.Add(1)
	in.counted.Store(true)
	select {
	case s.accepted <- in:
	case <-s.Done():
	}
}

var errPurpose = errors.New("the stream does not say what it is for")

// readPurpose reads a line.
func readPurpose(r *bufio.Reader) (p Purpose, err error) {
	line, err := readLine(r, MaxPurpose)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(line, &p); err != nil || p.Kind == "" {
		return p, errPurpose
	}
	return p, nil
}

// readLine reads a line of less than limit bytes.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > limit:
			return nil, fmt.Errorf("a line has more than %d bytes", limit)
		case err == nil:
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Accept implements Session.
func (s *session) Accept() (Purpose, net.Conn, error) {
	select {
	case conn := <-s.accepted:
		return conn.purpose, conn, nil
	case <-s.Done():
		return Purpose{}, nil, s.ended(io.EOF)
	}
}

// Done implements Session.
func (s *session) Done() <-chan struct{} { return s.mux.CloseChan() }

// Context implements Session.
func (s *session) Context() context.Context { return s.context }

// Close implements Session.
func (s *session) Close() error { return s.end(errClosed) }

var errClosed = errors.New("the connection was closed")

// end closes the session for a reason; the first counts.
func (s *session) end(why error) error {
	s.mu.Lock()
	if s.why == nil {
		s.why = why
	}
	s.mu.Unlock()
	return s.mux.Close()
}

// ended returns why the session has ended; err while it has not.
func (s *session) ended(err error) error {
	if s.rope != nil && s.rope.dismissed() {
		return errForgotten
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil {
		return s.why
	}
	if s.mux.IsClosed() {
		return errBroken
	}
	return err
}

// errForgotten ends the session of an agent whose lease has ended.
var errForgotten = errors.New("the lease has ended")

var errBroken = errors.New("the connection broke")

// busy reports whether streams are open, or were open when the session ended.
func (s *session) busy() bool { return s.streams.Load() > 0 }

// stream is a stream of a session.
type stream struct {
	*yamux.Stream
	session *session
	purpose Purpose
	closed  atomic.Bool
	counted atomic.Bool // by the session
	reading sync.Mutex
	in      io.Reader // of the stream, after its purpose
}

// Read implements net.Conn.
func (c *stream) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	n, err := c.in.Read(p)
	switch {
	case err == nil || err == io.EOF:
	case c.closed.Load():
		err = net.ErrClosed
	default:
		err = c.session.ended(err)
	}
	return n, err
}

// Close implements net.Conn. What the other side still sends is read and thrown away, so that it never
// waits for this side.
func (c *stream) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	if c.counted.Load() && !c.session.mux.IsClosed() {
		c.session.streams.Add(-1)
	}
	err := c.Stream.CloseWrite()
	_ = c.SetReadDeadline(time.Unix(1, 0)) // it wakes the reader
	go c.drain()
	return err
}

func (c *stream) drain() {
	c.reading.Lock() // nobody reads any longer
	_ = c.SetReadDeadline(time.Time{})
	c.reading.Unlock()
	_, _ = io.Copy(io.Discard, c.Stream)
	_ = c.Stream.Close()
}

// Write implements net.Conn.
func (c *stream) Write(p []byte) (int, error) {
	n, err := c.Stream.Write(p)
	if err != nil {
		err = c.session.ended(err)
	}
	return n, err
}

// plain makes a connection of a stream without addresses or deadlines.
type plain struct{ io.ReadWriteCloser }

func (plain) LocalAddr() net.Addr              { return nowhere{} }
func (plain) RemoteAddr() net.Addr             { return nowhere{} }
func (plain) SetDeadline(time.Time) error      { return nil }
func (plain) SetReadDeadline(time.Time) error  { return nil }
func (plain) SetWriteDeadline(time.Time) error { return nil }

type nowhere struct{}

func (nowhere) Network() string { return "stdio" }
func (nowhere) String() string  { return "stdio" }
