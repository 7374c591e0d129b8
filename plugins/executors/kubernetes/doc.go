// Command tunehost-executor-kubernetes is an executor that takes its leases from a Kubernetes cluster.
// It is a program of its own, in a module of its own, because Kubernetes' client library is larger than tunehost.
//
// A lease is one pod for each bundle, with names made of the lease's. So a pod is created once, whatever
// happens to answers and processes, and leases are found again by their labels. What the API server refuses is
// a refusal of the lease; what the scheduler says of pods that wait is the reason for which the lease waits.
//
// Kubernetes' own scheduler places pods one by one. A gang of which some pods are bound and others still wait after
// a time is given up as a whole, and is created again after a random pause, so that gangs which hold
// each other's nodes get out of each other's way.
//
// The agent's program is copied into each pod by exec, unless the image has it. Its secret is in a Secret
// that belongs to the pods and goes with them.
package main
