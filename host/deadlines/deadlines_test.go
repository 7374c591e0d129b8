package deadlines

import (
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	l := Limits{Suggest: time.Hour}
	if l.Of(Suggest) != time.Hour || l.Of(Decide) != time.Minute || l.Of("nosuch") != 0 {
		t.Error(l.Of(Suggest), l.Of(Decide), l.Of("nosuch"))
	}
	for _, r := range Table {
		if n := Notice(r.Limit); n <= 0 || n >= r.Limit {
			t.Errorf("%s: notice after %v of %v", r.Call, n, r.Limit)
		}
	}
}

func TestText(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Minute: "1m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h",
		10 * time.Second: "10s"} {
		if got := Text(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestFor(t *testing.T) {
	ctx, cancel := Within(t.Context(), 90*time.Second)
	defer cancel()
	if got := For(ctx); got != " for 1m30s" {
		t.Error(got)
	}
	if plain, _ := Within(t.Context(), 0); For(plain) != " within its deadline" {
		t.Error(For(plain))
	}
}
