package problem

import (
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
)

// The line that the command line prints may name flags. A client of the API has fields of bodies and parameters of
// queries in their place, whose names are those of the flags, and for some flags nothing.

// flagged finds flags. What is in quotes, or is a command to run, stays as it is.
var flagged = lazily.Regexp("`[^`]*`" + `|"(\\.|[^"\\])*"|(^|[\s(])--[a-z][a-z-]*`)

// fields are the flags that requests have, too.
var fields = map[string]bool{"where": true, "sort": true, "state": true, "fields": true, "limit": true, "top": true,
	"metric": true, "mode": true, "scope": true, "points": true, "name": true, "set": true, "errored": true,
	"unstarted": true, "fresh": true, "force": true}

// only are the flags that a host alone takes, with the command that has them.
var only = map[string]string{"trust-dir": "resume DIR", "accept-plugins": "resume DIR", "extend": "run FILE",
	"resume": "run FILE"}

// places are what to say of the folder of experiments, which is that of the server.
var places = strings.NewReplacer("choose another with --storage", "start `tunehost serve` with another folder",
	"choose another directory with --storage", "start `tunehost serve` with another folder",
	"--name or --storage", "--name")

// unflagged is a line of the command line in the words of the API.
func unflagged(text string) string {
	return flagged().ReplaceAllStringFunc(places.Replace(text), func(part string) string {
		before, flag, found := strings.Cut(part, "--")
		switch command := only[flag]; {
		case !found || strings.ContainsAny(part, "`\""):
			return part
		case fields[flag]:
			return before + flag
		case command != "":
			return before + "`tunehost " + command + " --" + flag + "`"
		}
		return part
	})
}
