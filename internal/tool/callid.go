package tool

import (
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// processID is the prefix of all call ids of this process: its start time and a random part, so that
// processes that share a home never make the same id.
var processID = sync.OnceValue(func() string {
	return strconv.FormatInt(time.Now().UnixMilli(), 36) + strings.ToLower(rand.Text()[:6])
})

var lastCall atomic.Uint64

// NewCallID returns an id for a Call, unique among all processes that share a home. It is
// safe for concurrent use.
func NewCallID() string {
	return processID() + "-" + strconv.FormatUint(lastCall.Add(1), 36)
}
