//go:build !linux

package storage

import "errors"

const memoryRoot = ""

func memoryLeft(string) (float64, error) {
	return 0, errors.New("this system has no file system in memory")
}
