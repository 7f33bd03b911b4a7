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

// This file makes an entry of a finished call: who called what, how it ended, how large it was, without any text of the
// user.

// entryOf returns the entry for a call, without texts and Seq, and the part of its result that a model
// reads.
func entryOf(done *tool.CallDone, last *session) (Entry, resultParts) {
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
	if resultDropped(done) {
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

// resultDropped reports whether the inbox dropped the result of a call to save memory; see [inbox].
func resultDropped(done *tool.CallDone) bool {
	return done.Err == nil && done.Result == nil && done.BytesOut > 0
}

// actionOf returns the action of a call. A help page counts as an action.
func actionOf(done *tool.CallDone) string {
	switch {
	case done.Call.Action != nil:
		return done.Call.Action.Name
	case done.Err == nil:
		return "help"
	}
	return ""
}

// responseTo returns the response that the caller gets, and its size in bytes. For a failure that is
// the error's payload.
func responseTo(done *tool.CallDone) (r resultParts, size int) {
	if done.Err == nil {
		return readParts(done.Result), done.BytesOut
	}
	var payload []byte
	if e, ok := errors.AsType[*tool.Error](done.Err); ok {
		payload = e.Payload()
	} else if e, ok := errors.AsType[*tool.ProtocolError](done.Err); ok {
		payload = e.Raw
	}
	return resultParts{other: payload}, len(payload)
}

// errorOf classifies a failure. If the result reports one of our own errors, it also returns that error's
// type and code.
func errorOf(done *tool.CallDone, r *resultParts) (kind, code string) {
	if done.Err == nil {
		return reportedError(r)
	}
	if e, ok := errors.AsType[*tool.Error](done.Err); ok {
		return e.Kind.Type(), nameOnly(e.Code)
	}
	if e, ok := errors.AsType[*tool.ProtocolError](done.Err); ok {
		code = strconv.Itoa(e.Code)
	}
	if done.Outcome == tool.Cancelled {
		return string(tool.Canceled), code
	}
	return tool.KindOf(done.Err).Type(), code
}

// maxReport is the largest result that is searched for an error, in bytes.
const maxReport = 64 << 10

func reportedError(r *resultParts) (kind, code string) {
	if r.bytes() > maxReport {
		return "", ""
	}
	text := r.text()
	if !json.Valid([]byte(text)) {
		return "", ""
	}
	found := gjson.GetMany(text, "error.type", "error.code")
	return nameOnly(found[0].String()), nameOnly(found[1].String())
}

// nameOnly returns s if it looks like a name, else "". Servers may put free text where a name belongs, and free text must not
// be kept.
func nameOnly(s string) string {
	for i := range len(s) {
		c := s[i]
		isLetter, isDigit := c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9'
		if i >= maxKeyName || !isLetter && !isDigit && c != '_' && c != '-' && c != '.' {
			return ""
		}
	}
	return s
}

const (
	maxKeys    = 32
	maxKeyName = 64 // bytes
)

// paramKeys returns the sorted names of at most maxKeys arguments, without "action". A name longer than maxKeyName is left out,
// since it may be any text.
func paramKeys(args json.RawMessage) []string {
	keys := []string{}
	c := cursor{raw: args}
	if !json.Valid(args) || c.skipSpace() != '{' {
		return keys
	}
	var space [maxKeyName]byte
	for begun := false; c.nextEntry(begun, '}'); begun = true {
		name, _ := jsontext.AppendUnquote(space[:0], c.readName()) // invalid UTF-8 is replaced
		if string(name) != "action" && len(name) <= maxKeyName {
			keys = append(keys, string(name))
		}
		c.skipValue()
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return keys[:min(len(keys), maxKeys)]
}

// transport says how a call came in. An MCP client of this machine has the name of its token as principal if it calls over
// HTTP, and the name of the user if it calls over stdio.
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

// session remembers a session's hash, because consecutive calls often come from the same session.
type session struct{ id, hash string }

func (s *session) hashOf(id string) string {
	if id != s.id {
		s.id, s.hash = id, sessionHash(id)
	}
	return s.hash
}

// sessionHash identifies a session without revealing its id. The audit uses the same hash.
func sessionHash(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// nextSeq returns a number above last that is close to the time now in milliseconds.
func nextSeq(last int64, now time.Time) int64 { return max(last+1, now.UnixMilli()) }
