package mcptest

import (
	"net/http"
	"strconv"
	"strings"
)

// An outlet sends messages to the client, either for one request or outside of all. The parts of a message
// are joined; they contain no line end. Outlets are safe for concurrent use, and drop messages after their
// end.
type outlet interface {
	// sendResponse answers the outlet's request. code is the JSON-RPC error code, or 0 for a result.
	sendResponse(code int, parts ...[]byte)
	// sendEvent sends a notification or a request.
	sendEvent(parts ...[]byte)
	// sendRaw sends bytes as they are; they need not be a message.
	sendRaw(b []byte)
}

// call is one request being handled by the server.
type call struct {
	*message
	peer   *peer
	out    outlet
	header http.Header // nil over stdio
	modern bool
}

// answer sends result, the JSON text of a whole result object.
func (c *call) answer(result string) {
	b := make([]byte, 0, len(c.id)+len(result)+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, c.id...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	b = append(b, '}')
	c.reply(0, b)
}

// answerParts is like answer, for results too large to be copied.
func (c *call) answerParts(parts ...[]byte) {
	frame := [][]byte{[]byte(`{"jsonrpc":"2.0","id":` + c.id + `,"result":`)}
	c.reply(0, append(append(frame, parts...), []byte("}"))...)
}

// refuse answers with a JSON-RPC error; data is JSON text or empty.
func (c *call) refuse(code int, text, data string) {
	e := `{"code":` + strconv.Itoa(code) + `,"message":` + quote(text)
	if data != "" {
		e += `,"data":` + data
	}
	c.refuseRaw(code, e+"}")
}

// refuseRaw answers with e, the JSON text of a whole error object.
func (c *call) refuseRaw(code int, e string) {
	c.reply(code, []byte(`{"jsonrpc":"2.0","id":`+c.id+`,"error":`+e+`}`))
}

// reply sends the response and remembers its id as the last one answered. code is as in outlet.sendResponse.
func (c *call) reply(code int, parts ...[]byte) {
	c.out.sendResponse(code, parts...)
	c.peer.setLastAnswered(c.id)
}

// resultStart returns the start of a result object for the call's era, up to where the first own field follows.
func (c *call) resultStart() string {
	if c.modern {
		return `{"resultType":"complete",`
	}
	return `{`
}

// answerQuotedText answers with one text content; text is a quoted JSON string.
func (c *call) answerQuotedText(text string) {
	c.answer(c.resultStart() + `"content":[{"type":"text","text":` + text + `}]}`)
}

// answerText answers with one text content.
func (c *call) answerText(text string) { c.answerQuotedText(quote(text)) }

// answerToolError answers with a tool error: a result with isError.
func (c *call) answerToolError(text string) {
	c.answer(c.resultStart() + `"content":[{"type":"text","text":` + quote(text) + `}],"isError":true}`)
}

// notify sends a notification that belongs to the request; params is JSON text.
func (c *call) notify(method, params string) { c.out.sendEvent([]byte(notification(method, params))) }

func notification(method, params string) string {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","method":"` + method + `"`)
	if params != "" {
		b.WriteString(`,"params":` + params)
	}
	b.WriteString("}")
	return b.String()
}
