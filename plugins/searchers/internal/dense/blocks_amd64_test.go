package dense

import "testing"

// Processors without these instructions, and others than amd64, give the same bits.
func TestWithoutVectors(t *testing.T) {
	had := vectors
	vectors = false
	defer func() { vectors = had }()
	for name, test := range map[string]func(*testing.T){"Cholesky": TestCholeskyBits, "Invert": TestInvertBits,
		"Gram": TestGramBits, "Times": TestTimesBits, "AddRows": TestAddRows, "AddAll": TestAddAll} {
		t.Run(name, test)
	}
}
