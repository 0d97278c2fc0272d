package statistics

// Older says that a serial comes before another (RFC 1982, section 3.2). Of two that are half of all numbers apart the RFC
// does not say which one does: then each comes before the other, for no server can be said to be up to date.
func Older(serial, than uint32) bool {
	const half = 1 << 31
	return serial != than && than-serial <= half
}
