#include "textflag.h"

// func addSquares(sums, centres *float64, n int, x float64)
TEXT ·addSquares(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ centres+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD x+24(FP), Y0
	MOVQ CX, BX
	ANDQ $~3, BX
	XORQ AX, AX

four:
	CMPQ AX, BX
	JGE  one
	VSUBPD (SI)(AX*8), Y0, Y1
	VMULPD Y1, Y1, Y1
	VADDPD (DI)(AX*8), Y1, Y1
	VMOVUPD Y1, (DI)(AX*8)
	ADDQ $4, AX
	JMP  four

one:
	CMPQ AX, CX
	JGE  done
	VSUBSD (SI)(AX*8), X0, X1
	VMULSD X1, X1, X1
	VADDSD (DI)(AX*8), X1, X1
	VMOVSD X1, (DI)(AX*8)
	INCQ AX
	JMP  one

done:
	VZEROUPPER
	RET

// func subSquares(sums, centres, scales *float64, n int, x float64)
TEXT ·subSquares(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ centres+8(FP), SI
	MOVQ scales+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSD x+32(FP), Y0
	MOVQ CX, BX
	ANDQ $~3, BX
	XORQ AX, AX

four:
	CMPQ AX, BX
	JGE  one
	VSUBPD (SI)(AX*8), Y0, Y1
	VMULPD (DX)(AX*8), Y1, Y1
	VMULPD Y1, Y1, Y1
	VMOVUPD (DI)(AX*8), Y2
	VSUBPD Y1, Y2, Y2
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ $4, AX
	JMP  four

one:
	CMPQ AX, CX
	JGE  done
	VSUBSD (SI)(AX*8), X0, X1
	VMULSD (DX)(AX*8), X1, X1
	VMULSD X1, X1, X1
	VMOVSD (DI)(AX*8), X2
	VSUBSD X1, X2, X2
	VMOVSD X2, (DI)(AX*8)
	INCQ AX
	JMP  one

done:
	VZEROUPPER
	RET

// func addWhere(sums, centres *float64, n int, x, y float64, flip uint64)
TEXT ·addWhere(SB), NOSPLIT, $0-48
	MOVQ sums+0(FP), DI
	MOVQ centres+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD x+24(FP), Y0
	VBROADCASTSD y+32(FP), Y1
	VBROADCASTSD flip+40(FP), Y2
	MOVQ CX, BX
	ANDQ $~3, BX
	XORQ AX, AX

four:
	CMPQ AX, BX
	JGE  one
	VCMPPD $0, (SI)(AX*8), Y0, Y3 // all ones where equal
	VXORPD Y2, Y3, Y3
	VANDPD Y1, Y3, Y3
	VADDPD (DI)(AX*8), Y3, Y3
	VMOVUPD Y3, (DI)(AX*8)
	ADDQ $4, AX
	JMP  four

one:
	CMPQ AX, CX
	JGE  done
	VMOVSD (SI)(AX*8), X3
	VCMPSD $0, X3, X0, X3
	VXORPD X2, X3, X3
	VANDPD X1, X3, X3
	VADDSD (DI)(AX*8), X3, X3
	VMOVSD X3, (DI)(AX*8)
	INCQ AX
	JMP  one

done:
	VZEROUPPER
	RET
