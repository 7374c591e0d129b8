package browser

import (
	"syscall"
	"testing"
)

// A server that answers no more, though its connections stay, is taken for one that is gone: the page, the list and a
// button that was pressed say so, and go on when it answers again.
func TestServerIsSilent(t *testing.T) {
	p := window(t)
	dir := quickstart(t)
	run := start(t, dir, "run", "experiment.yaml", "--set", "trials=100000", "--serve=127.0.0.1:0")
	p.open(run.url() + "#/x/quickstart")
	p.shows("#state", "running")
	p.await("document.querySelectorAll('.steer button:not([aria-disabled])').length > 3")
	signal := func(s syscall.Signal) {
		if err := run.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	p.press(".steering", "Pause")
	p.shows(".steering .failure", "has not answered for 5 seconds: it is not known whether it does this")
	p.shows("main .lost", "This page is not up to date since")
	p.shows("main .lost", "the server has not answered for 10 seconds")
	p.await(`/^◌ last seen running at \d\d:\d\d$/.test(document.querySelector('#state').textContent)`)
	signal(syscall.SIGCONT)
	p.await("!document.querySelector('main .lost')")
	p.view("#/")
	p.shows("#experiments", "quickstart")
	p.await("!document.querySelector('#experiments').textContent.includes('last seen')")
	signal(syscall.SIGSTOP)
	p.shows("main .lost", "This list is not up to date since")
	p.shows("#experiments", "last seen")
	p.await("!/just now|left/.test(document.querySelector('#experiments').textContent)")
	signal(syscall.SIGCONT)
	p.await("!document.querySelector('main .lost')")
	p.clean()
}
