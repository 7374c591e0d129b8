package config

import (
	"fmt"
	"strings"
)

// CheckSet refuses an override KEY=VALUE that is surely not meant beside the earlier ones: one without a
// value, as from an unset shell variable, and one that replaces an earlier one. Whether the key exists and
// the value fits is checked with the experiment.
func CheckSet(earlier []string, set string) error {
	key, value, there := strings.Cut(set, "=")
	if there && strings.TrimSpace(value) == "" {
		if strings.HasPrefix(key, "space.") { // null is the value of a parameter
			return fmt.Errorf("%s: the value is missing", set)
		}
		return fmt.Errorf("%s: the value is missing; %s=null removes the key", set, key)
	}
	for _, other := range earlier {
		switch was, _, _ := strings.Cut(other, "="); {
		case was == key:
			return fmt.Errorf("%s is given twice", key)
		case strings.HasPrefix(was, key+"."):
			return fmt.Errorf("%s replaces %s, which is given before it: give %s first", set, other, key)
		}
	}
	return nil
}
