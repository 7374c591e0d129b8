// Package remote starts the processes of trials on the nodes of a lease, through the agents there
// (package agent). A plugin works there as on the host's machine. Its connection goes through the
// agent's connection, and is encrypted from end to end.
package remote
