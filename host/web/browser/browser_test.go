package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/internal/toolchain"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		_ = chromedp.Cancel(shared)
	}
	_ = os.RemoveAll(profiles)
	os.Exit(code)
}

// program is a started tunehost.
type program struct {
	*exec.Cmd
	t      testing.TB
	screen *testplace.Screen
	dir    string
}

// start runs tunehost in a folder, with tokens of its own.
func start(t testing.TB, dir string, args ...string) *program {
	t.Helper()
	p := command(t, dir, args...)
	p.screen = &testplace.Screen{}
	p.Stdout, p.Stderr = p.screen, p.screen
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

func command(t testing.TB, dir string, args ...string) *program {
	t.Helper()
	file, err := toolchain.Tunehost()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(file, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	return &program{Cmd: c, t: t, dir: dir}
}

// kill ends the program as kill -9 does; killing it twice does nothing.
func (p *program) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// ends has an experiment whose host a page has started end before the test does: its host writes until then.
func ends(t *testing.T, dir, experiment string) {
	t.Cleanup(func() {
		_ = command(t, dir, "stop", experiment).Run()
		testplace.Soon(t, "the end of the host of "+experiment, func() bool {
			held, err := journal.Holder(filepath.Join(dir, experiment))
			return held == nil && err == nil
		})
	})
}

var printed = regexp.MustCompile(`https?://\S+\?token=\S+`)

// url waits for the URL that the program prints.
func (p *program) url() string {
	p.t.Helper()
	p.screen.Await(p.t, "for reading only: ")
	return printed.FindString(p.screen.String())
}

// answers are what a command prints with --json: one value, or one a line.
func answers[T any](t testing.TB, dir string, args ...string) (list []T) {
	t.Helper()
	out, err := command(t, dir, append(args, "--json")...).Output()
	if err != nil {
		t.Fatalf("tunehost %s: %v", strings.Join(args, " "), err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var x T
		switch err := d.Decode(&x); {
		case err == io.EOF:
			return list
		case err != nil:
			t.Fatalf("tunehost %s: %v: %s", strings.Join(args, " "), err, out)
		}
		list = append(list, x)
	}
}

// page is a page of a browser, whose faults and requests are noted.
type page struct {
	t   testing.TB
	ctx context.Context

	group cdp.BrowserContextID

	// file is the page itself, if that is a file.
	file string

	mu       sync.Mutex
	faults   []string
	requests []string
}

// patience is for what a page shows by itself, on a machine that is busy.
const patience = 2 * time.Minute

// window opens a page in the browser of all tests, which keeps nothing of the pages of others.
func window(t testing.TB) *page {
	t.Helper()
	file := toolchain.Need(t, toolchain.Chromium)
	if shared == nil || shared.Err() != nil { // it may have crashed
		ctx, _, err := started(file)
		if err != nil {
			t.Fatal(err)
		}
		shared = ctx
	}
	its := chromedp.FromContext(shared).Browser
	group, err := target.CreateBrowserContext().Do(cdp.WithExecutor(shared, its))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.DisposeBrowserContext(group).Do(cdp.WithExecutor(shared, its)) })
	return opened(t, shared, group)
}

// browser starts a browser with other settings, and one page.
func browser(t testing.TB, settings ...chromedp.ExecAllocatorOption) *page {
	t.Helper()
	ctx, end, err := started(toolchain.Need(t, toolchain.Chromium), settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return opened(t, ctx, "")
}

// shared is the browser of all tests: to start one for each takes longer than most of them.
var shared context.Context

// profiles are the folders of the browsers, which may still write there when a test ends.
var profiles = filepath.Join(os.TempDir(), fmt.Sprintf("tunehost-browser-profiles-%d", os.Getpid()))

// started starts a browser.
func started(file string, settings ...chromedp.ExecAllocatorOption) (ctx context.Context, end func(), err error) {
	if err := os.MkdirAll(profiles, 0o700); err != nil {
		return nil, nil, err
	}
	profile, err := os.MkdirTemp(profiles, "")
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(file), chromedp.NoSandbox,
		chromedp.WindowSize(1300, 1000), chromedp.Flag("force-prefers-reduced-motion", true),
		chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(patience))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), append(options, settings...)...)
	ctx, _ = chromedp.NewContext(ctx)
	end = func() {
		_ = chromedp.Cancel(ctx) // waits for the browser to end
		stop()
	}
	return ctx, end, chromedp.Run(ctx)
}

