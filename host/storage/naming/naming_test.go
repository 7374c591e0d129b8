package naming

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/config"
)

// B-090
func TestTwoTrialsNeverShareAnID(t *testing.T) {
	seen := map[string]uint32{}
	for no := range uint32(20_000) {
		id := ID(7, no)
		if other, taken := seen[id]; taken {
			t.Fatalf("trials %d and %d are both %s", other, no, id)
		}
		seen[id] = no
	}
}

func TestFindTakesNumbersAndIDs(t *testing.T) {
	for _, text := range []string{"17", "00017", ID(7, 17)} {
		if no, err := Find(text, 7, 20); err != nil || no != 17 {
			t.Errorf("%s is trial %d, %v", text, no, err)
		}
	}
	for text, want := range map[string]string{"20": "from 0 to 19", "-1": "from 0 to 19", ID(7, 20): "no trial",
		"": "no trial"} {
		if no, err := Find(text, 7, 20); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is trial %d, %v; want an error with %q", text, no, err, want)
		}
	}
	if _, err := Find("0", 7, 0); err == nil || !strings.Contains(err.Error(), "none yet") {
		t.Errorf("without trials: %v", err)
	}
}

const file = `
version: 1
objective: {metric: loss, mode: min}
space:
  lr: {uniform: [0, 1]}
  model: {units: {int: [1, 9]}}
  batch: 32
`

// B-090
func TestDirHasWhatVaries(t *testing.T) {
	e, err := config.Parse("x.yaml", []byte(file), config.WithoutTrainable())
	if err != nil {
		t.Fatal(err)
	}
	params := []byte(`{"lr":0.123456789,"model":{"units":3},"batch":32}`)
	if got, want := Dir(e, 7, 3, params, 0), "00003_"+ID(7, 3)+"_lr=0.1235_model-units=3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// B-082: a trial that starts again in a new directory.
	if got, want := Dir(e, 7, 3, params, 2), "00003_"+ID(7, 3)+"_retry2_lr=0.1235_model-units=3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	e.TrialName = "../{batch}-{{{number}}}-{lr}"
	if got, want := Dir(e, 7, 3, params, 0), "00003_"+ID(7, 3)+"_..-32--3--0.1235"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
