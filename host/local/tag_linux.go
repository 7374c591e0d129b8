package local

import "golang.org/x/sys/unix"

// Wear gives this process the tag, which all that it starts inherits, and returns what
// takes it off again. Where the system does not allow it, nothing happens.
func (t Tag) Wear() (off func()) {
	var was unix.Rlimit
	if t == 0 || unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &was) != nil {
		return func() {}
	}
	now := unix.Rlimit{Cur: uint64(t), Max: was.Max}
	if now.Cur > now.Max || unix.Prlimit(0, unix.RLIMIT_RTTIME, &now, nil) != nil {
		return func() {}
	}
	return func() { _ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &was, nil) }
}

// tagOn is the tag of a process, 0 where it has none or is another user's.
func tagOn(pid int) Tag {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit) != nil || limit.Cur>>48 != tagMagic {
		return 0
	}
	return Tag(limit.Cur)
}
