package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
)

// nobody is a user without rights.
const nobody = 65534

// unprivileged is a command that a user without rights runs in a folder of theirs: this user, unless that is root.
func unprivileged(t *testing.T) (dir string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "tunehost-other-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "tunehost")
	copyProgram(t, file)
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		as.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), file, args...)
		c.Dir, c.SysProcAttr = dir, as
		c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "TMPDIR="+dir,
			"XDG_STATE_HOME="+filepath.Join(dir, "state"))
		return c
	}
}

// copyProgram copies this test, which is also tunehost.
func copyProgram(t *testing.T, file string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}

// A folder that cannot be listed is refused, and not shown as one without experiments.
func TestServeClosedFolder(t *testing.T) {
	dir, command := unprivileged(t)
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o300); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(filepath.Join(dir, "closed"), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"serve", "closed", "--listen", "127.0.0.1:0"},
		{"report", "closed", "-o", "x.html"}} {
		out, err := command(args...).CombinedOutput()
		text := string(out)
		if err == nil || !strings.HasPrefix(text, "tunehost: closed: you have no permission to list this folder") ||
			strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %v, %q", args, err, text)
		}
	}
}

// certified makes a certificate for 127.0.0.1 and its key, and returns a client that trusts it.
func certified(t *testing.T, dir string) (cert, key string, c *http.Client) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	public, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})
	for file, b := range map[string][]byte{cert: text, key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY",
		Bytes: secret})} {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	return cert, key, &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// B-142: with a certificate the server speaks HTTPS alone; beyond this machine it speaks HTTP only with --insecure.
func TestServeTLS(t *testing.T) {
	dir, command := unprivileged(t)
	if err := os.Mkdir(filepath.Join(dir, "results"), 0o755); err != nil {
		t.Fatal(err)
	}
	cert, key, client := certified(t, dir)
	s := serving(t, command("serve", "results", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key))
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatalf("the URL is %s", s.url)
	}
	a, err := client.Get(s.url + "/?token=" + s.token)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	if a.StatusCode != http.StatusSeeOther || len(a.Cookies()) > 0 {
		t.Errorf("the first visit: %s, %v", a.Status, a.Header)
	}
	s.client = client
	if code, text := s.send("GET", "", ""); code != http.StatusOK || !strings.Contains(text, `"experiments":[]`) {
		t.Errorf("%d %s", code, text)
	}
	if a, err := http.Get(strings.Replace(s.url, "https", "http", 1) + "/?token=" + s.token); err == nil {
		_ = a.Body.Close()
		t.Errorf("HTTP at the port of HTTPS: %s", a.Status)
	}
	open := serving(t, command("serve", "results", "--listen", "0.0.0.0:0", "--insecure"))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(open.url, "http://"))
	open.url = "http://127.0.0.1:" + port
	if code, text := open.send("GET", "", ""); code != http.StatusOK {
		t.Errorf("with --insecure: %d %s", code, text)
	}
	open.token = ""
	if code, _ := open.send("GET", "", ""); code != http.StatusUnauthorized {
		t.Errorf("with --insecure and no token: %d", code)
	}
}

