package naming

import "github.com/tunehost/tunehost/host/config/expr"

// BriefParams writes a trial's parameters, a JSON object, on one line.
func BriefParams(params []byte) string {
	values, err := expr.FromJSON(params)
	if err != nil {
		return string(params)
	}
	return Brief(values)
}
