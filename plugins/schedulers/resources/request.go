package resources

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/tunehost/tunehost/internal/lazily"
)

// A request is the request of a trial in the form of the experiment file: numbers, or strings such
// as "0.5" and "8GiB".
type request map[string]json.RawMessage

var amount = lazily.Regexp(`^"?([0-9]{1,15}(?:\.[0-9]{1,9})?)([kKMGTP]i?B?|B)?"?$`)

func (r request) check() error {
	for name, text := range r {
		if !amount().Match(text) {
			return fmt.Errorf("option request: %s of %s is not an amount such as 2, 0.5 or \"8GiB\"", text, name)
		}
	}
	return nil
}

// times returns n times the request as JSON, in exact decimals.
func (r request) times(n int) []byte {
	all := map[string]string{}
	for name, text := range r {
		parts := amount().FindSubmatch(text)
		x, _ := new(big.Rat).SetString(string(parts[1])) // it was checked
		x.Mul(x, big.NewRat(int64(n), 1))
		digits, _ := x.FloatPrec()
		all[name] = x.FloatString(digits) + string(parts[2])
	}
	data, _ := json.Marshal(all) // strings can always be encoded
	return data
}

// room returns how many such requests fit into the capacity; 0 if unknown.
func (r request) room(capacity request) int {
	if len(capacity) == 0 {
		return 0
	}
	n, known := int64(maxSlots), false
	for name, text := range r {
		asked := value(text)
		if asked.Sign() == 0 {
			continue
		}
		has := new(big.Rat)
		if text, ok := capacity[name]; ok {
			has = value(text)
		}
		fits := new(big.Rat).Quo(has, asked)
		whole := new(big.Int).Quo(fits.Num(), fits.Denom())
		if known = true; whole.IsInt64() {
			n = min(n, whole.Int64())
		}
	}
	if !known {
		return 0
	}
	return int(n)
}

// value returns an amount in whole units, in bytes if it has such a unit. It was checked.
func value(text []byte) *big.Rat {
	parts := amount().FindSubmatch(text)
	x, _ := new(big.Rat).SetString(string(parts[1]))
	if unit := string(parts[2]); unit != "" && unit != "B" {
		base := int64(1000)
		if len(unit) > 1 && unit[1] == 'i' {
			base = 1024
		}
		for range strings.IndexByte("KMGTP", strings.ToUpper(unit)[0]) + 1 {
			x.Mul(x, big.NewRat(base, 1))
		}
	}
	return x
}
