package digits

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
)

const (
	pixels    = 64
	classes   = 10
	imageSize = pixels + 1
	darkest   = 16
)

//go:embed digits.bin.gz
var packed []byte

// images are pictures with their labels. X has one row of pixels in [0, 1] for each.
type images struct {
	X      blas64.General
	Labels []int
}

func (im images) len() int { return len(im.Labels) }

// load unpacks all images, in their original order.
func load() (images, error) {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return images{}, err
	}
	raw, err := io.ReadAll(zr)
	if err != nil {
		return images{}, err
	}
	return decode(raw)
}

func decode(raw []byte) (images, error) {
	if len(raw)%imageSize != 0 {
		return images{}, fmt.Errorf("%d bytes are not a whole number of images", len(raw))
	}
	all := newImages(len(raw) / imageSize)
	for i := range all.Labels {
		one := raw[i*imageSize : (i+1)*imageSize]
		for j, p := range one[:pixels] {
			all.X.Data[i*pixels+j] = float64(p) / darkest
		}
		all.Labels[i] = int(one[pixels])
	}
	return all, nil
}

func newImages(n int) images {
	return images{X: matrix(n, pixels), Labels: make([]int, n)}
}

// pick returns copies of the images with these indexes.
func (im images) pick(indexes []int) images {
	out := newImages(len(indexes))
	im.copyTo(out, indexes)
	return out
}

// copyTo fills the first len(indexes) places of out.
func (im images) copyTo(out images, indexes []int) {
	for i, from := range indexes {
		copy(out.X.Data[i*pixels:(i+1)*pixels], im.X.Data[from*pixels:(from+1)*pixels])
		out.Labels[i] = im.Labels[from]
	}
}

// slice returns images from to to, without copying.
func (im images) slice(from, to int) images {
	x := im.X
	x.Rows, x.Data = to-from, x.Data[from*pixels:to*pixels]
	return images{X: x, Labels: im.Labels[from:to]}
}

// split reserves a share of each class for validation.
func split(all images, share float64, seed uint64) (train, validation images) {
	byClass := make([][]int, classes)
	for i, label := range all.Labels {
		byClass[label] = append(byClass[label], i)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var in, out []int
	for _, members := range byClass {
		shuffle(rng, members)
		n := int(math.Round(share * float64(len(members))))
		out = append(out, members[:n]...)
		in = append(in, members[n:]...)
	}
	return all.pick(in), all.pick(out)
}

func shuffle(rng *rand.Rand, s []int) {
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}
