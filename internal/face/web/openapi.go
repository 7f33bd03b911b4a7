package web

import (
	_ "embed"
	"encoding/json"
	"net/http"
)

// openapi describes the API. go generate builds it from [Routes] and the types of their bodies.
//
//go:embed openapi.json
var openapi []byte

func (a *api) document(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, json.RawMessage(openapi))
}
