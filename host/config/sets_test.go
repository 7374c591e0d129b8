package config

import (
	"fmt"
	"testing"
)

func TestCheckSet(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"trials=3", "trials=3"}, "trials is given twice"},
		{[]string{"trials="}, "trials=: the value is missing; trials=null removes the key"},
		{[]string{"space.x="}, "space.x=: the value is missing"},
		{[]string{"trials= "}, "trials= : the value is missing; trials=null removes the key"},
		{[]string{"searcher.startup=3", "searcher=tpe"},
			"searcher=tpe replaces searcher.startup=3, which is given before it: give searcher first"},
		{[]string{"searcher=tpe", "searcher.startup=3", "searchers=x", "trials=3", "name=''", "wrong"}, "<nil>"},
	} {
		var err error
		for i, set := range c.sets {
			if err = CheckSet(c.sets[:i], set); err != nil {
				break
			}
		}
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("%v: %q, want %q", c.sets, got, c.want)
		}
	}
}
