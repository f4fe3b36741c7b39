package redistest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// free gives an address that nothing listens on, from below the range that the kernel gives to outgoing connections, so
// that a server that is stopped and started again finds it free still.
func free() (string, error) {
	const low, high = 15000, 32000
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(low+rand.IntN(high-low)))
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("found no free port between 15000 and 32000 on 127.0.0.1")
}
