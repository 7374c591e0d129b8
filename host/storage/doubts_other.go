//go:build !linux

package storage

func remote(string) string { return "" }