// A certificate that clients refuse, or soon will, is a warning before the URL.
func TestServeCertificateEnds(t *testing.T) {
	dir, command := unprivileged(t)
	cert, key, _ := certified(t, dir) // it is valid for an hour
	c := command("serve", dir, "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
	out, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Signal(syscall.SIGTERM); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if want := "warning: --tls-cert " + cert + ": the certificate expires on "; !strings.HasPrefix(line, want) {
		t.Errorf("%q, %v, want %s", line, err, want)
	}
}

// B-142: another user of this machine reads neither tokens nor the experiment, reaches no socket of the host, and gets
// nothing from the server.
func TestServeOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can become another user: NOT TESTED")
	}
	dir, _ := unprivileged(t)
	mine := filepath.Join(dir, "mine") // everybody may enter it: what is in it has to be closed itself
	if err := errors.Join(os.Mkdir(mine, 0o755), os.WriteFile(filepath.Join(mine, "slow.yaml"),
		[]byte(strings.Replace(small, "echo", "sleep 600; echo", 1)), 0o644)); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "tunehost"), "run", "slow.yaml", "--serve=127.0.0.1:0",
		"-v", "0")
	c.Dir = mine
	c.Env = append(os.Environ(), "HOME="+mine, "XDG_CONFIG_HOME="+filepath.Join(mine, "config"))
	s := serving(t, c)
	testplace.Soon(t, "the socket of the host", func() bool { return len(socketsOf(t, c.Process.Pid)) > 0 })
	tokens, err := filepath.Glob(filepath.Join(mine, "config", "tunehost", "serve-token*"))
	if err != nil || len(tokens) != 2 {
		t.Fatal(tokens, err)
	}
	script := "id -u; cat " + strings.Join(tokens, " ") + "\n"
	for _, path := range socketsOf(t, c.Process.Pid) {
		script += fmt.Sprintf("[ -w %q ] && echo %q\n", path, path)
	}
	script += fmt.Sprintf("cat %s/results/small/run.json %s/results/small/journal/*; cat /proc/%d/environ\n", mine,
		mine, c.Process.Pid)
	other := exec.CommandContext(t.Context(), "sh", "-c", script)
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	other.Dir = "/"
	if out, _ := other.Output(); string(out) != fmt.Sprintln(nobody) {
		t.Errorf("another user sees %q", out)
	}
	s.token = ""
	if code, text := s.send("GET", "", ""); code != http.StatusUnauthorized || strings.Contains(text, "small") {
		t.Errorf("without a token: %d %s", code, text)
	}
}

// socketsOf are the paths of the Unix sockets on which a process listens.
func socketsOf(t *testing.T, pid int) (list []string) {
	t.Helper()
	held := map[string]bool{}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, file := range files {
		to, _ := os.Readlink(file) // it may be closed by now
		held[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
	}
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if w := strings.Fields(line); len(w) == 8 && held[w[6]] && strings.HasPrefix(w[7], "/") {
			list = append(list, w[7])
		}
	}
	return list
}

// served is a server that a test has started.
type served struct {
	t     *testing.T
	url   string
	token string
	// client sends requests.
	client *http.Client
}

var servedAt = regexp.MustCompile(`(https?://[^/]+)/\?token=(\S+)`)

// serving starts a server and waits for its URL.
func serving(t *testing.T, c *exec.Cmd) served {
	t.Helper()
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Signal(syscall.SIGTERM); _ = c.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := servedAt.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return served{t, m[1], m[2], http.DefaultClient}
		}
	}
	t.Fatal("the server prints no URL")
	return served{}
}

// send returns the status of an answer and its body.
func (s served) send(method, path, body string) (int, string) {
	s.t.Helper()
	status, text, _ := s.answer(method, path, body)
	return status, text
}

// answer returns the status of an answer, its body and its header.
func (s served) answer(method, path, body string) (int, string, http.Header) {
	s.t.Helper()
	at := s.url + "/api/v1/experiments" + path
	r, err := http.NewRequestWithContext(s.t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, string(text), a.Header
}

// TestServeResumeRefused covers B-142: where a host refuses to resume an experiment, the answer does not say to try
// again: only the user can change the reason.
func TestServeResumeRefused(t *testing.T) {
	dir, command := unprivileged(t)
	if err := os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "small.yaml", "-v", "0"}, {"set", "results/small", "trials=3"}} {
		if out, err := command(args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args, err, out)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "results", "small"), 0o777); err != nil {
		t.Fatal(err)
	}
	s := serving(t, command("serve", "results", "--listen", "127.0.0.1:0"))
	status, text, header := s.answer("POST", "/small/resume", "")
	if status != http.StatusConflict || !strings.Contains(text, "--trust-dir") || header.Get("Retry-After") != "" {
		t.Errorf("%d %s, %v", status, text, header)
	}
}

