#include "textflag.h"

// func sumsOfFour(sums *[4]lanes, x *float64, rows *[4]*float64, n int)
TEXT ·sumsOfFour(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ x+8(FP), DX
	MOVQ rows+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	XORQ AX, AX

sum:
	CMPQ AX, CX
	JGE  summed
	VMOVUPD (DX)(AX*8), Y4
	VMULPD (R8)(AX*8), Y4, Y5
	VADDPD Y5, Y0, Y0
	VMULPD (R9)(AX*8), Y4, Y6
	VADDPD Y6, Y1, Y1
	VMULPD (R10)(AX*8), Y4, Y7
	VADDPD Y7, Y2, Y2
	VMULPD (R11)(AX*8), Y4, Y8
	VADDPD Y8, Y3, Y3
	ADDQ $4, AX
	JMP  sum

summed:
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	RET

// func addToFour(b *float64, xs *float64, rows *[4]*float64, n int)
TEXT ·addToFour(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), DI
	MOVQ xs+8(FP), DX
	MOVQ rows+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	VBROADCASTSD 0(DX), Y0
	VBROADCASTSD 8(DX), Y1
	VBROADCASTSD 16(DX), Y2
	VBROADCASTSD 24(DX), Y3
	MOVQ CX, BX
	ANDQ $~3, BX
	XORQ AX, AX

add:
	CMPQ AX, BX
	JGE  rest
	VMOVUPD (DI)(AX*8), Y4
	VMULPD (R8)(AX*8), Y0, Y5
	VADDPD Y5, Y4, Y4
	VMULPD (R9)(AX*8), Y1, Y6
	VADDPD Y6, Y4, Y4
	VMULPD (R10)(AX*8), Y2, Y7
	VADDPD Y7, Y4, Y4
	VMULPD (R11)(AX*8), Y3, Y8
	VADDPD Y8, Y4, Y4
	VMOVUPD Y4, (DI)(AX*8)
	ADDQ $4, AX
	JMP  add

rest: // one number at a time
	CMPQ AX, CX
	JGE  added
	VMOVSD (DI)(AX*8), X4
	VMULSD (R8)(AX*8), X0, X5
	VADDSD X5, X4, X4
	VMULSD (R9)(AX*8), X1, X6
	VADDSD X6, X4, X4
	VMULSD (R10)(AX*8), X2, X7
	VADDSD X7, X4, X4
	VMULSD (R11)(AX*8), X3, X8
	VADDSD X8, X4, X4
	VMOVSD X4, (DI)(AX*8)
	INCQ AX
	JMP  rest

added:
	VZEROUPPER
	RET

// func dots(y *float64, rows *[]float64, count int, x *float64, n int)
TEXT ·dots(SB), NOSPLIT, $0-40
	MOVQ y+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ count+16(FP), R8
	MOVQ x+24(FP), DX
	MOVQ n+32(FP), CX
	MOVQ CX, BX
	ANDQ $~3, BX

row:
	MOVQ (SI), R9
	VXORPD Y0, Y0, Y0
	XORQ AX, AX

four:
	CMPQ AX, BX
	JGE  one
	VMOVUPD (DX)(AX*8), Y1
	VMULPD (R9)(AX*8), Y1, Y1
	VADDPD Y1, Y0, Y0
	ADDQ $4, AX
	JMP  four

one: // the rest belongs to the first sum
	VEXTRACTF128 $1, Y0, X2

next:
	CMPQ AX, CX
	JGE  sum
	VMOVSD (DX)(AX*8), X1
	VMULSD (R9)(AX*8), X1, X1
	VADDSD X1, X0, X0
	INCQ AX
	JMP  next

sum: // (s0 + s1) + (s2 + s3)
	VHADDPD   X2, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD    X1, X0, X0
	VMOVSD    X0, (DI)
	ADDQ $8, DI
	ADDQ $24, SI // the next slice
	DECQ R8
	JNZ  row
	VZEROUPPER
	RET
