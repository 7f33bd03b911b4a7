package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const headFile = "head.json"

// zeroHash is the previous hash of a chain's first record.
var zeroHash = strings.Repeat("0", 64)

// head is the content of head.json: the newest record that is known to be on disk.
type head struct {
	Chain     string `json:"chain"`
	Seq       uint64 `json:"seq"`
	Hash      string `json:"hash"`
	Segment   string `json:"segment"`
	Offset    int64  `json:"offset"`
	Time      string `json:"time"`
	Signature string `json:"signature"`
}

// signed returns the bytes that are signed.
func (h *head) signed() []byte {
	return fmt.Appendf(nil, "collie audit head v1\n%s\n%d\n%s\n%s\n%d\n%s\n",
		h.Chain, h.Seq, h.Hash, h.Segment, h.Offset, h.Time)
}

// encode sets the time of h, signs it and returns the content of its file.
func (h *head) encode(k *signingKey) ([]byte, error) {
	h.Time = time.Now().UTC().Format(timeLayout)
	h.Signature = k.sign(h.signed())
	text, err := json.Marshal(h)
	return append(text, '\n'), err
}

// isSignedBy reports whether k signed h.
func (h *head) isSignedBy(k *signingKey) bool { return k.isSigned(h.signed(), h.Signature) }

// readHead reads the head of the chain in folder.
func readHead(folder string) (*head, error) {
	text, err := os.ReadFile(filepath.Join(folder, headFile))
	if err != nil {
		return nil, err
	}
	var h head
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("read head: %w", err)
	}
	return &h, nil
}
