package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"
)

// client keeps as many connections as there are pages, each of which is in a browser of its own.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * openPages}}

// server is a running `tunehost serve`.
type server struct {
	cmd   *exec.Cmd
	base  *url.URL
	token string
}

// start starts a server for a folder. home is for its tokens.
func start(binary, home string, folder string) (*server, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(binary, "serve", "--listen", "127.0.0.1:0", folder)}
	s.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
	said, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err == nil {
		s.base, err = url.Parse(line[:len(line)-1])
	}
	if err != nil {
		s.end()
		return nil, fmt.Errorf("tunehost serve: %w", err)
	}
	s.token, s.base.RawQuery, s.base.Path = s.base.Query().Get("token"), "", ""
	go func() { _, _ = io.Copy(io.Discard, said) }()
	return s, nil
}

func (s *server) end() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func (s *server) memory() string { return memory(s.cmd.Process.Pid) }

// request asks; headers are names and values.
func (s *server) request(ctx context.Context, path string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.String()+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return client.Do(r)
}

// get returns how long an answer takes, and its length.
func (s *server) get(path string) (time.Duration, int, error) {
	began := time.Now()
	a, err := s.request(context.Background(), path)
	if err != nil {
		return 0, 0, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	took := time.Since(began)
	switch {
	case err != nil:
		return 0, 0, err
	case a.StatusCode != http.StatusOK:
		return 0, 0, fmt.Errorf("%s: %s %s", path, a.Status, text)
	}
	return took, len(text), check(text)
}
