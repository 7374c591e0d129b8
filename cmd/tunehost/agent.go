package main

import (
	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// agentCommand has the help of the agent. plugins.Main runs it when the variables are set.
func (*app) agentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "agent [--socket PATH | bridge PATH]",
		DisableFlagsInUseLine: true,

		Hidden: true, // executors start it
		Short:  "Run trials on a node of a cluster for a host elsewhere",
		Long: `Connect to the host of an experiment and run trials for it on this machine. Executors
start this command on the nodes that a cluster has granted; nobody needs to call it.

The environment variables TUNEHOST_AGENT and TUNEHOST_AGENT_BUNDLE say which host to
connect to, and for which lease. The agent ends with its lease, or when its host has not
answered for the executor's option host_grace. All that it has started ends with it.

With --socket, or the variable TUNEHOST_AGENT_SOCKET, the agent also listens on a unix
socket, in a folder that only its user can access. 'tunehost agent bridge PATH' joins its
standard input and output with that socket: an executor whose nodes cannot connect to the
host has the engine run it on the node, and copies the bytes between it and the host.`,
		Args: wants(0, 0),
		RunE: func(*cobra.Command, []string) error {
			return usage("%s is not set: executors start agents; run an experiment with `executor: ...` instead",
				sdk.AgentVariable)
		},
	}
	cmd.Flags().String("socket", "", "also listen on the unix socket at `PATH`") // host/agent/door reads it
	return cmd
}
