#include "textflag.h"

// func vectorRoots(squares, negative *float64, n int, factors *[5]float64)
TEXT ·vectorRoots(SB), NOSPLIT, $0-32
	MOVQ squares+0(FP), DI
	MOVQ negative+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ factors+24(FP), DX
	VBROADCASTSD 0(DX), Y0 // 5
	VBROADCASTSD 32(DX), Y1 // -0: the sign
	XORQ AX, AX

next:
	CMPQ AX, CX
	JGE  done
	VMULPD  (DI)(AX*8), Y0, Y2
	VSQRTPD Y2, Y2
	VMOVUPD Y2, (DI)(AX*8)
	VXORPD  Y1, Y2, Y2
	VMOVUPD Y2, (SI)(AX*8)
	ADDQ $4, AX
	JMP  next

done:
	VZEROUPPER
	RET

// func vectorSlopes(roots, exps, slopes *float64, n int, scale float64, factors *[5]float64)
TEXT ·vectorSlopes(SB), NOSPLIT, $0-48
	MOVQ roots+0(FP), DI
	MOVQ exps+8(FP), SI
	MOVQ slopes+16(FP), R8
	MOVQ n+24(FP), CX
	VBROADCASTSD scale+32(FP), Y0
	MOVQ factors+40(FP), DX
	VBROADCASTSD 8(DX), Y1  // 1
	VBROADCASTSD 24(DX), Y2 // -5/6
	XORQ AX, AX

next:
	CMPQ AX, CX
	JGE  done
	VADDPD (DI)(AX*8), Y1, Y3
	VMULPD Y2, Y3, Y3
	VMULPD (SI)(AX*8), Y3, Y3
	VMULPD Y0, Y3, Y3
	VMOVUPD Y3, (R8)(AX*8)
	ADDQ $4, AX
	JMP  next

done:
	VZEROUPPER
	RET

// func vectorValues(roots, exps *float64, n int, scale float64, factors *[5]float64)
TEXT ·vectorValues(SB), NOSPLIT, $0-40
	MOVQ roots+0(FP), DI
	MOVQ exps+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD scale+24(FP), Y0
	MOVQ factors+32(FP), DX
	VBROADCASTSD 8(DX), Y1  // 1
	VBROADCASTSD 16(DX), Y2 // 3
	XORQ AX, AX

next:
	CMPQ AX, CX
	JGE  done
	VMOVUPD (DI)(AX*8), Y3
	VADDPD Y3, Y1, Y4
	VMULPD Y3, Y3, Y3
	VDIVPD Y2, Y3, Y3
	VADDPD Y3, Y4, Y4
	VMULPD (SI)(AX*8), Y4, Y4
	VMULPD Y0, Y4, Y4
	VMOVUPD Y4, (SI)(AX*8)
	ADDQ $4, AX
	JMP  next

done:
	VZEROUPPER
	RET
