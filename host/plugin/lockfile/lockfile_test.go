package lockfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestAllows(t *testing.T) {
	mine := Plugin{Kind: sdk.KindSearcher, Name: "mine", Version: "1", Transport: "process", Path: "/p/mine",
		SHA256: "aa", Files: map[string]string{"plugin.yaml": "bb"}}
	own := Plugin{Kind: sdk.KindScheduler, Name: "asha", Version: "1", Transport: "bundled"}
	f := New("v1", []Plugin{mine, own})
	for _, c := range []struct {
		change func(*Plugin)
		of     Plugin
		want   string
	}{
		{func(*Plugin) {}, mine, ""},
		{func(*Plugin) {}, own, ""},
		{func(p *Plugin) { p.Path = "/elsewhere/mine" }, mine, ""},
		{func(p *Plugin) { p.Version = "" }, mine, ""}, // the version is known only when it runs
		{func(p *Plugin) { p.Name, p.SHA256 = "another", "cc" }, mine, ""},
		{func(p *Plugin) { p.SHA256 = "cc" }, mine,
			`searcher "mine" is not the one that this experiment began with: the SHA-256 of /p/mine is cc, ` +
				`tunehost.lock has aa; `},
		{func(p *Plugin) { p.Files = map[string]string{"plugin.yaml": "cc"} }, mine,
			"the SHA-256 of /p/mine/plugin.yaml is cc, tunehost.lock has bb"},
		{func(p *Plugin) { p.Files = nil }, mine,
			"the SHA-256 of /p/mine/plugin.yaml is not there, tunehost.lock has " +
				"bb"},
		{func(p *Plugin) { p.Transport = "wasm" }, mine, "its transport is wasm, tunehost.lock has process"},
		{func(p *Plugin) { p.Version = "2" }, own,
			`scheduler "asha" is not the one that this experiment began with: its version is 2, tunehost.lock has 1; `},
	} {
		now := c.of
		c.change(&now)
		err := f.Allows(now)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", now, err, c.want)
		}
	}
}

func TestReadAndWrite(t *testing.T) {
	dir, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if f, err := Read(dir); f != nil || err != nil {
		t.Fatalf("without a lock: %v, %v", f, err)
	}
	f := New("v1", []Plugin{{Kind: sdk.KindSearcher, Name: "mine", Grants: &Grants{Clock: true}}})
	if err := f.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil || !got.Same(f) {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{"{": "is damaged", `{}`: "was damaged, or replaced",
		`{"version": 9}`: "version 9, but this program knows version 1"} {
		if err := os.WriteFile(filepath.Join(dir.Path(), "tunehost.lock"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A lock of an older program pins what it pinned, until a change is accepted.
func TestOlderLock(t *testing.T) {
	then := Plugin{Kind: sdk.KindSearcher, Name: "mine", Transport: "process", Path: "/p/mine", SHA256: "aa",
		Files: map[string]string{"plugin.yaml": "bb"}}
	now := then
	now.Covers, now.Files = WholeFolder, map[string]string{"plugin.yaml": "bb", "lib.py": "cc"}
	old := New("v1", []Plugin{then})
	if err := old.Allows(now); err != nil {
		t.Error(err)
	}
	kept := New("v2", []Plugin{now})
	kept.Succeed(old, false, time.Time{})
	if p := kept.Plugins[0]; p.Covers != "" || len(p.Files) != 1 {
		t.Errorf("it pins %+v", p)
	}
	taken := New("v2", []Plugin{now})
	taken.Succeed(old, true, time.Time{})
	if p := taken.Plugins[0]; p.Covers != WholeFolder || len(p.Files) != 2 {
		t.Errorf("it pins %+v", p)
	}
}

// A plugin that is not used any more stays known, and is no other when it comes back.
func TestEarlierPlugins(t *testing.T) {
	of := func(name, sum string) Plugin {
		return Plugin{Kind: sdk.KindSearcher, Name: name, Transport: "process", Path: "/p/" + name, SHA256: sum}
	}
	last := New("v1", []Plugin{of("a", "1")})
	for _, next := range []Plugin{of("b", "1"), of("c", "1")} {
		now := New("v1", []Plugin{next})
		now.Succeed(last, false, time.Unix(100, 0))
		last = now
	}
	if !last.Lists(of("a", "1")) || !last.Lists(of("b", "2")) || last.Lists(of("d", "1")) {
		t.Errorf("%+v", last)
	}
	if last.Allows(of("a", "1")) != nil || last.Allows(of("a", "2")) == nil {
		t.Error("an earlier plugin may change")
	}
	back := New("v1", []Plugin{of("a", "2")})
	back.Succeed(last, true, time.Unix(200, 0))
	if len(back.Earlier) != 2 || len(back.Accepted) != 1 || back.Allows(of("a", "2")) != nil {
		t.Errorf("%+v", back)
	}
}

// Accepted changes are kept, with the old values.
func TestAcceptedChanges(t *testing.T) {
	pinned := func(files map[string]string) *File {
		return New("v1", []Plugin{{Kind: sdk.KindSearcher, Name: "mine", Transport: "process", Path: "/p/mine",
			SHA256: "aa", Covers: WholeFolder, Files: files}})
	}
	first := pinned(map[string]string{"a.py": "1", "b.py": "1"})
	second := pinned(map[string]string{"a.py": "2", "c.py": "1"})
	if err := first.Allows(second.Plugins[0]); err == nil ||
		!strings.Contains(err.Error(), "the SHA-256 of /p/mine/a.py is 2, tunehost.lock has 1 (and 2 more); ") {
		t.Error(err)
	}
	second.Succeed(first, true, time.Unix(100, 0))
	third := pinned(map[string]string{"a.py": "2", "c.py": "1"})
	third.Succeed(second, false, time.Unix(200, 0))
	var got []string
	for _, c := range third.Accepted {
		got = append(got, strings.Join([]string{c.What, c.Was, c.Is}, " "))
	}
	want := "the SHA-256 of /p/mine/a.py 1 2, the SHA-256 of /p/mine/b.py 1 not there, the SHA-256 of /p/mine/c.py " +
		"none 1"
	if strings.Join(got, ", ") != want || !third.Accepted[0].Time.Equal(time.Unix(100, 0)) {
		t.Errorf("%v", third.Accepted)
	}
	if text := third.Accepted[0].String(); !strings.HasPrefix(text, `searcher "mine" was changed, and accepted on `) {
		t.Error(text)
	}
}
