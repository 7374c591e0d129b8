//go:build !linux

package storage

func readOnly(string) error { return nil }
