//go:build !linux

package storage

func remote(string) string { return "" }

func modeless(string) bool { return false }
