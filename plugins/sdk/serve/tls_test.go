//go:build !wasip1

package serve

import (
	"bytes"
	"errors"
	"net"
	"testing"
)

// pieces notes what is written.
type pieces struct {
	net.Conn
	sizes []int
	all   bytes.Buffer
	fail  error
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.fail != nil {
		return 0, p.fail
	}
	p.sizes = append(p.sizes, len(b))
	return p.all.Write(b)
}

// What a plugin writes first comes in small pieces, and later messages come as they are.
func TestGentle(t *testing.T) {
	to := &pieces{}
	g := &gentle{Conn: to, left: gently}
	text := bytes.Repeat([]byte("0123456789"), 1000)
	for range gently/len(text) + 2 {
		if n, err := g.Write(text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := bytes.Repeat(text, gently/len(text)+2); !bytes.Equal(to.all.Bytes(), want) {
		t.Error("other bytes came")
	}
	for i, n := range to.sizes[:gently/atATime] {
		if n > atATime {
			t.Errorf("piece %d has %d bytes", i, n)
		}
	}
	if last := to.sizes[len(to.sizes)-1]; last != len(text) {
		t.Errorf("a later message has a piece of %d bytes", last)
	}
	to.fail = errors.New("broken")
	if _, err := (&gentle{Conn: to, left: gently}).Write(text); !errors.Is(err, to.fail) {
		t.Error(err)
	}
}
