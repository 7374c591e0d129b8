package process_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

func TestSuite(t *testing.T) {
	suite.Run(t, func(t *testing.T, kind sdk.Kind) plugin.Plugin { return start(t, kind) })
}

// A process that begins when its caller's time is up already is ended at once.
func TestTooLateToStart(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Minute))
	defer cancel()
	_, err := process.Start(ctx, self(t, sdk.KindSearcher, "bad-silent"))
	if !errors.Is(err, plugin.ErrLate) || !strings.Contains(err.Error(), "was not started: the time for it was up") {
		t.Error(err)
	}
}

// A start that its caller gives less time than its own limit says how long it had.
func TestLateForItsCaller(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := process.Start(ctx, self(t, sdk.KindSearcher, "bad-silent"))
	if !errors.Is(err, plugin.ErrLate) || !strings.Contains(err.Error(), "was not ready within 200ms of its start") {
		t.Error(err)
	}
}

// B-074
func TestNotAPlugin(t *testing.T) {
	for program, says := range map[string]string{
		"bad-garbage": `cannot be used: wrote "hello world" on stdout where the handshake should be`,
		"bad-exit": "exited with status 7 before the handshake: it is not a tunehost plugin, or it failed to " +
			"start; its last output: no module named numpy; its log: LOG",
		"bad-silent":  "was not ready within 300ms of its start",
		"bad-long":    "its first line on stdout is longer than 16384 bytes",
		"bad-endless": "its first line on stdout is longer than 16384 bytes",
		"bad-newer": "it speaks protocol 2, this tunehost speaks 1: upgrade tunehost, or take a release of the " +
			"plugin for protocol 1",
		"bad-older":   "it speaks protocol 0, this tunehost speaks 1: upgrade the plugin",
		"bad-netrpc":  `it speaks "netrpc", not grpc`,
		"bad-tcp":     "it listens on tcp; tunehost connects to unix sockets in PLUGIN_UNIX_SOCKET_DIR only",
		"bad-nocert":  "it announced no certificate",
		"bad-cert":    "the certificate that it announced is none",
		"bad-base64":  "the certificate that it announced is none: it must be DER in base64 without padding",
		"bad-address": "is not in PLUGIN_UNIX_SOCKET_DIR",
	} {
		t.Run(program, func(t *testing.T) {
			c := self(t, sdk.KindSearcher, program)
			c.LogPath = filepath.Join(t.TempDir(), "host.log")
			if err := os.WriteFile(c.LogPath, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if program == "bad-silent" {
				c.StartTimeout = 300 * time.Millisecond
			}
			wantNotStarted(t, c, fmt.Sprintf("searcher %q ", program), strings.ReplaceAll(says, "LOG", c.LogPath))
		})
	}
}

// The message about a program that has printed nothing names no log: there is nothing to read.
func TestSilentProgramHasNoLog(t *testing.T) {
	c := self(t, sdk.KindSearcher, "bad-silent")
	c.LogPath, c.StartTimeout = filepath.Join(t.TempDir(), "host.log"), 300*time.Millisecond
	if err := os.WriteFile(c.LogPath, []byte("lines of others"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(t.Context(), c)
	if err == nil {
		_ = p.Close()
		t.Fatal("it started")
	}
	if strings.Contains(err.Error(), c.LogPath) {
		t.Error(err)
	}
}

func wantNotStarted(t *testing.T, c process.Config, says ...string) {
	t.Helper()
	p, err := process.Start(t.Context(), c)
	if err == nil {
		_ = p.Close()
		t.Fatal("it started")
	}
	if plugin.FailureOf(err) != plugin.NotStarted {
		t.Errorf("the failure is %q", plugin.FailureOf(err))
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q\nlacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than a line", err)
	}
}

// B-132: the SIGTERM that an engine sends to all processes of a job does not end a plugin of the Go SDK.
func TestLivesOn(t *testing.T) { livesOn(t, start(t, sdk.KindSearcher).(*process.Process)) }

// livesOn signals a plugin, and calls it afterwards.
func livesOn(t *testing.T, p *process.Process) {
	t.Helper()
	testplace.LivesOn(t, p.PID())
	if _, err := p.Describe(t.Context()); err != nil {
		t.Error(err)
	}
}

// A program that was killed during its start may be started again.
func TestKilledAtItsStart(t *testing.T) {
	p, err := process.Start(t.Context(), self(t, sdk.KindSearcher, "bad-killed"))
	if err == nil {
		_ = p.Close()
	}
	if plugin.FailureOf(err) != plugin.Crashed || !strings.Contains(err.Error(),
		"was ended by signal 9 (killed) before it was ready") {
		t.Errorf("%q: %v", plugin.FailureOf(err), err)
	}
}

// If the host kills a plugin, the message has the host's reason, not just a signal (B-074).
func TestKillsHaveReasons(t *testing.T) {
	c := self(t, sdk.KindSearcher, "bad-closed")
	c.CloseGrace = 50 * time.Millisecond
	wantNotStarted(t, c, "ended its stdout before the handshake, and was killed: it is not a tunehost plugin")
	for reason, kill := range map[string]func(*process.Process){
		"one of its trials did not begin, answer or end in time": (*process.Process).Kill,
		"tunehost was told to end immediately":                   func(*process.Process) { process.KillAll() },
	} {
		s, p := openSearcher(t, nil)
		kill(p)
		_, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
		for err == nil { // the call was faster than the signal
			_, err = s.Suggest(t.Context(), make([]sdk.Request, 1))
		}
		if want := `searcher "probe" was killed by tunehost (` + reason +
			") in Suggest"; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// B-074
func TestNoProgram(t *testing.T) {
	c := process.Config{Program: process.Program{Kind: sdk.KindSearcher, Name: "x", Path: "/no/such/program"}}
	wantNotStarted(t, c, `searcher "x" cannot be started: `, "/no/such/program: no such file or directory")
	c.Path = filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(c.Path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantNotStarted(t, c, "permission denied")
	for text, want := range map[string]string{"import tunehost\n": " is not a program; a script needs a first line " +
		"such as #!/usr/bin/env python3, or a plugin.yaml",
		"\x7fELF\x02\x01\x01 for another processor": " is a program for another system or processor than this " +
			"machine's, " + runtime.GOOS + " on " + runtime.GOARCH + ": build it for this one",
		"#!/no/such/python -u\n":   ": the program in its #! line, /no/such/python, does not exist",
		"#!/no/such/python -u\r\n": ": the program in its #! line, /no/such/python, does not exist",
		"#!/bin/sh\r\nexit 1\r\n":  `: its lines end as on Windows, so that its #! line names "/bin/sh\r": `} {
		c.Path = filepath.Join(t.TempDir(), "script.py")
		if err := os.WriteFile(c.Path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		wantNotStarted(t, c, `searcher "x" cannot be started: `+c.Path+want)
	}
	c = self(t, sdk.KindScheduler, "plugin-serve")
	c.Args = append(c.Args, "searcher", "probe")
	wantNotStarted(t, c, "is not a scheduler: the program is a searcher")
}

func TestCancelledStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := self(t, sdk.KindSearcher, "bad-silent")
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := process.Start(ctx, c); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// otherAddress announces a socket in another place, with a listener.
func otherAddress() {
	dir, err := os.MkdirTemp("", "x")
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("unix", dir+"/s")
	if err != nil {
		panic(err)
	}
	fmt.Printf("1|1|unix|%s|grpc|%s\n", l.Addr(), certificate)
	_, _ = l.Accept()
	fmt.Fprintln(os.Stderr, "SOMEBODY CONNECTED")
	hang()
}

// A line that makes go-plugin panic, escapes, and an endless line do not harm the host.
func TestStderr(t *testing.T) {
	c := self(t, sdk.KindSearcher, "bad-stderr")
	var mu sync.Mutex
	var lines []process.Line
	c.Log = func(l process.Line) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
	}
	p := startConfig(t, c)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	want := []process.Line{
		{Stream: "stderr", Text: `{"@message": 5}`},
		{Stream: "stderr", Level: "warn", Text: "hello n=3"},
		{Stream: "stderr", Text: `red \x1b[31malert\x00 \xff`},
		{Stream: "stderr", Text: strings.Repeat("y", 64<<10) + " [cut]"},
	}
	for i, w := range want {
		if i >= len(lines) || !reflect.DeepEqual(lines[i], w) {
			t.Fatalf("line %d of %d is not %.100v", i, len(lines), w)
		}
	}
}

func TestFlood(t *testing.T) {
	c := self(t, sdk.KindSearcher, "bad-flood")
	flooded := filepath.Join(t.TempDir(), "flooded")
	c.Env = []string{"FLOODED=" + flooded}
	var mu sync.Mutex // stdout and stderr have a goroutine each
	size, dropped, warned := 0, 0, 0
	c.Log = func(l process.Line) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasSuffix(l.Text, " lines dropped") {
			dropped++
			return
		}
		if l.Level == "warn" {
			warned++
		}
		size += len(l.Text)
	}
	began := time.Now()
	p := startConfig(t, c)
	eventually(t, "the flood's end", func() bool { _, err := os.Stat(flooded); return err == nil })
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	allowed := (2 + int(time.Since(began).Seconds())) << 20
	if dropped == 0 || warned != 1 || size > allowed {
		t.Fatalf("%d bytes were logged, but %d are allowed; %d gaps, %d warnings", size, allowed, dropped, warned)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "canary")
	t.Setenv("ASKED_FOR", "given")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PWD", "/where/a/shell/was") // as it is for a program that another one starts in another directory
	c := self(t, sdk.KindSearcher, "bad-env")
	c.Inherit = append(c.Inherit, "ASKED_FOR", "UNSET", "PWD")
	c.Env = []string{"OWN=value"}
	var mu sync.Mutex
	var text strings.Builder
	c.Log = func(l process.Line) {
		mu.Lock()
		defer mu.Unlock()
		text.WriteString(l.Text + "\n")
	}
	if err := startConfig(t, c).Close(); err != nil {
		t.Fatal(err)
	}
	env := text.String()
	if strings.Contains(env, "canary") {
		t.Error("the host's environment leaks")
	}
	for _, want := range []string{"PATH=", "ASKED_FOR=given", "OWN=value", "STDIN 0 EOF", "PWD=" + here + " "} {
		if !strings.Contains(env, want) {
			t.Errorf("%q lacks %q", env, want)
		}
	}
}

func openSearcher(t *testing.T, options []byte) (plugin.Searcher, *process.Process) {
	t.Helper()
	p := start(t, sdk.KindSearcher).(*process.Process)
	s, err := p.OpenSearcher(t.Context(), suite.Problem(), options, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func TestCrash(t *testing.T) {
	s, _ := openSearcher(t, suite.Do("exit"))
	_, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
	want := `searcher "probe" exited with status 3 in Suggest; its last output: last words`
	if plugin.FailureOf(err) != plugin.Crashed || err.Error() != want {
		t.Fatal(err)
	}
}

func TestKilledFromOutside(t *testing.T) {
	s, p := openSearcher(t, nil)
	if err := syscall.Kill(p.PID(), syscall.SIGSEGV); err != nil {
		t.Fatal(err)
	}
	_, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
	for err == nil { // the call was faster than the signal
		_, err = s.Suggest(t.Context(), make([]sdk.Request, 1))
	}
	if plugin.FailureOf(err) != plugin.Crashed || !strings.Contains(err.Error(), "SIGSEGV") &&
		!strings.Contains(err.Error(), "status 2") {
		t.Fatal(err)
	}
}

// B-070
func TestTrainableCrash(t *testing.T) {
	d := suite.NewDriver(t, func(t *testing.T, k sdk.Kind) plugin.Plugin { return start(t, k) }, nil)
	d.Start(1, `{"do":"exit"}`, sdk.Trial{})
	for {
		if _, err := d.Trainer.Recv(); err != nil {
			want := `trainable "probe" exited with status 3 in Train; its last output: last words`
			if err.Error() != want {
				t.Fatal(err)
			}
			return
		}
	}
}

func TestOversize(t *testing.T) {
	s, err := start(t, sdk.KindScheduler).OpenScheduler(t.Context(), suite.Problem(), suite.Do("big"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Decide(t.Context(), suite.Events(1, 1))
	if plugin.FailureOf(err) != plugin.InvalidAnswer || !strings.Contains(err.Error(), "a message is too large") {
		t.Fatal(err)
	}
}

func TestHash(t *testing.T) {
	c := self(t, sdk.KindSearcher, "bad-stderr")
	sum, err := process.Hash(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	c.SHA256 = sum
	startConfig(t, c)
	c.SHA256 = strings.Repeat("0", 64)
	wantNotStarted(t, c, "has changed: its SHA-256 is "+sum)
}

// A plugin that is started without a kind announces its kinds, and is opened as the first.
func TestKinds(t *testing.T) {
	c := self(t, "", "bad-shutdown")
	p := startConfig(t, c)
	infos := p.Infos()
	if len(infos) != 1 || infos[0].Kind != sdk.KindTrainable || infos[0].Name != suite.Trainable.Name {
		t.Errorf("infos = %+v", infos)
	}
	if _, err := p.OpenTrainable(t.Context(), nil); err != nil {
		t.Error(err)
	}
	infos = startConfig(t, self(t, "", "lines")).Infos()
	if len(infos) != 1 || infos[0].Kind != sdk.KindReporter || infos[0].Name != "lines" {
		t.Errorf("infos of a reporter = %+v", infos)
	}
	c = self(t, sdk.KindSearcher, "bad-shutdown")
	wantNotStarted(t, c, "is not a searcher")
}

// A plugin that a user starts by hand says what it is.
func TestByHand(t *testing.T) {
	c, _ := registry.Config(sdk.KindSearcher, "probe")
	out, err := exec.Command(os.Args[0], c.Args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out),
		`this is the searcher "probe" for tunehost, which starts it by itself`) {
		t.Fatalf("%s %v", out, err)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c, _ := registry.Config(sdk.KindSearcher, "probe")
		p, err := process.Start(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = p.Close()
		b.StartTimer()
	}
}

func BenchmarkSuggest(b *testing.B) {
	s, err := start(b, sdk.KindSearcher).OpenSearcher(b.Context(), suite.Problem(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	suite.BenchmarkSuggest(b, s)
}

func BenchmarkTrain(b *testing.B) {
	t, err := start(b, sdk.KindTrainable).OpenTrainable(b.Context(), suite.Do("shared"))
	if err != nil {
		b.Fatal(err)
	}
	suite.BenchmarkTrain(b, t)
}

// A message above the size limit ends the process, not the host.
func TestOversizeResult(t *testing.T) {
	d := suite.NewDriver(t, func(t *testing.T, k sdk.Kind) plugin.Plugin { return start(t, k) }, nil)
	d.Start(1, `{"do":"huge","n":1}`, sdk.Trial{})
	for {
		if _, err := d.Trainer.Recv(); err != nil {
			if plugin.FailureOf(err) != plugin.InvalidAnswer || !strings.Contains(err.Error(),
				"a message is too large") ||
				len(err.Error()) > 1000 {
				t.Fatal(err)
			}
			return
		}
	}
}

// The host leaks no file descriptor and no goroutine, over 100 plugins that end in different ways.
func TestNoDescriptorsLeak(t *testing.T) {
	lives := 100
	if testing.Short() {
		lives = 20
	}
	life := func(i int) {
		switch i % 4 {
		case 0: // never a plugin
			c := self(t, sdk.KindSearcher, "bad-garbage")
			c.Log = nil
			if _, err := process.Start(t.Context(), c); err == nil {
				t.Fatal("it started")
			}
		case 1: // killed
			p := begin(t, sdk.KindSearcher)
			p.Kill()
			_ = p.Close()
		case 2: // hangs in a call
			p := begin(t, sdk.KindSearcher)
			s, err := p.OpenSearcher(t.Context(), suite.Problem(), suite.Do("hang"), nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			_, _ = s.Suggest(ctx, make([]sdk.Request, 1))
			cancel()
			_ = s.Close()
		default: // a stream that is open
			p := begin(t, sdk.KindTrainable)
			tr, err := p.OpenTrainable(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = tr.Send([]train.Command{{Kind: train.Start, Run: 1,
				Trial: &sdk.Trial{Params: []byte(`{"do":"until killed"}`)}}})
			_, _ = tr.Recv()
			tr.Kill()
			_, _ = tr.Recv()
			_ = tr.Close()
		}
	}
	for i := range 4 {
		life(i) // the first life may create things that stay
	}
	files, routines := descriptors(t), runtime.NumGoroutine()
	for i := range lives {
		life(i)
	}
	eventually(t, "the end of what the lives left", func() bool {
		return descriptors(t) <= files && runtime.NumGoroutine() <= routines+4
	})
}

func begin(t *testing.T, kind sdk.Kind) *process.Process {
	t.Helper()
	c, _ := registry.Config(kind, "probe")
	c.Inherit = []string{"GORACE"}
	p, err := process.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	return len(list)
}