// opened opens a page in a window of its own; pages of a group share cookies and storage.
func opened(t testing.TB, ctx context.Context, group cdp.BrowserContextID) *page {
	t.Helper()
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(group).WithNewWindow(true).
		Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(ctx, chromedp.WithTargetID(id))
	t.Cleanup(end)
	p := &page{t: t, ctx: ctx, group: group}
	chromedp.ListenTarget(ctx, p.note)
	// without a limit in time: the page lives as long as the context of its first actions
	if err := chromedp.Run(ctx, network.Enable(), emulation.SetFocusEmulationEnabled(true)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			p.shot(filepath.Join(os.TempDir(), strings.ReplaceAll(t.Name(), "/", "_")+".png"))
		}
	})
	return p
}

func (p *page) note(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.faults = append(p.faults, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError {
			p.faults = append(p.faults, fmt.Sprint(e.Args))
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// run carries out actions.
func (p *page) run(what string, actions ...chromedp.Action) {
	p.t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	defer func() { p.t.Logf("%6.2fs %.100s", time.Since(began).Seconds(), what) }()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.t.Fatalf("%s: %v\nthe page shows: %.2000s\nfaults: %q", what, err, p.text("body"), p.faults)
	}
}

func (p *page) open(url string) {
	p.t.Helper()
	p.run("open "+url, chromedp.Navigate(url))
}

// view opens another view of the dashboard.
func (p *page) view(hash string) {
	p.t.Helper()
	p.run("view "+hash, chromedp.Evaluate(fmt.Sprintf("void (location.hash = %q)", hash), nil))
}

// await waits until an expression of JavaScript is true.
func (p *page) await(expression string) {
	p.t.Helper()
	p.run("await "+expression, chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			err := chromedp.Poll(fmt.Sprintf("!!(%s)", expression), nil,
				chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience)).Do(ctx)
			if err == nil || !strings.Contains(err.Error(), "Cannot find context") {
				return err // what replaces a page that is left is looked at, too
			}
		}
	}))
}

// shows waits until a part of the page has a text.
func (p *page) shows(selector, text string) {
	p.t.Helper()
	p.await(fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", selector, text))
}

// text is what a part of the page shows now.
func (p *page) text(selector string) (text string) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	read := fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)
	_ = chromedp.Run(ctx, chromedp.Evaluate(read, &text))
	return text
}

// press clicks a button by its text, once it does something.
func (p *page) press(within, text string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%q)].find(b => b.textContent.includes(%q) && !b.disabled && "+
		"b.ariaDisabled !== 'true')",
		within+" button", text)
	p.await(find)
	p.run("press "+text, chromedp.Evaluate(fmt.Sprintf("void %s.click()", find), nil))
}

// fill types into a field.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	p.await(fmt.Sprintf("document.querySelector(%q)", selector))
	p.run("fill "+selector, chromedp.Evaluate(fmt.Sprintf(`{
		const field = document.querySelector(%q);
		field.value = %q;
		field.dispatchEvent(new Event("input", {bubbles: true}));
	}`, selector, text), nil))
}

// shot keeps a picture of the page.
func (p *page) shot(file string) {
	var picture []byte
	if err := chromedp.Run(p.ctx, chromedp.FullScreenshot(&picture, 100)); err != nil {
		p.t.Logf("no picture of the page: %v", err)
		return
	}
	if err := os.WriteFile(file, picture, 0o644); err == nil {
		p.t.Logf("a picture of the page: %s", file)
	}
}

// clean fails if the page had faults, or asked another machine for anything.
func (p *page) clean() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range p.faults {
		p.t.Errorf("the page has a fault: %s", fault)
	}
	for _, url := range p.requests {
		if p.file != "" && url == p.file || p.file == "" && strings.HasPrefix(url, "http://127.") {
			continue
		}
		if !strings.HasPrefix(url, "about:") && url != "data:," {
			p.t.Errorf("the page asked for %s", url)
		}
	}
}
