package soak

import (
	"net/http"

	"idem/e2e/envoytest"
)

// How the tool of the plain kinds brings a result, and how a caller finds it in its reply.

func answerJSON(w http.ResponseWriter, _, result []byte) {
	w.Header().Set("content-type", "application/json")
	_, _ = w.Write(result)
}

// answerPieces brings the result in two pieces, so that it streams past.
func answerPieces(w http.ResponseWriter, _, result []byte) {
	w.Header().Set("content-type", "application/json")
	half := len(result) / 2
	_, _ = w.Write(result[:half])
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(result[half:])
}

func fail500(w http.ResponseWriter, _, result []byte) {
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = w.Write(result)
}

func readPlain(reply envoytest.Reply) []byte { return reply.Body }

func readEnvelope(reply envoytest.Reply) []byte { return reply.Envelope().Result }
