// Package fake is an executor whose cluster does not exist: it queues, grants,
// preempts, loses and cuts off nodes as its options say, so that everything that an
// engine does to an experiment can be seen on one machine. Trials run as processes of
// this machine, with the names and devices of the nodes that were granted.
//
// The cluster is a file that every process of the plugin works on in turn, and time:
// what has happened by now follows from the file, the options and the clock alone, so
// the cluster continues while no host runs, and a host that is killed finds its leases
// again. A process of its own would survive its host as well, but would have to be
// found, watched and ended. Without a host for its host_grace leases are taken
// away, as an engine with a time limit would.
//
// What is random is drawn from the option seed and a count of what is drawn for.
package fake
