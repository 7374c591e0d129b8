package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/chromedp/chromedp"
)

// liveResults are how many results the live experiment reports, after pauses of 0.40 to 1.99 seconds: they come at all
// times between two looks of the page.
const liveResults = 40

const liveSource = `version: 1
name: live
objective: {metric: a, mode: max}
trainable:
  command:
    - sh
    - -c
    - |
      sleep 5
      for i in $(seq %d); do
        echo "{\"a\": $i}"
        sleep $((i * 37 %% 100 / 60)).$((40 + i * 37 %% 60))
      done
space: {n: {grid: [0]}}
trials: 1
`

// changes notes when the best value that the page shows becomes another, in milliseconds since 1970.
const changes = `window.shown = {};
	new MutationObserver(() => {
		const text = document.querySelector("#best-value")?.textContent;
		if (text) shown[text] ??= performance.timeOrigin + performance.now();
	}).observe(document.body, { subtree: true, childList: true, characterData: true });`

// live measures how long after a result was recorded an open page shows it. The floor is a program that asks for the
// status all the time.
func live(out io.Writer, binary, dir string) error {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return errors.New("there is no chromium on the PATH: host/web/browser/chromium.sh installs it")
	}
	folder := filepath.Join(dir, "live")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file := filepath.Join(dir, "live.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, liveSource, liveResults), 0o600); err != nil {
		return err
	}
	s, err := start(binary, filepath.Join(dir, "live-home"), folder)
	if err != nil {
		return err
	}
	defer s.end()
	ctx, end := window(chromium)
	defer end()
	run := exec.CommandContext(ctx, binary, "run", file, "--storage", folder, "-v", "0")
	if err := run.Start(); err != nil {
		return err
	}
	page, asked, err := watched(ctx, s, run)
	if err != nil {
		return err
	}
	recorded, err := recordedAt(binary, filepath.Join(folder, "live"))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "results shown after they were recorded: %s; to a program that asks all the time: %s\n",
		delays(recorded, page), delays(recorded, asked))
	return nil
}

// watched returns when each value was shown by a page, and told to a program, until the run ends.
func watched(ctx context.Context, s *server, run *exec.Cmd) (page, asked map[string]float64, err error) {
	asked = map[string]float64{}
	ended, stop := context.WithCancel(ctx)
	var asking sync.WaitGroup
	asking.Go(func() { ask(ended, s, asked) })
	err = chromedp.Run(ctx, chromedp.Navigate(s.base.String()+"/?token="+s.token+"#/x/live"),
		chromedp.Evaluate(changes, nil))
	if failed := run.Wait(); err == nil {
		err = failed
	}
	stop()
	asking.Wait()
	if err == nil {
		err = chromedp.Run(ctx, chromedp.Sleep(2*time.Second), chromedp.Evaluate("shown", &page))
	}
	return page, asked, err
}

// ask notes when an answer first has a value.
func ask(ctx context.Context, s *server, at map[string]float64) {
	for ctx.Err() == nil {
		a, err := s.request(ctx, "/api/v1/experiments/live")
		if err != nil {
			continue
		}
		var status struct{ Best struct{ Value float64 } }
		_ = json.NewDecoder(a.Body).Decode(&status) // one that is no status has no value
		_ = a.Body.Close()
		if text := fmt.Sprint(status.Best.Value); at[text] == 0 {
			at[text] = float64(time.Now().UnixMicro()) / 1000
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// recordedAt returns when each value was recorded, in milliseconds since 1970.
func recordedAt(binary, dir string) (map[string]float64, error) {
	text, err := exec.Command(binary, "results", dir, "0", "--json").Output()
	if err != nil {
		return nil, err
	}
	at := map[string]float64{}
	for line := range bytes.Lines(text) {
		var r struct {
			Time    time.Time
			Metrics struct{ A float64 }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		at[fmt.Sprint(r.Metrics.A)] = float64(r.Time.UnixMicro()) / 1000
	}
	return at, nil
}

// delays describes how long after its record each value was seen.
func delays(recorded, seen map[string]float64) string {
	var list []float64
	for i := 1; i <= liveResults; i++ {
		value := strconv.Itoa(i)
		if at, ok := seen[value]; ok && recorded[value] > 0 {
			list = append(list, at-recorded[value])
		}
	}
	if len(list) == 0 {
		return "none was seen"
	}
	slices.Sort(list)
	return fmt.Sprintf("median %.0f ms, nine of ten within %.0f ms, slowest %.0f ms, %d of %d", list[len(list)/2],
		list[len(list)*9/10], list[len(list)-1], len(list), liveResults)
}
