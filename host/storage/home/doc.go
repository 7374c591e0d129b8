// Package home tells an experiment's directory from a copy of it. Both have the same record, and with it the same run;
// the leases, their jobs and their agents belong to one of them. place.json says which directory that is, and on which
// machine its last host ran. The packages that compose a host use it, and readers that name leases.
package home
