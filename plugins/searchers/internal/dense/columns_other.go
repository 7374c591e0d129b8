//go:build !amd64

package dense

func addSquaresOfFour([]float64, float64, []float64) int { return 0 }

func subSquaresOfFour([]float64, float64, []float64, []float64) int { return 0 }

func addWhereOfFour([]float64, float64, []float64, bool, float64) int { return 0 }
