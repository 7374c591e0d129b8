package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/validate/examine"
)

// reportPage writes experiments as one page.
func (a *app) reportPage(dirs []string, file string) error {
	if ending := strings.ToLower(filepath.Ext(file)); ending != ".html" && ending != ".htm" {
		return usage("report: -o %s: the ending must be .html", file)
	}
	for _, dir := range dirs {
		if err := servable(dir, false); err != nil {
			return err
		}
	}
	out, err := storage.FindOutput(file)
	if err != nil {
		return err
	}
	s := serve.New(serve.Options{Registry: plugins, Folders: dirs,
		Check: examine.Settings{Plugins: plugins}, Version: host.Version(),
		Shown: func(dir string) string { return untrusted.Word(relative(dir)) }})
	defer s.Close()
	r, err := s.Report(time.Now())
	if err != nil {
		return err
	}
	for _, why := range r.Unread {
		fmt.Fprintf(a.err, "warning: the report does not have %s\n", why)
	}
	if err = out.Write(r.Page); err == nil {
		a.say("wrote %s", file)
	}
	return err
}
