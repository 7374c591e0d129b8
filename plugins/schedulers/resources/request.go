package resources

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
)

// request is what a trial asks for, as the experiment file writes it: numbers, or
// texts such as "0.5" and "8GiB".
type request map[string]json.RawMessage

var amount = regexp.MustCompile(`^"?([0-9]{1,15}(?:\.[0-9]{1,9})?)([KMGTPE]i?B?)?"?$`)

func (r request) check() error {
	if len(r) == 0 {
		return fmt.Errorf("option request: it asks for nothing")
	}
	for name, text := range r {
		if !amount.Match(text) {
			return fmt.Errorf("option request: %s of %s is not an amount such as 2, 0.5 or \"8GiB\"", text, name)
		}
	}
	return nil
}

// times is the JSON of n times the request, in exact decimals.
func (r request) times(n int) []byte {
	all := map[string]string{}
	for name, text := range r {
		parts := amount.FindSubmatch(text)
		x, _ := new(big.Rat).SetString(string(parts[1])) // it was checked
		x.Mul(x, big.NewRat(int64(n), 1))
		digits, _ := x.FloatPrec()
		all[name] = x.FloatString(digits) + string(parts[2])
	}
	data, _ := json.Marshal(all) // of texts: it cannot fail
	return data
}
