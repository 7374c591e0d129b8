package main

import (
	"runtime"

	"github.com/spf13/cobra"
	"github.com/tunehost/tunehost/host"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  tunehost version",
		Args:    wants(0, 0),
		RunE: func(*cobra.Command, []string) error {
			a.say("tunehost %s (%s, %s/%s)", host.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
