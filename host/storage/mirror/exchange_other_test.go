//go:build !linux

package mirror_test

import "os"

// exchange puts each of two files in the other's place.
func exchange(a, b string) error {
	aside := a + "-aside"
	for _, step := range [][2]string{{a, aside}, {b, a}, {aside, b}} {
		if err := os.Rename(step[0], step[1]); err != nil {
			return err
		}
	}
	return nil
}
