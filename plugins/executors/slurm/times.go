package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseTime reads a time limit: a duration of Go, also with days, or one of Slurm's forms: minutes,
// minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds.
func parseTime(text string) (time.Duration, bool) {
	if number, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.ParseFloat(number, 64)
		return time.Duration(days * 24 * float64(time.Hour)), err == nil && days > 0 && days < maxDays
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d, d > 0
	}
	return parseSlurmTime(text)
}

// maxDays keeps times within what Slurm and time.Duration hold.
const maxDays = 10000

func parseSlurmTime(text string) (time.Duration, bool) {
	units := []time.Duration{time.Minute}
	days, rest, dashed := strings.Cut(text, "-")
	var total time.Duration
	if dashed {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil || n > maxDays {
			return 0, false
		}
		total, text = time.Duration(n)*24*time.Hour, rest
		units = []time.Duration{time.Hour, time.Minute, time.Second}
	}
	parts := strings.Split(text, ":")
	switch {
	case !dashed && len(parts) == 2:
		units = []time.Duration{time.Minute, time.Second}
	case !dashed && len(parts) == 3:
		units = []time.Duration{time.Hour, time.Minute, time.Second}
	}
	if len(parts) > len(units) {
		return 0, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 24)
		if err != nil {
			return 0, false
		}
		total += time.Duration(n) * units[i]
	}
	return total, total > 0
}

// slurmTime writes a time limit as days-hours:minutes:seconds.
func slurmTime(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d-%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
}
