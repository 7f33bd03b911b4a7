package kerneltest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
)

// FreezeDatabases makes the kernel echo database operations of transactions without doing them, as it does for things
// that do not exist; false ends that.
func (k *Kernel) FreezeDatabases(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.frozen = on
}

// databaseOperation occurs in the names of operations on databases. Replacing it by frozenOperation makes them
// unknown to the vault, which echoes unknown operations.
var databaseOperation, frozenOperation = []byte("AttrView"), []byte("FrozenView")

// answerFrozen answers transactions while databases are frozen, and reports whether it did.
func (k *Kernel) answerFrozen(answer *httptest.ResponseRecorder, r *http.Request) bool {
	k.mu.Lock()
	frozen := k.frozen
	k.mu.Unlock()
	if !frozen || r.URL.Path != "/api/transactions" {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return true
	}
	body = bytes.ReplaceAll(body, databaseOperation, frozenOperation)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	k.backend.ServeHTTP(answer, r)
	answer.Body = bytes.NewBuffer(bytes.ReplaceAll(answer.Body.Bytes(), frozenOperation, databaseOperation))
	return true
}
