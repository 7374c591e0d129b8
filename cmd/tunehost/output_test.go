package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/view/viewtest"
)

// full is an output without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A command that only prints fails if its output cannot be written.
func TestOutputLost(t *testing.T) {
	dir := t.TempDir() + "/e"
	recorded(dir)
	for _, line := range []string{"trials", "trials --json", "trials --csv", "status", "status --json",
		"best", "lineage", "lineage --json", "journal", "journal --json", "doctor", "logs --help"} {
		args := strings.Fields(line)
		if args[0] != "logs" {
			args = append(args, dir)
		}
		var errs bytes.Buffer
		if exit := run(args, nil, strings.NewReader(""), full{}, &errs); exit != exitFailed ||
			strings.Count(errs.String(), "no space left") != 1 {
			t.Errorf("%s exits %d and says %q", line, exit, errs.String())
		}
	}
}

// recorded makes an experiment of one trial.
func recorded(dir string) {
	w := viewtest.New(dir, []byte("version: 1\nobjective: {metric: accuracy, mode: max}\ntrainable: {plugin: chaos}\n"+
		"space: {x: {uniform: [0, 1]}}\ntrials: 1\n"), 1)
	w.Start(1)
	w.Run(50)
	w.Close()
}

// ls names folders that it cannot read, and does not say that there are no experiments.
func TestListsUnreadable(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop") // nobody can read it, not even root
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{exitFailed, 0} {
		if want == 0 {
			recorded(filepath.Join(dir, "e")) // beside it
		}
		var out, errs bytes.Buffer
		if exit := run([]string{"ls", dir}, nil, strings.NewReader(""), &out, &errs); exit != want ||
			strings.Count(errs.String(), "tunehost: "+loop+": ") != 1 || strings.Contains(out.String(),
			"no experiments") ||
			want == 0 && !strings.Contains(out.String(), "accuracy") {
			t.Errorf("exit %d: %s%s", exit, out.String(), errs.String())
		}
	}
}

// An experiment that has lost one of its files is named as damaged by what lists or examines it; a directory that a
// host began, and in which no experiment exists yet, is none.
func TestLostFiles(t *testing.T) {
	for _, gone := range []string{"experiment.yaml", "run.json"} {
		folder := t.TempDir()
		dir := filepath.Join(folder, "lost")
		fixture([]string{"finished", dir})
		if err := os.Remove(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"ls", folder}, {"doctor", dir}, {"status", dir}, {"resume", dir}} {
			var out, errs bytes.Buffer
			code := run(args, nil, strings.NewReader(""), &out, &errs)
			if code == 0 || !strings.Contains(errs.String(), gone+": it is gone, but the record or the trials ") {
				t.Errorf("%s without %s: %d\n%s%s", args, gone, code, out.String(), errs.String())
			}
		}
	}
	folder := t.TempDir()
	dir := filepath.Join(folder, "begun")
	fixture([]string{"empty", dir})
	if err := os.Remove(filepath.Join(dir, "experiment.yaml")); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"ls", folder}, nil, strings.NewReader(""), &out, &errs); code != 0 ||
		!strings.Contains(errs.String()+out.String(), "no experiments in ") {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
}