// names are the files below a folder, with their sizes and times.
func names(t *testing.T, root string) (list string) {
	t.Helper()
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			list += fmt.Sprintln(path, info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const small = `
version: 1
name: small
objective: {metric: x, mode: min}
space: {a: {uniform: [0, 1]}}
trainable: {command: [sh, -c, 'echo "{\"x\": 1}"']}
trials: 2
`

// B-059, B-140: experiments in a storage elsewhere are shown as they are there, what is new comes by itself, nothing is
// written there, and what needs the machine that runs them is refused.
func TestServeStorage(t *testing.T) {
	dir, command := unprivileged(t)
	file, stored := filepath.Join(dir, "small.yaml"), filepath.Join(dir, "stored$b")
	if err := os.WriteFile(file, []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		c := command(append([]string{"run", file, "--storage", "file://" + stored, "-v", "0"}, args...)...)
		c.Env = append(c.Env, "XDG_STATE_HOME="+filepath.Join(dir, "another")) // as if it was another machine
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run()
	before := names(t, stored)
	s := serving(t, command("serve", "file://"+stored, "--listen", "127.0.0.1:0"))
	one := serving(t, command("serve", "file://"+stored+"/small", "--listen", "127.0.0.1:0"))
	place := `"dir":"file://` + stored + `/small`
	for path, want := range map[string]string{
		"":       `"id":"small","name":"small","state":"finished","trials":2`,
		"/small": place, "/small/trials": place + "/trials/",
		"/small/best": `"value":1`, "/small/events": "event: end", "/small/file": "objective: {metric: x",
	} {
		for _, s := range []served{s, one} {
			if code, text := s.send("GET", path, ""); code != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: %d %s", path, code, text)
			}
		}
	}
	for _, x := range []struct{ method, path, body string }{
		{"POST", "/small/stop", ""}, {"POST", "/small/resume", ""}, {"POST", "/small/trials", `{"params":{"a":0.5}}`},
		{"PATCH", "/small/settings", `{"trials":9}`}, {"POST", "/small/ask", `{}`}, {"GET", "/small/host-log", ""},
		{"GET", "/small/trials/0/log", ""},
		{"POST", "", `{"file":"version: 1"}`},
	} {
		code, text := s.send(x.method, x.path, x.body)
		if code != http.StatusConflict || !strings.Contains(text, "file://") {
			t.Errorf("%s %s: %d %s", x.method, x.path, code, text)
		}
	}
	for _, x := range []struct{ path, body, want string }{
		{"/small/resume", "", "`tunehost resume 'file://" + stored + "/small'`"},
		{"", `{"file":"version: 1"}`, "--storage 'file://" + stored + "'`"},
	} {
		if _, text := s.send("POST", x.path, x.body); !strings.Contains(text, x.want) {
			t.Errorf("%s: %s, want %s", x.path, text, x.want)
		}
	}
	if after := names(t, stored); after != before {
		t.Errorf("looking has changed\n%s\nto\n%s", before, after)
	}
	run("--set", "trials=5")
	testplace.Soon(t, "the new trials", func() bool {
		_, text := s.send("GET", "/small/trials", "")
		return strings.Contains(text, `"total":5`)
	})
	testplace.Soon(t, "the new trials in the list", func() bool {
		_, text := s.send("GET", "", "")
		return strings.Contains(text, `"trials":5`)
	})
}

// A failed trial of an experiment that no host runs runs again over HTTP: a host begins that has only this to do.
func TestServeRetry(t *testing.T) {
	dir, command := unprivileged(t)
	file := strings.Replace(small, `'echo "{\"x\": 1}"'`, "'[ -e "+dir+`/ok ] && echo "{\"x\": 1}"'`, 1)
	if err := os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := command("run", "small.yaml", "-v", "0").CombinedOutput(); err == nil {
		t.Fatalf("the trials have not failed: %s", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "ok"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := serving(t, command("serve", "results", "--listen", "127.0.0.1:0"))
	if status, text := s.send("POST", "/small/trials/1/retry", ""); status != http.StatusOK ||
		!strings.Contains(text, "the experiment small has a host again, and runs trial 1") {
		t.Fatalf("%d %s", status, text)
	}
	const want = `[{"number":0,"state":"ERROR"`
	for text := ""; !strings.Contains(text, want) || !strings.Contains(text, "TERMINATED"); {
		time.Sleep(50 * time.Millisecond)
		_, text = s.send("GET", "/small/trials?fields=state", "")
	}
	for text := ""; !strings.Contains(text, `"state":"finished"`); time.Sleep(50 * time.Millisecond) {
		_, text = s.send("GET", "/small", "")
	}
	if status, text := s.send("POST", "/small/trials/1/retry", ""); status != http.StatusConflict ||
		!strings.Contains(text, "only a trial in ERROR can be run again") {
		t.Errorf("a trial that has not failed: %d %s", status, text)
	}
}
