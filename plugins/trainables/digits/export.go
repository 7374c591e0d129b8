package digits

import (
	"encoding/json"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// exportFormat is the only format of this trainable, and exportFile the file in its folder.
const (
	exportFormat = "json"
	exportFile   = "network.json"
)

// model is a network in a form for programs in any language. The output of a layer is
// activation(input x weights + biases), and softmax for the last one.
type model struct {
	Activation string       `json:"activation"` // of the layers except the last
	Sizes      []int        `json:"sizes"`      // input and output included
	Layers     []modelLayer `json:"layers"`
}

type modelLayer struct {
	Weights [][]float64 `json:"weights"` // a row for each input
	Biases  []float64   `json:"biases"`
}

// export writes the network without the state that only training needs.
func (t *training) export(format, dir string) error {
	if format != exportFormat {
		return sdk.ErrUnknownFormat
	}
	text, err := json.Marshal(t.net.model())
	if err != nil { // a network that has diverged has weights that JSON cannot encode
		return err
	}
	return os.WriteFile(filepath.Join(dir, exportFile), append(text, '\n'), 0o600)
}

func (n *network) model() model {
	m := model{Activation: n.activation, Sizes: n.sizes}
	for _, l := range n.layers {
		m.Layers = append(m.Layers, modelLayer{Weights: rows(l.w), Biases: l.b})
	}
	return m
}

func rows(m blas64.General) (list [][]float64) {
	for r := range m.Rows {
		list = append(list, row(m, r))
	}
	return list
}
