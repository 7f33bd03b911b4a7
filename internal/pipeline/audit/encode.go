package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"collie/internal/tool"
)

// This file writes records as lines, each with the hash of the one before.

// format is the format version that this package writes and reads.
const format = 1

// timeLayout is RFC 3339 in UTC with microseconds.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// hashMark stands between the body of a line and its hash.
const hashMark = `,"hash":"`

// encoder turns records into the lines of one chain. It is not safe for concurrent use.
type encoder struct {
	redact *Redactor
	mac    hash.Hash
	sha    hash.Hash
	texts  textCache

	seq  uint64
	prev [sha256.Size]byte
	sum  []byte // scratch space

	second int64  // the second that date stands for
	date   []byte // that second in timeLayout, without the microseconds
}

func newEncoder(r *Redactor, k *signingKey) *encoder {
	return &encoder{redact: r, mac: hmac.New(sha256.New, k.args), sha: sha256.New(), sum: make([]byte, 0, sha256.Size)}
}

// appendLine appends the next line of the chain to b.
func (e *encoder) appendLine(b []byte, r *tool.Record) []byte {
	start := len(b)
	e.seq++
	b = append(b, `{"v":1,"seq":`...)
	b = strconv.AppendUint(b, e.seq, 10)
	b = append(b, `,"ts":"`...)
	b = e.appendTime(b, r.Time)
	b = append(b, `","kind":`...)
	b = appendString(b, r.Kind)

	b = appendField(b, `,"callId":`, r.CallID)
	b = appendField(b, `,"parent":`, r.Parent)
	b = appendField(b, `,"origin":`, string(r.Origin))
	b = e.appendTextField(b, `,"principal":`, r.Principal)
	b = e.appendTextField(b, `,"client":`, r.Client)
	b = appendField(b, `,"session":`, r.Session)
	b = appendField(b, `,"source":`, r.Source)
	b = e.appendTextField(b, `,"tool":`, r.Tool)
	b = e.appendTextField(b, `,"action":`, r.Action)
	b = e.appendTextField(b, `,"name":`, r.Name)
	b = appendField(b, `,"risk":`, string(r.Risk))
	b = e.appendArgs(b, r.Args)
	b = appendField(b, `,"outcome":`, string(r.Outcome))
	b = appendField(b, `,"errorType":`, r.ErrorType)
	if e.redact.content != ContentNone {
		b = e.appendMessage(b, r)
	}
	b = appendInt(b, `,"durationUs":`, r.Duration.Microseconds())
	b = appendInt(b, `,"bytesIn":`, int64(r.BytesIn))
	b = appendInt(b, `,"bytesOut":`, int64(r.BytesOut))
	if len(r.Detail) > 0 {
		b = append(b, `,"detail":`...)
		b = e.redact.AppendJSON(b, r.Detail)
	}

	b = append(b, `,"prev":"`...)
	b = hex.AppendEncode(b, e.prev[:])
	b = append(b, '"')
	e.setPrev(b[start:])
	b = append(b, hashMark...)
	b = hex.AppendEncode(b, e.prev[:])
	return append(b, "\"}\n"...)
}

// appendMessage appends the message without secrets. Where it says "NAME: …" of a thing, the name is redacted by itself: a
// thing may be called "Secret", and what follows is then not the value of a secret.
func (e *encoder) appendMessage(b []byte, r *tool.Record) []byte {
	at := strings.Index(r.Message, r.Subject+": ")
	if r.Subject == "" || at < 0 {
		return e.appendTextField(b, `,"message":`, r.Message)
	}
	at += len(r.Subject)
	return appendField(b, `,"message":`, e.redact.Text(r.Message[:at])+e.redact.Text(r.Message[at:]))
}

// appendTime appends t in timeLayout. Under load many records have the same second, so its text is kept.
func (e *encoder) appendTime(b []byte, t time.Time) []byte {
	if s := t.Unix(); s != e.second || e.date == nil {
		e.second, e.date = s, t.UTC().AppendFormat(e.date[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, e.date...)
	for micros, unit := t.Nanosecond()/1000, 100_000; unit > 0; unit /= 10 {
		b = append(b, '0'+byte(micros/unit%10))
	}
	return append(b, 'Z')
}

func (e *encoder) appendTextField(b []byte, field, s string) []byte {
	if s == "" {
		return b
	}
	return e.texts.append(append(b, field...), s, e.redact)
}

// setPrev sets prev to the hash of the record with this body, like [chainHash].
func (e *encoder) setPrev(body []byte) {
	e.sha.Reset()
	e.sha.Write(e.prev[:])
	e.sha.Write(body)
	e.sha.Sum(e.prev[:0])
}

// textCache caches the redacted form of short texts, since the same few tools and clients occur in nearly all
// records. It is emptied when it is full, and when secrets are added.
type textCache struct {
	clean   map[string]string
	secrets *[][]byte
}

const (
	keptTexts   = 256
	keptTextLen = 128 // in bytes; less than the size from which texts are cut
)

func (t *textCache) append(b []byte, s string, r *Redactor) []byte {
	if len(s) > keptTextLen {
		return r.AppendText(b, s)
	}
	if now := r.secrets.Load(); now != t.secrets || len(t.clean) >= keptTexts {
		t.clean, t.secrets = map[string]string{}, now
	}
	clean, ok := t.clean[s]
	if !ok {
		clean = string(r.AppendText(nil, s))
		t.clean[strings.Clone(s)] = clean // cloned, since s may be part of a large request
	}
	return append(b, clean...)
}

// appendArgs appends the first half of the HMAC of the arguments as they came and, unless the settings keep no content, the
// arguments without secrets.
func (e *encoder) appendArgs(b, raw []byte) []byte {
	if len(raw) == 0 {
		return b
	}
	if e.redact.content != ContentNone {
		b = append(b, `,"args":`...)
		b = e.redact.AppendJSON(b, raw)
	}
	e.mac.Reset()
	e.mac.Write(raw)
	e.sum = e.mac.Sum(e.sum[:0])
	b = append(b, `,"argsHmac":"`...)
	b = hex.AppendEncode(b, e.sum[:16])
	return append(b, '"')
}

// chainHash returns the hash of a record. prev is the hash of the record before, body the line up to
// hashMark.
func chainHash(prev [sha256.Size]byte, body []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(body)
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

func appendField(b []byte, field, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(append(b, field...), s)
}

func appendInt(b []byte, field string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, field...), n, 10)
}

// appendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendString[S ~string | ~[]byte](b []byte, s S) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[done:i]...), "\ufffd"...)
				done = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[done:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		done = i
	}
	return append(append(b, s[done:]...), '"')
}

// orNow returns t, or the present time if t is zero.
func orNow(t time.Time) time.Time {
	if t.IsZero() {
		return time.Now()
	}
	return t
}
