package redis

// slots is how many hash slots a cluster has.
const slots = 16384

// slot gives the hash slot of a tag: CRC-16/XMODEM modulo 16384, as the cluster specification has it.
func slot(tag string) int {
	crc := uint16(0)
	for i := range len(tag) {
		crc ^= uint16(tag[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % slots
}
