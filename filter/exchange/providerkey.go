package exchange

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// providerKey is the idempotency key that the tool's provider is given (setting provider_key): the same for every
// re-execution after a failure, another after a human's release.
func providerKey(fingerprint, approvedBy string) string {
	mac := hmac.New(sha256.New, []byte(fingerprint))
	mac.Write([]byte(approvedBy))
	return hex.EncodeToString(mac.Sum(nil))
}
