package serve_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// inside is what a report has inside, as host/web/src/embedded.ts reads it.
type inside struct {
	Made    time.Time
	Answers map[string]struct {
		Status int
		Body   json.RawMessage
	}
}

func reported(t *testing.T, folders ...string) (serve.Report, inside) {
	t.Helper()
	r, err := serve.New(serve.Options{Folders: folders, Version: "test"}).Report(viewtest.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := bytes.Cut(r.Page, []byte(`id="data">`))
	text, _, _ = bytes.Cut(text, []byte("</script>"))
	unpacked, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	var x inside
	if err := json.NewDecoder(unpacked).Decode(&x); err != nil {
		t.Fatal(err)
	}
	return r, x
}

// at decodes an answer, which must be no problem.
func at[T any](t *testing.T, x inside, path string) (body T) {
	t.Helper()
	a, ok := x.Answers["/api/v1/experiments"+path]
	if !ok || a.Status != 0 {
		t.Fatalf("%s: %+v", path, a)
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return body
}

// TestReport: what a report has inside is what the server answers (B-141).
func TestReport(t *testing.T) {
	root := recorded(t)
	c := serving(t, root)
	_, x := reported(t, root)
	for path, live := range map[string]string{"": "", "/digits": "/digits", "/digits/space": "/digits/space",
		"/digits/trials": "/digits/trials?limit=10000", "/digits/best": "/digits/best",
		"/digits/history":                "/digits/history",
		"/digits/curves?metric=loss":     "/digits/curves?metric=loss&points=100",
		"/digits/importance?metric=loss": "/digits/importance?metric=loss&mode=min",
		"/digits/points":                 "/digits/points",
		"/digits/timeline":               "/digits/timeline",
		"/digits/lineage":                "/digits/lineage", "/crashed": "/crashed"} {
		same(t, path, marshal(t, at[json.RawMessage](t, x, path)), c.get(live))
	}
	if got := at[string](t, x, "/digits/file"); got != source {
		t.Errorf("the file is %q", got)
	}
	// what a page of the server would say instead of an answer, the report says, too
	if a := x.Answers["/api/v1/experiments/crashed/importance"]; a.Status != 409 ||
		!strings.Contains(string(a.Body), "importance needs 10") {
		t.Errorf("the importance of 4 trials is %d %s", a.Status, a.Body)
	}
}

// TestReportOfMany: a report of 1,000 trials with long curves of random values is at most 2 MB, with all trials in its
// list, and points of the curves of all.
func TestReportOfMany(t *testing.T) {
	root := t.TempDir()
	text := strings.Replace(source, "trials: 12", "trials: 1000", 1)
	w := viewtest.New(filepath.Join(root, "many"), []byte(text), 7)
	random := rand.New(rand.NewPCG(1, 2))
	w.Iterations, w.Names = 100, []string{"accuracy", "loss"}
	w.Metrics = func(core.TrialNo, uint64) []float64 { return []float64{random.Float64(), random.Float64()} }
	w.Start(8)
	w.Run(-1)
	w.Close()
	r, x := reported(t, root)
	if len(r.Page) > 2_000_000 {
		t.Errorf("the report has %d bytes", len(r.Page))
	}
	type trials struct{ Trials []struct{ Number int } }
	if n := len(at[trials](t, x, "/many/trials").Trials); n != 1000 {
		t.Errorf("the list has %d trials", n)
	}
	type curves struct {
		Total  int
		Trials []struct{ Values []float64 }
	}
	if got := at[curves](t, x, "/many/curves?metric=accuracy"); got.Total != 1000 || len(got.Trials) < 500 ||
		len(got.Trials[0].Values) < 10 {
		t.Errorf("%d curves of %d, with %d points", len(got.Trials), got.Total, len(got.Trials[0].Values))
	}
	type results struct{ Results []struct{ Iteration int } }
	for _, no := range []int{0, 500, 999} {
		if n := len(at[results](t, x, fmt.Sprintf("/many/trials/%d/results", no)).Results); n < 10 {
			t.Errorf("trial %d has %d results", no, n)
		}
	}
	t.Logf("%d bytes", len(r.Page))
}

// The timeline of a report of many trials reaches from the first ones to the last ones, as that of `tunehost plot`.
func TestReportOfManyHasTheWholeTimeline(t *testing.T) {
	root := t.TempDir()
	text := strings.Replace(source, "trials: 12", "trials: 1500", 1)
	w := viewtest.New(filepath.Join(root, "many"), []byte(text), 7)
	w.Iterations = 1
	w.Start(8)
	w.Run(-1)
	w.Close()
	_, x := reported(t, root)
	all := at[view.Timeline](t, x, "/many/timeline")
	list := numbersOf(all)
	if n := len(list); all.Total != 1500 || n < 50 || n > 1000 || list[0] != 0 || list[n-1] < 1400 {
		t.Errorf("%d trials of %d, up to %d", n, all.Total, list[n-1])
	}
}

// TestReportOfDamage: an experiment that cannot be read does not keep the others out; without others it is an error.
func TestReportOfDamage(t *testing.T) {
	root := recorded(t)
	damaged := filepath.Join(root, "crashed")
	files, err := filepath.Glob(filepath.Join(damaged, "journal", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, x := reported(t, root)
	if len(r.Unread) != 1 || !strings.HasPrefix(r.Unread[0], "crashed: ") {
		t.Errorf("unread: %q", r.Unread)
	}
	at[json.RawMessage](t, x, "/digits")
	for _, folder := range []string{damaged, t.TempDir()} {
		_, err := serve.New(serve.Options{Folders: []string{folder}}).Report(viewtest.Epoch)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
