//go:build !unix

package storage

import "os"

func othersMay(os.FileInfo, int) string { return "" }
