//go:build !linux

package storage

func remote(string) string { return "" }

func lacksModes(string) bool { return false }
