package envoytest

import (
	"crypto/rand"
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
)

// FreeAddress gives an address on 127.0.0.1 that nothing listens on. It is taken from below the range that the kernel
// gives to outgoing connections, so that a server that is stopped and started again finds it free still.
func FreeAddress(t TB) string {
	t.Helper()
	const low, high = 15000, 32000
	for range 100 {
		var b [2]byte
		rand.Read(b[:]) // never fails
		port := low + int(binary.BigEndian.Uint16(b[:]))%(high-low)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatalf("found no free port between %d and %d on 127.0.0.1", low, high)
	return ""
}

// splitAddress takes an ip:port apart.
func splitAddress(address string) (host string, port int) {
	ap := netip.MustParseAddrPort(address)
	return ap.Addr().String(), int(ap.Port())
}
