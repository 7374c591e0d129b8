#include "textflag.h"

// TRANSPOSE turns the rows a, b, c, d of a block into its columns.
#define TRANSPOSE(a, b, c, d, t0, t1, t2, t3) \
	VUNPCKLPD  b, a, t0       \
	VUNPCKHPD  b, a, t1       \
	VUNPCKLPD  d, c, t2       \
	VUNPCKHPD  d, c, t3       \
	VPERM2F128 $0x20, t2, t0, a \
	VPERM2F128 $0x20, t3, t1, b \
	VPERM2F128 $0x31, t2, t0, c \
	VPERM2F128 $0x31, t3, t1, d

// PRODUCTS adds the products of the numbers of two rows, in Y8 and Y9, with those at above to two sums.
#define PRODUCTS(above, x, y) \
	VMOVUPD (above)(AX*8), Y10 \
	VMULPD  Y8, Y10, Y11       \
	VADDPD  Y11, x, x          \
	VMULPD  Y9, Y10, Y12       \
	VADDPD  Y12, y, y

// SUMS loads the partial sums of four rows for a column: the first ones of each in Y0, the second in Y1, and so on.
#define SUMS(offset) \
	VMOVUPD offset+0(SP), Y0   \
	VMOVUPD offset+128(SP), Y1 \
	VMOVUPD offset+256(SP), Y2 \
	VMOVUPD offset+384(SP), Y3 \
	TRANSPOSE(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7)

// KNOWN adds the products of a number of each row, x, with one of above to the first sums.
#define KNOWN(above, offset, x) \
	VBROADCASTSD offset(above)(CX*8), Y4 \
	VMULPD       x, Y4, Y4               \
	VADDPD       Y4, Y0, Y0

// SOLVE sets x, a number of each row, to itself less the sums, divided by the number of above on the diagonal.
#define SOLVE(above, offset, x) \
	VADDPD       Y1, Y0, Y0              \
	VADDPD       Y3, Y2, Y2              \
	VADDPD       Y2, Y0, Y0              \
	VSUBPD       Y0, x, x                \
	VBROADCASTSD offset(above)(CX*8), Y4 \
	VDIVPD       Y4, x, x

// func eliminateBlock(rows, above *[4]*float64, j int)
TEXT ·eliminateBlock(SB), NOSPLIT, $512-24
	MOVQ rows+0(FP), DI
	MOVQ above+8(FP), SI
	MOVQ j+16(FP), CX
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	LEAQ 0(SP), BX   // the partial sums of a row with above: 128 bytes
	MOVQ $2, R12

pair:
	MOVQ 0(DI), DX
	MOVQ 8(DI), SI
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	XORQ AX, AX

sum:
	CMPQ AX, CX
	JGE  summed
	VMOVUPD (DX)(AX*8), Y8
	VMOVUPD (SI)(AX*8), Y9
	PRODUCTS(R8, Y0, Y4)
	PRODUCTS(R9, Y1, Y5)
	PRODUCTS(R10, Y2, Y6)
	PRODUCTS(R11, Y3, Y7)
	ADDQ $4, AX
	JMP  sum

