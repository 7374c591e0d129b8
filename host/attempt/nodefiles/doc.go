// Package nodefiles keeps the files of trials that run on the nodes of an engine: it implements
// attempt.Checkpoints. If a node sees the experiment's directory under the same path, trials use that directory and
// nothing is copied. The host finds this out with a file of random content. On other nodes the agent makes a directory
// for each trial. If the experiment's storage is a URL that such a node reaches, its agent writes checkpoints there and
// reads them from there; the host finds this out with an object of random content. All other files go over the
// connection: params.json, checkpoints, models and output.
package nodefiles
