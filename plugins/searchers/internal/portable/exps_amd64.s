#include "textflag.h"

// Bits of integers: the last part of a power of two, the exponent of 1, and +Inf.
DATA parts<>+0(SB)/4, $63
DATA parts<>+4(SB)/4, $63
DATA parts<>+8(SB)/4, $63
DATA parts<>+12(SB)/4, $63
GLOBL parts<>(SB), RODATA|NOPTR, $16
DATA bias<>+0(SB)/8, $1023
GLOBL bias<>(SB), RODATA|NOPTR, $8
DATA infinity<>+0(SB)/8, $0x7ff0000000000000
GLOBL infinity<>(SB), RODATA|NOPTR, $8

// func exps(x *float64, n int, powers, factors *float64)
TEXT ·exps(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ powers+16(FP), SI
	MOVQ factors+24(FP), DX
	VBROADCASTSD 16(DX), Y15 // perPart
	VBROADCASTSD 24(DX), Y14 // 0.5
	VBROADCASTSD 32(DX), Y13 // partHi
	VBROADCASTSD 40(DX), Y12 // partLo
	VBROADCASTSD 48(DX), Y11 // 1/120
	VBROADCASTSD 56(DX), Y10 // 1/24
	VBROADCASTSD 64(DX), Y9  // 1/6
	VBROADCASTSD 72(DX), Y8  // 1
	XORQ AX, AX

next:
	CMPQ AX, CX
	JGE  done
	VMOVUPD (DI)(AX*8), Y0

	// k = floor(x·perPart + 0.5), r = (x - k·partHi) - k·partLo
	VMULPD   Y15, Y0, Y1
	VADDPD   Y14, Y1, Y1
	VROUNDPD $9, Y1, Y1
	VMULPD   Y13, Y1, Y2
	VSUBPD   Y2, Y0, Y2
	VMULPD   Y12, Y1, Y3
	VSUBPD   Y3, Y2, Y2

	// y = powers[k mod parts]
	VCVTPD2DQY Y1, X1
	VPAND      parts<>(SB), X1, X4
	VPCMPEQD   Y5, Y5, Y5
	VGATHERDPD Y5, (SI)(X4*8), Y6

	// p = 1 + r·(0.5 + r·(1/6 + r·(1/24 + r·1/120)))
	VMULPD Y11, Y2, Y3
	VADDPD Y10, Y3, Y3
	VMULPD Y2, Y3, Y3
	VADDPD Y9, Y3, Y3
	VMULPD Y2, Y3, Y3
	VADDPD Y14, Y3, Y3
	VMULPD Y2, Y3, Y3
	VADDPD Y8, Y3, Y3

	// y += y·(r·p)
	VMULPD Y2, Y3, Y3
	VMULPD Y6, Y3, Y3
	VADDPD Y6, Y3, Y3

	// y *= 2^(k div parts)
	VPSRAD       $6, X1, X1
	VPMOVSXDQ    X1, Y1
	VPBROADCASTQ bias<>(SB), Y4
	VPADDQ       Y4, Y1, Y1
	VPSLLQ       $52, Y1, Y1
	VMULPD       Y1, Y3, Y3

	// 0 below the least, +Inf above the most
	VBROADCASTSD 0(DX), Y4
	VCMPPD       $17, Y4, Y0, Y4 // x < least
	VANDNPD      Y3, Y4, Y3
	VBROADCASTSD 8(DX), Y4
	VCMPPD       $30, Y4, Y0, Y4 // x > most
	VBROADCASTSD infinity<>(SB), Y5
	VBLENDVPD    Y4, Y5, Y3, Y3
	VMOVUPD      Y3, (DI)(AX*8)
	ADDQ $4, AX
	JMP  next

done:
	VZEROUPPER
	RET
