// Package afar shows experiments that are in a storage elsewhere, a bucket or a shared directory: it keeps copies of
// their records on this machine, and fetches them again when they have changed there. It writes nothing to the storage.
package afar
