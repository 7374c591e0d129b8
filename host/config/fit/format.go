package fit

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// formats adds the faults of formats below a schema that the value fits, where it is of draft 7: in later drafts, and
// for the library, formats are remarks.
func (f *finder) formats(pointer string, schema map[string]any, path []string, v any) {
	if f.draft != draft7 || schema == nil {
		return
	}
	name, _ := schema["format"].(string)
	text, isText := v.(string)
	if check := formatChecks[name]; check != nil && isText && !check(text) {
		f.add(Fault{Path: path, Rule: "format", Want: name, Got: v})
	}
	rest := map[string]any{}
	for key, value := range schema {
		if key != "anyOf" && key != "oneOf" {
			rest[key] = value
		}
	}
	f.inside(pointer, rest, path, v)
}

// formatChecks are the formats of draft 7 for which a check of the standard library exists.
var formatChecks = map[string]func(string) bool{
	"date-time": func(s string) bool { return isTime(time.RFC3339, strings.ToUpper(s)) },
	"date":      func(s string) bool { return isTime(time.DateOnly, s) },
	"time":      func(s string) bool { return isTime("15:04:05Z07:00", strings.ToUpper(s)) },
	"email": func(s string) bool {
		a, err := mail.ParseAddress(s)
		return err == nil && a.Address == s
	},
	"ipv4": func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() },
	"ipv6": func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is6() && a.Zone() == "" },
	"uri": func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.IsAbs()
	},
	"uri-reference": func(s string) bool { _, err := url.Parse(s); return err == nil },
	"regex":         func(s string) bool { _, err := regexp.Compile(s); return err == nil },
}

func isTime(layout, text string) bool {
	_, err := time.Parse(layout, text)
	return err == nil
}
