package digits

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGradient compares backward with numerical differences of forward.
func TestGradient(t *testing.T) {
	all := mustLoad(t)
	for _, params := range []string{
		`{"layers": 1, "units": 7}`,
		`{"layers": 2, "units": 6, "activation": "tanh"}`,
		`{"layers": 3, "units": 5, "activation": "tanh", "dropout": 0.4}`,
		`{"layers": 2, "units": 6, "dropout": 0.3, "weight_decay": 0.01}`,
	} {
		p, err := parseParams([]byte(params))
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		net, batch := newNetwork(p, 9), all.slice(100, 109)
		net.initialise(rng)
		for _, l := range net.layers { // biases at 0 would hide a kink of relu
			for i := range l.b {
				l.b[i] = 0.1 * rng.NormFloat64()
			}
		}
		net.drop(rng, p.dropout)
		penalised(net, p, batch)
		net.backward(batch)
		net.decay(p.weightDecay)
		checkGradient(t, params, net, func() float64 { return penalised(net, p, batch) })
	}
}

// penalised is the function that training minimises.
func penalised(net *network, p params, batch images) float64 {
	net.forward(batch.X, true)
	loss, _ := net.score(batch.Labels)
	loss /= float64(batch.len())
	for _, l := range net.layers {
		for _, w := range l.w.Data {
			loss += p.weightDecay / 2 * w * w
		}
	}
	return loss
}

func checkGradient(t *testing.T, name string, net *network, loss func() float64) {
	t.Helper()
	gradient := slices.Clone(net.gradient)
	const h = 1e-6
	for i, w := range net.weights {
		net.weights[i] = w + h
		up := loss()
		net.weights[i] = w - h
		down := loss()
		net.weights[i] = w
		if numeric := (up - down) / (2 * h); math.Abs(numeric-gradient[i]) > 1e-6 {
			t.Fatalf("%s: gradient of weight %d is %v, differences say %v", name, i, gradient[i], numeric)
		}
	}
}

func TestAdamsFirstStepIsTheRate(t *testing.T) {
	p, err := parseParams([]byte(`{"optimizer": "adam", "lr": 0.01}`))
	if err != nil {
		t.Fatal(err)
	}
	weights := []float64{1, 1}
	newOptimizer(p, 2).step(weights, []float64{5, -0.1})
	for i, want := range []float64{0.99, 1.01} {
		if math.Abs(weights[i]-want) > 1e-6 {
			t.Errorf("weight %d = %v, want %v", i, weights[i], want)
		}
	}
}

func TestMomentumAddsUp(t *testing.T) {
	p, err := parseParams([]byte(`{"lr": 0.1, "momentum": 0.5}`))
	if err != nil {
		t.Fatal(err)
	}
	weights, o := []float64{0}, newOptimizer(p, 1)
	for range 2 {
		o.step(weights, []float64{1})
	}
	if want := -0.1 - 0.15; math.Abs(weights[0]-want) > 1e-15 {
		t.Errorf("weight = %v after two steps, want %v", weights[0], want)
	}
}

func TestData(t *testing.T) {
	all := mustLoad(t)
	if all.len() != 1797 || !slices.Equal(all.Labels[:10], []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Fatalf("%d images that begin %v", all.len(), all.Labels[:10])
	}
	hash := sha256.New()
	for i, label := range all.Labels {
		for _, p := range row(all.X, i) {
			hash.Write([]byte{byte(math.Round(p * darkest))})
		}
		hash.Write([]byte{byte(label)})
	}
	const want = "68aea062d35a127749050fa0e52dca09d6569ac08092c925610e0954e172dde2"
	if got := fmt.Sprintf("%x", hash.Sum(nil)); got != want {
		t.Errorf("SHA-256 of the images is %s, README.md says %s", got, want)
	}
}

func TestSplitIsStratified(t *testing.T) {
	all := mustLoad(t)
	train, validation := split(all, 0.25, 0)
	if train.len()+validation.len() != all.len() {
		t.Errorf("%d and %d images are not all %d", train.len(), validation.len(), all.len())
	}
	for class := range classes {
		n := count(all.Labels, class)
		if got, want := count(validation.Labels, class), int(math.Round(0.25*float64(n))); got != want {
			t.Errorf("%d of %d images of class %d are held out, want %d", got, n, class, want)
		}
	}
	if _, other := split(all, 0.25, 1); slices.Equal(other.X.Data, validation.X.Data) {
		t.Error("another seed holds out the same images")
	}
}

func count(labels []int, class int) (n int) {
	for _, label := range labels {
		if label == class {
			n++
		}
	}
	return n
}

func mustLoad(t *testing.T) images {
	t.Helper()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
