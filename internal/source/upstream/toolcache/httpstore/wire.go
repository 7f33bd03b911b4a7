package httpstore

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Path is where the cache is served, with all below it.
const Path = "/api/v1/toolcache"

const (
	maxBody  = 64 << 20 // of a body, as it is sent and unpacked
	compress = 4 << 10  // shorter bodies are sent as they are

	heartbeat = 15 * time.Second // between two signs of life on an event stream
)

type snapshot struct {
	Generation  *uint64                    `json:"generation"`
	TotalWrites uint64                     `json:"totalWrites"`
	Entries     map[string]json.RawMessage `json:"entries"`
}

type patch struct {
	Changes []change `json:"changes"`
}

// change has an Entry of null to delete; one that is missing is a mistake.
type change struct {
	Server string          `json:"server"`
	Entry  json.RawMessage `json:"entry"`
}

type committed struct {
	Generation *uint64 `json:"generation"`
}

type leaseRequest struct {
	Holder string `json:"holder"`
	Millis int64  `json:"ms"`
}

type leaseAnswer struct {
	OK *bool `json:"ok"`
}

var errTooLarge = fmt.Errorf("the body is larger than %d MiB", maxBody>>20)

// encode writes v as JSON, and as gzip where packed is set and it is worth it.
func encode(v any, packed bool) (body []byte, gzipped bool, err error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, false, err
	}
	if b.Len() > maxBody {
		return nil, false, errTooLarge
	}
	if !packed || b.Len() < compress {
		return b.Bytes(), false, nil
	}
	var z bytes.Buffer
	w, err := gzip.NewWriterLevel(&z, gzip.BestSpeed)
	if err != nil {
		return nil, false, err
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return nil, false, err
	}
	if err := w.Close(); err != nil {
		return nil, false, err
	}
	return z.Bytes(), true, nil
}

// decode reads all of a body into v.
func decode(r io.Reader, encoding string, v any) error {
	body, err := readAll(r, encoding)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

func readAll(r io.Reader, encoding string) ([]byte, error) {
	switch strings.ToLower(encoding) {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(io.LimitReader(r, maxBody+1))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		r = z
	default:
		return nil, fmt.Errorf("content encoding %.40q, expected gzip or none", encoding)
	}
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, errTooLarge
	}
	return body, nil
}

func etag(generation uint64) string { return `"` + strconv.FormatUint(generation, 10) + `"` }

func parseETag(s string) (generation uint64, err error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(s), `"`)
	digits, closed := strings.CutSuffix(digits, `"`)
	if !ok || !closed {
		return 0, errors.New(`expected the ETag of a generation, such as "42"`)
	}
	return strconv.ParseUint(digits, 10, 64)
}

func isObject(raw json.RawMessage) bool {
	return len(raw) > 0 && bytes.TrimLeft(raw, " \t\r\n")[0] == '{'
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }
