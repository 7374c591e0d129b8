package digits

import "github.com/tunehost/tunehost/plugins/sdk/option"

// params are a trial's parameters.
type params struct {
	lr, momentum, weightDecay, dropout float64
	layers, units, batch, epochs       int
	activation, optimizer              string
}

const (
	relu, tanh = "relu", "tanh"
	sgd, adam  = "sgd", "adam"
)

// defaultLR is the default learning rate.
var defaultLR = map[string]float64{sgd: 0.1, adam: 0.003}

var declaredParams = option.Declare(func(p *params) []option.Option {
	return []option.Option{
		option.Float("lr", &p.lr, 0, option.Above(0).Below(1e6), "Learning rate; by default that of the optimizer."),
		option.Float("momentum", &p.momentum, 0.9, option.From(0).Below(1), "Momentum of sgd."),
		option.Float("weight_decay", &p.weightDecay, 0, option.From(0).Below(1e6), "Decay of the weights."),
		option.Float("dropout", &p.dropout, 0, option.From(0).Below(1), "Share of hidden units that are dropped."),
		option.Int("layers", &p.layers, 1, option.From(1).To(3), "Hidden layers."),
		option.Int("units", &p.units, 32, option.From(1).To(1024), "Units of each hidden layer."),
		option.Int("batch", &p.batch, 32, option.From(1).To(1024), "Images of each step."),
		option.Int("epochs", &p.epochs, 27, option.From(1).To(1_000_000), "Results before it returns."),
		option.Enum("activation", &p.activation, relu, "Activation of hidden units.", relu, tanh),
		option.Enum("optimizer", &p.optimizer, sgd, "Optimizer.", sgd, adam),
	}
}).Called("parameter")

// parseParams reads a JSON object.
func parseParams(object []byte) (params, error) {
	p, err := declaredParams.Read(object)
	if p.lr == 0 {
		p.lr = defaultLR[p.optimizer]
	}
	return p, err
}
