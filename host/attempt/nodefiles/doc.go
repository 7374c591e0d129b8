// Package nodefiles keeps the files of trials that run on the nodes of an engine: it implements
// attempt.Checkpoints. A node that sees the experiment's directory under the same path uses that, and
// nothing is copied; a file with a random content shows whether it does. On other nodes each trial has a
// directory of its agent. If the experiment's storage is a URL that such a node reaches, its agent writes and reads
// checkpoints there; an object with a random content shows whether it does. All else, and all of other nodes, goes
// over the connection: params.json, checkpoints, models and output.
package nodefiles
