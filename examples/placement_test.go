package examples

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

// Two processes that each train on half of every batch take the same steps as one process.
func TestPlacementTrainsTogether(t *testing.T) {
	worker := func(rank, world int, port string) *program {
		p := python(t, "placement/train.py")
		p.set("RANK", strconv.Itoa(rank))
		p.set("WORLD_SIZE", strconv.Itoa(world))
		p.set("MASTER_ADDR", "127.0.0.1")
		p.set("MASTER_PORT", port)
		return &p
	}
	alone := worker(0, 1, "").run(t)
	port := freePort(t)
	other := make(chan string, 1)
	second := worker(1, 2, port)
	go func() {
		defer close(other)
		other <- second.run(t)
	}()
	together := worker(0, 2, port).run(t)
	if said := <-other; said != "" {
		t.Errorf("rank 1 printed %q", said)
	}
	one, two := strings.Split(strings.TrimSpace(alone), "\n"), strings.Split(strings.TrimSpace(together), "\n")
	if len(one) != 10 || len(two) != 10 {
		t.Fatalf("%d and %d results, want 10", len(one), len(two))
	}
	for i := range one {
		if a, _, _ := strings.Cut(one[i], ", \"loss\""); !strings.HasPrefix(two[i], a) {
			t.Errorf("epoch %d: %s alone, %s together", i+1, one[i], two[i])
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
