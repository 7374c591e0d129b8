package digits

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// A network is a multilayer perceptron with a softmax at its end, and the memory to train it on up
// to a fixed number of images at a time. All weights are in one vector, all gradients in another,
// so that optimizers and checkpoints do not depend on layers.
type network struct {
	sizes      []int // of the layers, including input and output
	activation string
	weights    []float64
	gradient   []float64
	layers     []layer
}

// A layer has views into the vectors, and the outputs of the last pass.
type layer struct {
	w, gw blas64.General // inputs x outputs
	b, gb []float64
	out   blas64.General // images x outputs, after the activation
	delta blas64.General // gradient by the outputs before the activation
	keep  []float64      // factor of each output with dropout; otherwise nil
}

// sizesOf returns the sizes of the layers for p.
func sizesOf(p params) []int {
	sizes := []int{pixels}
	for range p.layers {
		sizes = append(sizes, p.units)
	}
	return append(sizes, classes)
}

// newNetwork returns a network with weights 0 for up to rows images at a time.
func newNetwork(p params, rows int) *network {
	n := &network{sizes: sizesOf(p), activation: p.activation}
	total := 0
	for i := range n.sizes[1:] {
		total += (n.sizes[i] + 1) * n.sizes[i+1]
	}
	n.weights, n.gradient = make([]float64, total), make([]float64, total)
	at := 0
	for i := range n.sizes[1:] {
		n.layers = append(n.layers, n.newLayer(at, n.sizes[i], n.sizes[i+1], rows))
		at += (n.sizes[i] + 1) * n.sizes[i+1]
	}
	if p.dropout > 0 {
		for i := range n.hidden() {
			n.layers[i].keep = make([]float64, rows*p.units)
		}
	}
	return n
}

func (n *network) newLayer(at, in, out, rows int) layer {
	end := at + in*out
	return layer{
		w:  blas64.General{Rows: in, Cols: out, Stride: out, Data: n.weights[at:end]},
		gw: blas64.General{Rows: in, Cols: out, Stride: out, Data: n.gradient[at:end]},
		b:  n.weights[end : end+out], gb: n.gradient[end : end+out],
		out: matrix(rows, out), delta: matrix(rows, out),
	}
}

func matrix(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// hidden returns the layers before the last.
func (n *network) hidden() []layer { return n.layers[:len(n.layers)-1] }

// initialise draws the weights as recommended by He et al. (2015) for relu and Glorot and Bengio
// (2010) for tanh; biases are 0.
func (n *network) initialise(rng *rand.Rand) {
	for _, l := range n.layers {
		sd := math.Sqrt(2 / float64(l.w.Rows))
		if n.activation == tanh {
			sd = math.Sqrt(2 / float64(l.w.Rows+l.w.Cols))
		}
		for i := range l.w.Data {
			l.w.Data[i] = sd * rng.NormFloat64()
		}
	}
}

// drop draws the outputs that the next pass drops.
func (n *network) drop(rng *rand.Rand, share float64) {
	for _, l := range n.hidden() {
		for i := range l.keep {
			l.keep[i] = 0
			if rng.Float64() >= share {
				l.keep[i] = 1 / (1 - share)
			}
		}
	}
}

// forward computes all outputs; those of the last layer are logits. Dropout applies only in
// training.
func (n *network) forward(x blas64.General, training bool) {
	in := x
	for i := range n.layers {
		l := &n.layers[i]
		l.out.Rows, l.delta.Rows = x.Rows, x.Rows
		for r := range x.Rows {
			copy(l.out.Data[r*l.out.Stride:], l.b)
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, in, l.w, 1, l.out)
		if i < len(n.layers)-1 {
			n.activate(l, training)
		}
		in = l.out
	}
}

func (n *network) activate(l *layer, training bool) {
	out := l.out.Data[:l.out.Rows*l.out.Stride]
	for i, v := range out {
		if n.activation == tanh {
			out[i] = math.Tanh(v)
		} else if v < 0 {
			out[i] = 0
		}
	}
	if training && l.keep != nil {
		for i := range out {
			out[i] *= l.keep[i]
		}
	}
}

// backward computes the gradient of the mean loss for the images of the last forward pass, which
// must have been in training.
func (n *network) backward(im images) {
	n.outputDelta(im.Labels)
	for i := len(n.layers) - 1; i >= 0; i-- {
		l, in := &n.layers[i], im.X
		if i > 0 {
			in = n.layers[i-1].out
		}
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, in, l.delta, 0, l.gw)
		sumRows(l.delta, l.gb)
		if i > 0 {
			n.propagate(l, &n.layers[i-1])
		}
	}
}

// outputDelta is softmax minus truth, divided by the number of images.
func (n *network) outputDelta(labels []int) {
	l := &n.layers[len(n.layers)-1]
	scale := 1 / float64(len(labels))
	for r, label := range labels {
		delta := row(l.delta, r)
		softmax(row(l.out, r), delta)
		delta[label]--
		for j := range delta {
			delta[j] *= scale
		}
	}
}

// propagate passes the gradient to the previous layer.
func (n *network) propagate(l, before *layer) {
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, l.delta, l.w, 0, before.delta)
	delta := before.delta.Data[:before.delta.Rows*before.delta.Stride]
	for i, out := range before.out.Data[:len(delta)] {
		keep := 1.0
		if before.keep != nil {
			keep = before.keep[i]
		}
		delta[i] *= n.slope(out, keep)
	}
}

// slope is the derivative of an output by its input; out is after dropout, which multiplied it by
// keep.
func (n *network) slope(out, keep float64) float64 {
	switch {
	case keep == 0:
		return 0
	case n.activation == tanh:
		return keep * (1 - (out/keep)*(out/keep))
	case out > 0:
		return keep
	default:
		return 0
	}
}

// score returns the summed loss of the last forward pass and the number of correct images. A
// network that has diverged has the loss NaN.
func (n *network) score(labels []int) (loss float64, right int) {
	var p [classes]float64
	logits := n.layers[len(n.layers)-1].out
	for r, label := range labels {
		z := row(logits, r)
		loss += softmax(z, p[:]) - z[label]
		if largest(z) == label {
			right++
		}
	}
	return loss, right
}

// decay adds the gradient of an L2 penalty.
func (n *network) decay(factor float64) {
	for _, l := range n.layers {
		for i, w := range l.w.Data {
			l.gw.Data[i] += factor * w
		}
	}
}

// softmax fills p and returns log Σ exp(z). NaN and infinite logits give NaN.
func softmax(z, p []float64) float64 {
	top, sum := z[largest(z)], 0.0
	for j, v := range z {
		p[j] = math.Exp(v - top)
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return top + math.Log(sum)
}

func largest(z []float64) int {
	best := 0
	for j, v := range z {
		if v > z[best] {
			best = j
		}
	}
	return best
}

func row(m blas64.General, r int) []float64 {
	return m.Data[r*m.Stride : r*m.Stride+m.Cols]
}

func sumRows(m blas64.General, sum []float64) {
	clear(sum)
	for r := range m.Rows {
		for j, v := range row(m, r) {
			sum[j] += v
		}
	}
}
