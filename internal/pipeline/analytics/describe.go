package analytics

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"collie/internal/tool"
)

// describe tells what is to be kept of a call, texts and Seq excepted, and what a model reads
// of its result.
func describe(done *tool.CallDone, last *session) (Entry, reading) {
	c := done.Call
	response, size := responseTo(done)
	e := Entry{
		TS:            done.Start.Add(done.Duration).UnixMilli(),
		Tool:          c.Tool,
		Action:        actionOf(done),
		Status:        Success,
		DurationMs:    math.Round(float64(done.Duration)/float64(time.Microsecond)) / 1000,
		ParamKeys:     paramKeys(c.Args),
		Transport:     transport(c),
		SessionIDHash: last.hashOf(c.Session),
		RequestChars:  unitsIn(c.Args),
		ResponseChars: response.chars(),
		RequestBytes:  len(c.Args),
		ResponseBytes: size,
		TokenMode:     tokenMode,
	}
	if unread(done) {
		e.ResponseChars = size
	}
	if done.Outcome != tool.OK {
		e.Status = Failure
		e.ErrorType, e.ErrorCode = errorOf(done, &response)
	}
	e.ResultSizeHint = sizeHint(e.ResponseChars)
	e.RequestApproxTokens, e.ResponseApproxTokens = tokens(e.RequestChars), tokens(e.ResponseChars)
	e.TotalApproxTokens = e.RequestApproxTokens + e.ResponseApproxTokens
	return e, response
}

// unread reports whether the result of a call was let go of; see [inbox].
func unread(done *tool.CallDone) bool {
	return done.Err == nil && done.Result == nil && done.BytesOut > 0
}

// actionOf is the action of a call. A page of help is one as well.
func actionOf(done *tool.CallDone) string {
	switch {
	case done.Call.Action != nil:
		return done.Call.Action.Name
	case done.Err == nil:
		return "help"
	}
	return ""
}

// responseTo is what the caller is told, and its size. Of a failure that is its payload.
func responseTo(done *tool.CallDone) (r reading, size int) {
	if done.Err == nil {
		return read(done.Result), done.BytesOut
	}
	var payload []byte
	if e, ok := errors.AsType[*tool.Error](done.Err); ok {
		payload = e.Payload()
	} else if e, ok := errors.AsType[*tool.ProtocolError](done.Err); ok {
		payload = e.Raw
	}
	return reading{other: payload}, len(payload)
}

// errorOf classes a failure. A result that reports one in our own words tells its type and code
// as well.
func errorOf(done *tool.CallDone, r *reading) (kind, code string) {
	if done.Err == nil {
		return reported(r)
	}
	if e, ok := errors.AsType[*tool.Error](done.Err); ok {
		return e.Kind.Type(), word(e.Code)
	}
	if e, ok := errors.AsType[*tool.ProtocolError](done.Err); ok {
		code = strconv.Itoa(e.Code)
	}
	if done.Outcome == tool.Cancelled {
		return string(tool.Canceled), code
	}
	return tool.KindOf(done.Err).Type(), code
}

// maxReport bounds the result in which an error is looked for.
const maxReport = 64 << 10

func reported(r *reading) (kind, code string) {
	if r.bytes() > maxReport {
		return "", ""
	}
	text := r.text()
	if !json.Valid([]byte(text)) {
		return "", ""
	}
	found := gjson.GetMany(text, "error.type", "error.code")
	return word(found[0].String()), word(found[1].String())
}

// word is s if it looks like the name of something. Other people's servers may write texts
// where we write names, and texts are not kept.
func word(s string) string {
	for i := range len(s) {
		c := s[i]
		if i >= 64 || c != '_' && c != '-' && c != '.' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return ""
		}
	}
	return s
}

const (
	maxKeys    = 32
	maxKeyName = 64 // bytes
)

// paramKeys are the names of arguments. What is too long for a name is left out, since it may
// be anything.
func paramKeys(args json.RawMessage) []string {
	keys := []string{}
	c := cursor{raw: args}
	if !json.Valid(args) || c.peek() != '{' {
		return keys
	}
	var space [maxKeyName]byte
	for begun := false; c.more(begun, '}'); begun = true {
		name, _ := jsontext.AppendUnquote(space[:0], c.name()) // what is not UTF-8 is replaced
		if string(name) != "action" && len(name) <= maxKeyName {
			keys = append(keys, string(name))
		}
		c.value()
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return keys[:min(len(keys), maxKeys)]
}

// transport says which way a call came in. Programs of this machine that come in over HTTP have
// the name of their key where the others have that of the person who runs them.
func transport(c *tool.Call) string {
	switch c.Origin {
	case tool.MCPLocal:
		if c.Principal == "token" || c.Principal == "anonymous" || strings.HasPrefix(c.Principal, "token/") {
			return HTTP
		}
		return viaStdio
	case tool.MCPRemote, tool.Chat:
		return HTTP
	case tool.Direct, tool.CLIAgent, tool.Scheduled:
	}
	return viaCLI
}

// session is one whose hash is known: calls come in rows from the same.
type session struct{ id, hash string }

func (s *session) hashOf(id string) string {
	if id != s.id {
		s.id, s.hash = id, sessionHash(id)
	}
	return s.hash
}

// sessionHash lets calls of one session be told apart from others, and found in the audit.
func sessionHash(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// nextSeq is a number above last that is near now.
func nextSeq(last int64, now time.Time) int64 { return max(last+1, now.UnixMilli()) }
