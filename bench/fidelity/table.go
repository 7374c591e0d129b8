package main

import (
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// A manifest lists problems. Problems that are not tables of curves are left out.
type manifest struct {
	Problems []*problem `json:"problems"`
}

// A problem is a space, and a table of trainings in it.
type problem struct {
	ID    string `json:"id"`
	Dir   string `json:"dir"`
	Space struct {
		Params []param `json:"params"`
	} `json:"space"`
	Table struct {
		Rows      int `json:"rows"`
		Resources int `json:"resources"`
	} `json:"table"`
	KNN struct {
		K       int                `json:"k"`
		Eps     float64            `json:"eps"`
		Average string             `json:"average"`
		Weights map[string]float64 `json:"weights"`
	} `json:"knn"`
	// MF is nil for problems without curves.
	MF *struct {
		MeanFullCost float64 `json:"mean_full_cost"`
		Best         float64 `json:"f_best_any"`
		Median       float64 `json:"f_rand_median"`
	} `json:"mf"`

	points [][]float64 // NaN: the parameter does not exist
	curves [][]float64 // logarithms, if these are averaged
	costs  []float64   // logarithms
}

type param struct {
	Name    string            `json:"name"`
	Type    string            `json:"type"`
	Low     float64           `json:"low"`
	High    float64           `json:"high"`
	Log     bool              `json:"log"`
	Choices []json.RawMessage `json:"choices"`
	When    *struct {
		Param string            `json:"param"`
		In    []json.RawMessage `json:"in"`
	} `json:"when"`
}

// load reads the problems with curves below dir.
func load(dir string) ([]*problem, error) {
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	list := slices.DeleteFunc(m.Problems, func(p *problem) bool { return p.MF == nil })
	for _, p := range list {
		if err := p.read(filepath.Join(dir, p.Dir)); err != nil {
			return nil, fmt.Errorf("%s: %w", p.ID, err)
		}
	}
	return list, nil
}

// read reads the table.
func (p *problem) read(dir string) error {
	var rows struct {
		Columns []string            `json:"columns"`
		Rows    [][]json.RawMessage `json:"rows"`
	}
	data, err := unzip(filepath.Join(dir, "configs.json.gz"))
	if err == nil {
		err = json.Unmarshal(data, &rows)
	}
	if err != nil {
		return err
	}
	for _, row := range rows.Rows {
		config := map[string]json.RawMessage{}
		for i, value := range row {
			if string(value) != "null" {
				config[rows.Columns[i]] = value
			}
		}
		p.points = append(p.points, p.locate(config))
	}
	curves, err := floats(filepath.Join(dir, "curves.f32.gz"), p.Table.Rows*p.Table.Resources)
	if err != nil {
		return err
	}
	if p.KNN.Average == "log" {
		logs(curves, 1e-12)
	}
	p.curves = slices.Collect(slices.Chunk(curves, p.Table.Resources))
	p.costs, err = floats(filepath.Join(dir, "cost.f32.gz"), p.Table.Rows)
	logs(p.costs, 1e-6)
	return err
}

// logs replaces values, which are raised to least, by their logarithms.
func logs(values []float64, least float64) {
	for i, x := range values {
		values[i] = math.Log(max(x, least))
	}
}

// unzip returns what a compressed file has.
func unzip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// floats reads n numbers of 32 bits.
func floats(path string, n int) ([]float64, error) {
	data, err := unzip(path)
	if err == nil && len(data) != 4*n {
		err = fmt.Errorf("%s has %d bytes, not %d", path, len(data), 4*n)
	}
	if err != nil {
		return nil, err
	}
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return list, nil
}

// locate returns a configuration in unit coordinates; a choice is its index.
func (p *problem) locate(config map[string]json.RawMessage) []float64 {
	at := make([]float64, len(p.Space.Params))
	for i, q := range p.Space.Params {
		if value, ok := config[q.Name]; ok {
			at[i] = q.unit(value)
		} else {
			at[i] = math.NaN()
		}
	}
	return at
}

func (q *param) unit(value json.RawMessage) float64 {
	if q.Type == "cat" {
		return float64(slices.IndexFunc(q.Choices, func(c json.RawMessage) bool { return string(c) == string(value) }))
	}
	var x float64
	if json.Unmarshal(value, &x) != nil {
		return math.NaN()
	}
	if q.Log {
		return (math.Log(x) - math.Log(q.Low)) / (math.Log(q.High) - math.Log(q.Low))
	}
	return (x - q.Low) / (q.High - q.Low)
}

// A neighbour is a row of the table.
type neighbour struct {
	distance float64
	row      int
}

func (n neighbour) compare(o neighbour) int {
	return cmp.Or(cmp.Compare(n.distance, o.distance), n.row-o.row)
}

// train returns the curve of a configuration and the cost of all of it: the means over its nearest
// neighbours in the table, weighted by their distances.
func (p *problem) train(config map[string]json.RawMessage) (curve []float64, cost float64) {
	at := p.locate(config)
	near := make([]neighbour, 0, p.KNN.K+1)
	for row, x := range p.points {
		n := neighbour{p.distance(at, x), row}
		if len(near) == p.KNN.K && n.distance >= near[len(near)-1].distance {
			continue
		}
		i, _ := slices.BinarySearchFunc(near, n, neighbour.compare)
		near = slices.Insert(near, i, n)
		near = near[:min(len(near), p.KNN.K)]
	}
	curve = make([]float64, p.Table.Resources)
	total := 0.0
	for _, n := range near {
		weight := 1 / (n.distance + p.KNN.Eps)
		for e, y := range p.curves[n.row] {
			curve[e] += weight * y
		}
		cost += weight * p.costs[n.row]
		total += weight
	}
	for e := range curve {
		if curve[e] /= total; p.KNN.Average == "log" {
			curve[e] = math.Exp(curve[e])
		}
	}
	return curve, math.Exp(cost / total)
}

func (p *problem) distance(a, b []float64) (sum float64) {
	for i, q := range p.Space.Params {
		weight := p.KNN.Weights[q.Name]
		switch gone, missing := math.IsNaN(a[i]), math.IsNaN(b[i]); {
		case gone != missing, !gone && q.Type == "cat" && a[i] != b[i]:
			sum += weight
		case !gone && q.Type != "cat":
			d := a[i] - b[i]
			sum += weight * d * d
		}
	}
	return sum
}
