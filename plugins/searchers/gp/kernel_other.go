//go:build !amd64

package gp

func rootsOfFour([]float64, []float64) int { return 0 }

func slopesOfFour([]float64, []float64, []float64, float64) int { return 0 }

func valuesOfFour([]float64, []float64, float64) int { return 0 }
