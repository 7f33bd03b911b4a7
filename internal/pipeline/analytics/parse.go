package analytics

import (
	"encoding/json"
	"math"
	"time"

	"github.com/tidwall/gjson"
)

// most bounds what is believed of a number in a file, so that sums stay numbers. As a time it is
// in the year 2527.
const most = 1 << 44

// Parse reads a line. It understands the older names timestamp (also as RFC 3339), category,
// duration_ms, request_approx_tokens, response_approx_tokens, total_approx_tokens,
// result_size_hint, error_type and error_code as well, and leaves out what has another type than
// expected. ok is false for what is not an entry: no JSON object, or one without a time.
func Parse(line []byte) (e Entry, ok bool) {
	if !json.Valid(line) {
		return Entry{}, false
	}
	obj := gjson.ParseBytes(line)
	if !obj.IsObject() {
		return Entry{}, false
	}
	isNote := false
	obj.ForEach(func(k, v gjson.Result) bool {
		if k.String() == "note" {
			isNote = v.String() == noteDropped
			return true
		}
		e.set(k.String(), v)
		return true
	})
	if !isNote {
		e.Dropped = 0
	}
	e.complete()
	return e, e.TS > 0
}

// set takes up one member.
func (e *Entry) set(name string, v gjson.Result) {
	switch name {
	case "seq":
		e.Seq = integer(v)
	case "ts", "timestamp":
		e.TS = moment(v)
	case "tool", "category":
		e.Tool = str(v)
	case "action":
		e.Action = str(v)
	case "status":
		e.Status = Status(str(v))
	case "durationMs", "duration_ms":
		e.DurationMs = number(v)
	case "errorType", "error_type":
		e.ErrorType = str(v)
	case "errorCode", "error_code":
		e.ErrorCode = v.String()
	case "resultSizeHint", "result_size_hint":
		e.ResultSizeHint = str(v)
	case "transport":
		e.Transport = str(v)
	case "sessionIdHash", "session_id_hash":
		e.SessionIDHash = str(v)
	case "paramKeys", "param_keys":
		e.ParamKeys = nil
		for _, key := range v.Array() {
			e.ParamKeys = append(e.ParamKeys, key.String())
		}
	case "tokenMode", "token_mode":
		e.TokenMode = str(v)
	case "dropped":
		e.Dropped = integer(v)
	default:
		e.setSize(name, v)
	}
}

// setSize takes up what tells of sizes and texts.
func (e *Entry) setSize(name string, v gjson.Result) {
	switch name {
	case "requestChars", "request_chars":
		e.RequestChars = int(integer(v))
	case "responseChars", "response_chars":
		e.ResponseChars = int(integer(v))
	case "requestBytes":
		e.RequestBytes = int(integer(v))
	case "responseBytes":
		e.ResponseBytes = int(integer(v))
	case "requestApproxTokens", "request_approx_tokens":
		e.RequestApproxTokens = int(integer(v))
	case "responseApproxTokens", "response_approx_tokens":
		e.ResponseApproxTokens = int(integer(v))
	case "totalApproxTokens", "total_approx_tokens":
		e.TotalApproxTokens = int(integer(v))
	case "requestText":
		e.RequestText = str(v)
	case "responseText":
		e.ResponseText = str(v)
	case "requestTextTruncated":
		e.RequestTextTruncated = v.Bool()
	case "responseTextTruncated":
		e.ResponseTextTruncated = v.Bool()
	}
}

// complete fills in what follows from the rest.
func (e *Entry) complete() {
	switch {
	case e.Status == "ok":
		e.Status = Success
	case e.Status != "":
	case e.ErrorType != "" || e.ErrorCode != "":
		e.Status = Failure
	default:
		e.Status = Success
	}
	if e.TotalApproxTokens == 0 {
		e.TotalApproxTokens = min(e.RequestApproxTokens+e.ResponseApproxTokens, most)
	}
}

func str(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.String()
}

// number is a number from 0 that can be added to others.
func number(v gjson.Result) float64 {
	if v.Type != gjson.Number || math.IsNaN(v.Num) {
		return 0
	}
	return min(max(v.Num, 0), most)
}

func integer(v gjson.Result) int64 { return int64(number(v)) }

// moment is a time in milliseconds.
func moment(v gjson.Result) int64 {
	if v.Type == gjson.String {
		t, err := time.Parse(time.RFC3339, v.String())
		if err != nil {
			return 0
		}
		return min(max(t.UnixMilli(), 0), most)
	}
	return integer(v)
}