summed:
	VMOVUPD Y0, 0(BX)
	VMOVUPD Y1, 32(BX)
	VMOVUPD Y2, 64(BX)
	VMOVUPD Y3, 96(BX)
	VMOVUPD Y4, 128(BX)
	VMOVUPD Y5, 160(BX)
	VMOVUPD Y6, 192(BX)
	VMOVUPD Y7, 224(BX)
	ADDQ $256, BX
	ADDQ $16, DI
	DECQ R12
	JNZ  pair

	// The block itself, column by column: Y12 to Y15 have a number of each row.
	MOVQ rows+0(FP), DI
	MOVQ 0(DI), AX
	MOVQ 8(DI), BX
	MOVQ 16(DI), DX
	MOVQ 24(DI), SI
	VMOVUPD (AX)(CX*8), Y12
	VMOVUPD (BX)(CX*8), Y13
	VMOVUPD (DX)(CX*8), Y14
	VMOVUPD (SI)(CX*8), Y15
	TRANSPOSE(Y12, Y13, Y14, Y15, Y4, Y5, Y6, Y7)
	SUMS(0)
	SOLVE(R8, 0, Y12)
	SUMS(32)
	KNOWN(R9, 0, Y12)
	SOLVE(R9, 8, Y13)
	SUMS(64)
	KNOWN(R10, 0, Y12)
	KNOWN(R10, 8, Y13)
	SOLVE(R10, 16, Y14)
	SUMS(96)
	KNOWN(R11, 0, Y12)
	KNOWN(R11, 8, Y13)
	KNOWN(R11, 16, Y14)
	SOLVE(R11, 24, Y15)
	TRANSPOSE(Y12, Y13, Y14, Y15, Y4, Y5, Y6, Y7)
	VMOVUPD Y12, (AX)(CX*8)
	VMOVUPD Y13, (BX)(CX*8)
	VMOVUPD Y14, (DX)(CX*8)
	VMOVUPD Y15, (SI)(CX*8)
	VZEROUPPER
	RET

// TIMES adds the numbers at row times x and times y to Y8 and Y9.
#define TIMES(row, x, y) \
	VMOVUPD (row)(AX*8), Y10 \
	VMULPD  Y10, x, Y11      \
	VADDPD  Y11, Y8, Y8      \
	VMULPD  Y10, y, Y12      \
	VADDPD  Y12, Y9, Y9

// TIMESONE is TIMES for one number.
#define TIMESONE(row, x, y) \
	VMOVSD (row)(AX*8), X10 \
	VMULSD X10, x, X11      \
	VADDSD X11, X8, X8      \
	VMULSD X10, y, X12      \
	VADDSD X12, X9, X9

// func addToPair(b, c, xs, ys *float64, rows *[4]*float64, n int)
TEXT ·addToPair(SB), NOSPLIT, $0-48
	MOVQ b+0(FP), DI
	MOVQ c+8(FP), R12
	MOVQ xs+16(FP), DX
	MOVQ ys+24(FP), BX
	MOVQ rows+32(FP), SI
	MOVQ n+40(FP), CX
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	VBROADCASTSD 0(DX), Y0
	VBROADCASTSD 8(DX), Y1
	VBROADCASTSD 16(DX), Y2
	VBROADCASTSD 24(DX), Y3
	VBROADCASTSD 0(BX), Y4
	VBROADCASTSD 8(BX), Y5
	VBROADCASTSD 16(BX), Y6
	VBROADCASTSD 24(BX), Y7
	MOVQ CX, BX
	ANDQ $~3, BX
	XORQ AX, AX

four:
	CMPQ AX, BX
	JGE  one
	VMOVUPD (DI)(AX*8), Y8
	VMOVUPD (R12)(AX*8), Y9
	TIMES(R8, Y0, Y4)
	TIMES(R9, Y1, Y5)
	TIMES(R10, Y2, Y6)
	TIMES(R11, Y3, Y7)
	VMOVUPD Y8, (DI)(AX*8)
	VMOVUPD Y9, (R12)(AX*8)
	ADDQ $4, AX
	JMP  four

one:
	CMPQ AX, CX
	JGE  added
	VMOVSD (DI)(AX*8), X8
	VMOVSD (R12)(AX*8), X9
	TIMESONE(R8, X0, X4)
	TIMESONE(R9, X1, X5)
	TIMESONE(R10, X2, X6)
	TIMESONE(R11, X3, X7)
	VMOVSD X8, (DI)(AX*8)
	VMOVSD X9, (R12)(AX*8)
	INCQ AX
	JMP  one

added:
	VZEROUPPER
	RET

// func divide(x *float64, n int, by float64)
TEXT ·divide(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSD by+16(FP), Y0
	XORQ AX, AX

next:
	CMPQ AX, CX
	JGE  divided
	VMOVUPD (DI)(AX*8), Y1
	VDIVPD  Y0, Y1, Y1
	VMOVUPD Y1, (DI)(AX*8)
	ADDQ $4, AX
	JMP  next

divided:
	VZEROUPPER
	RET
